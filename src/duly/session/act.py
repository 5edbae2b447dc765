"""Acts: calls and messages of the agent, judged before they happen by every machine that their label touches."""

from typing import Any, Final

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import NOTHING, More, Open, Plan, State
from duly.values.event import Called, Sent
from duly.values.plain import Malformed, read_json
from duly.values.verdict import ALLOWED, Allowed, Reason, Verdict, Violation

from .explain import Why
from .move import bind, find, pick, place
from .refuse import again, calm, found, keyed, over, refused, stopped, uncertain
from .settle import drained, settle_act

Answer = tuple[Verdict, State]
NOBODY: Final = (None,)


def called(contract: Contract, state: State, event: Called, happened: bool) -> Answer:
    plan = (
        contract.acts.get(event.label) if event.server is None else contract.acts.get(f"{event.server}/{event.label}")
    )
    args = event.payload
    if plan is not None and plan.plain and state.more is NOTHING and type(args) is dict:
        asked = event.id
        open = state.open
        if (
            asked is not None
            and asked not in open
            and event.batch is None
            and event.key is None
            and event.parent is None
            and event.raw is None
        ):
            # at most one cursor is asked, bits and counts; nothing seldom is going on
            cursors, movers, data = state.cursors, state.movers, state.data
            moved = plan.straight is not None
            fits = True
            if moved:
                move = plan.straight.get(cursors[0])  # type: ignore[union-attr]
                fits = type(move) is int
                cursors, movers = (move,), (asked,)  # type: ignore[assignment]
            if fits and state.facts & plan.want == plan.want and all_below(data, plan.limits):
                if plan.takes:
                    data = (data[0] + 1,) if len(data) == 1 else taken(data, plan.takes)
                record = Open(plan.label, args, None, state.cursors, plan.moved, plan.takes)
                return Allowed(args, None, False, asked), State(
                    cursors, movers, state.facts, data, state.registers,
                    {**open, asked: record} if open else {asked: record}, state.at, state.serial, NOTHING,
                )  # fmt: skip
    if args is None or event.raw is not None:
        args = _arguments(event, plan)
    if type(args) is not dict:
        raise Malformed("the arguments of a call are one JSON object")
    more = state.more
    serial = state.serial
    if event.id is not None:
        identity = event.id
    else:
        serial += 1
        while (identity := f"#{serial}") in state.open:
            serial += 1
    if more is not NOTHING and not happened:
        answer = stopped(contract, state, event, plan, args)
        if answer is not None:
            return answer
    if identity in state.open:
        return again(state, event, args, identity)
    if event.key is not None and event.found is not None:
        answered = keyed(state, event, args)
        if answered is not None:
            return answered
    if plan is None or plan.message or plan.silent:
        return _unknown(contract, state, event, plan, args, identity, serial, happened)
    faults: list[tuple[str, str]] | None = None
    if plan.checked:
        args, faults = contract.preparers[plan.label](args)
    if plan.once and state.open and not happened:
        parked = uncertain(state, plan, args, identity)
        if parked is not None:
            return parked

    return _judged(contract, state, event, plan, args, identity, serial, faults, happened)


def sent(contract: Contract, state: State, event: Sent, happened: bool) -> Answer:
    label = event.label
    plan = contract.acts.get(label) if label is not None else None
    if plan is not None and plan.said is not None and state.more is NOTHING:
        # nothing but one cursor is asked, and nothing seldom is going on
        move = plan.said.get(state.cursors[0])
        if type(move) is int:
            return ALLOWED, State(
                (move,), NOBODY, state.facts | plan.wins, state.data, state.registers, state.open, state.at,
                state.serial, NOTHING,
            )  # fmt: skip
        if move is not None and len(move) == 1:
            registers = move[0].go(event.payload, state.registers)
            if registers is not None:
                return ALLOWED, State(
                    (move[0].target,), NOBODY, state.facts | plan.wins, state.data, registers, state.open, state.at,
                    state.serial, NOTHING,
                )  # fmt: skip
    if state.more.over is not None and not happened:
        return over(contract, state)
    if label is None:
        # words of the agent that no label names are no step of anything
        return ALLOWED, state
    if plan is None:
        return _unknown(contract, state, event, plan, event.payload, None, state.serial, happened)
    if plan.tool is not None:
        message = f"`{label}` is a tool, not a message"
        why = Reason("contract", "kind", message, got=f"!{label}", help="a tool is called, not said")
        return Violation((why,), finding=happened), state
    return _judged(contract, state, event, plan, event.payload or {}, None, state.serial, None, happened)


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
    data = state.data
    bad = bool(faults) or visible & plan.want != plan.want or not all_below(data, plan.limits)
    cursors, registers = state.cursors, state.registers
    bound: tuple[tuple[str, Any, Any], ...] = ()
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
        data = taken(data, plan.takes)
    if more is not NOTHING:
        more = calm(contract, more)
        if held and moved:
            more = structs.replace(more, held=_held_after(more, moved, batch, cursors))
    record = Open(plan.label, args, batch, state.cursors, moved, plan.takes, (more.runs, more.turns), bound)
    if identity is not None:
        after = State(
            cursors, _replaced(state.movers, moved, identity), facts, data, registers,
            {**state.open, identity: record}, state.at, serial, more,
        )  # fmt: skip
    else:
        movers = _replaced(state.movers, moved, None)
        after = State(cursors, movers, facts, data, registers, state.open, state.at, serial, more)
        after = settle_act(after, plan, batch)
    if replayed:
        after = structs.replace(after, more=structs.replace(after.more, waiting=(*after.more.waiting, *replayed)))
    if after.more.waiting:
        after = drained(contract, after)
    if bad or shut:
        return found(after, why)
    return (Allowed(args, None, False, identity) if identity is not None else ALLOWED), after


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
    if type(event.label) is not str:
        raise Malformed(f"a label is text, not `{type(event.label).__name__}`")
    server = event.server if type(event) is Called else None
    label = str(event.label) if server is None else f"{server}/{event.label}"
    why = Why(contract, state, event, plan, args, (), state.facts, plan.silent if plan is not None else ())
    if plan is None and server is None:
        # a bare name of a tool that one server has
        owners = why.owners()
        if len(owners) == 1 and type(event) is Called:
            return called(contract, state, structs.replace(event, label=owners[0]), happened)
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


def _arguments(event: Called, plan: Plan | None) -> Any:
    raw = event.raw
    if raw is None:
        return {}
    if not raw.strip():
        if plan is not None and plan.tool is not None and (plan.tool.schema or {}).get("required"):
            raise Malformed(f"`{event.label}` was called without arguments and requires some")
        return {}
    return read_json(raw)


def all_below(data: tuple[int, ...], limits: tuple[tuple[int, int], ...]) -> bool:
    for slot, limit in limits:  # noqa: SIM110 - a generator costs more than the whole loop
        if data[slot] >= limit:
            return False
    return True


def taken(data: tuple[int, ...], slots: tuple[int, ...]) -> tuple[int, ...]:
    """The counts after one more act of these."""
    counts = list(data)
    for slot in slots:
        counts[slot] += 1
    return tuple(counts)


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
