"""Decisions on acts that wait for them: of people, and of what a gate asks in their place."""

from msgspec import structs

from duly.machine.approvals import Asker
from duly.machine.contract import Contract
from duly.machine.ir import More, Parked, State
from duly.values.event import Decided
from duly.values.verdict import ALLOWED, Reason, Verdict, Violation, one_line

from .park import act_of, dropped, edited, granted, lifted
from .refuse import mark

Answer = tuple[Verdict, State]

_ENDED = {
    "accepted": "waits no longer: the tool's new definition was accepted",
    "expired": "has expired",
    "withdrawn": "was withdrawn",
    "denied": "was decided: no",
    "spent": "was decided, and its yes is used up",
    "edited": "was decided: another ticket stands for what it was changed to",
}

_FAULTS = {
    "timeout": "`{}` has not answered",
    "crash": "`{}` broke off when it was asked",
    "rubbish": "`{}` gave an answer that is no decision",
    None: "`{}` has said no",
}
"""What a no is called that no person has given; each is a kind of reason."""


def void(message: str, *, help: str = "") -> Violation:
    """A decision that is not taken: a finding that changes nothing."""
    return Violation((Reason("people", "void", message, help=help),), finding=True)


def decided(contract: Contract, state: State, event: Decided, happened: bool) -> Answer:
    """A decision needs one open ticket, and somebody who may decide."""
    if state.more.over is not None:
        return void(f"the session is {state.more.over}, and nothing waits in it any more"), state
    found = meant(state, event.target, event.ticket)
    if isinstance(found, Violation):
        return found, state
    key, waits = found
    asks = [contract.askers[id] for id in waits.asks]
    if event.channel not in (None, "callback", "program") or event.fault not in _FAULTS:
        return void("a decision comes from a person, a callback or a program"), state
    program = event.channel == "program"
    wrong = may_not(asks, waits, event.by, program)
    if wrong is not None:
        return wrong, state
    by = str(event.by)
    mine = [asker for asker in asks if asker.admits(by, program)]
    if event.fault is not None and event.decision != "deny":
        return void(f"`{by}` has not decided `{waits.ticket}`: what is no answer is a no"), state
    waits = told(waits, event)
    match event.decision:
        case "approve":
            if by in waits.yes:
                return void(f"`{by}` has said yes to `{waits.ticket}` before"), state
            return ALLOWED, said_yes(state, key, waits, by, asks)
        case "leave":
            more = structs.replace(state.more, parked={**state.more.parked, key: waits})
            return ALLOWED, structs.replace(state, more=more)
        case "deny":
            more = state.more
            shut = more.shut | {asker.id for asker in mine if asker.approval.no == "turn"}
            # what was asked for, and what another person has made of it
            said = ((waits.label, mark(waits.args)), (waits.label, mark(waits.runs)))
            denied = tuple(dict.fromkeys((*more.denied, *said)))
            noes = _noes(more, event, [act_of(*each) for each in said], [each.id for each in mine])
            state = structs.replace(state, more=structs.replace(more, denied=denied, shut=shut, noes=noes))
            state = dropped(contract, state, key, "denied")
            for other, known in list(state.more.parked.items()):
                if not known.granted and shut & {*known.asks}:
                    state = dropped(contract, state, other, "withdrawn")
            return ALLOWED, state
        case "edit":
            return _edit(contract, state, event, key, waits, asks)
        case _:
            help = "decide `approve`, `deny`, `edit` or `leave`"
            return void(f"`{str(event.decision)[:40]}` is no decision", help=help), state


def _edit(
    contract: Contract, state: State, event: Decided, key: str, waits: Parked, asks: list[Asker]
) -> Answer:
    args = event.payload
    if type(args) is not dict:
        return void("an edit gives the new arguments as one object"), state
    preparer = contract.preparers.get(waits.label)
    if preparer is not None:
        accepted, now = state.more.pins.get(waits.label, ("", ""))
        args, faults = preparer(args, schema=accepted == now)
        if faults:
            return void(f"the edited arguments do not fit: {faults[0][1]}", help="correct them"), state
    program = event.channel == "program"
    return ALLOWED, edited(state, key, waits, args, str(event.by), tuple(asks), program=program)


def told(waits: Parked, event: Decided) -> Parked:
    """The act that waits, with what was said of it for those who decide after; no more is kept than is new."""
    if event.decision not in ("approve", "leave"):
        return waits
    by, program = str(event.by), event.channel == "program"
    words = ": ".join(one_line(text, 500) for text in (event.recommendation, event.reason) if text)
    said = waits.said
    if words or event.decision == "leave":
        said = (*(each for each in said if each[:2] != (by, event.decision)), (by, event.decision, words))
    programs = waits.programs
    if event.decision == "approve" and program and by not in programs:
        programs = (*programs, by)
    return structs.replace(waits, said=said, programs=programs)


def _noes(more: More, event: Decided, acts: list[str], asks: list[str]) -> tuple[tuple[str, str, str], ...]:
    """What is kept of a no: that of a person speaks for itself."""
    about = {*acts, *asks}
    left = tuple(no for no in more.noes if no[0] not in about)
    if event.channel is None:
        return left
    words = _FAULTS[event.fault].format(one_line(str(event.by), 80))
    words += f": {one_line(event.reason, 300)}" if event.reason else ""
    return (*left, *((what, event.fault or "denied", words) for what in dict.fromkeys((*acts, *asks))))


def meant(state: State, target: str | None, ticket: str | None) -> tuple[str, Parked] | Violation:
    """The one act that a decision is about: named by its ticket or its call, else the only one that it can mean."""
    parked, past = state.more.parked, state.more.past
    name = ticket or target
    if ticket is not None or is_ticket(state.more, target):
        found = [(key, waits) for key, waits in parked.items() if waits.ticket == name and target in (None, key, name)]
    else:
        found = [
            (key, waits)
            for key, waits in parked.items()
            if key == target or (target in (None, waits.label) and waits.asks and not waits.granted)
        ]
    ended = next((how for _, known, how in reversed(past) if known == name), "")
    ended = ended or next((how for key, _, how in reversed(past) if key == name), "")
    if not found and ended:
        return void(f"`{name}` {_ENDED.get(ended, ended)}", help="ask for the call again")
    if not found:
        return void(f"no open ticket `{name}`" if name else "no act waits for a decision")
    if len(found) > 1:
        return void(f"{len(found)} acts wait, and the decision names none of them", help="name a ticket")
    key, waits = found[0]
    if not waits.asks:
        return void(f"`{waits.ticket}` waits until `{waits.cause}` is settled", help="settle it as done or as failed")
    if waits.granted:
        return void(f"`{waits.ticket}` has been decided")
    return key, waits


def is_ticket(more: More, name: str | None) -> bool:
    """Whether a ticket of this name has been given out; then no call is meant by it, whose names the agent chooses."""
    if any(waits.ticket == name for waits in more.parked.values()):
        return True
    number, dash, _ = (name or "").partition("-")
    return dash == "-" and number[:1] == "t" and number[1:].isdecimal() and 0 < int(number[1:20]) <= more.issued


def may_not(asks: list[Asker], waits: Parked, by: str | None, program: bool = False) -> Violation | None:
    if not by:
        return void(f"the decision on `{waits.ticket}` names nobody who decides")
    if waits.agent is not None and by == waits.agent:
        return void(f"`{by}` asked for `{waits.ticket}` and cannot decide it")
    if not any(asker.admits(by, program) for asker in asks):
        if program and not any(asker.approval.by for asker in asks):
            help = f"`by: [{by}]` in the contract lets it"
            return void(f"`{by}` is a program, and only people decide `{waits.ticket}`", help=help)
        who = ", ".join(dict.fromkeys(name for asker in asks for name in asker.approval.by))
        return void(f"`{by}` does not decide `{waits.ticket}`", help=f"{who} may")
    return None


def said_yes(state: State, key: str, waits: Parked, by: str, asks: list[Asker]) -> State:
    yes = (*waits.yes, by)
    fresh = structs.replace(waits, yes=yes, granted=granted(tuple(asks), yes, waits.programs))
    more = state.more
    more = structs.replace(more, parked={**more.parked, key: fresh}, denied=lifted(more, fresh))
    return structs.replace(state, more=more)
