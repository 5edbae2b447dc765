"""``same:`` makes a rule parametric in a value: per order, per file, per customer, one book for each."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar, Final
from zlib import crc32

from duly.values.expr import UNSET

from .member import Act, Field, at, key_of
from .watch import Book, Facts, Owed, Refusal, Watch

KEYS: Final = 100_000
"""Values of which one rule keeps books; an act with a further one is refused."""
_BUCKETS: Final = 64


class Same(Watch):
    """One book of ``inner`` for each value of ``fields`` (by label; "" for all labels)."""

    start: ClassVar[Book] = {}

    def __init__(self, inner: Watch, fields: dict[str, Field]) -> None:
        super().__init__(inner.rule)
        self.inner = inner
        self.fields = fields
        self.labels = inner.labels
        self.timed, self.counts, self.everywhere = inner.timed, inner.counts, inner.everywhere
        self.heeds = inner.heeds

    def _key(self, act: Act, result: Any = UNSET) -> str | None:
        field = self.fields.get(act.label) or self.fields.get("")
        if field is None:
            return None
        place = ("key", field)
        known = act.known.get(place, UNSET) if result is UNSET else UNSET
        if known is UNSET:
            known = key_of(at(field, act.args, result))
            if result is UNSET:
                act.known[place] = known
        key: str | None = known
        return key

    def _field(self, act: Act) -> Field | None:
        return self.fields.get(act.label) or self.fields.get("")

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        field = self._field(act)
        if field is not None and field.result:
            return None  # known once it has succeeded
        key = self._key(act)
        if key is None and act.label not in self.labels:
            return None  # an act that the rule does not name, and that belongs to no value
        if key is None:
            name = field.text if field is not None else "same"
            return Refusal("same", f"`{act.label}` has no `{name}`, by which a rule tells acts apart", "name it")
        mine = self._of(book, key)
        if mine is self.inner.start and sum(map(len, book.values())) >= KEYS:
            return Refusal("bound", f"more than {KEYS} values of `{field.text if field else ''}`", "open a new session")
        return self.inner.refuse(mine, act)

    def admit(self, book: Book, act: Act) -> Book:
        return self._with(book, self._key(act), lambda mine: self.inner.admit(mine, act))

    def back(self, book: Book, act: Act) -> Book:
        return self._with(book, self._key(act), lambda mine: self.inner.back(mine, act))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        field = self._field(act)
        key = self._key(act, result) if field is not None and field.result else self._key(act)
        return self._with(book, key, lambda mine: self.inner.win(mine, act, result))

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self._with(book, self._key(act), lambda mine: self.inner.spent(mine, act, result))

    def leads(self, book: Book, act: Act) -> str:
        key = self._key(act)
        return self.inner.leads(self._of(book, key), act) if key is not None else ""

    def breach(self, book: Book, act: Act, result: Any) -> Refusal | None:
        key = self._key(act)
        return self.inner.breach(self._of(book, key), act, result) if key is not None else None

    def learn(self, book: Book, act: Act | None, outcome: str | None, result: Any) -> tuple[Book, Refusal | None]:
        if act is None:
            return book, None  # what belongs to no value
        field = self._field(act)
        key = self._key(act, result) if field is not None and field.result else self._key(act)
        if key is None:
            return book, None
        mine, wrong = self.inner.learn(self._of(book, key), act, outcome, result)
        return self._with(book, key, lambda _: mine), wrong

    def lapse(self, book: Book, now: float) -> tuple[Book, list[Owed]]:
        found: list[Owed] = []
        for bucket in list(book.values()):
            for key, mine in bucket.items():
                after, late = self.inner.lapse(mine, now)
                found += late
                if after is not mine:
                    book = self._with(book, key, lambda _, after=after: after)
        return book, found

    def owed(self, book: Book, facts: Facts) -> list[Owed]:
        return [owed for bucket in book.values() for mine in bucket.values() for owed in self.inner.owed(mine, facts)]

    def about(self, act: Act) -> bool | None:
        return self.inner.about(act)

    def binds(self, label: str) -> bool:
        return False

    def moves(self, before: Book, after: Book) -> dict[str, dict[str, Decimal]]:
        found = {}
        for number, bucket in after.items():
            old = before.get(number, {})
            for key, mine in bucket.items() if bucket is not old else ():
                had = old.get(key, self.inner.start)
                if mine is not had and (rows := self.inner.moves(had, mine)):
                    found[key] = rows[""]
        for number, bucket in before.items():
            # what is as it was at the beginning is not kept
            for key in bucket.keys() - after.get(number, {}).keys():
                if rows := self.inner.moves(bucket[key], self.inner.start):
                    found[key] = rows[""]
        return found

    def seen(self, book: Book, row: Callable[[str], dict[str, Decimal]], act: Act | None) -> Book:
        key = self._key(act) if act is not None else None
        if key is None:
            return {}
        return {_bucket(key): {key: self.inner.seen(self._of(book, key), lambda _: row(key), act)}}

    def idle(self, book: Book) -> bool:
        return all(self.inner.idle(mine) for bucket in book.values() for mine in bucket.values())

    def fits(self, book: Book) -> bool:
        return type(book) is dict and all(
            type(bucket) is dict and all(self.inner.fits(mine) for mine in bucket.values()) for bucket in book.values()
        )

    def thaw(self, book: Book) -> Book:
        return {number: {key: self.inner.thaw(mine) for key, mine in bucket.items()} for number, bucket in book.items()}

    def _of(self, book: Book, key: str) -> Book:
        return book.get(_bucket(key), {}).get(key, self.inner.start)

    def _with(self, book: Book, key: str | None, change: Any) -> Book:
        if key is None:
            return book
        mine = self._of(book, key)
        after = change(mine)
        if after is mine:
            return book
        number = _bucket(key)
        bucket = dict(book.get(number, {}))
        if after == self.inner.start:
            bucket.pop(key, None)
        else:
            bucket[key] = after
        fresh = dict(book)
        if bucket:
            fresh[number] = bucket
        else:
            fresh.pop(number, None)
        return fresh


def _bucket(key: str) -> str:
    return str(crc32(key.encode()) % _BUCKETS)
