"""The one function that decides: ``decide(contract, state, event) -> (verdict, state)``.

Pure. Live, peek, shadow, replay and audit all come here; ``observe`` is the same judgement where the act happened all
the same. Acts are judged in this file, what has happened in ``settle``, people in ``people``, the end in ``close``.
"""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import NOTHING, More, Open, Parked, Plan, State
from duly.values.event import (
    Called, Charged, Closed, Decided, Elapsed, Event, Failed, Listed, Opened, Ordered, Received, Returned, Sent,
)  # fmt: skip
from duly.values.expr import same
from duly.values.plain import Malformed, plain, read_json, write_sorted
from duly.values.verdict import ALLOWED, Allowed, Blocked, NeedsApproval, Reason, Unrecognized, Verdict, Violation

from .close import closed
from .explain import Why
from .hear import heard
from .move import bind, find, pick, place
from .people import decided, ordered
from .settle import drained, failed, returned, settle_act
from .time import passed

Answer = tuple[Verdict, State]


def decide(contract: Contract, state: State, event: Event) -> Answer:
    """The verdict on an event, and the state after it: for a refused act one that no rule can tell from before."""
    return _judge(contract, state, event, False)


def observe(contract: Contract, state: State, event: Event) -> Answer:
    """The same verdict where the act happened all the same (recorded runs, shadow).

    The machine that refused stays as if the act had not happened, every other goes on as if it had; counts take in
    what ran. Further findings of one machine in a run are marked ``follow_on``.
    """
    return _judge(contract, state, event, True)


def _judge(contract: Contract, state: State, event: Event, happened: bool) -> Answer:
    try:
        if event.at is not None or event.turn is not None or event.run is not None:
            state = passed(contract, state, event)
        return _JUDGES[type(event)](contract, state, event, happened)
    except Malformed as error:
        if happened and type(event) is Called and event.id is not None and event.id not in state.open:
            # it ran all the same, so its result is awaited
            state = structs.replace(state, open={**state.open, event.id: Open(event.label, event.payload, event.batch)})
        return Unrecognized((malformed(str(error)),)), state
    except Exception as error:
        # an error of ours is never a yes, and it leaves the state as it was
        message = f"the decision failed: {type(error).__name__}: {str(error)[:200]}"
        return Violation((Reason("duly", "internal", message, help="report this; the act was not admitted"),)), state


def malformed(message: str) -> Reason:
    return Reason("event", "malformed", message, help="send a well-formed event")


def _called(contract: Contract, state: State, event: Called, happened: bool) -> Answer:
    plan = contract.acts.get(event.label) if event.server is None else contract.acts.get(f"{event.server}/{event.label}")
    args = event.payload
    if args is None or event.raw is not None:
        args = _arguments(event, plan)
    if type(args) is not dict:
        raise Malformed("the arguments of a call are one JSON object")
    more = state.more
    identity = event.id
    serial = state.serial
    if identity is None:
        serial += 1
        while (identity := f"#{serial}") in state.open:
            serial += 1
    if more is not NOTHING and not happened:
        stopped = _stopped(contract, state, event, plan, args)
        if stopped is not None:
            return stopped
    if identity in state.open:
        return _again(state, event, args, identity)
    if event.key is not None and event.found is not None:
        answered = _keyed(state, event, args)
        if answered is not None:
            return answered
    if plan is None or plan.message or plan.silent:
        return _unknown(contract, state, event, plan, args, identity, serial, happened)
    faults: list[tuple[str, str]] | None = None
    if plan.checked:
        args, faults = contract.preparers[plan.label](args)
    if plan.once and state.open and not happened:
        parked = _uncertain(state, plan, args, identity)
        if parked is not None:
            return parked

    batch = event.batch
    if not faults and not plan.checked and batch is None and plan.quiet and event.parent is None:
        # a protocol alone, one straight edge: nothing else can refuse
        rows = plan.rows
        if len(rows) == 1 and len(rows[0].places) == 1:
            slot, column = rows[0].places[0]
            target = column.get(state.cursors[slot])
            if type(target) is int and not contract.lines[rows[0].protocol].forks and not more.waiting and not more.held:
                cursors = state.cursors
                record = Open(plan.label, args, None, cursors, plan.moved)
                if len(cursors) == 1:
                    after, movers = (target,), (identity,)
                else:
                    after = (*cursors[:slot], target, *cursors[slot + 1 :])
                    movers = _replaced(state.movers, plan.moved, identity)
                return Allowed(args, None, False, identity), State(
                    after, movers, state.facts, state.data, state.registers,
                    {**state.open, identity: record}, state.at, serial,
                    more if more is NOTHING else _calm(contract, more),
                )  # fmt: skip
    return _judged(contract, state, event, plan, args, identity, serial, faults, happened)


def _judged(
    contract: Contract,
    state: State,
    event: Called | Sent,
    plan: Plan,
    args: Any,
    identity: str | None,
    serial: int,
    faults: list[tuple[str, str]] | None,
    happened: bool,
) -> Answer:
    """Asks every machine that the label touches, then moves those that said yes."""
    batch = event.batch
    more = state.more
    facts = state.facts
    visible = facts
    if batch is not None and more.fresh:
        # a sibling of the same batch never permits
        for bit, owner in more.fresh.items():
            if owner == batch:
                visible &= ~bit
    bad = bool(faults) or visible & plan.want != plan.want
    data = state.data
    for slot, limit in plan.limits:
        if data[slot] >= limit:
            bad = True
            break
    cursors, registers, bound = state.cursors, state.registers, ()
    moved: tuple[int, ...] = ()
    shut: tuple[int, ...] = ()
    held = more.held
    replayed: tuple[Any, ...] = ()
    inner = type(event) is Called and event.parent is not None
    for row in plan.rows:
        base = cursors
        if batch is not None and held and row.protocol in held and held[row.protocol][0] == batch:
            # the results of siblings are put back until this act has been judged and has moved
            base = _rewound(contract, row.protocol, cursors, held[row.protocol][1])
            replayed += held[row.protocol][2]
        slot, move = find(row, base)
        if move is None:
            if not inner:
                shut += (row.protocol,)
            continue
        if type(move) is not int:
            edge = pick(move, args, registers)
            if edge is None:
                shut += (row.protocol,)
                continue
            registers, more_bound = bind(edge, args, registers)
            bound += more_bound
            move = edge.target
        cursors = place(contract, row.protocol, base, slot, move)
        moved += (row.protocol,)
    if bad or shut:
        why = Why(contract, state, event, plan, args, faults or (), visible, shut)
        if not happened:
            return refused(contract, state, plan.label, args, why)
    if plan.takes:
        counts = list(data)
        for slot in plan.takes:
            counts[slot] += 1
        data = tuple(counts)
    if more is not NOTHING:
        more = _calm(contract, more)
        if held and moved:
            more = structs.replace(more, held=_held_after(more, moved, batch, cursors))
    record = Open(plan.label, args, batch, state.cursors, moved, plan.takes, (more.runs, more.turns), bound)
    if identity is not None:
        after = State(
            cursors, _replaced(state.movers, moved, identity), facts, data, registers,
            {**state.open, identity: record}, state.at, serial, more,
        )  # fmt: skip
    else:
        after = settle_act(
            State(cursors, _replaced(state.movers, moved, None), facts, data, registers, state.open, state.at, serial, more),
            plan, batch,
        )  # fmt: skip
    if replayed:
        after = structs.replace(after, more=structs.replace(after.more, waiting=(*after.more.waiting, *replayed)))
    if after.more.waiting:
        after = drained(contract, after)
    if bad or shut:
        return found(after, why)
    return (Allowed(args, None, False, identity) if identity is not None else ALLOWED), after


def _sent(contract: Contract, state: State, event: Sent, happened: bool) -> Answer:
    label = event.label
    if state.more.over is not None and not happened:
        return _over(contract, state)
    if label is None:
        # words of the agent that no label names are no step of anything
        return ALLOWED, state
    plan = contract.acts.get(label)
    if plan is None:
        return _unknown(contract, state, event, plan, event.payload, None, state.serial, happened)
    if plan.tool is not None:
        why = Reason(
            "contract", "kind", f"`{label}` is a tool, not a message", got=f"!{label}", help="a tool is called, not said"
        )
        return Violation((why,), finding=happened), state
    if plan.quiet and event.batch is None:
        rows = plan.rows
        if len(rows) == 1 and len(rows[0].places) == 1:
            slot, column = rows[0].places[0]
            cursors = state.cursors
            target = column.get(cursors[slot])
            more = state.more
            if type(target) is int and more is NOTHING and not contract.lines[rows[0].protocol].forks:
                if len(cursors) == 1:
                    after, movers = (target,), NOBODY
                else:
                    after = (*cursors[:slot], target, *cursors[slot + 1 :])
                    movers = _replaced(state.movers, plan.moved, None)
                return ALLOWED, State(
                    after, movers, state.facts | plan.wins, state.data, state.registers,
                    state.open, state.at, state.serial, more,
                )  # fmt: skip
    return _judged(contract, state, event, plan, event.payload or {}, None, state.serial, None, happened)


NOBODY: tuple[None] = (None,)


def _arguments(event: Called, plan: Plan | None) -> Any:
    raw = event.raw
    if raw is None:
        return {}
    if not raw.strip():
        if plan is not None and plan.tool is not None and (plan.tool.schema or {}).get("required"):
            raise Malformed(f"`{event.label}` was called without arguments and requires some")
        return {}
    return read_json(raw)


def _again(state: State, event: Called, args: Any, identity: str) -> Answer:
    known = state.open[identity]
    if known.label != event.label or not same(known.args, args):
        raise Malformed(f"the call id `{identity}` is taken by an open call with other arguments")
    reason = Reason(
        "call", "in_flight", f"the call `{identity}` has not ended", got=f"!{event.label}", help="wait for its result"
    )
    return Violation((reason,)), state


def _keyed(state: State, event: Called, args: Any) -> Answer | None:
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


def _stopped(contract: Contract, state: State, event: Called, plan: Plan | None, args: Any) -> Answer | None:
    more = state.more
    if more.over is not None:
        return _over(contract, state)
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


def _over(contract: Contract, state: State) -> Answer:
    over = state.more.over
    help = "open a new session" if over in ("closed", "halted") else "wait for the next turn"
    return Blocked((Reason("session", str(over), f"the session is {over}", help=help),), halted=over != "closed"), state


def _uncertain(state: State, plan: Plan, args: Any, identity: str) -> Answer | None:
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


def _unknown(
    contract: Contract,
    state: State,
    event: Called | Sent,
    plan: Plan | None,
    args: Any,
    identity: str | None,
    serial: int,
    happened: bool,
) -> Answer:
    """Acts that the contract does not know, names of the wrong kind, and tools that no protocol speaks of."""
    server = event.server if type(event) is Called else None
    label = str(event.label) if server is None else f"{server}/{event.label}"
    why = Why(contract, state, event, plan, args, (), state.facts, plan.silent if plan is not None else ())
    if plan is None and server is None:
        # a bare name of a tool that one server has
        owners = why.owners()
        if len(owners) == 1 and type(event) is Called:
            return _called(contract, state, structs.replace(event, label=owners[0]), happened)
    if plan is None and not contract.closed and not why.owners():
        if identity is None:
            return ALLOWED, state
        record = Open(label, args, event.batch, state.cursors, epoch=(state.more.runs, state.more.turns))
        return Allowed(args, None, False, identity), structs.replace(
            state, open={**state.open, identity: record}, serial=serial
        )
    if not happened:
        return refused(contract, state, label, args, why)
    if identity is not None:
        record = Open(label, args, event.batch, state.cursors, epoch=(state.more.runs, state.more.turns))
        state = structs.replace(state, open={**state.open, identity: record}, serial=serial)
    return found(state, why)


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
        structs.replace(reason, follow_on=True) if reason.rule in state.more.found else reason for reason in why.reasons()
    )
    more = structs.replace(state.more, found=state.more.found | {reason.rule for reason in reasons})
    legal, repair = why.legal(), None
    return Violation(reasons, legal=legal, repair=repair, finding=True), structs.replace(state, more=more)


def _calm(contract: Contract, more: More) -> More:
    """An admitted act breaks a row of refusals."""
    breaker = contract.terms.breaker
    if breaker is None or breaker.of != "in_a_row" or not more.tally:
        return more
    return structs.replace(more, tally={})


def _replaced(movers: tuple[str | None, ...], protocols: tuple[int, ...], mover: str | None) -> tuple[str | None, ...]:
    if not protocols:
        return movers
    if len(movers) == 1:
        return (mover,)
    fresh = list(movers)
    for protocol in protocols:
        fresh[protocol] = mover
    return tuple(fresh)


def _rewound(contract: Contract, protocol: int, cursors: tuple[int, ...], before: tuple[int, ...]) -> tuple[int, ...]:
    base = list(cursors)
    for slot in contract.lines[protocol].slots:
        base[slot] = before[slot]
    return tuple(base)


def _held_after(more: More, moved: tuple[int, ...], batch: str | None, cursors: tuple[int, ...]) -> dict[int, Any]:
    held = dict(more.held)
    for protocol in moved:
        known = held.pop(protocol, None)
        if known is not None and known[0] == batch:
            held[protocol] = (known[0], cursors, known[2])
    return held


def _noted(contract: Contract, state: State, event: Event, happened: bool) -> Answer:
    """Observations that no machine listens to: recorded, and nothing moves."""
    return ALLOWED, state


_JUDGES: dict[type, Callable[[Contract, State, Any, bool], Answer]] = {
    Called: _called,
    Sent: _sent,
    Returned: returned,
    Failed: failed,
    Received: heard,
    Decided: decided,
    Ordered: ordered,
    Charged: _noted,
    Opened: _noted,
    Listed: _noted,
    Elapsed: _noted,
    Closed: closed,
}
