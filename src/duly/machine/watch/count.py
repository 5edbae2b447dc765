"""Rules that count: how many at most, how many at least, how often the same."""

from decimal import Decimal
from typing import Any, ClassVar

from duly.values.expr import UNSET, normal
from duly.values.plain import write_sorted

from ..terms import Rule
from .member import Act, Field, Member, at
from .watch import Book, Owed, Refusal, Watch, no_limit, unsure, whole

Weight = int | Field
"""What one act counts: a number, or a field that holds one, or a list that weighs its length."""


class AtMost(Watch):
    """At most ``n`` admitted acts, or what they weigh. With ``each`` the limit is one on every single act.

    The book's ``n`` holds what has been admitted and not given back, open calls among them.
    """

    counts = True
    start: ClassVar[Book] = {"n": 0, "open": {}}

    def __init__(self, rule: Rule, of: Member, n: int | str, weigh: dict[str, Weight], *, each: bool = False) -> None:
        super().__init__(rule, of)
        self.of, self.n, self.weigh, self.each = of, n, weigh, each

    def _weight(self, act: Act) -> int | None:
        weight = self.weigh.get(act.label, 1)
        if isinstance(weight, int):
            return weight
        found = at(weight, act.args)
        if type(found) is list:
            return len(found)
        if type(found) is Decimal and found == found.to_integral_value() and found.adjusted() < 300:
            found = int(found)
        return found if type(found) is int and found >= 0 else None

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
        limit = whole(self.n, act)
        if limit is None:
            return no_limit(self.n, act)
        taken = 0 if self.each else book["n"]
        if taken + weight <= limit:
            return None
        where = "" if self.scope == "session" else f" in this {self.scope}"
        if self.each:
            message = f"`{act.label}` counts {weight}, and at most {limit} are allowed at once"
        elif weight == 1 and not self.weigh:
            most = "once" if self.n == 1 else f"{self.n} times"
            message = (
                f"`{act.label}` is allowed {most}, and was admitted {taken} time{'' if taken == 1 else 's'}{where}"
            )
        else:
            message = f"`{act.label}` counts {weight}, and {limit - taken} of {limit} are left{where}"
        help = "do not ask for it again" if taken >= limit else "ask for less"
        return Refusal("count", message, help + ("" if self.scope == "session" else f" before the next {self.scope}"))

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

    def shut(self, book: Book, label: str, now: float) -> bool:
        if self.of.labels.get(label) != () or isinstance(self.n, str):
            return False
        weight = self.weigh.get(label, 1)
        least = weight if isinstance(weight, int) else 0
        return (0 if self.each else book["n"]) + least > self.n


class AtLeast(Watch):
    """``n`` successes before the end; with ``before``, acts of that are refused while they are owed."""

    start: ClassVar[Book] = {"n": 0, "batches": []}

    def __init__(self, rule: Rule, of: Member, n: int, before: Member | None = None) -> None:
        super().__init__(rule, of, *([before] if before is not None else []))
        self.of, self.n, self.before = of, n, before

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        if self.before is None:
            return None
        judged = self.before.takes(act)
        if judged is None or self.of.takes(act) is None:
            return unsure(self.before if judged is None else self.of, act)
        done = book["n"] if act.batch is None else sum(each != act.batch for each in book["batches"])
        if not judged or done >= self.n:
            return None
        message = f"`{act.label}` comes before `{self.of.shown}` has happened"
        return Refusal("owed", message, f"`{self.of.shown}` must succeed first", tuple(sorted(self.of.labels)))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        batches = book["batches"]
        # so many of one batch are as good as more, and twice as many are enough for whoever asks
        if len(batches) >= 2 * self.n or batches.count(act.batch) >= self.n or self.of.takes(act) is not True:
            return book
        return {"n": book["n"] + 1, "batches": [*batches, act.batch]}

    def owed(self, book: Book) -> list[Owed]:
        if book["n"] >= self.n:
            return []
        times = "once" if self.n == 1 else f"{self.n} times"
        message = f"`{self.of.shown}` must succeed at least {times}, and did so {book['n']} times"
        if self.n == 1:
            message = f"`{self.of.shown}` must have happened"
        return [Owed("owed", message, f"`{self.of.shown}` is still to be done", tuple(sorted(self.of.labels)))]

    def shut(self, book: Book, label: str, now: float) -> bool:
        return self.before is not None and self.before.labels.get(label) == () and book["n"] < self.n

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.of.labels)) if self.shut(book, label, 0.0) else ()


class NoRepeat(Watch):
    """The (``n`` + 1)-th equal act in a row is refused; a row is broken by any other act of ``of``."""

    counts = True
    start: ClassVar[Book] = {"row": []}

    def __init__(self, rule: Rule, of: Member, n: int) -> None:
        super().__init__(rule, of)
        self.of, self.n = of, n

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
        row = book["row"][-self.n :] if self.n else []
        if len(row) < self.n or any(mark != self._mark(act) for _, mark in row):
            return None
        times = "once" if self.n == 1 else f"{self.n} times in a row"
        message = f"this `{act.label}` was asked for with equal arguments {times} already"
        return Refusal("repeat", message, "change the arguments, or do something else")

    def admit(self, book: Book, act: Act) -> Book:
        if self.of.takes(act) is not True:
            return book
        row = [*book["row"], [act.id, self._mark(act)]]
        # what is before so many that are sure can make no difference any more
        sure = 0
        for place in range(len(row) - 1, -1, -1):
            sure += row[place][0] is None
            if sure == self.n:
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

    def _in(self, book: Book, act: Act) -> bool:
        return act.id is not None and any(id == act.id for id, _ in book["row"])
