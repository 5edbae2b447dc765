"""Ledgers: what all sessions have used up together, handed to a decision as data and moved by what it decides.

Here is what every keeper of ledgers does, and the one that keeps them in memory, for sessions without a store.
"""

from _thread import allocate_lock as Lock  # as in `session`
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import structs

from duly.machine.cells import put
from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.machine.watch.calendar import dated
from duly.machine.watch.outer import Given, Outer, Reading, Value, add
from duly.values.event import Called, Closed, Decided, Elapsed, Event, Failed, Listed, Received, Returned, Sent
from duly.values.plain import Malformed
from duly.values.verdict import Verdict

Ledgers = Mapping[str, Any]
"""By the names of ledgers: what they hold (amounts by window, value of ``same``, and unit), or a ``Reading`` of it."""
_UNTOUCHED = (Closed, Decided, Elapsed, Listed)


def supplied(contract: Contract, state: State, ledgers: Ledgers | None, event: Any = None) -> State:
    """The state with what was handed in for this decision: what time it is, and the ledgers.

    Raises Malformed for a wall time that is none.
    """
    wall = None if event is None else _wall(event)
    more = state.more
    if wall is not None and contract.clocked and (more.wall is None or wall > more.wall):
        # a clock that was set back says nothing new
        more = structs.replace(more, wall=wall)
    books = {}
    for number, watch in contract.outer:
        value = None if ledgers is None or not watch.ledger else ledgers.get(watch.ledger)
        reading = value if value is None or type(value) is Reading else Reading(value)
        books[number] = Given(own_of(state.books[number]), more.wall, reading)
    return structs.replace(state, books=put(state.books, books), more=more)


def stripped(contract: Contract, state: State) -> State:
    """The state with the session's own books alone."""
    return structs.replace(
        state, books=put(state.books, {number: own_of(state.books[number]) for number, _ in contract.outer})
    )


def own_of(book: Any) -> Any:
    return book.own if type(book) is Given else book


def _wall(event: Any) -> float | None:
    wall = event.wall
    if wall is None and type(event.at) is str:
        try:
            instant = datetime.fromisoformat(event.at)
        except ValueError:
            return None  # said where the time is taken in
        wall = instant.timestamp() if instant.tzinfo is not None else None
    elif wall is not None and type(wall) not in (int, float):
        raise Malformed("`wall` is a number of seconds since 1970")
    if wall is not None and not dated(wall):
        raise Malformed("`wall` lies on no day of the calendar")
    return None if wall is None else float(wall)


def concerned(contract: Contract, state: State, event: Event) -> tuple[str, ...]:
    """The ledgers that deciding this event may ask or move; rather one too many than one too few."""
    kind = type(event)
    if kind in _UNTOUCHED:
        return ()
    labels: list[str] = []
    if isinstance(event, Called | Sent | Received):
        labels = [event.label] if type(event.label) is str else []
    elif isinstance(event, Returned | Failed):
        call = state.open.get(event.id) if event.id is not None else None
        labels = [call.label] if call is not None else [event.label] if isinstance(event, Returned) else []
    if not labels or (isinstance(event, Called | Returned) and event.server is not None):
        return tuple(contract.ledgers.values())
    plan = contract.acts.get(labels[0])
    hearing = contract.hearings.get(labels[0])
    if plan is None and hearing is None:
        return tuple(contract.ledgers.values())
    watches = {*(plan.watches if plan is not None else ()), *(hearing.watches if hearing is not None else ())}
    return tuple(name for number, name in contract.ledgers.items() if number in watches)


def moved(contract: Contract, before: State, after: State) -> dict[str, Value]:
    """What a decision adds to each ledger: the difference that it makes to the session's own books."""
    found: dict[str, Value] = {}
    for number, name in contract.ledgers.items():
        had, has = before.books[number], after.books[number]
        if had is not has:
            watch: Any = contract.watches[number]
            more = watch.moved(had, has)
            if more:
                found[name] = more
    return found


def used(readings: Mapping[str, Reading] | None) -> dict[str, Any] | None:
    """What a decision has asked of the ledgers, for the record; None where it asked nothing."""
    found = {name: reading.used for name, reading in (readings or {}).items() if reading.used}
    return found or None


def recorded(ledgers: Mapping[str, Any] | None) -> dict[str, Reading] | None:
    """The ledgers as a record says that they were."""
    return None if ledgers is None else {name: Reading(value, whole=False) for name, value in ledgers.items()}


def keepers(contract: Contract) -> dict[str, Outer]:
    """The rules of the ledgers, by their names."""
    return {watch.ledger: watch for _, watch in contract.outer if watch.ledger}


Judge = Callable[[Contract, State, Event, bool, Any], tuple[Verdict, State]]
Decision = tuple[Verdict, State, dict[str, Any] | None]


class Ledger:
    """Ledgers in memory: ``Session(contract, ledger=ledger)``. Sessions that share one share their caps of ``scope:
    store``. Safe to share between threads; lives as long as its process, and is not copied: a copy would count apart.
    """

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}
        self._lock = Lock()

    def total(self, name: str) -> Value:
        """What a ledger holds, by window, by value of ``same``, and by unit; a copy."""
        with self._lock:
            return {
                window: {key: dict(row) for key, row in rows.items()}
                for window, rows in self._values.get(name, {}).items()
            }

    @property
    def names(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._values)

    def readings(self, names: Iterable[str]) -> dict[str, Reading]:
        return {name: Reading(self._values.get(name, {})) for name in names}

    def decide(
        self, judge: Judge, contract: Contract, state: State, event: Event, happened: bool
    ) -> Decision:
        """Decides and moves in one piece; the verdict, the state after it, and what was asked of the ledgers."""
        with self._lock:
            readings = self.readings(contract.ledgers.values())
            verdict, after = judge(contract, state, event, happened, readings)
            for name, more in moved(contract, state, after).items():
                value = self._values.setdefault(name, {})
                add(value, more)
            return verdict, after, used(readings)

    def __reduce__(self) -> Any:
        raise TypeError("a ledger is shared, not copied: a copy would count apart")


def over(
    judge: Judge, ledger: Ledger | None, contract: Contract, state: State, event: Event, happened: bool
) -> Decision:
    """Decides an event over the ledger that a session has; without one, caps over a store refuse."""
    if ledger is None:
        return (*judge(contract, state, event, happened, None), None)
    return ledger.decide(judge, contract, state, event, happened)
