"""Rules about time: windows, rests, freshness. All intervals are half open: at their end they are over."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar, TypedDict

from ..terms import Rule
from .member import Act, Member
from .watch import Book, Facts, Refusal, Seconds, Watch, no_limit, unsure, whole, within
from .won import Row, WonBook, ended, ending, gained, lost, open_to, sure, thawed


class RateBook(TypedDict):
    at: list[Seconds]
    open: dict[str, Seconds]


class Rate(Watch):
    """At most ``n`` admitted acts younger than ``per`` seconds."""

    counts = True
    start: ClassVar[Book] = {"at": [], "open": {}}
    shape: ClassVar[Any] = RateBook

    def __init__(self, rule: Rule, of: Member, n: int | str, per: float) -> None:
        super().__init__(rule, of)
        self.of, self.n, self.per = of, n, per

    def _young(self, book: Book, now: float) -> list[float]:
        times = [*book["at"], *book["open"].values()]
        return sorted(each for each in times if now - each < self.per)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        if not judged:
            return None
        n = whole(self.n, act.values.get("facts", {}))
        if n is None:
            return no_limit(self.n, act)
        young = self._young(book, act.at)
        if len(young) < n:
            return None
        # room comes when enough of them are old
        wait = (young[len(young) - n] + self.per - act.at) if n else None
        most = "once" if n == 1 else f"{n} times"
        help = f"wait {wait:g} s" if wait is not None else "do without it"
        message = f"`{act.label}` is allowed {most} in {self.per:g} s{within(self.scope)}"
        return Refusal("rate", message, help, wait=wait)

    def admit(self, book: Book, act: Act) -> Book:
        if self.of.takes(act) is not True:
            return book
        young = [each for each in book["at"] if act.at - each < self.per]
        if isinstance(self.n, int):
            young = young[-self.n :] if self.n else []
        if act.id is None:
            return {**book, "at": [*young, act.at]}
        return {"at": young, "open": {**book["open"], act.id: act.at}}

    def back(self, book: Book, act: Act) -> Book:
        return self._settled(book, act, keep=False)

    def win(self, book: Book, act: Act, result: Any) -> Book:
        return self._settled(book, act, keep=True)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self.win(book, act, result)

    def _settled(self, book: Book, act: Act, *, keep: bool) -> Book:
        if act.id not in book["open"]:
            return book
        then = book["open"][act.id]
        rest = {key: value for key, value in book["open"].items() if key != act.id}
        return {"at": sorted([*book["at"], then]) if keep else book["at"], "open": rest}

    def about(self, act: Act) -> bool | None:
        return self.of.takes(act)

    def binds(self, label: str) -> bool:
        return self.of.labels.get(label) == ()

    def moves(self, before: Book, after: Book) -> dict[str, dict[str, Decimal]]:
        """By the times of admissions; a time that is merely forgotten, since it is old, was there all the same."""
        row: Counter[float] = Counter(after["open"].values())
        row.subtract(Counter(before["open"].values()))
        row.update(Counter(after["at"]) - Counter(before["at"]))
        found = {repr(at): Decimal(n) for at, n in row.items() if n}
        return {"": found} if found else {}

    def seen(self, book: Book, row: Callable[[str], dict[str, Decimal]], act: Act | None) -> Book:
        times = sorted((float(at), int(n)) for at, n in row("").items())
        return {"at": [at for at, n in times for _ in range(n)], "open": {}}

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        n = whole(self.n, facts)
        return self.of.labels.get(label) == () and (n is None or len(self._young(book, now)) >= n)

    def waits(self, book: Book, label: str, now: float, facts: Facts) -> float | None:
        young, n = self._young(book, now), whole(self.n, facts)
        if not n or len(young) < n:
            return None
        return young[len(young) - n] + self.per - now

    def thaw(self, book: Book) -> Book:
        return {"at": [*map(float, book["at"])], "open": {id: float(at) for id, at in book["open"].items()}}


class Within(Watch):
    """``of`` is refused later than ``t`` seconds after the last success of ``after``."""

    start: ClassVar[Book] = {"won": []}
    shape: ClassVar[Any] = WonBook

    def __init__(self, rule: Rule, of: Member, after: Member, t: float) -> None:
        super().__init__(rule, of, after)
        self.of, self.after, self.t, self.called = of, after, t, rule.on == "called"

    def _late(self, book: Book, now: float, batch: str | None = None) -> bool:
        row = open_to(book["won"], batch)
        return bool(row) and all(now - each[1] >= self.t for each in row)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None or self.after.takes(act) is None:
            return unsure(self.of if judged is None else self.after, act)
        if not judged or not self._late(book, act.at, act.batch):
            return None
        message = f"`{act.label}` comes later than {self.t:g} s after `{self.after.shown}`"
        return Refusal("late", message, f"`{self.after.shown}` must succeed again", tuple(sorted(self.after.labels)))

    def admit(self, book: Book, act: Act) -> Book:
        mine = self.called and self.after.takes(act) is True
        return {"won": gained(book["won"], act, sure=act.id is None)} if mine else book

    def back(self, book: Book, act: Act) -> Book:
        return _row(book, lost(book["won"], act.id))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if not self.called and self.after.takes(act) is True:
            return {"won": gained(book["won"], act)}
        return self.spent(book, act, result)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return _row(book, sure(book["won"], act.id))

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.of.labels.get(label) == () and self._late(book, now)

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.after.labels)) if label in self.of.labels else ()

    def thaw(self, book: Book) -> Book:
        return {"won": thawed(book["won"])}


class Fresh(Watch):
    """``then`` needs a success of ``of`` within ``lasts`` seconds, and no ``until`` admitted since."""

    start: ClassVar[Book] = {"won": []}
    shape: ClassVar[Any] = WonBook

    def __init__(self, rule: Rule, of: Member, then: Member, lasts: float | None, until: Member | None) -> None:
        super().__init__(rule, of, then, *([until] if until is not None else []))
        self.of, self.then, self.lasts, self.until, self.called = of, then, lasts, until, rule.on == "called"

    def _is(self, book: Book, now: float, batch: str | None = None) -> bool:
        return any(self.lasts is None or now - each[1] < self.lasts for each in open_to(book["won"], batch))

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        for member in (self.of, self.then, self.until):
            if member is not None and member.takes(act) is None:
                return unsure(member, act)
        if not self.then.takes(act) or self._is(book, act.at, act.batch):
            return None
        since = "" if self.lasts is None else f" within the last {self.lasts:g} s"
        until = "" if self.until is None else f", and no `{self.until.shown}` since"
        message = f"`{act.label}` needs a `{self.of.shown}` that succeeded{since}{until}"
        return Refusal("stale", message, f"`{self.of.shown}` must succeed again", tuple(sorted(self.of.labels)))

    def admit(self, book: Book, act: Act) -> Book:
        row = book["won"]
        if row and self.until is not None and self.until.takes(act) is True:
            row = ending(row, act.id)
        if self.called and self.of.takes(act) is True:
            row = gained(row, act, sure=act.id is None)
        return book if row is book["won"] else {"won": row}

    def back(self, book: Book, act: Act) -> Book:
        return _row(book, lost(book["won"], act.id))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        row = sure(ended(book["won"], act.id), act.id)
        if not self.called and self.of.takes(act) is True:
            row = gained(row, act)
        return _row(book, row)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return _row(book, sure(ended(book["won"], act.id), act.id))

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.then.labels.get(label) == () and not self._is(book, now)

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.of.labels)) if label in self.then.labels else ()

    def thaw(self, book: Book) -> Book:
        return {"won": thawed(book["won"])}


def _row(book: Book, row: Row) -> Book:
    return book if row == book["won"] else {"won": row}
