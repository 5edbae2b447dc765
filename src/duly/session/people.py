"""Decisions and orders of people."""

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.values.event import Decided, Ordered
from duly.values.verdict import ALLOWED, Reason, Verdict, Violation

from .settle import given_up, settled

Answer = tuple[Verdict, State]


def void(message: str, *, help: str = "") -> Violation:
    """A decision that is not taken: a finding that changes nothing."""
    return Violation((Reason("people", "void", message, help=help),), finding=True)


def decided(contract: Contract, state: State, event: Decided, happened: bool) -> Answer:
    """A decision needs one open ticket; a call that waits for a settlement is settled, not approved."""
    for parked in state.more.parked.values():
        if event.ticket == parked.ticket or event.target in (parked.cause, None):
            return void(
                f"`{parked.ticket}` waits until `{parked.cause}` is settled", help="settle it as done or as failed"
            ), state
    name = event.ticket or event.target
    return void(f"no open ticket `{name}`" if name else "no act waits for a decision"), state


def ordered(contract: Contract, state: State, event: Ordered, happened: bool) -> Answer:
    """Freeze, unfreeze, settle, mode. An order needs somebody who gives it."""
    if not event.by:
        return void(f"the order `{event.order}` names nobody who gives it"), state
    more = state.more
    match event.order:
        case "freeze" | "unfreeze":
            frozen = event.order == "freeze"
            return ALLOWED, structs.replace(state, more=structs.replace(more, frozen=frozen))
        case "settle":
            return _settle(contract, state, event)
        case "mode":
            mode = event.scope if event.scope is not None else (event.payload or {}).get("mode")
            if mode not in ("enforce", "shadow"):
                return void(f"`{str(mode)[:40]}` is no mode", help="a mode is `enforce` or `shadow`"), state
            return ALLOWED, structs.replace(state, more=structs.replace(more, mode=mode))
        case "stand" | "withdraw":
            return void(f"no open ticket `{event.target}`"), state
        case "accept":
            return void(f"nothing of `{event.target}` waits to be accepted"), state
        case _:
            return void(f"`{str(event.order)[:40]}` is no order"), state


def _settle(contract: Contract, state: State, event: Ordered) -> Answer:
    call = state.open.get(event.target) if event.target is not None else None
    if call is None or event.target is None or not call.uncertain:
        return void(f"`{event.target}` is no uncertain call"), state
    told = event.payload if isinstance(event.payload, dict) else {}
    how = told.get("as", event.scope)
    if how not in ("done", "failed", "retry"):
        return void(f"`{str(how)[:40]}` is no settlement", help="settle a call as `done`, `failed` or `retry`"), state
    # what waited for this call is withdrawn (done), or decided anew when it is asked again (failed, retry)
    parked = {key: waiting for key, waiting in state.more.parked.items() if waiting.cause != event.target}
    state = structs.replace(state, more=structs.replace(state.more, parked=parked))
    plain = structs.replace(call, uncertain=False)
    if how == "done":
        return settled(contract, state, event.target, plain, "ok", told.get("result"))
    return given_up(contract, state, event.target, plain)
