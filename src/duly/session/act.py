"""Acts: calls and messages of the agent, judged before they happen by every machine that their label touches."""

from typing import Any, Final

from msgspec import structs

from duly.machine.cells import taken
from duly.machine.contract import Contract
from duly.machine.ir import NOTHING, Edge, Held, More, Open, Plan, State, Waiting
from duly.machine.watch.member import Act
from duly.values.event import Called, Sent
from duly.values.plain import Malformed
from duly.values.verdict import ALLOWED, Allowed, Reason, Unrecognized, Verdict, Violation

from .arguments import arguments
from .batch import moved_on, put_back
from .books import act_of, admitted, in_force, judged, leads, noticed
from .charge import stranded
from .explain import Why
from .move import bind, find, pick, place, remarked, touched
from .park import Wanted, denials, known, permitted, wanted
from .pins import changed
from .refuse import (
    again,
    calm,
    found,
    guarded,
    keyed,
    malformed,
    named,
    over,
    ran,
    refused,
    stopped,
    tallied,
    uncertain,
)
from .settle import drained, finding, settle_act

Answer = tuple[Verdict, State]
NOBODY: Final = (None,)


def called(contract: Contract, state: State, event: Called, happened: bool) -> Answer:
    plan = (
        contract.acts.get(event.label) if event.server is None else contract.acts.get(f"{event.server}/{event.label}")
    )
    args = event.payload
    if plan is not None and (plan.plain or plan.light) and state.more is NOTHING and type(args) is dict:
        asked = event.id
        open = state.open
        if (
            asked is not None
            and asked not in open
            and event.batch is None
            and event.key is None
            and event.parent is None
            and event.raw is None
            and event.answers is None
        ):
            # at most one cursor is asked, bits and counts; nothing seldom is going on
            cursors, movers, data = state.cursors, state.movers, state.data
            moved = plan.straight is not None
            fits = True
            if moved:
                move = plan.straight.get(cursors[0])  # type: ignore[union-attr]
                fits = type(move) is int
                cursors, movers = (move,), (asked,)  # type: ignore[assignment]
            books = state.books
            if fits and plan.light:
                told = act_of(contract, state, plan.label, args, asked, None)
                said, _, noted, excess = judged(contract, state, plan, told)
                # where a rule has anything to say, everything is asked in its order
                fits = not (said or noted or excess)
                books = admitted(contract, state, plan, told, ()) if fits else books
            if fits and state.facts & plan.want == plan.want and (not plan.limits or all_below(data, plan.limits)):
                if plan.takes:
                    data = (data[0] + 1,) if len(data) == 1 else taken(data, plan.takes)
                record = Open(plan.label, args, None, state.cursors, state.movers, plan.moved, plan.takes)
                return Allowed(args, None, False, asked), State(
                    cursors, movers, state.facts, data, state.registers,
                    {**open, asked: record} if open else {asked: record}, state.at, state.serial, NOTHING, books,
                )  # fmt: skip
    if plan is None and contract.free and state.more is NOTHING and type(args) is dict and type(event.label) is str:
        asked, open = event.id, state.open
        if (
            asked is not None
            and asked not in open
            and event.key is None
            and event.parent is None
            and event.raw is None
            and event.answers is None
            and event.server is None
        ):
            # nothing in the contract speaks of it
            record = Open(event.label, args, event.batch, state.cursors)
            return Allowed(args, None, False, asked), State(
                state.cursors, state.movers, state.facts, state.data, state.registers,
                {**open, asked: record} if open else {asked: record}, state.at, state.serial, NOTHING, state.books,
            )  # fmt: skip
    if plan is None and event.server is None:
        # a bare name of a tool that one server has
        owners = contract.owners.get(event.label, ())
        if len(owners) == 1:
            event = structs.replace(event, label=owners[0])
            plan = contract.acts[owners[0]]
    if args is None or event.raw is not None:
        args = arguments(event, plan)
    if type(args) is not dict:
        raise Malformed("the arguments of a call are one JSON object")
    faults: list[tuple[str, str]] | None = None
    if plan is not None and plan.checked:
        # ids and keys are compared by what would run
        args, faults = contract.preparers[plan.label](args, schema=changed(contract, state.more, plan) is None)
    if event.parent is not None and event.parent not in state.open:
        raise Malformed(f"`parent` names no open call: `{event.parent[:80]}`")
    more = state.more
    serial = state.serial
    asked, ready = (event.id, args) if more is NOTHING else known(state, event, plan, args)
    if asked is not None:
        identity = asked
    else:
        serial += 1
        while (identity := f"#{serial}") in state.open or identity in more.parked:
            serial += 1
    if more is not NOTHING:
        answer = stopped(contract, state, event, plan, args)
        if answer is not None:
            return ran_on(contract, state, event, answer[0]) if happened else answer
        args = ready
    if identity in state.open:
        return again(state, event, named(event, plan), args, identity, happened)
    if event.key is not None:
        answered = keyed(contract, state, event, named(event, plan), args, happened)
        if answered is not None:
            return answered
    if event.answers is not None or (plan is not None and plan.guards and not happened):
        answer = guarded(contract, state, event, plan, args)
        if answer is not None:
            return ran_on(contract, state, structs.replace(event, answers=None), answer[0]) if happened else answer
    if plan is None or plan.message or (plan.silent and not happened):
        return _unknown(contract, state, event, plan, args, identity, serial, happened)
    return _judged(contract, state, event, plan, args, identity, serial, faults, happened)


def sent(contract: Contract, state: State, event: Sent, happened: bool) -> Answer:
    label = event.label
    plan = contract.acts.get(label) if label is not None else None
    if plan is not None and plan.said is not None and state.more is NOTHING and event.batch is None:
        # nothing but one cursor is asked, and nothing seldom is going on
        move = plan.said.get(state.cursors[0])
        if type(move) is int:
            return ALLOWED, State(
                (move,), NOBODY, state.facts | plan.wins, state.data, state.registers, state.open, state.at,
                state.serial, NOTHING, state.books,
            )  # fmt: skip
        if type(move) is Edge and not move.otherwise:
            registers = move.go(event.payload, state.registers)
            if registers is not None:
                return ALLOWED, State(
                    (move.target,), NOBODY, state.facts | plan.wins, state.data, registers, state.open, state.at,
                    state.serial, NOTHING, state.books,
                )  # fmt: skip
    if label is None:
        # words of the agent that no label names are no step of anything
        if state.more.over is not None:
            answer = over(contract, state)
            return ran(state, answer[0], (ALLOWED, state)) if happened else answer
        return ALLOWED, state
    if state.more is not NOTHING:
        halt = stopped(contract, state, event, plan, event.payload)
        if halt is not None:
            return ran_on(contract, state, event, halt[0]) if happened else halt
    if plan is None:
        return _unknown(contract, state, event, plan, event.payload, None, state.serial, happened)
    wrong = None
    if plan.tool is not None:
        wrong = (f"`{label}` is a tool, not a message", "a tool is called, not said")
    elif plan.message and not plan.rows and not contract.says(plan.label):
        wrong = (f"`{label}` is said by others, not by the agent", "what others say cannot be said for them")
    if wrong is not None:
        why = Reason("contract", "kind", wrong[0], got=f"!{label}", help=wrong[1])
        if happened:
            return finding(state, [why])
        return tallied(contract, state, plan.label, event.payload, Violation((why,)))
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
    whole, plan = plan, in_force(contract, more, plan)
    asks: Wanted = ()
    extra: list[Reason] = []
    if plan.asks:
        asks, extra = wanted(contract, state, plan, args, batch, [contract.asks[number] for number in plan.asks])
    pin = changed(contract, more, plan)
    if pin is not None and type(event) is Called:
        asks = (*asks, pin)
    told: Act | None = None
    no: tuple[int, ...] = ()
    noted: list[Reason] = []
    led: dict[str, str] = {}
    if plan.watches:
        told = act_of(contract, state, plan.label, args, identity, event.batch)
        said, no, noted, excess = judged(contract, state, plan, told)
        extra = [*extra, *said]
        if excess:
            beyond, unclear = wanted(contract, state, plan, args, batch, excess)
            asks, extra = (*asks, *beyond), [*extra, *unclear]
            led = leads(contract, state, told, beyond)
    if asks and (more.denied or more.shut):
        extra = [*extra, *denials(more, plan.label, args, asks)]
    facts = state.facts
    visible = facts
    if batch is not None and more.fresh:
        # a sibling of the same batch never permits
        for bit, owner in more.fresh.items():
            if owner == batch:
                visible &= ~bit
    data = state.data
    bad = bool(faults) or bool(extra) or visible & plan.want != plan.want or not all_below(data, plan.limits)
    cursors, registers = state.cursors, state.registers
    bound: tuple[tuple[str, Any, Any], ...] = ()
    moved: tuple[int, ...] = ()
    slots: tuple[int, ...] = ()
    forked: tuple[int, ...] = ()
    shut: tuple[int, ...] = plan.silent
    held = more.held
    replayed: tuple[Waiting, ...] = ()
    before = state.cursors
    lost: tuple[Held, ...] = ()
    inner = type(event) is Called and event.parent is not None
    for row in plan.rows:
        line = contract.lines[row.protocol]
        base, known = cursors, registers
        again: tuple[Waiting, ...] = ()
        if held and batch is not None:
            # the results of siblings are put back until this act has been judged and has moved
            base, known, again = put_back(state, row.protocol, batch, base, known)
        slot, move = find(row, base)
        if move is None:
            if not inner:
                shut += (row.protocol,)
            continue
        if type(move) is not int:
            edge = pick(move, args, known)
            if edge is None:
                shut += (row.protocol,)
                continue
            known, more_bound = bind(edge, args, known)
            bound += more_bound
            move = edge.target
        cursors = place(contract, row.protocol, base, slot, move)
        moved += (row.protocol,)
        steps = touched(line, base, cursors, slot)
        slots += steps
        if line.forks:
            forked += steps
        registers = known
        if again:
            before = put_back(state, row.protocol, str(batch), before, registers)[0]
            replayed += again
        if held:
            held, ended = moved_on(held, line, steps, batch)
            lost += ended
    if contract.paces and identity is not None:
        strands = stranded(contract, state, plan, cursors)
        watching = [reason for reason in strands if more.modes.get(reason.rule) == "shadow"]
        strands = [reason for reason in strands if reason not in watching]
        noted += watching
        extra += strands
        bad = bad or bool(strands)
    if plan is not whole:
        noted += Why(contract, state, event, whole, args, visible=visible).watched(plan)
    if bad or shut:
        why = Why(contract, state, event, plan, args, faults or (), visible, shut, tuple(extra))
        if not happened:
            return refused(contract, state, plan.label, args, why)
    waits = None
    if plan.once and state.open and identity is not None:
        waits = uncertain(state, event, plan, args, identity, serial)
        if waits is not None and not happened:
            return waits
    if asks and waits is None and type(event) is Called and identity is not None:
        spent = permitted(state, event, plan, args, identity, serial, asks, led)
        if isinstance(spent, More):
            more = spent
        elif not happened:
            return spent
        else:
            waits = spent
    if plan.takes:
        data = taken(data, plan.takes)
    if more is not NOTHING:
        more = calm(contract, more)
        if held is not more.held:
            more = structs.replace(more, held=held)
        if identity in more.parked:
            more = structs.replace(more, parked={key: act for key, act in more.parked.items() if key != identity})
    record = Open(
        plan.label, args, batch, before, state.movers, moved, plan.takes, (more.runs, more.turns), bound, False,
        forked, event.key if type(event) is Called else None, lost, no,
    )  # fmt: skip
    books = state.books if told is None else admitted(contract, state, plan, told, no)
    if identity is not None:
        after = State(
            cursors, remarked(state.movers, slots, identity), facts, data, registers,
            {**state.open, identity: record}, state.at, serial, more, books,
        )  # fmt: skip
    else:
        movers = remarked(state.movers, slots, None)
        after = State(cursors, movers, facts, data, registers, state.open, state.at, serial, more, books)
        after = settle_act(after, plan, batch)
    if replayed:
        after = structs.replace(after, more=structs.replace(after.more, waiting=(*after.more.waiting, *replayed)))
    if after.more.waiting:
        after = drained(contract, after)
    after = noticed(after, noted)
    if bad or shut:
        return found(after, why)
    if waits is not None:
        return ran(state, waits[0], (ALLOWED, after))
    if noted:
        return Allowed(args if identity is not None else None, None, False, identity, tuple(noted)), after
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
    if plan is None and not contract.closed and not why.owners():
        if contract.everywhere:
            # rules that look at every act look at this one, too
            strange = Plan(label, None, False, (), (), watches=contract.everywhere)
            return _judged(contract, state, event, strange, args, identity, serial, None, happened)
        more = calm(contract, state.more)
        if identity is None:
            return ALLOWED, structs.replace(state, more=more)
        key = event.key if type(event) is Called else None
        record = Open(label, args, event.batch, state.cursors, epoch=(more.runs, more.turns), key=key)
        return Allowed(args, None, False, identity), structs.replace(
            state, open={**state.open, identity: record}, serial=serial, more=more
        )
    if not happened:
        return refused(contract, state, label, args, why)
    if identity is not None:
        record = Open(label, args, event.batch, state.cursors, epoch=(state.more.runs, state.more.turns))
        state = structs.replace(state, open={**state.open, identity: record}, serial=serial)
    return found(state, why)


def ran_on(contract: Contract, state: State, event: Called | Sent, verdict: Verdict) -> Answer:
    """An act that ran although the session is over or frozen, or a guard did not say yes: the books take it in, and
    the finding says so."""
    going = structs.replace(state, more=structs.replace(state.more, over=None, frozen=False))
    judged: Verdict
    try:
        judged, after = (
            called(contract, going, event, True) if isinstance(event, Called) else sent(contract, going, event, True)
        )
    except Malformed as error:
        judged, after = Unrecognized((malformed(str(error)),)), going
    more = structs.replace(after.more, over=state.more.over, frozen=state.more.frozen)
    return ran(state, verdict, (judged, structs.replace(after, more=more)))


def all_below(data: Any, limits: tuple[tuple[int, int], ...]) -> bool:
    for slot, limit in limits:  # noqa: SIM110 - a generator costs more than the whole loop
        if data[slot] >= limit:
            return False
    return True
