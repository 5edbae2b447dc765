"""Acts that wait for people: the approvals that one needs, the ticket it waits under, and the yes that it spends.

A yes is bound to the tool and its arguments as they would run, and is spent by the identical act.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from duly.machine.approvals import Asker
from duly.machine.contract import Contract
from duly.machine.glob import inside
from duly.machine.ir import More, Parked, Plan, Standing, State
from duly.values.event import Called
from duly.values.expr import same
from duly.values.verdict import NeedsApproval, Reason, Repair

from .books import facts
from .move import find, moved_by, pick, place, remarked, touched
from .refuse import mark

Wanted = tuple[Asker, ...]

PAST = 32
"""Tickets whose end is remembered, so that a late decision is told why it is void."""


def wanted(
    contract: Contract, state: State, plan: Plan, args: Any, batch: str | None, among: Iterable[Asker]
) -> tuple[Wanted, list[Reason]]:
    """Those of the approvals ``among`` that a call needs, and why it is refused before anybody is asked."""
    found: list[Asker] = []
    reasons: list[Reason] = []
    values = {"args": args, "facts": facts(contract, state, batch), "registers": state.registers}
    for asker in among:
        answer = True if asker.when is None else asker.when(values)
        if answer is None:
            text = asker.when.text if asker.when is not None else ""
            message = f"whether `{plan.label}` needs a yes cannot be worked out: `{text[:160]}`"
            reasons.append(
                Reason(
                    asker.id, "unknown", message, got=f"!{plan.label}", help="correct the arguments",
                    span=asker.approval.span,
                )
            )  # fmt: skip
        elif answer:
            found.append(asker)
    return tuple(found), reasons


def denials(more: More, label: str, args: Any, asks: Wanted) -> list[Reason]:
    """The noes of this turn that refuse a call before anybody is asked again."""
    reasons = []
    said = (label, mark(args))
    if said in more.denied:
        reasons.append(_denied(more, asks[0], act_of(*said), f"this `{label}`", label))
    shut = [asker for asker in asks if asker.id in more.shut]
    return reasons + [_denied(more, asker, asker.id, f"every `{label}` of this kind", label) for asker in shut]


def _denied(more: More, asker: Asker, what: str, shown: str, label: str) -> Reason:
    told = next((no for no in more.noes if no[0] == what), None)
    if told is None:
        message, kind = f"a person has said no to {shown}", "denied"
        help = "do not ask for it again before the person has spoken"
    else:
        message, kind = f"no to {shown}: {told[2]}", told[1]
        help = "do not ask for it again in this turn"
    return Reason(asker.id, kind, message, got=f"!{label}", help=help, span=asker.approval.span)


def act_of(label: str, marked: str) -> str:
    """The name under which a no to an act is kept."""
    return f"{label} {marked}"


def known(state: State, event: Called, plan: Plan | None, args: Any) -> tuple[str | None, Any]:
    """The id under which an equal act waits, where a call has none of its own, and what a person made of it."""
    parked = state.more.parked
    if plan is None or not parked:
        return event.id, args
    if event.id is not None:
        waits = parked.get(event.id)
        edited = waits is not None and waits.granted and waits.edited is not None
        return event.id, waits.edited if waits is not None and edited else args
    for key, waits in parked.items():
        if waits.asks and waits.label == plan.label and (same(waits.args, args) or same(waits.runs, args)):
            return key, waits.edited if waits.granted and waits.edited is not None else args
    return None, args


def permitted(
    state: State, event: Called, plan: Plan, args: Any, identity: str, serial: int, asks: Wanted, leads: dict[str, str]
) -> More | tuple[NeedsApproval, State]:
    """What is left of the seldom parts once a yes has been spent; or the refusal of an act that waits for one.

    ``leads`` says by approvals what the act would lead to.
    """
    more = state.more
    left = tuple(asker for asker in asks if not _stands(more, asker, plan.label, args, event.agent))
    if not left:
        return more
    names = {asker.id for asker in left}
    keys = [identity, *(key for key in more.parked if key != identity)]
    for key in keys:
        waits = more.parked.get(key)
        if (
            waits is not None
            and waits.granted
            and waits.label == plan.label
            and names <= {*waits.asks}
            and same(waits.runs, args)
            # whoever said yes to another's call has not said yes to his own
            and event.agent not in waits.yes
        ):
            return structs.replace(more, parked=without(more.parked, key), past=past(more, key, waits, "spent"))
    waits = more.parked.get(identity)
    if waits is not None and waits.asks and not waits.granted and names <= {*waits.asks}:
        return _needed(left, plan.label, waits.ticket, leads), state
    lives = [asker.approval.expires for asker in left if asker.approval.expires is not None]
    waits = Parked(
        plan.label, args, _ticket(more, identity), asks=tuple(asker.id for asker in left),
        until=state.at + min(lives) if lives else None, agent=event.agent, context=event.context,
    )  # fmt: skip
    after = structs.replace(more, parked={**more.parked, identity: waits}, issued=more.issued + 1)
    return _needed(left, plan.label, waits.ticket, leads), structs.replace(state, serial=serial, more=after)


def _ticket(more: More, identity: str) -> str:
    return f"t{more.issued + 1}-{identity.lstrip('#')}"


def _needed(asks: Wanted, label: str, ticket: str, leads: dict[str, str]) -> NeedsApproval:
    reasons = tuple(
        Reason(
            asker.id, "approval",
            f"`{label}` needs a yes from {asker.shown()}{': ' + leads[asker.id] if leads.get(asker.id) else ''}",
            got=f"!{label}",
            help="it waits for the decision; once that is given, ask for the same call again",
            span=asker.approval.span,
        )
        for asker in asks
    )  # fmt: skip
    steps = tuple(f"approval by {asker.shown()}" for asker in asks)
    return NeedsApproval(reasons, ticket=ticket, mend=Repair("steps", steps))


def _stands(more: More, asker: Asker, label: str, args: Any, agent: str | None) -> bool:
    names = {
        stands.by for stands in more.standing
        if stands.by != agent and asker.id in stands.asks and stands.label == label and covered(stands, args)
    }  # fmt: skip
    return len(names) >= asker.approval.need


def covered(stands: Standing, args: Any) -> bool:
    """Whether a standing yes covers these arguments: those that may vary lie inside, all others are equal."""
    if not stands.within:
        return same(stands.args, args)
    if any(type(args.get(name)) is not str or not inside(glob, args[name]) for name, glob in stands.within.items()):
        return False
    rest = {name: value for name, value in args.items() if name not in stands.within}
    return same({name: value for name, value in stands.args.items() if name not in stands.within}, rest)


def granted(asks: Wanted, yes: tuple[str, ...], programs: tuple[str, ...] = ()) -> bool:
    """Whether enough different people have said yes under each approval."""
    return all(
        len({name for name in yes if asker.admits(name, name in programs)}) >= asker.approval.need for asker in asks
    )


def edited(state: State, key: str, waits: Parked, args: Any, by: str, asks: Wanted, *, program: bool) -> State:
    """A new ticket for what a person made of the act; what others said was about something else."""
    more = state.more
    programs = (by,) if program else ()
    fresh = structs.replace(
        waits, ticket=_ticket(more, key), edited=args, yes=(by,), granted=granted(asks, (by,), programs), said=(),
        programs=programs,
    )
    more = structs.replace(
        more, parked={**more.parked, key: fresh}, issued=more.issued + 1, past=past(more, key, waits, "edited"),
        denied=lifted(more, fresh),
    )  # fmt: skip
    return structs.replace(state, more=more)


def lifted(more: More, waits: Parked) -> tuple[tuple[str, str], ...]:
    """The noes of this turn without those that a later yes takes back."""
    if not waits.granted:
        return more.denied
    said = {(waits.label, mark(waits.args)), (waits.label, mark(waits.runs))}
    return tuple(pair for pair in more.denied if pair not in said)


def past(more: More, key: str, waits: Parked, how: str) -> tuple[tuple[str, str, str], ...]:
    """What became of the latest tickets, for whoever decides them too late."""
    return (*more.past, (key, waits.ticket, how))[-PAST:]


def dropped(contract: Contract, state: State, key: str, outcome: str) -> State:
    """The act no longer waits: a protocol that names this outcome of it moves, others stay."""
    more = state.more
    waits = more.parked[key]
    more = structs.replace(more, parked=without(more.parked, key), past=past(more, key, waits, outcome))
    state = structs.replace(state, more=more)
    plan, hearing = contract.acts.get(waits.label), contract.hearings.get(waits.label)
    for row in hearing.rows if hearing is not None and waits.asks and not waits.granted else ():
        line = contract.lines[row.protocol]
        cursors, registers = state.cursors, state.registers
        slot, moves = find(row, cursors)
        move = moves.get(outcome) if type(moves) is dict else None
        if move is None:
            # where the protocol would stand if the act had begun
            act = next((each for each in (plan.rows if plan else ()) if each.protocol == row.protocol), None)
            slot, begun = find(act, cursors) if act is not None else (-1, None)
            step = pick(begun, waits.args, registers) if begun is not None and type(begun) is not int else None
            target = begun if type(begun) is int else step.target if step is not None else None
            if target is None:
                continue
            cursors = place(contract, row.protocol, cursors, slot, target)
            slot, moves = find(row, cursors)
            move = moves.get(outcome) if type(moves) is dict else None
        if move is None:
            continue
        taken = moved_by(move, {}, registers)
        if taken is None:
            continue
        target, registers = taken
        cursors = place(contract, row.protocol, cursors, slot, target)
        slots = touched(line, state.cursors, cursors, slot)
        movers = remarked(state.movers, slots, None)
        state = structs.replace(state, cursors=cursors, registers=registers, movers=movers)
    return state


def expired(contract: Contract, state: State) -> State:
    """What has waited too long waits no longer; a yes that was not used in time is gone, too."""
    more = state.more
    for key, waits in more.parked.items():
        if waits.until is not None and state.at >= waits.until:
            state = dropped(contract, state, key, "expired")
    if any(stands.until is not None and state.at >= stands.until for stands in more.standing):
        left = tuple(stands for stands in more.standing if stands.until is None or state.at < stands.until)
        state = structs.replace(state, more=structs.replace(state.more, standing=left))
    return state


def withdrawn(contract: Contract, state: State) -> State:
    """Every act that waits for people waits no longer, and no yes is left."""
    for key, waits in state.more.parked.items():
        if waits.asks:
            state = dropped(contract, state, key, "withdrawn")
    return state


def without(parked: dict[str, Parked], key: str) -> dict[str, Parked]:
    return {each: waits for each, waits in parked.items() if each != key}
