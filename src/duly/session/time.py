"""Time, turns and runs as data: what passes before an event is judged."""

from typing import Any, Final

from msgspec import structs

from duly.machine.cells import put
from duly.machine.contract import Contract
from duly.machine.ir import More, State
from duly.values.plain import Malformed

from .books import renewed as books_renewed
from .park import expired

FOREVER: Final = 1e15
"""Seconds, some 30 million years: above it, and where a number is none, `at` is no time."""


def passed(contract: Contract, state: State, event: Any) -> State:
    """The state after the event's time, turn and run have been taken in; raises Malformed for a time that is none.

    Elapsed time never falls. A text is an RFC 3339 instant with a zone and also sets the wall time.
    """
    at = event.at
    more = state.more
    if at is not None:
        kind = type(at)
        if kind is str:
            instant = _instant(at)
            if more.origin is None:
                more = structs.replace(more, origin=instant - state.at)
            at = instant - float(more.origin or 0.0)
        elif kind is not float and kind is not int:
            raise Malformed("`at` is a number of seconds or an instant with a zone")
        elif not -FOREVER < at < FOREVER:
            raise Malformed("`at` is not a finite number of seconds")
    state = structs.replace(state, at=max(state.at, float(at)) if at is not None else state.at, more=more)
    if more.parked or more.standing:
        state = expired(contract, state)
    if event.run is not None and event.run != state.more.run:
        state = structs.replace(state, more=structs.replace(state.more, run=event.run))
        state = renewed(contract, state, run=True)
    if event.turn is not None and event.turn != state.more.turn:
        state = structs.replace(state, more=structs.replace(state.more, turn=event.turn))
        state = renewed(contract, state, run=False)
    return state


def renewed(contract: Contract, state: State, *, run: bool) -> State:
    """A new turn (and with ``run`` a new run) begins: what counts per turn begins anew, a halted turn is over."""
    if not contract.turned:
        return state
    ends = ("turn", "run") if run else ("turn",)
    data = put(state.data, {slot: 0 for slot, scope in enumerate(contract.scopes) if scope in ends})
    facts = state.facts & ~(contract.run_bits if run else contract.turn_bits)
    more = state.more
    changes: dict[str, Any] = {"turns": more.turns + 1, "denied": (), "shut": frozenset(), "noes": ()}
    if run:
        changes["runs"] = more.runs + 1
    breaker = contract.terms.breaker
    if breaker is not None and breaker.per in ends:
        changes["tally"] = {}
    if more.over in {f"halted for this {end}" for end in ends}:
        changes["over"] = None
    books = state.books
    if contract.watches:
        books = books_renewed(contract, books, ends)
    return structs.replace(state, data=data, facts=facts, books=books, more=structs.replace(more, **changes))


def began(contract: Contract, more: More, scope: str, epoch: tuple[int, int]) -> bool:
    """Whether a place that was taken in an earlier turn or run belongs to a count that has begun anew since."""
    return (scope == "turn" and more.turns != epoch[1]) or (scope == "run" and more.runs != epoch[0])


def _instant(text: str) -> float:
    from datetime import datetime

    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise Malformed(f"`at` is no instant: `{text[:40]}`") from None
    if instant.tzinfo is None:
        raise Malformed(f"`at` has no zone: `{text[:40]}`")
    return instant.timestamp()
