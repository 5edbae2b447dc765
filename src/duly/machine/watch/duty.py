"""Duties: what must follow once something has begun, within a number of acts or of seconds.

A duty begins when its act is admitted, goes if that is given back, and is paid by a success that was admitted in time.
One that was not paid in time is found once, and then no longer owed.
"""

from typing import Any, ClassVar, Literal, TypedDict

from ..terms import Rule
from .member import Act, Member
from .watch import Book, Call, Facts, Owed, Refusal, Seconds, Watch, unsure


class Follow(Watch):
    """What both kinds share. The book is {"due": duties}, each a list that begins with the id of its act."""

    timed = True
    start: ClassVar[Book] = {"due": []}

    def __init__(self, rule: Rule, of: Member, by: Member) -> None:
        super().__init__(rule, of, by)
        self.of, self.by = of, by

    def owed(self, book: Book, facts: Facts) -> list[Owed]:
        message, help = f"`{self.by.shown}` must follow `{self.of.shown}`", f"`{self.by.shown}` is still to be done"
        return [Owed("owed", message, help, tuple(sorted(self.by.labels))) for _ in book["due"]]

    def _late(self, within: str) -> Owed:
        message = f"`{self.by.shown}` did not follow `{self.of.shown}` within {within}"
        return Owed("late", message, "it is no longer owed", tuple(sorted(self.by.labels)))

    def _unsure(self, act: Act) -> Refusal | None:
        return next((unsure(member, act) for member in (self.of, self.by) if member.takes(act) is None), None)

    def _now(self, book: Book, due: list[Any]) -> Book:
        return book if due == book["due"] else {"due": due}


class ActsBook(TypedDict):
    due: list[tuple[Call, list[tuple[Call, Literal["no", "pays", "paid"]]]]]


class FollowWithinActs(Follow):
    """A ``by`` must be among the next ``acts`` admitted acts; others that leave no room for it are refused.

    A duty is [id, row]; the row holds the acts since as [id (None: ended), "no", "pays" or "paid"].
    """

    shape: ClassVar[Any] = ActsBook
    everywhere = True

    def __init__(self, rule: Rule, of: Member, by: Member, acts: int) -> None:
        super().__init__(rule, of, by)
        self.acts = acts

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        doubt = self._unsure(act)
        if doubt is not None or self.by.takes(act) or not self._full(book):
            return doubt
        message = f"`{act.label}` leaves no room for `{self.by.shown}`, which must follow `{self.of.shown}`"
        return Refusal("duty", message, f"`{self.by.shown}` comes first", tuple(sorted(self.by.labels)))

    def _full(self, book: Book) -> bool:
        """Whether one more act that does not pay leaves no room for one that does."""
        return any(len(row) + 1 >= self.acts and not self._hopes(row) for _, row in book["due"])

    def _hopes(self, row: list[Any]) -> bool:
        return any(pays != "no" for _, pays in row[: self.acts])

    def admit(self, book: Book, act: Act) -> Book:
        pays = "no" if self.by.takes(act) is not True else "pays" if act.id is not None else "paid"
        due = self._unpaid([[id, self._kept([*row, [act.id, pays]])] for id, row in book["due"]])
        return self._now(book, [*due, [act.id, []]] if self.of.takes(act) is True else due)

    def _unpaid(self, due: list[Any]) -> list[Any]:
        return [duty for duty in due if not any(pays == "paid" for _, pays in duty[1][: self.acts])]

    def _kept(self, row: list[Any]) -> list[Any]:
        """What comes after so many acts that have ended can make no difference any more."""
        ended = 0
        for place, (id, _) in enumerate(row):
            ended += id is None
            if ended == self.acts:
                return row[: place + 1]
        return row

    def back(self, book: Book, act: Act) -> Book:
        due = [[id, [each for each in row if each[0] != act.id]] for id, row in book["due"] if id != act.id]
        # one that came too late comes in time where an act before it has not happened
        return self._now(book, self._unpaid(due))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        return book if act.id is None else self._ended(book, act, "paid" if self.by.takes(act) is True else "no")

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self._ended(book, act, "no")

    def _ended(self, book: Book, act: Act, how: str) -> Book:
        due = []
        for id, row in book["due"]:
            row = [[None, how] if each[0] == act.id else each for each in row]
            # what began it has happened, and is given back no more
            due.append([None if id == act.id else id, self._kept(row)])
        return self._now(book, self._unpaid(due))

    def lapse(self, book: Book, now: float) -> tuple[Book, list[Owed]]:
        left = [duty for duty in book["due"] if len(duty[1]) < self.acts or self._hopes(duty[1])]
        missed = len(book["due"]) - len(left)
        if not missed:
            return book, []
        return {"due": left}, [self._late(f"{self.acts} act{'' if self.acts == 1 else 's'}")] * missed

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return label not in self.by.labels and self._full(book)

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.by.labels))


class TimeBook(TypedDict):
    due: list[tuple[Call, Seconds, list[str]]]


class FollowWithinTime(Follow):
    """A ``by`` must succeed that is admitted within ``seconds``.

    A duty is [id, when it ends, calls of ``by`` that were admitted in time].
    """

    shape: ClassVar[Any] = TimeBook

    def __init__(self, rule: Rule, of: Member, by: Member, seconds: float) -> None:
        super().__init__(rule, of, by)
        self.seconds = seconds

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        return self._unsure(act)

    def admit(self, book: Book, act: Act) -> Book:
        due = book["due"]
        if self.by.takes(act) is True:
            if act.id is None:
                # what is said or received has succeeded at once
                due = [duty for duty in due if not act.at < duty[1]]
            else:
                due = [[id, ends, [*tries, act.id] if act.at < ends else tries] for id, ends, tries in due]
        return self._now(book, [*due, [act.id, act.at + self.seconds, []]] if self.of.takes(act) is True else due)

    def back(self, book: Book, act: Act) -> Book:
        return self._now(book, [duty for duty in self._without(book, act) if duty[0] != act.id])

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if act.id is None:
            return book
        if self.by.takes(act) is not True:
            return self.spent(book, act, result)
        left = [duty for duty in book["due"] if act.id not in duty[2]]
        return self.spent(self._now(book, left), act, result)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        due = self._without(book, act)
        return self._now(book, [[None if id == act.id else id, ends, tries] for id, ends, tries in due])

    def _without(self, book: Book, act: Act) -> list[Any]:
        return [[id, ends, [each for each in tries if each != act.id]] for id, ends, tries in book["due"]]

    def lapse(self, book: Book, now: float) -> tuple[Book, list[Owed]]:
        left = [duty for duty in book["due"] if now < duty[1] or duty[2]]
        missed = len(book["due"]) - len(left)
        return ({"due": left}, [self._late(f"{self.seconds:g} s")] * missed) if missed else (book, [])

    def thaw(self, book: Book) -> Book:
        return {"due": [[id, float(ends), tries] for id, ends, tries in book["due"]]}
