"""Duties: what must follow once something has begun, within a number of acts or of seconds."""

from typing import Any, ClassVar

from ..terms import Rule
from .member import Act, Member
from .watch import Book, Owed, Refusal, Watch, unsure


class MustFollow(Watch):
    """After each admitted ``of``, a ``by`` must succeed that is admitted within ``acts`` acts or ``seconds``.

    A duty is [id of its act, what is left of its acts or when it ends, calls of `by` admitted in time].
    """

    start: ClassVar[Book] = {"due": []}

    def __init__(self, rule: Rule, of: Member, by: Member, acts: int | None, seconds: float | None) -> None:
        super().__init__(rule, of, by)
        self.of, self.by, self.acts, self.seconds = of, by, acts, seconds
        self.timed = seconds is not None
        self.everywhere = acts is not None

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        for member in (self.of, self.by):
            if member.takes(act) is None:
                return unsure(member, act)
        if self.acts is None or self.by.takes(act):
            return None
        if any(left <= 1 and not tries for _, left, tries in book["due"]):
            message = f"`{act.label}` leaves no room for `{self.by.shown}`, which must follow `{self.of.shown}`"
            return Refusal("duty", message, f"`{self.by.shown}` comes first", tuple(sorted(self.by.labels)))
        if self.acts == 0 and self.of.takes(act):
            return Refusal("duty", f"nothing may follow `{act.label}` in time", "do without it")
        return None

    def admit(self, book: Book, act: Act) -> Book:
        due = book["due"]
        mine, pays = self.of.takes(act) is True, self.by.takes(act) is True
        if due:
            if self.acts is not None:
                # a duty has room for so many acts, this one among them
                due = [[id, left - 1, [*tries, act.id] if pays and left > 0 else tries] for id, left, tries in due]
            elif pays:
                due = [[id, ends, [*tries, act.id] if act.at < ends else tries] for id, ends, tries in due]
        if mine:
            limit = self.acts if self.acts is not None else act.at + (self.seconds or 0.0)
            due = [*due, [act.id, limit, []]]
        return book if due is book["due"] else {**book, "due": due}

    def back(self, book: Book, act: Act) -> Book:
        due = [
            [id, left, [each for each in tries if each != act.id]] for id, left, tries in book["due"] if id != act.id
        ]
        return book if due == book["due"] else {**book, "due": due}

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.by.takes(act) is not True:
            return book
        if act.id is None:
            # a message is admitted and succeeds at once; one that is received takes no place among the acts
            due = [each for each in book["due"] if not (self.acts is not None or act.at < each[1])]
        else:
            due = [each for each in book["due"] if act.id not in each[2]]
        return book if len(due) == len(book["due"]) else {**book, "due": due}

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        # what happened without success begins a duty as before, and pays none
        due = [[id, left, [each for each in tries if each != act.id]] for id, left, tries in book["due"]]
        return book if due == book["due"] else {**book, "due": due}

    def lapse(self, book: Book, now: float) -> tuple[Book, list[Owed]]:
        late = [each for each in book["due"] if self.seconds is not None and now >= each[1] and not each[2]]
        if not late:
            return book, []
        message = f"`{self.by.shown}` did not follow `{self.of.shown}` within {self.seconds:g} s"
        owed = Owed("late", message, "it is no longer owed", tuple(sorted(self.by.labels)))
        return {**book, "due": [each for each in book["due"] if each not in late]}, [owed] * len(late)

    def owed(self, book: Book) -> list[Owed]:
        return [
            Owed("owed", f"`{self.by.shown}` must follow `{self.of.shown}`", f"`{self.by.shown}` is still to be done",
                 tuple(sorted(self.by.labels)))
            for _ in book["due"]
        ]  # fmt: skip
