"""Messages: what the agent learns from people. They begin turns and move what listens to them."""

from typing import Final

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import NOTHING, Edge, Hearing, State
from duly.machine.watch.member import Act
from duly.values.event import Received
from duly.values.verdict import ALLOWED, Reason, Unrecognized, Verdict, Violation

from .batch import moved_on
from .books import act_of, beside, learnt
from .books import heard as told
from .move import bind, find, pick, place, remarked, span_of, touched, turn
from .park import withdrawn
from .settle import drained, finding, won
from .time import renewed

Answer = tuple[Verdict, State]
NOBODY: Final = (None,)


def heard(contract: Contract, state: State, event: Received, happened: bool) -> Answer:
    """A message: begins a turn where a person said it, and moves what listens to it."""
    label = event.label
    hearing = contract.hearings.get(label) if label is not None else contract.unnamed
    if hearing is not None and hearing.said is not None and state.more is NOTHING:
        # nothing but one cursor listens, and nothing seldom is going on
        move = hearing.said.get(state.cursors[0])
        if type(move) is int:
            return ALLOWED, State(
                (move,), NOBODY, state.facts | hearing.wins, state.data, state.registers, state.open, state.at,
                state.serial, NOTHING, state.books,
            )  # fmt: skip
        if type(move) is Edge and not move.otherwise:
            registers = move.go(event.payload, state.registers)
            if registers is not None:
                return ALLOWED, State(
                    (move.target,), NOBODY, state.facts | hearing.wins, state.data, registers, state.open, state.at,
                    state.serial, NOTHING, state.books,
                )  # fmt: skip
    # another spelling of a declared name is that name: a tool's is no message, and a message has the same source
    name = contract.terms.aliases.get(label, label) if label is not None else None
    if contract.turned and _from_person(contract, name):
        if event.turn is None:
            state = renewed(contract, state, run=False)
        if contract.terms.withdraw_on == "message" and state.more.parked:
            state = withdrawn(contract, state)
    if label is None:
        if hearing is None:
            return _unnamed(), state
    else:
        if name in contract.tools:
            reason = Reason(
                "contract", "kind", f"`{label}` is a tool, not a message", got=f"?{label}",
                help="results come as returned calls; what people say is declared under `labels`",
            )  # fmt: skip
            return Violation((reason,), finding=True), state
        if hearing is None:
            if not contract.heeds:
                return ALLOWED, state
            hearing = Hearing(str(label), (), heeds=contract.heeds)
    return _heard(contract, state, hearing, event)


def _heard(contract: Contract, state: State, hearing: Hearing, event: Received) -> Answer:
    state = won(state, hearing.wins, None)
    if hearing.watches:
        state = told(contract, state, hearing.watches, hearing.label, event.payload)
    payload = event.payload if event.payload is not None else {}
    reasons: list[Reason] = []
    taken = False
    noted: list[Reason] = []
    before = state
    if hearing.heeds:
        said = _said(contract, state, hearing, event)
        state, reasons, noted = learnt(contract, state, hearing.heeds, said, "ok", None)
    for row in hearing.rows:
        slot, move = find(row, state.cursors)
        if type(move) is dict:  # a name that is neither declared a tool nor a message is read as both
            move = turn(move, "ok")
        registers = state.registers
        if move is not None and type(move) is not int:
            edge = pick(move, payload, registers)
            move = None
            if edge is not None:
                registers, _ = bind(edge, payload, registers)
                move = edge.target
        if move is None:
            line = contract.lines[row.protocol]
            reasons.append(
                Reason(line.id, "protocol", f"`?{event.label}` is not expected here", got=f"?{event.label}",
                       help="the protocol has no place for this message in its state",
                       span=span_of(contract, contract.lines[row.protocol], state))
            )  # fmt: skip
            continue
        taken = True
        cursors = place(contract, row.protocol, state.cursors, slot, move)
        line = contract.lines[row.protocol]
        slots = touched(line, state.cursors, cursors, slot)
        more = state.more
        if more.held:
            more = structs.replace(more, held=moved_on(more.held, line, slots, None)[0])
        movers = remarked(state.movers, slots, None)
        state = structs.replace(state, cursors=cursors, registers=registers, movers=movers, more=more)
    if state.more.waiting:
        state = drained(contract, state)
    if event.label is None and not taken:
        # nobody knows what was meant, and no protocol has a branch for that here
        return _unnamed(), structs.replace(state, books=before.books, more=before.more)
    if event.label is None:
        reasons = [reason for reason in reasons if reason.kind != "protocol"]
    return beside(*(finding(state, reasons) if reasons else (ALLOWED, state)), [], noted)


def _said(contract: Contract, state: State, hearing: Hearing, event: Received) -> Act | None:
    """A message as rules see it; None where nobody could name it."""
    if event.label is None:
        return None
    payload = event.payload if type(event.payload) is dict else {}
    return act_of(contract, state, hearing.label, payload, None, None)


def _unnamed() -> Unrecognized:
    reason = Reason(
        "message", "unrecognized", "nobody could name this message", got="?Unrecognized", help="ask what was meant"
    )
    return Unrecognized((reason,), finding=True)


def _from_person(contract: Contract, label: str | None) -> bool:
    known = contract.terms.labels.get(label) if label is not None else None
    return known is None or known.source == "user"
