"""Refusals of acts: ids and keys that are taken, halts and freezes, calls that wait, and what the breaker counts."""

from typing import Any, Final

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import More, Parked, Plan, State
from duly.values.event import Called, Found, Sent
from duly.values.expr import normal, same
from duly.values.plain import Malformed, write_sorted
from duly.values.verdict import Allowed, Blocked, NeedsApproval, Reason, Refusal, Verdict, Violation

from .explain import Why

Answer = tuple[Verdict, State]

TALLIED: Final = 1000
"""Different refused acts of which a breaker knows how often; memory is bounded whatever an agent tries."""


def malformed(message: str) -> Reason:
    return Reason("event", "malformed", message, help="send a well-formed event")


def named(event: Called | Sent, plan: Plan | None) -> str:
    """The name that an act is known by: the declared one, else the one it came with."""
    if plan is not None:
        return plan.label
    server = event.server if isinstance(event, Called) else None
    return str(event.label) if server is None else f"{server}/{event.label}"


def again(state: State, event: Called, name: str, args: Any, identity: str, happened: bool) -> Answer:
    """The id of an open call is asked again: ``name`` and ``args`` are what would be judged."""
    known = state.open[identity]
    if known.label != name or not same(known.args, args):
        raise Malformed(f"the call id `{identity}` is taken by an open call with other arguments")
    reason = Reason(
        "call", "in_flight", f"the call `{identity}` has not ended", got=f"!{event.label}", help="wait for its result"
    )
    return Violation((reason,), finding=happened), state


def keyed(contract: Contract, state: State, event: Called, name: str, args: Any, happened: bool) -> Answer | None:
    known = event.found
    if known is None:
        # a call that has not ended is in the state, whatever the record still holds
        calls = ((id, call) for id, call in state.open.items() if call.key == event.key)
        id, call = next(calls, ("", None))
        if call is None:
            return None
        known = Found("uncertain" if call.uncertain else "open", call.label, call.args, id=id)
    plan = contract.acts.get(known.label)
    if (plan.label if plan is not None else known.label) != name or not same(known.payload, args):
        raise Malformed(f"the idempotency key `{event.key}` was used with other arguments")
    if known.status == "finished":
        return Allowed(args, known.result, True, known.id), state
    if known.status in ("open", "uncertain"):
        kind = "in_flight" if known.status == "open" else "uncertain"
        message = f"a call with the key `{event.key}` is {'still open' if kind == 'in_flight' else 'uncertain'}"
        help = "wait for its result" if kind == "in_flight" else "a person must settle it first"
        return Violation((Reason("call", kind, message, got=f"!{event.label}", help=help),), finding=happened), state
    return None


def guarded(contract: Contract, state: State, event: Called, plan: Plan | None, args: Any) -> Answer | None:
    """The answers of guards outside the contract, as a gate wrote them down: whatever is not True refuses."""
    name, answers = named(event, plan), event.answers or {}
    wrong = {guard: answer for guard, answer in answers.items() if answer is not True}
    if not wrong and plan is not None:
        wrong = {guard: "missing: no gate has asked it" for guard in plan.guards if guard not in answers}
    spans = {guard.run: guard.span for guard in contract.terms.guards}
    reasons = tuple(
        Reason(
            guard, *_unanswered(guard, answer), got=f"!{name}", help="ask again once the guard would say yes",
            span=spans.get(guard),
        )
        for guard, answer in wrong.items()
    )  # fmt: skip
    if not reasons:
        return None
    why = Why(contract, state, event, plan, args, extra=reasons, alone=True)
    return tallied(contract, state, name, args, Violation(why=why))


def _unanswered(guard: str, answer: Any) -> tuple[str, str]:
    """The kind and the message for an answer that is no yes."""
    if answer is False:
        return "guard", f"the guard `{guard}` said no"
    kind, _, detail = answer.partition(": ") if type(answer) is str else ("rubbish", "", "")
    said = {"timeout": "did not answer", "crash": "crashed", "missing": "could not be asked"}.get(kind)
    message = f"the guard `{guard}` {said or 'gave an answer that is neither yes nor no'}"
    return kind if said else "rubbish", f"{message}: {detail[:300]}" if detail else message


def stopped(contract: Contract, state: State, event: Called | Sent, plan: Plan | None, args: Any) -> Answer | None:
    """The answer to an act that no rule is asked about: the session is over or frozen, or the id is taken."""
    more = state.more
    if more.over is not None:
        return over(contract, state)
    name = named(event, plan)
    asked = event.id if isinstance(event, Called) else None
    parked = more.parked.get(asked) if asked is not None else None
    if parked is not None and (parked.label != name or not (same(parked.args, args) or same(parked.runs, args))):
        raise Malformed(f"the call id `{asked}` is taken by a parked call with other arguments")
    if more.frozen and not harmless(plan):
        reason = Reason(
            "order", "frozen", f"`{event.label}` may change something, and the session is frozen",
            got=f"!{event.label}", help="wait until a person unfreezes it",
        )  # fmt: skip
        why = Why(contract, state, event, plan, args, extra=(reason,), alone=True)
        return tallied(contract, state, name, args, Violation(why=why))
    return None


def told(contract: Contract, verdict: Verdict, state: State) -> Answer:
    """A verdict whose text shows a model what the contract lets it see."""
    if isinstance(verdict, Refusal) and verdict.show != contract.terms.show:
        verdict = structs.replace(verdict, show=contract.terms.show)
    return verdict, state


def harmless(plan: Plan | None) -> bool:
    """Whether an act may be taken while the session is frozen: declared messages, and tools without effect."""
    return plan is not None and (plan.message or (plan.tool is not None and plan.tool.effect == "none"))


def ran(state: State, verdict: Verdict, after: Answer) -> Answer:
    """What happened although no rule was asked about it: ``verdict`` as a finding, with what the rules found."""
    inner, state = after
    first = tuple(
        structs.replace(reason, follow_on=True) if reason.rule in state.more.found else reason
        for reason in verdict.reasons
    )
    names = state.more.found | {reason.rule for reason in first}
    reasons = (*first, *inner.reasons)
    shown = structs.replace(verdict, given=reasons, why=None, finding=True, halted=False, ticket=None)
    return shown, structs.replace(state, more=structs.replace(state.more, found=names))


def over(contract: Contract, state: State) -> Answer:
    why = state.more.over
    help = "open a new session" if why in ("closed", "halted") else "wait for the next turn"
    return Blocked((Reason("session", str(why), f"the session is {why}", help=help),), halted=why != "closed"), state


def uncertain(state: State, event: Called | Sent, plan: Plan, args: Any, identity: str, serial: int) -> Answer | None:
    """An equal act waits while an earlier one may or may not have happened."""
    for cause, call in state.open.items():
        if call.uncertain and call.label == plan.label and same(call.args, args):
            reason = Reason(
                "call", "uncertain", f"an equal call of `{plan.label}` (`{cause}`) may or may not have happened",
                got=f"!{plan.label}", help="a person must settle it as done or as failed",
            )  # fmt: skip
            if isinstance(event, Called) and event.id is None:
                # asked again without an id of its own, it is the act that waits already
                for known in state.more.parked.values():
                    if known.cause == cause and known.label == plan.label and same(known.args, args):
                        return NeedsApproval((reason,), ticket=known.ticket), state
            waits = state.more.parked.get(identity)
            if waits is not None and waits.asks:
                # what people have said of it stays
                return NeedsApproval((reason,), ticket=waits.ticket), state
            parked = {**state.more.parked, identity: Parked(plan.label, args, f"t-{identity}", cause)}
            after = structs.replace(state, serial=serial, more=structs.replace(state.more, parked=parked))
            return NeedsApproval((reason,), ticket=f"t-{identity}"), after
    return None


def refused(contract: Contract, state: State, label: str, args: Any, why: Why) -> Answer:
    """A refusal: nothing that a rule can see changes; the breaker counts it, and may halt."""
    rules = [contract.rules.get(reason.rule) for reason in why.extra]
    halts = any(rule is not None and rule.on_violation == "halt" for rule in rules)
    return tallied(contract, state, label, args, Violation(why=why), halts=halts)


def tallied(
    contract: Contract, state: State, label: str, args: Any, verdict: Violation, *, halts: bool = False
) -> Answer:
    """A refusal after the breaker has counted it; with ``halts`` a rule ends the session by it."""
    breaker = contract.terms.breaker
    halted = always = halts or contract.terms.on_violation == "halt"
    if breaker is None and not halted:
        return verdict, state
    more = state.more
    if breaker is not None:
        act = "" if breaker.of == "in_a_row" else f"{label} {mark(args)}"
        # the act that was refused last stands last, so that what is forgotten was refused the longest ago
        tally = {name: times for name, times in more.tally.items() if name != act}
        if len(tally) >= TALLIED:
            del tally[next(iter(tally))]
        tally[act] = more.tally.get(act, 0) + 1
        more = structs.replace(more, tally=tally)
        halted = halted or tally[act] >= breaker.refusals
    if halted:
        over = "halted" if breaker is None or breaker.per == "session" else f"halted for this {breaker.per}"
        if always:
            over = "halted"
        more = structs.replace(more, over=over)
    return structs.replace(verdict, halted=halted), structs.replace(state, more=more)


def mark(args: Any) -> str:
    """A short text that equal arguments share, and others do not; it does not show them."""
    from hashlib import sha256

    return sha256(write_sorted(normal(args))).hexdigest()[:32]


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
