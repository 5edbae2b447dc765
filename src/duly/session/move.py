"""How cursors move: picking an edge, binding registers, entering states, and results that wait for their turn."""

from typing import Any

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import Edge, Line, Row, State
from duly.machine.rows import enter
from duly.values.expr import UNSET, reach
from duly.values.source import Span

Bound = tuple[tuple[str, Any, Any], ...]


def pick(edges: tuple[Edge, ...], payload: Any, registers: dict[str, Any]) -> Edge | None:
    """The one edge that is enabled. None where there is none, where two are, or where none can be told.

    An edge is enabled if each guard is True, not merely not False, and each field that it binds is there; ``else``
    is taken only where every other edge is known to be shut.
    """
    found: Edge | None = None
    other: Edge | None = None
    unsure = False
    for edge in edges:
        if edge.otherwise:
            other = edge
            continue
        test = edge.test
        answer = True if test is None else test(payload, registers)
        if answer is True and any(not bind.maybe and reach(payload, bind.path) is UNSET for bind in edge.binds):
            answer = None
        if answer is True:
            if found is not None:
                return None
            found = edge
        elif answer is None:
            unsure = True
    if found is not None:
        return found
    if other is None or unsure or any(not b.maybe and reach(payload, b.path) is UNSET for b in other.binds):
        return None
    return other


def bind(edge: Edge, payload: Any, registers: dict[str, Any]) -> tuple[dict[str, Any], Bound]:
    """The registers after an edge, and what it bound as (register, new, old). All read the payload of one event."""
    if not edge.binds:
        return registers, ()
    fresh = dict(registers)
    bound = []
    for binding in edge.binds:
        value = reach(payload, binding.path)
        old = registers.get(binding.register, UNSET)
        if value is UNSET:
            fresh.pop(binding.register, None)
        else:
            fresh[binding.register] = value
        bound.append((binding.register, value, old))
    return fresh, tuple(bound)


def unbind(bound: Bound, registers: dict[str, Any]) -> dict[str, Any]:
    """Undoes bindings that nothing has overwritten since."""
    fresh = dict(registers)
    for name, new, old in bound:
        if fresh.get(name, UNSET) is new:
            if old is UNSET:
                fresh.pop(name, None)
            else:
                fresh[name] = old
    return fresh


def place(contract: Contract, protocol: int, cursors: tuple[int, ...], slot: int, target: int) -> tuple[int, ...]:
    """The cursors after the region of ``slot`` has moved to ``target``."""
    line = contract.lines[protocol]
    if not line.forks:
        return (target,) if len(cursors) == 1 else (*cursors[:slot], target, *cursors[slot + 1 :])
    moved = list(cursors)
    enter(line, moved, target)
    return tuple(moved)


def touched(line: Line, before: tuple[int, ...], after: tuple[int, ...], slot: int) -> tuple[int, ...]:
    """The cursors of a protocol that one step has moved; a step back to the same state counts."""
    if not line.forks:
        return (slot,)
    return tuple(at for at in line.slots if at == slot or before[at] != after[at])


def remarked(movers: tuple[str | None, ...], slots: tuple[int, ...], mover: str | None) -> tuple[str | None, ...]:
    """Who moved each cursor last, after ``mover`` (None: no call) has moved these."""
    if not slots:
        return movers
    if len(movers) == 1:
        return (mover,)
    fresh = list(movers)
    for slot in slots:
        fresh[slot] = mover
    return tuple(fresh)


def find(row: Row, cursors: tuple[int, ...]) -> tuple[int, Any]:
    """The active place of a row as (slot, moves); moves None where no region can take the label."""
    for slot, column in row.places:
        move = column.get(cursors[slot])
        if move is not None:
            return slot, move
    return -1, None


def turn(moves: Any, outcome: str) -> Any:
    """The move for an outcome: the one that names it, else the bare one, which never takes ``error``."""
    if type(moves) is not dict:
        return None if outcome == "error" else moves
    named = moves.get(outcome)
    return named if named is not None or outcome == "error" else moves.get(None)


def ended(line: Line, cursors: tuple[int, ...]) -> bool:
    """Whether the protocol is in a state in which the session may end."""
    return cursors[line.slots[0]] in line.finals


def learn(
    contract: Contract, state: State, row: Row, outcome: str, payload: Any
) -> tuple[State, tuple[int, ...]] | None:
    """The state after one protocol has taken a result, and the cursors moved; None where it cannot take it now."""
    slot, moves = find(row, state.cursors)
    if moves is None:
        return None
    move = turn(moves, outcome)
    if move is None:
        return None
    registers = state.registers
    if type(move) is not int:
        edge = pick(move, payload, registers)
        if edge is None:
            return None
        registers, _ = bind(edge, payload, registers)
        move = edge.target
    cursors = place(contract, row.protocol, state.cursors, slot, move)
    slots = touched(contract.lines[row.protocol], state.cursors, cursors, slot)
    movers = remarked(state.movers, slots, None)
    return structs.replace(state, cursors=cursors, registers=registers, movers=movers), slots


def hears(contract: Contract, protocol: int, label: str, outcome: str) -> bool:
    """Whether some state of the protocol takes this result with this outcome."""
    hearing = contract.hearings.get(label)
    if hearing is None:
        return False
    return any(
        turn(moves, outcome) is not None
        for row in hearing.rows
        if row.protocol == protocol
        for _, column in row.places
        for moves in column.values()
    )


def moved_by(move: Any, payload: Any, registers: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """Where a move leads and the registers afterwards; None where no edge of it is enabled."""
    if type(move) is int:
        return move, registers
    edge = pick(move, payload, registers)
    if edge is None:
        return None
    return edge.target, bind(edge, payload, registers)[0]


def span_of(contract: Contract, line: Line, state: State | None = None) -> Span:
    """Where a protocol stands in its text: with a state, the steps that it waits for there, else its beginning."""
    graph = contract.terms.protocols[line.number]
    if state is not None:
        places = {state.cursors[slot] for slot in line.slots}
        starts = [arc.start for arc in graph.arcs if arc.origin in places and arc.end > arc.start]
        if starts:
            return Span(graph.source, min(starts), min(starts) + 1)
    return Span(graph.source, 0, 1)
