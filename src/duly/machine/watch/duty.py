"""Duties: what must follow once something has begun, within a number of acts or of seconds.

A duty begins when its act is admitted, goes if that is given back, and is paid by a success that was admitted in time.
"""

from typing import Any, ClassVar

from ..terms import Rule
from .member import Act, Member
from .watch import Book, Owed, Refusal, Watch, unsure


class Follow(Watch):
    """What both kinds share. The book is {"due": duties}, each a list that begins with the id of its act."""

    start: ClassVar[Book] = {"due": []}

    def __init__(self, rule: Rule, of: Member, by: Member) -> None:
        super().__init__(rule, of, by)
        self.of, self.by = of, by

    def owed(self, book: Book) -> list[Owed]:
        message, help = f"`{self.by.shown}` must follow `{self.of.shown}`", f"`{self.by.shown}` is still to be done"
        return [Owed("owed", message, help, tuple(sorted(self.by.labels))) for _ in book["due"]]

    def _unsure(self, act: Act) -> Refusal | None:
        return next((unsure(member, act) for member in (self.of, self.by) if member.takes(act) is None), None)

    def _now(self, book: Book, due: list[Any]) -> Book:
        return book if due == book["due"] else {**book, "due": due}


class FollowWithinActs(Follow):
    """A ``by`` must be among the next ``acts`` admitted acts; others that leave no room for it are refused.

    A duty is [id, row]; the row holds the acts since as [id (None: ended), "no", "pays" or "paid"].
    """

    everywhere = True

    def __init__(self, rule: Rule, of: Member, by: Member, acts: int) -> None:
        super().__init__(rule, of, by)
        self.acts = acts

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        doubt = self._unsure(act)
        if doubt is not None or self.by.takes(act):
            return doubt
        for _, row in book["due"]:
            if len(row) + 1 >= self.acts and not any(pays == "pays" for _, pays in row[: self.acts]):
                message = f"`{act.label}` leaves no room for `{self.by.shown}`, which must follow `{self.of.shown}`"
                return Refusal("duty", message, f"`{self.by.shown}` comes first", tuple(sorted(self.by.labels)))
        return None

    def admit(self, book: Book, act: Act) -> Book:
        pays = "pays" if self.by.takes(act) is True else "no"
        due = [[id, self._kept([*row, [act.id, pays]])] for id, row in book["due"]]
        return self._now(book, [*due, [act.id, []]] if self.of.takes(act) is True else due)

    def _kept(self, row: list[Any]) -> list[Any]:
        """What comes after so many acts that have ended can make no difference any more."""
        ended = 0
        for place, (id, _) in enumerate(row):
            ended += id is None
            if ended == self.acts:
                return row[: place + 1]
        return row

    def back(self, book: Book, act: Act) -> Book:
        if act.id is None:
            return book
        due = [[id, [each for each in row if each[0] != act.id]] for id, row in book["due"] if id != act.id]
        return self._now(book, [duty for duty in due if not self._paid(duty[1])])

    def win(self, book: Book, act: Act, result: Any) -> Book:
        pays = self.by.takes(act) is True
        if act.id is None:
            # what is said or received has happened at once; it pays duties that were there before it
            mine = [duty for duty in book["due"] if duty[0] is None and not duty[1]][-1:] if pays else []
            return self._now(book, [duty for duty in book["due"] if not pays or duty in mine])
        return self._ended(book, act, "paid" if pays else "no")

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self._ended(book, act, "no")

    def _ended(self, book: Book, act: Act, how: str) -> Book:
        due = [
            [id, self._kept([[None, how] if each[0] == act.id else each for each in row])] for id, row in book["due"]
        ]
        return self._now(book, [duty for duty in due if not self._paid(duty[1])])

    def _paid(self, row: list[Any]) -> bool:
        return any(pays == "paid" for _, pays in row[: self.acts])


class FollowWithinTime(Follow):
    """A ``by`` must succeed that is admitted within ``seconds``; at the limit one finding, then it is no longer owed.

    A duty is [id, when it ends, calls of ``by`` that were admitted in time].
    """

    timed = True

    def __init__(self, rule: Rule, of: Member, by: Member, seconds: float) -> None:
        super().__init__(rule, of, by)
        self.seconds = seconds

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        return self._unsure(act)

    def admit(self, book: Book, act: Act) -> Book:
        due = book["due"]
        if self.by.takes(act) is True and act.id is not None:
            due = [[id, ends, [*tries, act.id] if act.at < ends else tries] for id, ends, tries in due]
        return self._now(book, [*due, [act.id, act.at + self.seconds, []]] if self.of.takes(act) is True else due)

    def back(self, book: Book, act: Act) -> Book:
        return self._now(book, [duty for duty in self._without(book, act) if act.id is None or duty[0] != act.id])

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.by.takes(act) is not True:
            return book
        if act.id is None:
            return self._now(book, [duty for duty in book["due"] if not act.at < duty[1]])
        return self._now(book, [duty for duty in book["due"] if act.id not in duty[2]])

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self._now(book, self._without(book, act))

    def _without(self, book: Book, act: Act) -> list[Any]:
        return [[id, ends, [each for each in tries if each != act.id]] for id, ends, tries in book["due"]]

    def lapse(self, book: Book, now: float) -> tuple[Book, list[Owed]]:
        late = [duty for duty in book["due"] if now >= duty[1] and not duty[2]]
        if not late:
            return book, []
        message = f"`{self.by.shown}` did not follow `{self.of.shown}` within {self.seconds:g} s"
        owed = Owed("late", message, "it is no longer owed", tuple(sorted(self.by.labels)))
        return {**book, "due": [duty for duty in book["due"] if duty not in late]}, [owed] * len(late)

    def thaw(self, book: Book) -> Book:
        return {**book, "due": [[id, float(ends), tries] for id, ends, tries in book["due"]]}
