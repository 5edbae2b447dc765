"""What a session's own record says of earlier calls: the result of an idempotency key, and of a call that has ended.

Finished calls live here and not in the state; what is found becomes part of the event, so that deciding stays pure.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from duly.machine.contract import Contract
from duly.machine.ir import Open, State
from duly.values.event import Called, Event, Failed, Found, Ordered, Returned
from duly.values.verdict import Allowed, Refusal, Unrecognized, Verdict

from .settle import answered, keeps, outcome_of


class Entry(Struct, frozen=True, gc=False):
    """One line of a session's record: an event, what was said of it, and the mode that was in force (in ``shadow`` it
    happened whatever the verdict). ``event`` None marks a reset; ``ledgers`` is what was asked of ledgers."""

    event: Event | None
    verdict: Verdict | None
    mode: str = "enforce"
    ledgers: dict[str, Any] | None = None


def looked_up(contract: Contract, state: State, entries: Sequence[Entry], event: Called | Returned) -> Event:
    """The event with what the record holds of its key, or of the call that it answers."""
    if type(event) is Called:
        if event.key is None or event.found is not None:
            return event
        found = _of_key(contract, state, entries, event.key)
        return replace(event, found=found) if found is not None else event
    if event.id is None:
        # the record names the call that was answered, so that a key or a second result finds it again
        identity = answered(contract, state, event)  # type: ignore[arg-type]
        return replace(event, id=identity) if identity is not None else event
    if event.id in state.open or event.found is not None:
        return event
    found = _of_call(contract, state, entries, event.id)
    return replace(event, found=found) if found is not None else event


def _of_key(contract: Contract, state: State, entries: Sequence[Entry], key: str) -> Found | None:
    for entry in reversed(entries):
        if entry.event is None:
            return None
        if type(entry.event) is Called and entry.event.key == key and _ran(entry.verdict):
            return _of_call(contract, state, entries, _number(entry.event, entry.verdict))
    return None


def _of_call(contract: Contract, state: State, entries: Sequence[Entry], identity: str | None) -> Found | None:
    """The last call of this id that ran, and how it ended."""
    later: list[Entry] = []
    for entry in reversed(entries):
        event = entry.event
        if event is None:
            return None
        if type(event) is Called:
            if _ran(entry.verdict) and _number(event, entry.verdict) == identity:
                return _ended(contract, state, event, entry.verdict, identity, later)
        elif ((type(event) is Returned or type(event) is Failed) and event.id == identity) or (
            type(event) is Ordered and event.order == "settle" and event.target == identity
        ):
            later.append(entry)
    return None


def _ended(
    contract: Contract, state: State, event: Called, verdict: Verdict | None, identity: str | None, later: list[Entry]
) -> Found:
    """How a call ended: by the first event after it that left nothing uncertain."""
    plan = contract.acts.get(event.label if event.server is None else f"{event.server}/{event.label}")
    label = plan.label if plan is not None else event.label
    payload: Any = verdict.payload if type(verdict) is Allowed else event.payload
    call = state.open.get(identity) if identity is not None else None
    if call is not None:
        return Found("uncertain" if call.uncertain else "open", label, payload, id=identity)
    for entry in reversed(later):
        end = entry.event
        if type(end) is Failed:
            if end.effect == "none":
                return Found("failed", label, payload, id=identity)
        elif type(end) is Ordered:
            told = end.payload if isinstance(end.payload, dict) else {}
            if type(entry.verdict) is not Allowed:
                continue
            if told.get("as", end.scope) == "done":
                return Found("finished", label, payload, told.get("result"), "ok", identity)
            return Found("failed", label, payload, id=identity)
        elif type(end) is Returned and type(entry.verdict) is not Unrecognized:
            outcome = end.outcome or outcome_of(contract, Open(label, payload), end.payload)
            if not keeps(plan, outcome):
                status = "failed" if outcome == "error" else "finished"
                return Found(status, label, payload, end.payload, outcome, identity)
    # it ended, and the record no longer says how: nobody may take it for not having happened
    return Found("uncertain", label, payload, id=identity)


def _ran(verdict: Verdict | None) -> bool:
    return (type(verdict) is Allowed and not verdict.replayed) or (isinstance(verdict, Refusal) and verdict.finding)


def _number(event: Called, verdict: Verdict | None) -> str | None:
    return verdict.id if type(verdict) is Allowed else event.id
