"""Protocols as rows of moves: for each label, where it leads from each position of each cursor."""

from typing import Any

from msgspec import structs

from duly.values.expr import Bind, Guard, Register

from .edge import all_of, go_of
from .graph import Arc, Graph
from .ir import Edge, Line, Move, Row, Turns
from .names import Names
from .terms import Terms


def renamed(graphs: tuple[Graph, ...]) -> list[Graph]:
    """Registers are the contract's; where two protocols use one name, the later one's gets its number."""
    seen: set[str] = set()
    renamed = []
    for number, graph in enumerate(graphs):
        mine = {bind.register for arc in graph.arcs for bind in arc.binds} | {
            guard.operand.name for arc in graph.arcs for guard in arc.guards if isinstance(guard.operand, Register)
        }
        clash = mine & seen
        seen |= mine
        renamed.append(_with_registers(graph, {name: f"{name}~{number + 1}" for name in clash}) if clash else graph)
    return renamed


def _with_registers(graph: Graph, new: dict[str, str]) -> Graph:
    def guard(old: Guard) -> Guard:
        operand = old.operand
        if isinstance(operand, Register) and operand.name in new:
            return Guard(old.path, old.op, Register(new[operand.name]))
        return old

    def bind(old: Bind) -> Bind:
        return Bind(old.path, new.get(old.register, old.register), old.maybe)

    arcs = tuple(
        structs.replace(arc, guards=tuple(map(guard, arc.guards)), binds=tuple(map(bind, arc.binds)))
        if arc.guards or arc.binds
        else arc
        for arc in graph.arcs
    )
    return structs.replace(graph, arcs=arcs)


def expanded(graph: Graph, names: Names) -> Graph:
    """Arcs over groups become one arc per member; aliases become names; what a client receives, its agent asks for."""
    if graph.view == "client" or names.terms.view == "client":
        turned = {"!": "?", "?": "!"}
        graph = structs.replace(
            graph,
            arcs=tuple(
                structs.replace(arc, side=turned[arc.side]) if arc.label is not None else arc for arc in graph.arcs
            ),
        )
    if not names.terms.aliases and not any(arc.group for arc in graph.arcs):
        return graph
    arcs: list[Arc] = []
    for arc in graph.arcs:
        if arc.group and arc.label is not None:
            for name in sorted(names.members("@" + arc.label.removeprefix("@"), graph.span(arc))):
                arcs.append(structs.replace(arc, label=name, group=False))
        elif arc.label is not None and arc.label in names.terms.aliases:
            arcs.append(structs.replace(arc, label=names.canonical(arc.label)))
        else:
            arcs.append(arc)
    return structs.replace(graph, arcs=tuple(arcs))


def protocols(
    graphs: list[Graph], names: Names, terms: Terms
) -> tuple[dict[tuple[str, str | None, int], Row], tuple[Line, ...], tuple[int, ...]]:
    rows: dict[tuple[str, str | None, int], Row] = {}
    lines: list[Line] = []
    cursors: list[int] = []
    for number, graph in enumerate(graphs):
        base = len(cursors)
        regions = max(graph.regions, default=0) + 1
        columns: dict[tuple[str, str | None, int], dict[int, list[Arc]]] = {}
        for arc in graph.arcs:
            slot = base + (graph.regions[arc.origin] if graph.regions else 0)
            columns.setdefault((arc.side, arc.label, slot), {}).setdefault(arc.origin, []).append(arc)
        places: dict[tuple[str, str | None], list[tuple[int, dict[int, Turns]]]] = {}
        for (side, label, slot), column in columns.items():
            message = side == "?" and (label is None or label in names.messages)
            compiled = {origin: _moves(arcs, side == "?" and not message) for origin, arcs in column.items()}
            places.setdefault((side, label), []).append((slot, compiled))
        for (side, label), spots in places.items():
            rows[side, label, number] = Row(number, tuple(spots))
        leaving = {arc.origin for arc in graph.arcs}
        line = Line(
            number=number,
            id=graph.name or ("protocol" if len(graphs) == 1 else f"protocol {number + 1}"),
            slots=tuple(range(base, base + regions)),
            starts={base + graph.regions[start]: start for fork in graph.forks.values() for start in fork.starts}
            if graph.forks
            else {},
            forks=graph.forks,
            slot_of={state: base + region for state, region in enumerate(graph.regions)} if graph.forks else {},
            parents={
                base + graph.regions[start]: (state, base + graph.regions[state])
                for state, fork in graph.forks.items()
                for start in fork.starts
            },
            finals=frozenset(state for state in graph.finals if state not in leaving) if graph.forks else graph.finals,
            acts=frozenset(label for side, label in places if side == "!" and label is not None),
            results=frozenset(label for side, label in places if side == "?" and label is not None),
            registers=frozenset(bind.register for arc in graph.arcs for bind in arc.binds),
            forever=terms.forever or graph.forever,
        )
        lines.append(line)
        first = [graph.start] + [-1] * (regions - 1)
        cursors.extend(first)
        if graph.forks:
            enter(line, cursors, graph.start)
    return rows, tuple(lines), tuple(cursors)


def enter(line: Line, cursors: list[int], state: int) -> None:
    """Puts the cursor of the state's region there; opens the regions of a fork, and leaves it when all have ended.

    Works on a list of states still to enter, since forks may stand inside forks.
    """
    todo = [state]
    while todo:
        state = todo.pop()
        slot = line.slot_of[state]
        cursors[slot] = state
        fork = line.forks.get(state)
        if fork is not None:
            todo.extend(fork.starts)
            continue
        while state in line.finals and slot in line.parents:
            origin, parent = line.parents[slot]
            children = [line.slot_of[start] for start in line.forks[origin].starts]
            if cursors[parent] != origin or not all(cursors[child] in line.finals for child in children):
                break
            for child in children:
                cursors[child] = -1
            state, slot = line.forks[origin].join, parent
            cursors[slot] = state
            if state in line.forks:
                todo.extend(line.forks[state].starts)
                break


def _moves(arcs: list[Arc], result: bool) -> Turns:
    if not result:
        return _move(arcs)
    by_outcome: dict[str | None, list[Arc]] = {}
    for arc in arcs:
        by_outcome.setdefault(arc.outcome, []).append(arc)
    if by_outcome.keys() == {None}:
        return _move(arcs)
    return {outcome: _move(group) for outcome, group in by_outcome.items()}


def _move(arcs: list[Arc]) -> Move:
    first = arcs[0]
    if len(arcs) == 1 and not first.guards and not first.binds and not first.otherwise:
        return first.target
    return tuple(
        Edge(arc.target, arc.guards, arc.binds, arc.otherwise, arc, all_of(arc.guards), go_of(arc.guards, arc.binds))
        for arc in arcs
    )


def said_of(straight: dict[int, Any] | None) -> dict[int, Any] | None:
    """The same moves, an edge that stands alone by itself."""
    if straight is None:
        return None
    return {at: move[0] if type(move) is tuple and len(move) == 1 else move for at, move in straight.items()}


def straight_of(rows: tuple[Row, ...], lines: tuple[Line, ...]) -> dict[int, Any] | None:
    """The moves of a label where the whole contract has one cursor, and this one row speaks of the label."""
    alone = len(lines) == 1 and len(lines[0].slots) == 1 and len(rows) == 1 and len(rows[0].places) == 1
    return rows[0].places[0][1] if alone else None


def reads_of(rows: tuple[Row, ...]) -> bool:
    """Whether some edge of a result looks at its payload."""
    for row in rows:
        for _, column in row.places:
            for moves in column.values():
                for move in moves.values() if type(moves) is dict else (moves,):
                    if type(move) is tuple:
                        return True
    return False
