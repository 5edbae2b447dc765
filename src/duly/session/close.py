"""The end: what is owed when a session closes."""

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import EMPTY, State
from duly.values.event import Closed
from duly.values.verdict import ALLOWED, Allowed, Blocked, Reason, Verdict, Violation

from .books import owed as duties
from .move import ended, span_of
from .park import withdrawn

Answer = tuple[Verdict, State]


def owed(contract: Contract, state: State) -> list[Reason]:
    """What would be found if the session ended now: open calls, results that still wait, unfinished protocols."""
    reasons = [
        Reason("call", "waiting", f"the result of `{waiting.label}` could not be taken", got=f"?{waiting.label}")
        for waiting in state.more.waiting
    ]
    if contract.watches:
        reasons += duties(contract, state)
    for line in contract.lines:
        if not ended(line, state.cursors) and not line.forever:
            reasons.append(
                Reason(line.id, "unfinished", "the protocol has not ended", got="closed",
                       expected=_ways(contract, state, line.number), help="go on to its end",
                       span=span_of(contract, line, state))
            )  # fmt: skip
    return reasons


def closed(contract: Contract, state: State, event: Closed, happened: bool) -> Answer:
    """Open calls become uncertain and keep what they hold, tickets are withdrawn, each duty left is a finding."""
    more = state.more
    if more.over == "closed":
        return Blocked((Reason("session", "closed", "the session is closed already"),), finding=True), state
    if more.parked:
        state = withdrawn(contract, state)
    reasons = owed(contract, state)
    noted = duties(contract, state, "shadow") if contract.watches else []
    calls = {key: structs.replace(call, uncertain=True) for key, call in state.open.items()} if state.open else EMPTY
    found = more.found
    marked = tuple(structs.replace(reason, follow_on=True) if reason.rule in found else reason for reason in reasons)
    after = structs.replace(state, open=calls, more=structs.replace(state.more, over="closed", parked={}, standing=()))
    if noted:
        return (Violation(marked, finding=True, noted=tuple(noted)) if marked else Allowed(noted=tuple(noted))), after
    return (Violation(marked, finding=True) if marked else ALLOWED), after


def _ways(contract: Contract, state: State, protocol: int) -> tuple[str, ...]:
    from .explain import ways

    return ways(contract, state, protocol)
