"""Sums of amounts: exact decimals, kept per unit, given back by the act that the rule names."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, Final, TypedDict

from msgspec import Struct

from duly.values.expr import UNSET

from ..terms import Rule
from .member import Act, Field, Member, at, key_of
from .watch import EXACT as EXACT
from .watch import Book, Facts, Refusal, Watch, no_limit, unsure, within

DIGITS: Final = 600
_LARGE: Final = 10**DIGITS


class Back(Struct, frozen=True):
    """The act that gives room back once it has succeeded, and the field by which it names the call it refers to."""

    of: Member
    call: Field


def amount_of(value: Any) -> Decimal | None:
    """The exact decimal that a value is, a plain decimal text included; None for what is no finite number."""
    kind = type(value)
    if kind is int:
        return Decimal(value) if -_LARGE < value < _LARGE else None
    if kind is float:
        value = repr(value)
    elif kind is Decimal:
        return _bounded(value)
    elif kind is not str or len(value) > EXACT.prec or not _plain(value):
        return None
    try:
        return _bounded(Decimal(value))
    except InvalidOperation:
        return None


def is_sum(text: str) -> bool:
    """Whether a text is a sum of amounts from 0 as books write them; it may have more digits than one amount."""
    return len(text) <= EXACT.prec and not text.startswith("-") and _plain(text)


def _plain(text: str) -> bool:
    body = text.removeprefix("-")
    return body.replace(".", "", 1).isdecimal() and body.isascii() and body[:1] != "." and body[-1:] != "."


def _bounded(value: Decimal) -> Decimal | None:
    if not value.is_finite():
        return None
    digits = value.as_tuple()
    exponent = digits.exponent
    return value if isinstance(exponent, int) and abs(exponent) + len(digits.digits) <= DIGITS else None


class SumBook(TypedDict):
    total: dict[str, Any]
    open: dict[str, Any]


class AtMostTotal(Watch):
    """The sum of ``field`` over admitted acts stays within ``limits`` (by unit; "" without units).

    ``reserve`` is set aside where the act names no amount of its own, and ``settle`` is the field of the result that
    replaces what was set aside. With ``each`` the limit is one on every single act.

    The book holds the sum by unit, under the ids of open calls [unit, amount, whether its room was given back], and
    where room comes back under ``past`` what each call that has ended used up.
    """

    counts = True
    start: ClassVar[Book] = {"total": {}, "open": {}}
    shape: ClassVar[Any] = SumBook

    def __init__(
        self,
        rule: Rule,
        of: Member,
        field: Field | None,
        limits: dict[str, Decimal | str],
        *,
        units: Field | None = None,
        back: Back | None = None,
        reserve: Decimal | None = None,
        settle: Field | None = None,
        each: bool = False,
    ) -> None:
        super().__init__(rule, of, *([back.of] if back is not None else []))
        self.of, self.field, self.limits, self.units = of, field, limits, units
        self.gives, self.reserve, self.settles, self.each = back, reserve, settle, each
        self._place = ("amount", "" if field is None else field.text)

    def _amount(self, act: Act) -> Decimal | None:
        if self.field is None:
            return self.reserve
        known = act.known.get(self._place)
        if known is None:
            found = at(self.field, act.args)
            known = act.known[self._place] = (found is UNSET, amount_of(found))
        missing, amount = known
        return self.reserve if missing and self.reserve is not None else amount

    def _unit(self, act: Act) -> str | None:
        if self.units is None:
            return ""
        unit = at(self.units, act.args)
        return unit if type(unit) is str and unit in self.limits else None

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        if not judged:
            return None
        amount = self._amount(act)
        name = self.field.text if self.field is not None else "amount"
        if amount is None:
            return Refusal("amount", f"`{name}` of `{act.label}` is no finite number", "give it as a plain number")
        if amount < 0:
            return Refusal("amount", f"`{name}` of `{act.label}` is below zero", "amounts are not negative")
        unit = self._unit(act)
        if unit is None:
            assert self.units is not None
            message = f"`{self.units.text}` of `{act.label}` names no unit that has a limit"
            return Refusal("unit", message, f"units are {', '.join(sorted(self.limits))}")
        taken = _ZERO if self.each else self.taken(book, unit)
        limit = self.limits[unit]
        most = self._limit(limit, act.values.get("facts", {})) if isinstance(limit, str) else limit
        if most is None:
            return no_limit(limit, act)
        after = EXACT.add(taken, amount)
        if after <= most:
            act.known["sum"] = (taken, amount, after)
            return None
        what = f" {unit}" if unit else ""
        left = max(EXACT.subtract(most, taken), _ZERO)
        where = within(self.scope)
        message = f"`{act.label}` asks for {amount:f}{what}, and {left:f} of {most:f}{what} are left{where}"
        if self.each:
            message = f"`{act.label}` asks for {amount:f}{what}, and at most {most:f}{what} are allowed at once"
        return Refusal("amount", message, "ask for less" if left else "do not ask for more", excess=True)

    def leads(self, book: Book, act: Act) -> str:
        amount, unit = self._amount(act), self._unit(act)
        if amount is None or unit is None or amount < 0:
            return ""
        limit = self.limits[unit]
        most = self._limit(limit, act.values.get("facts", {})) if isinstance(limit, str) else limit
        total = EXACT.add(_ZERO if self.each else self.taken(book, unit), amount)
        what = f" {unit}" if unit else ""
        free = "" if most is None else f", and up to {most:f}{what} needs no yes"
        return f"it leads to {total:f}{what}{free}"

    def _limit(self, limit: Decimal | str, facts: Facts) -> Decimal | None:
        if not isinstance(limit, str):
            return limit
        known = amount_of(facts.get(limit))
        return None if known is None or known < 0 else known

    def taken(self, book: Book, unit: str) -> Decimal:
        """What is used up of one unit, calls included that have not ended."""
        total: Decimal = book["total"].get(unit, _ZERO)
        return total

    def admit(self, book: Book, act: Act) -> Book:
        if self.each or self.of.takes(act) is not True:
            return book
        amount, unit = self._amount(act), self._unit(act)
        if amount is None or unit is None or amount < 0:
            return book  # it ran all the same, and nobody can say how much it was
        known = act.known.get("sum")
        if known is not None and known[0] is book["total"].get(unit) and known[1] is amount:
            # the sum that was held against the limit
            after = {**book, "total": {**book["total"], unit: known[2]}}
        else:
            after = self._added(book, unit, amount)
        if act.id is not None:
            after["open"] = {**book["open"], act.id: [unit, amount, False]}
        return after

    def back(self, book: Book, act: Act) -> Book:
        if act.id not in book["open"]:
            return book
        unit, amount, given = book["open"][act.id]
        book = self._without(book, act.id)
        return book if given else self._added(book, unit, amount.copy_negate())

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.gives is not None and self.gives.of.takes(act) is True:
            book = self._given(book, act)
        return self.spent(book, act, result)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        if act.id not in book["open"]:
            return book
        unit, amount, given = book["open"][act.id]
        book = self._without(book, act.id)
        if given:
            return book
        told = amount_of(at(self.settles, act.args, result)) if self.settles is not None else None
        spent = told if told is not None and told >= 0 else amount
        if spent != amount:
            book = self._added(book, unit, EXACT.subtract(spent, amount))
        if self.gives is None:
            return book
        return {**book, "past": {**book.get("past", {}), key_of(act.id): [unit, spent]}}

    def _given(self, book: Book, act: Act) -> Book:
        """Room comes back once for each act that is referred to."""
        assert self.gives is not None
        named = at(self.gives.call, act.args)
        if type(named) is str and named in book["open"]:
            # what it refers to has not ended, and uses nothing up however it ends
            unit, amount, given = book["open"][named]
            if given:
                return book
            book = self._added(book, unit, amount.copy_negate())
            return {**book, "open": {**book["open"], named: [unit, amount, True]}}
        key = key_of(named)
        past = book.get("past", {})
        if key is None or key not in past:
            return book
        unit, amount = past[key]
        rest = {name: entry for name, entry in past.items() if name != key}
        return {**self._added(book, unit, amount.copy_negate()), "past": rest}

    def _added(self, book: Book, unit: str, amount: Decimal) -> Book:
        total = {**book["total"], unit: EXACT.add(book["total"].get(unit, _ZERO), amount)}
        if not total[unit]:
            del total[unit]
        return {**book, "total": total}

    def _without(self, book: Book, id: str | None) -> Book:
        return {**book, "open": {key: entry for key, entry in book["open"].items() if key != id}}

    def about(self, act: Act) -> bool | None:
        return self.of.takes(act)

    def binds(self, label: str) -> bool:
        return self.of.labels.get(label) == ()

    def share(self, book: Book) -> dict[str, Decimal]:
        return dict(book["total"])

    def seen(self, book: Book, row: Callable[[str], dict[str, Decimal]], act: Act | None) -> Book:
        return {"total": row(""), "open": {}}

    def fits(self, book: Book) -> bool:
        if not super().fits(book) or type(book.get("past", {})) is not dict:
            return False
        for kind, size in (("open", 3), ("past", 2)):
            found = book.get(kind, {}).values()
            if not all(type(entry) is list and len(entry) == size and type(entry[0]) is str for entry in found):
                return False
        entries = [*book["open"].values(), *book.get("past", {}).values()]
        amounts = [*book["total"].values(), *(entry[1] for entry in entries)]
        return all(type(entry[2]) is bool for entry in book["open"].values()) and all(
            type(value) in (int, float, Decimal) and Decimal(value).is_finite() and value >= 0 for value in amounts
        )

    def thaw(self, book: Book) -> Book:
        thawed = {
            "total": {unit: _exact(total) for unit, total in book["total"].items()},
            "open": {id: [unit, _exact(amount), given] for id, (unit, amount, given) in book["open"].items()},
        }
        if "past" in book:
            thawed["past"] = {key: [unit, _exact(amount)] for key, (unit, amount) in book["past"].items()}
        return thawed

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        if self.of.labels.get(label) != ():
            return False
        # an amount may be zero, where the act names it
        least = self.reserve if self.field is None and self.reserve is not None else _ZERO
        for unit, limit in self.limits.items():
            most = self._limit(limit, facts)
            if most is not None and EXACT.add(_ZERO if self.each else self.taken(book, unit), least) <= most:
                return False
        return True


def _exact(value: Any) -> Decimal:
    """A sum as it was written; it may have more digits than any amount."""
    return Decimal(repr(value)) if type(value) is float else Decimal(value)


_ZERO: Final = Decimal(0)
