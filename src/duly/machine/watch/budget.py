"""Budgets: calls, tokens, money or any other unit that a session may use up, and what it lends to its children.

Calls are counted from admission; every other unit is charged when it has been used up. What a child is lent is set
aside, and when the child has ended, what it has not used comes back: nothing is made and nothing lost.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar, TypedDict

from ..terms import Rule
from .amount import EXACT, amount_of, is_sum
from .member import Act, Member
from .watch import Book, Facts, Refusal, Watch, unsure, within

CALLS = "calls"
"""The unit of which each call takes one when it is admitted."""


class BudgetBook(TypedDict):
    used: dict[str, str]
    open: list[str]
    lent: dict[str, dict[str, str]]


class Budget(Watch):
    """``limits`` by unit, over the calls of ``of`` (None: all of them)."""

    counts = True
    start: ClassVar[Book] = {"used": {}, "open": [], "lent": {}}
    shape: ClassVar[Any] = BudgetBook

    def __init__(self, rule: Rule, of: Member | None, limits: dict[str, Decimal], without: frozenset[str]) -> None:
        super().__init__(rule, *([of] if of is not None else []))
        self.of, self.limits, self.without = of, limits, without
        self.everywhere = of is None

    def _takes(self, act: Act) -> bool | None:
        if act.id is None or act.label in self.without:
            return False  # what is said costs no call
        return True if self.of is None else self.of.takes(act)

    def left(self, book: Book, unit: str) -> Decimal:
        """What is left of one unit, calls that have not ended and what was lent taken off."""
        taken = Decimal(book["used"].get(unit, 0))
        if unit == CALLS:
            taken = EXACT.add(taken, Decimal(len(book["open"])))
        for lent in book["lent"].values():
            taken = EXACT.add(taken, Decimal(lent.get(unit, 0)))
        return EXACT.subtract(self.limits[unit], taken)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self._takes(act)
        if judged is None:
            assert self.of is not None
            return unsure(self.of, act)
        for unit, limit in self.limits.items() if judged else ():
            if self._empty(book, unit):
                where = within(self.scope).replace(" in ", " of ", 1)
                message = f"the budget{where} of {limit:f} {unit} is used up"
                help = "end the session" if self.scope in ("session", "store") else f"wait for the next {self.scope}"
                return Refusal("budget", message, help)
        return None

    def admit(self, book: Book, act: Act) -> Book:
        if CALLS not in self.limits or self._takes(act) is not True:
            return book
        return {**book, "open": [*book["open"], act.id]}

    def back(self, book: Book, act: Act) -> Book:
        if act.id not in book["open"]:
            return book
        return {**book, "open": [each for each in book["open"] if each != act.id]}

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if act.id not in book["open"]:
            return book
        return self._used(self.back(book, act), {CALLS: 1})

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self.win(book, act, result)

    def _used(self, book: Book, usage: dict[str, Any]) -> Book:
        used = dict(book["used"])
        for unit, value in usage.items():
            amount = amount_of(value)
            if unit in self.limits and amount is not None:
                # a sum may have more digits than any amount, and is never held to what an amount may have
                used[unit] = f"{EXACT.add(Decimal(used.get(unit, 0)), amount):f}"
        return {**book, "used": used}

    def charge(self, book: Book, usage: dict[str, Any], child: str | None) -> tuple[Book, list[str]]:
        """The book after something was used up, by the session or in all by a child that has ended; and the units of
        which now more is used than there was."""
        if child is not None and child in book["lent"]:
            book = {**book, "lent": {name: lent for name, lent in book["lent"].items() if name != child}}
        book = self._used(book, usage)
        return book, [unit for unit in usage if unit in self.limits and self.left(book, unit) < 0]

    def lend(
        self, book: Book, child: str, amounts: dict[str, Any], *, left: Callable[[str], Decimal] | None = None
    ) -> tuple[Book, str]:
        """The book after a part was lent to a child, or why it cannot be; ``left`` says what is left, if others know
        it better than the book."""
        mine = {unit: amount_of(value) for unit, value in amounts.items() if unit in self.limits}
        if child in book["lent"]:
            return book, f"`{child}` has been lent a part of this budget before"
        for unit, amount in mine.items():
            if amount is None or amount < 0:
                return book, f"`{unit}` is no amount that can be lent"
            remains = self.left(book, unit) if left is None else left(unit)
            if amount > remains:
                return book, f"`{child}` asks for {amount:f} {unit}, and {remains:f} are left"
        lent = {unit: f"{amount:f}" for unit, amount in mine.items() if amount is not None}
        return {**book, "lent": {**book["lent"], child: lent}}, ""

    def fits(self, book: Book) -> bool:
        if not super().fits(book):
            return False
        sums = [*book["used"].values(), *(amount for lent in book["lent"].values() for amount in lent.values())]
        return all(is_sum(text) for text in sums)

    def about(self, act: Act) -> bool | None:
        return self._takes(act)

    def binds(self, label: str) -> bool:
        return label not in self.without and (self.of is None or self.of.labels.get(label) == ())

    def share(self, book: Book) -> dict[str, Decimal]:
        return {unit: EXACT.subtract(limit, self.left(book, unit)) for unit, limit in self.limits.items()}

    def seen(self, book: Book, row: Callable[[str], dict[str, Decimal]], act: Act | None) -> Book:
        return {"used": {unit: f"{amount:f}" for unit, amount in row("").items()}, "open": [], "lent": {}}

    def idle(self, book: Book) -> bool:
        return not book["open"] and not book["lent"]

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        if label in self.without or (self.of is not None and self.of.labels.get(label) != ()):
            return False
        return any(self._empty(book, unit) for unit in self.limits)

    def _empty(self, book: Book, unit: str) -> bool:
        left = self.left(book, unit)
        return left < 1 if unit == CALLS else left <= 0
