"""Rules about order: what must come before, what may not come after, what must be near."""

from typing import Any, ClassVar, TypedDict

from ..terms import Rule
from .member import Act, Member
from .watch import Batch, Book, Call, Facts, Natural, Refusal, Watch, earlier, seen, unsure
from .won import Row, WonBook, ended, ending, gained, lost, open_to, sure, thawed


class PrecedeBook(TypedDict):
    won: list[Batch]
    open: dict[str, Batch]


class Precede(Watch):
    """``then`` needs an earlier success of ``first`` (with ``on: called``: an earlier admission)."""

    start: ClassVar[Book] = {"won": [], "open": {}}
    shape: ClassVar[Any] = PrecedeBook

    def __init__(self, rule: Rule, first: Member, then: Member) -> None:
        super().__init__(rule, first, then)
        self.first, self.then, self.called = first, then, rule.on == "called"

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.then.takes(act)
        if judged is None or self.first.takes(act) is None:
            return unsure(self.then if judged is None else self.first, act)
        if not judged or earlier(book["won"], act.batch) or earlier([*book["open"].values()], act.batch):
            return None
        message = f"`{act.label}` needs an earlier `{self.first.shown}`"
        sibling = bool(book["won"])
        help = (
            "wait for the answer, then ask in a new message" if sibling else f"`{self.first.shown}` must succeed first"
        )
        return Refusal("order", message, help, tuple(sorted(self.first.labels)))

    def admit(self, book: Book, act: Act) -> Book:
        if not self.called or act.id is None or self.first.takes(act) is not True:
            return book
        return {**book, "open": {**book["open"], act.id: act.batch}}

    def back(self, book: Book, act: Act) -> Book:
        return _closed(book, act.id)

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.called and act.id is not None:
            return self.spent(book, act, result)
        return self._won(book, act.batch) if self.first.takes(act) is True else book

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        open = book["open"]
        return self._won(_closed(book, act.id), open[act.id]) if act.id in open else book

    def _won(self, book: Book, batch: str | None) -> Book:
        won = seen(book["won"], batch)
        return book if won is book["won"] else {**book, "won": won}

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.then.labels.get(label) == () and not book["won"] and not book["open"]

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.first.labels)) if not book["won"] and label in self.then.labels else ()


class NeverAfterBook(TypedDict):
    done: bool
    open: list[str]


class NeverAfter(Watch):
    """``never`` is refused once an ``after`` was admitted earlier (with ``on: returned``: once one succeeded)."""

    start: ClassVar[Book] = {"done": False, "open": []}
    shape: ClassVar[Any] = NeverAfterBook

    def __init__(self, rule: Rule, never: Member, after: Member) -> None:
        super().__init__(rule, never, after)
        self.never, self.after, self.returned = never, after, rule.on == "returned"

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged, trigger = self.never.takes(act), self.after.takes(act)
        if judged is None or trigger is None:
            return unsure(self.never if judged is None else self.after, act)
        if judged and (book["done"] or book["open"]):
            return Refusal("order", f"`{act.label}` may not come after `{self.after.shown}`", "do without it")
        return None

    def admit(self, book: Book, act: Act) -> Book:
        if book["done"] or self.returned or self.after.takes(act) is not True:
            return book
        if act.id is None:
            return {"done": True, "open": []}
        return {**book, "open": [*book["open"], act.id]}

    def back(self, book: Book, act: Act) -> Book:
        return {**book, "open": [each for each in book["open"] if each != act.id]} if act.id in book["open"] else book

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.returned and not book["done"] and self.after.takes(act) is True:
            return {"done": True, "open": []}
        return self.spent(book, act, result)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return {"done": True, "open": []} if act.id is not None and act.id in book["open"] else book

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.never.labels.get(label) == () and bool(book["done"] or book["open"])


class ExclusiveBook(TypedDict):
    done: list[Natural]
    open: dict[str, Natural]


class Exclusive(Watch):
    """Of several members, only one may occur; a call that is two of them never may."""

    start: ClassVar[Book] = {"done": [], "open": {}}
    shape: ClassVar[Any] = ExclusiveBook

    def __init__(self, rule: Rule, *members: Member) -> None:
        super().__init__(rule, *members)
        self.members, self.returned = members, rule.on == "returned"

    def _which(self, act: Act) -> list[int] | None:
        found = []
        for number, member in enumerate(self.members):
            answer = member.takes(act)
            if answer is None:
                return None
            if answer:
                found.append(number)
        return found

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        mine = self._which(act)
        if mine is None:
            return unsure(next(m for m in self.members if m.takes(act) is None), act)
        if len(mine) > 1:
            names = " and ".join(f"`{self.members[number].shown}`" for number in mine)
            return Refusal("exclusive", f"`{act.label}` is {names} at once, which exclude each other", "do one of them")
        others = {*book["done"], *book["open"].values()} - {*mine}
        if mine and others:
            other = self.members[min(others)].shown
            return Refusal("exclusive", f"`{act.label}` and `{other}` exclude each other", "do without it")
        return None

    def admit(self, book: Book, act: Act) -> Book:
        mine = () if self.returned and act.id is not None else self._which(act)
        if not mine or mine[0] in book["done"]:
            return book
        return self._done(book, mine[0]) if act.id is None else {**book, "open": {**book["open"], act.id: mine[0]}}

    def back(self, book: Book, act: Act) -> Book:
        return _closed(book, act.id)

    def win(self, book: Book, act: Act, result: Any) -> Book:
        mine = self._which(act) if self.returned else None
        return self._done(book, mine[0]) if mine else self.spent(book, act, result)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        if act.id not in book["open"]:
            return book
        return self._done(_closed(book, act.id), book["open"][act.id])

    def _done(self, book: Book, member: int) -> Book:
        return book if member in book["done"] else {**book, "done": sorted([*book["done"], member])}

    def fits(self, book: Book) -> bool:
        return super().fits(book) and all(
            member < len(self.members) for member in (*book["done"], *book["open"].values())
        )

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        mine = [number for number, member in enumerate(self.members) if member.labels.get(label) == ()]
        taken = {*book["done"], *book["open"].values()}
        return len(mine) > 1 or (len(mine) == 1 and bool(taken - {*mine}))


class AdjacentBook(TypedDict):
    row: list[tuple[Call, bool, Batch, bool]]


class Adjacent(Watch):
    """``then`` is refused unless the last admitted act is a ``first`` that has succeeded (``on: called``: or may).

    The book holds the last acts, from the last one on that is sure: [id, whether it is a ``first``, batch, won].
    """

    start: ClassVar[Book] = {"row": []}
    shape: ClassVar[Any] = AdjacentBook
    everywhere = True

    def __init__(self, rule: Rule, first: Member, then: Member) -> None:
        super().__init__(rule, first, then)
        self.first, self.then, self.called = first, then, rule.on == "called"

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.then.takes(act)
        if judged is None or self.first.takes(act) is None:
            return unsure(self.then if judged is None else self.first, act)
        if not judged or self._fits(book, act.batch):
            return None
        once = "" if self.called else ", once that has succeeded"
        message = f"`{act.label}` must come right after `{self.first.shown}`{once}"
        help = f"`{self.first.shown}` must be the act before it"
        return Refusal("order", message, help, tuple(sorted(self.first.labels)))

    def _fits(self, book: Book, batch: str | None) -> bool:
        if not book["row"]:
            return False
        _, mine, before, won = book["row"][-1]
        return bool(mine and (won or self.called) and (batch is None or before != batch))

    def admit(self, book: Book, act: Act) -> Book:
        mine = self.first.takes(act) is True
        return self._kept([*book["row"], [act.id, mine, act.batch, act.id is None]], act.id is None)

    def back(self, book: Book, act: Act) -> Book:
        row = [each for each in book["row"] if each[0] != act.id or act.id is None]
        return book if len(row) == len(book["row"]) else {"row": row}

    def win(self, book: Book, act: Act, result: Any) -> Book:
        return self._settled(book, act, True)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self._settled(book, act, False)

    def _settled(self, book: Book, act: Act, won: bool) -> Book:
        if act.id is None or not any(each[0] == act.id for each in book["row"]):
            return book
        row = [
            [None, mine, batch, won] if id == act.id else [id, mine, batch, was] for id, mine, batch, was in book["row"]
        ]
        return self._kept(row, True)

    def _kept(self, row: list[Any], sure: bool) -> Book:
        """What comes before the last act that is sure makes no difference any more."""
        place = max((number for number, each in enumerate(row) if each[0] is None), default=0) if sure else 0
        return {"row": row[place:]}

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.then.labels.get(label) == () and not self._fits(book, None)

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.first.labels)) if label in self.then.labels and not self._fits(book, None) else ()


class Between(Watch):
    """``of`` is refused outside a success of ``begin`` and the next admitted ``finish``."""

    start: ClassVar[Book] = {"won": []}
    shape: ClassVar[Any] = WonBook

    def __init__(self, rule: Rule, of: Member, begin: Member, finish: Member) -> None:
        super().__init__(rule, of, begin, finish)
        self.of, self.begin, self.finish, self.called = of, begin, finish, rule.on == "called"

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        for member in (self.of, self.begin, self.finish):
            if member.takes(act) is None:
                return unsure(member, act)
        if not self.of.takes(act) or open_to(book["won"], act.batch):
            return None
        message = f"`{act.label}` belongs between `{self.begin.shown}` and `{self.finish.shown}`"
        help = f"`{self.begin.shown}` must have succeeded first"
        return Refusal("order", message, help, tuple(sorted(self.begin.labels)))

    def admit(self, book: Book, act: Act) -> Book:
        row = book["won"]
        if row and self.finish.takes(act) is True:
            row = ending(row, act.id)
        if self.called and self.begin.takes(act) is True:
            row = gained(row, act, sure=act.id is None)
        return book if row is book["won"] else {"won": row}

    def back(self, book: Book, act: Act) -> Book:
        return _row(book, lost(book["won"], act.id))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        row = sure(ended(book["won"], act.id), act.id)
        if not self.called and self.begin.takes(act) is True:
            row = gained(row, act)
        return _row(book, row)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return _row(book, sure(ended(book["won"], act.id), act.id))

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.of.labels.get(label) == () and not open_to(book["won"], None)

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        mine = label in self.of.labels and not open_to(book["won"], None)
        return tuple(sorted(self.begin.labels)) if mine else ()

    def thaw(self, book: Book) -> Book:
        return {"won": thawed(book["won"])}


def _row(book: Book, row: Row) -> Book:
    return book if row == book["won"] else {"won": row}


def _closed(book: Book, id: str | None) -> Book:
    if id not in book["open"]:
        return book
    return {**book, "open": {key: value for key, value in book["open"].items() if key != id}}
