"""Refusals of acts: ids and keys that are taken, halts and freezes, calls that wait, and what the breaker counts."""

from typing import Any

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import More, Parked, Plan, State
from duly.values.event import Called
from duly.values.expr import same
from duly.values.plain import Malformed, write_sorted
from duly.values.verdict import Allowed, Blocked, NeedsApproval, Reason, Verdict, Violation

from .explain import Why

Answer = tuple[Verdict, State]


def malformed(message: str) -> Reason:
    return Reason("event", "malformed", message, help="send a well-formed event")


def again(state: State, event: Called, args: Any, identity: str) -> Answer:
    known = state.open[identity]
    if known.label != event.label or not same(known.args, args):
        raise Malformed(f"the call id `{identity}` is taken by an open call with other arguments")
    reason = Reason(
        "call", "in_flight", f"the call `{identity}` has not ended", got=f"!{event.label}", help="wait for its result"
    )
    return Violation((reason,)), state


def keyed(state: State, event: Called, args: Any) -> Answer | None:
    known = event.found
    assert known is not None
    if known.label != event.label or not same(known.payload, args):
        raise Malformed(f"the idempotency key `{event.key}` was used with other arguments")
    if known.status == "finished":
        return Allowed(args, known.result, True, known.id), state
    if known.status in ("open", "uncertain"):
        kind = "in_flight" if known.status == "open" else "uncertain"
        message = f"a call with the key `{event.key}` is {'still open' if kind == 'in_flight' else 'uncertain'}"
        help = "wait for its result" if kind == "in_flight" else "a person must settle it first"
        return Violation((Reason("call", kind, message, got=f"!{event.label}", help=help),)), state
    return None


def stopped(contract: Contract, state: State, event: Called, plan: Plan | None, args: Any) -> Answer | None:
    more = state.more
    if more.over is not None:
        return over(contract, state)
    if more.frozen and (plan is None or plan.tool is None or plan.tool.effect != "none"):
        reason = Reason(
            "order", "frozen", f"`{event.label}` may change something, and the session is frozen",
            got=f"!{event.label}", help="wait until a person unfreezes it",
        )  # fmt: skip
        return Violation((reason,)), state
    parked = more.parked.get(event.id) if event.id is not None else None
    if parked is not None and (parked.label != event.label or not same(parked.args, args)):
        raise Malformed(f"the call id `{event.id}` is taken by a parked call with other arguments")
    return None


def over(contract: Contract, state: State) -> Answer:
    why = state.more.over
    help = "open a new session" if why in ("closed", "halted") else "wait for the next turn"
    return Blocked((Reason("session", str(why), f"the session is {why}", help=help),), halted=why != "closed"), state


def uncertain(state: State, plan: Plan, args: Any, identity: str) -> Answer | None:
    """An equal act waits while an earlier one may or may not have happened."""
    for cause, call in state.open.items():
        if call.uncertain and call.label == plan.label and same(call.args, args):
            reason = Reason(
                "call", "uncertain", f"an equal call of `{plan.label}` (`{cause}`) may or may not have happened",
                got=f"!{plan.label}", help="a person must settle it as done or as failed",
            )  # fmt: skip
            parked = {**state.more.parked, identity: Parked(plan.label, args, f"t-{identity}", cause)}
            after = structs.replace(state, more=structs.replace(state.more, parked=parked))
            return NeedsApproval((reason,), ticket=f"t-{identity}"), after
    return None


def refused(contract: Contract, state: State, label: str, args: Any, why: Why) -> Answer:
    """A refusal: nothing that a rule can see changes; the breaker counts it, and may halt."""
    breaker = contract.terms.breaker
    if breaker is None and contract.terms.on_violation != "halt":
        return Violation(why=why), state
    more = state.more
    halted = contract.terms.on_violation == "halt"
    if breaker is not None:
        act = "" if breaker.of == "in_a_row" else f"{label} {write_sorted(args).decode()}"
        tally = {**more.tally, act: more.tally.get(act, 0) + 1}
        more = structs.replace(more, tally=tally)
        halted = halted or tally[act] >= breaker.refusals
    if halted:
        over = "halted" if breaker is None or breaker.per == "session" else f"halted for this {breaker.per}"
        if contract.terms.on_violation == "halt":
            over = "halted"
        more = structs.replace(more, over=over)
    return Violation(why=why, halted=halted), structs.replace(state, more=more)


def found(state: State, why: Why) -> Answer:
    """A finding: what happened all the same. The machines that said no are remembered for ``follow_on``."""
    reasons = tuple(
        structs.replace(reason, follow_on=True) if reason.rule in state.more.found else reason
        for reason in why.reasons()
    )
    more = structs.replace(state.more, found=state.more.found | {reason.rule for reason in reasons})
    return Violation(reasons, finding=True, instead=why.legal()), structs.replace(state, more=more)


def calm(contract: Contract, more: More) -> More:
    """An admitted act breaks a row of refusals."""
    breaker = contract.terms.breaker
    if breaker is None or breaker.of != "in_a_row" or not more.tally:
        return more
    return structs.replace(more, tally={})
