"""Rules that count: how many at most, how many at least, how often the same."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar, Final, TypedDict

from duly.values.expr import UNSET, normal
from duly.values.plain import write_sorted

from ..terms import Rule
from .member import Act, Field, Member, at
from .watch import (
    Batch,
    Book,
    Call,
    Facts,
    Natural,
    Owed,
    Refusal,
    Watch,
    earlier,
    natural,
    no_limit,
    seen,
    unsure,
    whole,
    within,
)

MOST: Final = 1000
"""Acts in a row that are remembered where only a fact says how many may be equal."""
Weight = int | Field
"""What one act counts: a number, or a field that holds one, or a list that weighs its length."""


class AtMostBook(TypedDict):
    n: Natural
    open: dict[str, Natural]


class AtMost(Watch):
    """At most ``n`` admitted acts, or what they weigh. With ``each`` the limit is one on every single act.

    The book's ``n`` holds what has been admitted and not given back, open calls among them.
    """

    counts = True
    start: ClassVar[Book] = {"n": 0, "open": {}}
    shape: ClassVar[Any] = AtMostBook

    def __init__(self, rule: Rule, of: Member, n: int | str, weigh: dict[str, Weight], *, each: bool = False) -> None:
        super().__init__(rule, of)
        self.of, self.n, self.weigh, self.each = of, n, weigh, each

    def _weight(self, act: Act) -> int | None:
        weight = self.weigh.get(act.label, 1)
        if isinstance(weight, int):
            return weight
        found = at(weight, act.args)
        return len(found) if type(found) is list else natural(found)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        if not judged:
            return None
        weight = self._weight(act)
        if weight is None:
            field = self.weigh[act.label]
            name = field.text if isinstance(field, Field) else ""
            message = f"`{name}` of `{act.label}` is neither a list nor a whole number from 0, by which it is counted"
            return Refusal("count", message, "correct the arguments")
        limit = whole(self.n, act.values.get("facts", {}))
        if limit is None:
            return no_limit(self.n, act)
        taken = 0 if self.each else book["n"]
        if taken + weight <= limit:
            return None
        where = within(self.scope)
        if self.each:
            message = f"`{act.label}` counts {weight}, and at most {limit} are allowed at once"
        elif weight == 1 and not self.weigh:
            most = "once" if limit == 1 else f"{limit} times"
            message = (
                f"`{act.label}` is allowed {most}, and was admitted {taken} time{'' if taken == 1 else 's'}{where}"
            )
        else:
            message = f"`{act.label}` counts {weight}, and {max(limit - taken, 0)} of {limit} are left{where}"
        help = "do not ask for it again" if taken >= limit else "ask for less"
        help += "" if self.scope in ("session", "store") or self.each else f" before the next {self.scope}"
        return Refusal("count", message, help, excess=True)

    def admit(self, book: Book, act: Act) -> Book:
        if self.each or self.of.takes(act) is not True:
            return book
        weight = self._weight(act) or 0
        if act.id is None:
            return {**book, "n": book["n"] + weight}
        return {"n": book["n"] + weight, "open": {**book["open"], act.id: weight}}

    def back(self, book: Book, act: Act) -> Book:
        return self._settled(book, act, keep=False)

    def win(self, book: Book, act: Act, result: Any) -> Book:
        return self._settled(book, act, keep=True)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self.win(book, act, result)

    def _settled(self, book: Book, act: Act, *, keep: bool) -> Book:
        if act.id not in book["open"]:
            return book
        rest = {key: value for key, value in book["open"].items() if key != act.id}
        return {"n": book["n"] - (0 if keep else book["open"][act.id]), "open": rest}

    def about(self, act: Act) -> bool | None:
        return self.of.takes(act)

    def binds(self, label: str) -> bool:
        return self.of.labels.get(label) == ()

    def share(self, book: Book) -> dict[str, Decimal]:
        return {"n": Decimal(book["n"])}

    def seen(self, book: Book, row: Callable[[str], dict[str, Decimal]], act: Act | None) -> Book:
        return {"n": int(row("").get("n", 0)), "open": {}}

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        if self.of.labels.get(label) != ():
            return False
        weight, limit = self.weigh.get(label, 1), whole(self.n, facts)
        least = weight if isinstance(weight, int) else 0
        return limit is None or (0 if self.each else book["n"]) + least > limit


class AtLeastBook(TypedDict):
    n: Natural
    batches: list[Batch]


class AtLeast(Watch):
    """``n`` successes before the end; with ``before``, acts of that are refused while they are owed."""

    start: ClassVar[Book] = {"n": 0, "batches": []}
    shape: ClassVar[Any] = AtLeastBook

    def __init__(self, rule: Rule, of: Member, n: int | str, before: Member | None = None) -> None:
        super().__init__(rule, of, *([before] if before is not None else []))
        self.of, self.n, self.before = of, n, before

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        if self.before is None:
            return None
        judged = self.before.takes(act)
        if judged is None or self.of.takes(act) is None:
            return unsure(self.before if judged is None else self.of, act)
        if not judged or earlier(book["batches"], act.batch):
            return None
        message = f"`{act.label}` comes before `{self.of.shown}` has happened"
        return Refusal("owed", message, f"`{self.of.shown}` must succeed first", tuple(sorted(self.of.labels)))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.of.takes(act) is not True:
            return book
        # more than is asked for makes no difference, nor does whose siblings more than two of them are
        more = 0 if isinstance(self.n, int) and book["n"] >= self.n else 1
        batches = seen(book["batches"], act.batch) if self.before is not None else book["batches"]
        return {"n": book["n"] + more, "batches": batches} if more or batches is not book["batches"] else book

    def owed(self, book: Book, facts: Facts) -> list[Owed]:
        n = whole(self.n, facts)
        if n is not None and book["n"] >= n:
            return []
        done = "once" if book["n"] == 1 else f"{book['n']} times"
        message = f"`{self.of.shown}` must succeed at least {n} times, and did so {done}"
        if n == 1:
            message = f"`{self.of.shown}` must have happened"
        elif n is None:
            message = f"the fact `{self.n}`, which says how often `{self.of.shown}` must succeed, is no number"
        return [Owed("owed", message, f"`{self.of.shown}` is still to be done", tuple(sorted(self.of.labels)))]

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.before is not None and self.before.labels.get(label) == () and not book["n"]

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        owing = self.before is not None and label in self.before.labels and not book["n"]
        return tuple(sorted(self.of.labels)) if owing else ()


class NoRepeatBook(TypedDict):
    row: list[tuple[Call, str]]


class NoRepeat(Watch):
    """The (``n`` + 1)-th equal act in a row is refused; a row is broken by any other act of ``of``.

    With ``among`` it is refused among so many acts, itself included, whatever stands between them.
    """

    counts = True
    start: ClassVar[Book] = {"row": []}
    shape: ClassVar[Any] = NoRepeatBook

    def __init__(self, rule: Rule, of: Member, n: int | str, among: int | None = None) -> None:
        super().__init__(rule, of)
        self.of, self.n, self.among = of, n, among

    def _mark(self, act: Act) -> str:
        known = act.known.get(("mark",), UNSET)
        if known is UNSET:
            from hashlib import sha256

            text = f"{act.label} ".encode() + write_sorted(normal(act.args))
            known = act.known[("mark",)] = sha256(text).hexdigest()[:32]
        return str(known)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        if not judged:
            return None
        n = whole(self.n, act.values.get("facts", {}))
        if n is None:
            return no_limit(self.n, act)
        back = n if self.among is None else self.among - 1
        row = book["row"][-back:] if back else []
        if sum(mark == self._mark(act) for _, mark in row) < n:
            return None
        times = "once" if n == 1 else f"{n} times in a row" if self.among is None else f"{n} times"
        where = "" if self.among is None else f", among the last {back} acts"
        message = f"this `{act.label}` was asked for with equal arguments {times} already{where}"
        return Refusal("repeat", message, "change the arguments, or do something else")

    def admit(self, book: Book, act: Act) -> Book:
        if self.of.takes(act) is not True:
            return book
        row = [*book["row"], [act.id, self._mark(act)]]
        # what is before so many that are sure can make no difference any more
        sure, most = 0, self.n if isinstance(self.n, int) else MOST
        most = most if self.among is None else self.among - 1
        for place in range(len(row) - 1, -1, -1):
            sure += row[place][0] is None
            if sure == most:
                row = row[place:]
                break
        return {"row": row}

    def back(self, book: Book, act: Act) -> Book:
        return {"row": [each for each in book["row"] if each[0] != act.id]} if self._in(book, act) else book

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if not self._in(book, act):
            return book
        return {"row": [[None if id == act.id else id, mark] for id, mark in book["row"]]}

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self.win(book, act, result)

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.of.labels.get(label) == () and whole(self.n, facts) in (0, None)

    def _in(self, book: Book, act: Act) -> bool:
        return act.id is not None and any(id == act.id for id, _ in book["row"])
