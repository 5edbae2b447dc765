"""What every rule with a book can do. A book is a plain value that is never changed in place; the same for all runs.

What permits is learnt from successes, what forbids or uses up from admissions; an admission that is known not to have
happened is taken back. So a book holds what is sure, and under the ids of open calls what may still be taken back.
"""

from collections.abc import Callable
from decimal import Context, Decimal
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta, Struct, ValidationError, convert

from ..terms import Rule
from .member import Act, Member

Book = Any
Facts = dict[str, Any]
Natural = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]
Batch = str | None
Call = str | None
"""The id of a call that may still be taken back, None where nothing takes it back any more."""
DIGITS: Final = 300
"""Digits of the longest number that counts."""


EXACT: Final = Context(prec=2000)
"""Digits within which sums are exact; a longer amount is no amount."""
_NONE: Final = Decimal(0)


def within(scope: str) -> str:
    """Where something is counted, as refusals say it."""
    return {"session": "", "store": " in all sessions of this store"}.get(scope, f" in this {scope}")


class Refusal(Struct, frozen=True):
    """Why an act is refused: the ``kind`` of a reason, and its words. After ``wait`` seconds it would not be;
    ``excess`` says that it is too much of something, which people may let by."""

    kind: str
    message: str
    help: str
    expected: tuple[str, ...] = ()
    wait: float | None = None
    excess: bool = False


class Owed(Struct, frozen=True):
    """What is still to be done, or was not done in time."""

    kind: str
    message: str
    help: str
    expected: tuple[str, ...] = ()


class Watch:
    """One rule over the acts and successes of ``labels``; ``everywhere`` says that it looks at every act.

    ``timed`` says that time alone changes its book; ``counts`` that it takes in whatever ran, also what it refused;
    ``heeds`` that ``learn`` is told of observations, with ``everywhere`` of all of them. ``shape`` is the type of its
    books, to which those that come from outside are held.
    """

    timed = False
    counts = False
    everywhere = False
    heeds = False
    start: ClassVar[Book] = {}
    shape: ClassVar[Any] = dict[str, Any]

    def __init__(self, rule: Rule, *members: Member) -> None:
        self.rule = rule
        self.id = rule.id
        self.scope = rule.scope
        self.labels = frozenset(label for member in members for label in member.labels)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        """Why the act is refused before it happens; None where it is not."""
        return None

    def admit(self, book: Book, act: Act) -> Book:
        """An act was admitted (what is said has succeeded at once, and ``win`` follows)."""
        return book

    def back(self, book: Book, act: Act) -> Book:
        """An admitted call is known not to have happened."""
        return book

    def win(self, book: Book, act: Act, result: Any) -> Book:
        """A call has succeeded, or a message was received; ``act.batch`` is the call's batch."""
        return book

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        """A call has happened, and is no success: what it used up stays used up, what it would permit it does not."""
        return self.back(book, act)

    def breach(self, book: Book, act: Act, result: Any) -> Refusal | None:
        """What is wrong with a result that has come."""
        return None

    def learn(self, book: Book, act: Act | None, outcome: str | None, result: Any) -> tuple[Book, Refusal | None]:
        """Something has happened, and what is wrong with it: a call (or a message) came out so; ``outcome`` None says
        that nobody knows how, ``act`` None that it was neither."""
        return book, None

    def lapse(self, book: Book, now: float) -> tuple[Book, list[Owed]]:
        """What was to be done before now."""
        return book, []

    def owed(self, book: Book, facts: Facts) -> list[Owed]:
        """What is still to be done when the session ends."""
        return []

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        """Whether every act of this name is refused now, whatever its arguments."""
        return False

    def leads(self, book: Book, act: Act) -> str:
        """What an act would lead to if it ran now, in words; empty where there is nothing to say."""
        return ""

    def about(self, act: Act) -> bool | None:
        """Whether the rule counts such an act; None where that cannot be worked out."""
        return True

    def binds(self, label: str) -> bool:
        """Whether the rule counts every act of this name."""
        return False

    def share(self, book: Book) -> dict[str, Decimal]:
        """What a book has used up, by what is counted: the part of a session in a sum over many."""
        return {}

    def moves(self, before: Book, after: Book) -> dict[str, dict[str, Decimal]]:
        """What was used up between two books, by value of ``same`` (or "")."""
        had, has = self.share(before), self.share(after)
        found = {place: EXACT.subtract(has.get(place, _NONE), had.get(place, _NONE)) for place in (*had, *has)}
        row = {place: amount for place, amount in found.items() if amount}
        return {"": row} if row else {}

    def seen(self, book: Book, row: Callable[[str], dict[str, Decimal]], act: Act | None) -> Book:
        """The book in which all that the rows of a ledger say was used up by this session; ``act`` is judged by it."""
        return book

    def idle(self, book: Book) -> bool:
        """Whether no open call stands in the book."""
        return not book["open"]

    def fits(self, book: Book) -> bool:
        """Whether a value that comes from outside can be a book of this rule."""
        try:
            convert(book, self.shape)
        except ValidationError:
            return False
        return True

    def thaw(self, book: Book) -> Book:
        """A book that comes from paper, where times are exact decimals, as this rule keeps it."""
        return book

    def waits(self, book: Book, label: str, now: float, facts: Facts) -> float | None:
        """The seconds after which time alone lets an act of this name by; None where it does not."""
        return None

    def says(self, book: Book, label: str) -> str:
        """The condition under which an act of this name is admitted, in words; empty where there is none."""
        return ""

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        """The names one of which must succeed before an act of this name is legal; empty where none helps."""
        return ()

    def lacks(self, book: Book, label: str) -> tuple[tuple[tuple[str, ...], int], ...]:
        """All that must still succeed: of each row of names one, so many times."""
        needs = self.needs(book, label)
        return ((needs, 1),) if needs else ()


def unsure(member: Member, act: Act) -> Refusal:
    """An act of which nobody can say whether a rule is about it."""
    message = f"whether a rule about `{member.shown}` means this `{act.label}` cannot be worked out"
    return Refusal("unknown", message, "correct the arguments")


def whole(limit: int | str, facts: Facts) -> int | None:
    """A limit, or what the fact of that name holds now, if that is a whole number from 0."""
    return limit if isinstance(limit, int) else natural(facts.get(limit))


def natural(value: Any) -> int | None:
    """The whole number from 0 that a value equals."""
    # 1.0 and 1 are one number, in documents, arguments and results alike
    whole = type(value) is float and value.is_integer() and abs(value) < 2**53
    if whole or (type(value) is Decimal and value == value.to_integral_value() and value.adjusted() < DIGITS):
        value = int(value)
    return value if type(value) is int and value >= 0 else None


def no_limit(limit: object, act: Act) -> Refusal:
    """The refusal where nobody knows how much is allowed."""
    return Refusal("unknown", f"the fact `{limit}`, which limits `{act.label}`, is no number", "learn the fact first")


def seen(batches: list[Any], batch: str | None) -> list[Any]:
    """The batches in which something has succeeded: two different ones are as good as all of them."""
    if batch in batches or None in batches or len(batches) > 1:
        return batches
    return [*batches, batch]


def earlier(batches: list[Any], batch: str | None) -> bool:
    """Whether something succeeded outside of this batch: siblings permit nothing."""
    return bool(batches) and (batch is None or any(each != batch for each in batches))
