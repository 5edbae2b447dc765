"""Rules that count beyond one session (`scope: store`), or anew with each day of a calendar (`per: day`).

The rule itself is the inner watch. Its books lie here by window: the day, or "" where there are no days. What all
sessions have used up together is a ledger: a sum by window, by value of ``same`` and by what is counted. While an
event is decided, the book is held together with what was handed in for it (``Given``); kept is only the session's own.
"""

from collections.abc import Callable, Mapping
from datetime import tzinfo
from decimal import Decimal
from typing import Any, ClassVar, Final

from msgspec import Struct, structs

from .amount import EXACT
from .budget import Budget
from .calendar import after_day, day_of
from .member import Act, Member
from .same import Same
from .time import Rate
from .watch import Book, Facts, Refusal, Watch

Row = dict[str, Decimal]
Value = dict[str, dict[str, Row]]
"""What a ledger holds: by window, by value of ``same`` (or ""), by unit or whatever else is counted."""
ROWS: Final = 100_000
"""Values of ``same`` that one ledger has room for in one window; an act with a further one is refused."""


class Reading:
    """A ledger as one decision reads it. ``used`` is what was asked of it, which is what a record keeps.

    A recorded value is not ``whole``: what it does not hold was not asked then, and is not known.
    """

    __slots__ = ("_value", "_whole", "used")

    def __init__(self, value: Mapping[str, Any], *, whole: bool = True) -> None:
        self._value, self._whole = value, whole
        self.used: dict[str, Any] = {}

    def latest(self) -> str:
        """The latest window of which the ledger knows."""
        latest = max(list(self._value), default="")
        if latest:
            self.used.setdefault(latest, {})
        return latest

    def row(self, window: str, key: str) -> Row | None:
        """What is used up under this value of ``same``; None where there is no room for it, or it is not known."""
        rows = self._value.get(window) or {}
        known = rows.get(key)
        full = known is None and (key in rows or len(rows) >= ROWS or not self._whole)
        row = None if full else {place: Decimal(amount) for place, amount in dict(known or {}).items()}
        self.used.setdefault(window, {})[key] = (
            None if row is None else {place: str(amount) for place, amount in row.items()}
        )
        return row


class Given(Struct, frozen=True):
    """The session's own book while an event is decided, with the wall time and the ledger, None where not known."""

    own: Book
    wall: float | None
    reading: Reading | None


class Outer(Watch):
    """``inner``, counted over the ledger ``ledger`` ("": in this session alone), in days of ``zone`` if there is one.

    The time of windows and rests in a ledger is the wall time, since sessions have no other in common.
    """

    start: ClassVar[Book] = {}

    def __init__(self, inner: Watch, ledger: str, zone: tzinfo | None) -> None:
        super().__init__(inner.rule)
        self.inner, self.ledger, self.zone = inner, ledger, zone
        self.labels, self.counts, self.everywhere = inner.labels, inner.counts, inner.everywhere
        core = inner.inner if isinstance(inner, Same) else inner
        self.core = core
        self.paced = bool(ledger) and isinstance(core, Rate)
        self.clocked = zone is not None or self.paced

    # -- where things stand

    def _window(self, book: Any) -> str:
        """The day that counts: a clock that was set back opens none again."""
        given = type(book) is Given
        own: dict[str, Book] = book.own if given else book
        if self.zone is None:
            return ""
        days: list[str] = [*own, book.reading.latest() if given and book.reading is not None else ""]
        if given and book.wall is not None:
            days.append(day_of(book.wall, self.zone))
        return max(days)

    def _missing(self, book: Any, label: str) -> Refusal | None:
        """Why the rule cannot be asked."""
        given = type(book) is Given
        if self.ledger and (not given or book.reading is None):
            message = f"`{label}` counts over all sessions of a store, and their ledger is not at hand"
            help = "open the session over a store, or give it a ledger: `Session(contract, ledger=duly.Ledger())`"
            return Refusal("ledger", message, help)
        if self.clocked and (not given or book.wall is None):
            message = f"`{label}` counts by the calendar, and what time it is is not known"
            return Refusal("clock", message, "say `at` as an instant with a zone, or ask through a gate")
        return None

    def _standing(self, book: Any, window: str, act: Act | None) -> Book | None:
        """The inner book as if all that the ledger holds were this session's; None where it cannot be known."""
        mine = book.own.get(window, self.inner.start)
        if not self.ledger:
            return mine
        missing = False

        def row(key: str) -> Row:
            nonlocal missing
            found = book.reading.row(window, key)
            missing = missing or found is None
            return found or {}

        seen = self.inner.seen(mine, row, act)
        return None if missing else seen

    def _timed(self, act: Act, book: Any) -> Act:
        wall = book.wall if type(book) is Given else None
        return structs.replace(act, at=wall) if self.paced and wall is not None else act

    # -- the rule

    def about(self, act: Act) -> bool | None:
        return self.inner.about(act)

    def binds(self, label: str) -> bool:
        return self.inner.binds(label)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        if self.inner.about(act) is False:
            return None
        missing = self._missing(book, act.label)
        if missing is not None:
            return missing
        window = self._window(book)
        act = self._timed(act, book)
        standing = self._standing(book, window, act)
        if standing is None:
            message = f"the ledger has no room for the value of this `{act.label}`"
            return Refusal("bound", message, f"it tells {ROWS} values apart")
        refusal = self.inner.refuse(standing, act)
        if refusal is None or self.zone is None or not (refusal.excess or refusal.kind == "budget"):
            return refusal
        message = f"{refusal.message} on {window}"
        later = self.inner.refuse(self.inner.start, act)
        if later is not None:
            return structs.replace(refusal, message=message)
        wait = self._rest(window, book)
        return structs.replace(refusal, message=message, help=f"wait {wait:g} s, for the next day", wait=wait)

    def _rest(self, window: str, book: Any) -> float:
        assert self.zone is not None
        return after_day(window, self.zone) - float(book.wall)

    def admit(self, book: Book, act: Act) -> Book:
        own = book.own if type(book) is Given else book
        window = self._window(book)
        mine = own.get(window, self.inner.start)
        after = self.inner.admit(mine, self._timed(act, book))
        if after is mine:
            return book
        kept = {name: held for name, held in own.items() if name >= window or not self.inner.idle(held)}
        return _held(book, {**kept, window: after})

    def _each(self, book: Any, move: Callable[[Book], Book]) -> Book:
        own = book.own if type(book) is Given else book
        fresh = {window: move(held) for window, held in own.items()}
        return book if all(fresh[window] is own[window] for window in own) else _held(book, fresh)

    def back(self, book: Book, act: Act) -> Book:
        return self._each(book, lambda held: self.inner.back(held, act))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        return self._each(book, lambda held: self.inner.win(held, act, result))

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self._each(book, lambda held: self.inner.spent(held, act, result))

    def breach(self, book: Book, act: Act, result: Any) -> Refusal | None:
        return None

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        standing = self._known(book, label)
        if standing is None:
            return self.inner.binds(label)
        return self.inner.shut(standing, label, self._now(book, now), facts)

    def waits(self, book: Book, label: str, now: float, facts: Facts) -> float | None:
        standing = self._known(book, label)
        if standing is None:
            return None
        if self.zone is None:
            return self.inner.waits(standing, label, self._now(book, now), facts)
        opens = not self.inner.shut(self.inner.start, label, now, facts)
        return self._rest(self._window(book), book) if opens else None

    def _known(self, book: Any, label: str) -> Book | None:
        return None if self._missing(book, label) is not None else self._standing(book, self._window(book), None)

    def _now(self, book: Any, now: float) -> float:
        return float(book.wall) if self.paced else now

    def fits(self, book: Book) -> bool:
        return type(book) is dict and all(
            type(window) is str and self.inner.fits(held) for window, held in book.items()
        )

    def thaw(self, book: Book) -> Book:
        return {window: self.inner.thaw(held) for window, held in book.items()}

    # -- the ledger

    def moved(self, before: Book, after: Book) -> Value:
        """What a session's own book has added to the ledger; nothing for days that are over and forgotten."""
        found: Value = {}
        for window, held in after.items():
            old = before.get(window, self.inner.start)
            rows = self.inner.moves(old, held) if held is not old else {}
            if rows:
                found[window] = rows
        return found

    def pruned(self, value: Value) -> Value:
        """A ledger without what makes no difference any more: earlier days, and times that are too old."""
        latest = max(value, default="")
        rows = value.get(latest, {})
        if isinstance(self.core, Rate):
            newest = max((float(place) for row in rows.values() for place in row), default=0.0)
            oldest = newest - self.core.per
            rows = {key: {at: n for at, n in row.items() if float(at) > oldest} for key, row in rows.items()}
        return {latest: {key: row for key, row in rows.items() if row}} if latest in value else {}

    # -- budgets

    @property
    def limits(self) -> dict[str, Decimal]:
        return self._purse.limits

    @property
    def of(self) -> Member | None:
        return self._purse.of

    @property
    def _purse(self) -> Budget:
        assert isinstance(self.core, Budget)
        return self.core

    def left(self, book: Any, unit: str) -> Decimal:
        """What is left of one unit; nothing where it cannot be known."""
        if self._missing(book, unit) is not None:
            return Decimal(0)
        standing = self._standing(book, self._window(book), None)
        return Decimal(0) if standing is None else self._purse.left(standing, unit)

    def charge(self, book: Any, usage: dict[str, Any], child: str | None) -> tuple[Book, list[str]]:
        window = self._window(book)
        own = book.own if type(book) is Given else book
        fresh = {name: self._purse.charge(held, {}, child)[0] for name, held in own.items()}
        mine = self._purse.charge(fresh.get(window, self._purse.start), usage, child)[0]
        after = {**fresh, window: mine}
        added = self.moved(own, after).get(window, {}).get("", {})
        over = [
            unit
            for unit in usage
            if unit in self.limits and EXACT.subtract(self.left(book, unit), added.get(unit, Decimal(0))) < 0
        ]
        return _held(book, after), over

    def lend(self, book: Any, child: str, amounts: dict[str, Any]) -> tuple[Book, str]:
        missing = self._missing(book, "budget")
        own = book.own if type(book) is Given else book
        if missing is not None or any(child in held["lent"] for held in own.values()):
            return book, missing.message if missing is not None else f"`{child}` has been lent a part of this before"
        window = self._window(book)
        mine = own.get(window, self._purse.start)
        after, why = self._purse.lend(mine, child, amounts, left=lambda unit: self.left(book, unit))
        return (book, why) if why else (_held(book, {**own, window: after}), "")


def _held(book: Any, own: Book) -> Book:
    return structs.replace(book, own=own) if type(book) is Given else own


def add(value: Value, more: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Adds to a ledger in place; what comes to nothing is not kept. Sums are exact, so order makes no difference."""
    # INVARIANT: a day that was counted in stays, even if all of it was given back, so that no earlier one opens again
    for window, rows in more.items():
        held = value.setdefault(window, {})
        for key, row in rows.items():
            mine = held.setdefault(key, {})
            for place, amount in row.items():
                total = EXACT.add(mine.get(place, Decimal(0)), Decimal(amount))
                if total:
                    mine[place] = total
                else:
                    mine.pop(place, None)
            if not mine:
                del held[key]
        if not held and not window:
            del value[window]


def purse(watch: Watch) -> Any:
    """The watch, if it is a budget; None for any other."""
    inner = watch.core if isinstance(watch, Outer) else watch
    return watch if isinstance(inner, Budget) else None
