"""Drawings of a protocol as text: for a terminal, for Mermaid, for Graphviz. The picture itself is drawn in `svg`."""

from typing import Final

from msgspec import Struct

from duly.machine.graph import Arc, Graph
from duly.values.protocol import Step

from .printing import step_text

# Mermaid reads these as syntax; as numbered entities they are plain characters in its labels.
_PLAIN: Final = frozenset(" !?_-.,=()*/@'+[]|")


class Edge(Struct, frozen=True):
    """All arcs from one state to another, or (`silent`) the way into and out of the sides of a fork."""

    origin: int
    target: int
    labels: tuple[str, ...] = ()
    silent: bool = False


def edges_of(graph: Graph) -> list[Edge]:
    """The edges of the drawing, arcs between the same two states joined into one."""
    joined: dict[tuple[int, int], list[str]] = {}
    for arc in graph.arcs:
        joined.setdefault((arc.origin, arc.target), []).append(arc_label(arc))
    edges = [Edge(origin, target, tuple(dict.fromkeys(labels))) for (origin, target), labels in joined.items()]
    for state, fork in graph.forks.items():
        for start in fork.starts:
            edges.append(Edge(state, start, silent=True))
            edges += [Edge(final, fork.join, silent=True) for final in _finals_of(graph, start)]
    return edges


def arc_label(arc: Arc) -> str:
    """The whole step, clauses included, as strings write it."""
    return step_text(Step(arc.side, arc.label, arc.outcome, arc.group, arc.guards, arc.binds, arc.otherwise))


def state_name(graph: Graph, state: int) -> str:
    return graph.names.get(state, str(state))


def is_end(graph: Graph, state: int) -> bool:
    """Whether the session itself may end here: a final state of the main region, not of a side."""
    main = graph.regions[graph.start] if graph.regions else 0
    return state in graph.finals and (not graph.regions or graph.regions[state] == main)


def draw_text(graph: Graph) -> str:
    """Each state with where it leads, for a terminal: `>` begins, `*` may end, `=` runs sides."""
    lines = [shown(graph.name)] if graph.name else []
    leaving: dict[int, list[Arc]] = {}
    for arc in graph.arcs:
        leaving.setdefault(arc.origin, []).append(arc)
    for state in range(graph.size):
        marks = (">" if state == graph.start else " ") + (
            "*" if state in graph.finals else "=" if state in graph.forks else " "
        )
        lines.append(f"{marks} {shown(state_name(graph, state))}")
        width = max((len(arc_label(arc)) for arc in leaving.get(state, ())), default=0)
        for arc in leaving.get(state, ()):
            lines.append(f"     {arc_label(arc):<{min(width, 60)}}  ->  {shown(state_name(graph, arc.target))}")
        if state in graph.forks:
            fork = graph.forks[state]
            starts = " || ".join(shown(state_name(graph, start)) for start in fork.starts)
            lines.append(f"     {starts}  ->  {shown(state_name(graph, fork.join))}")
    return "\n".join(lines) + "\n"


def draw_mermaid(graph: Graph) -> str:
    """A Mermaid state diagram."""
    lines = ["stateDiagram-v2"]
    for state in range(graph.size):
        if state in graph.forks:
            lines.append(f"    state s{state} <<fork>>")
            lines.append(f"    state j{state} <<join>>")
        else:
            lines.append(f'    state "{_mermaid(state_name(graph, state))}" as s{state}')
    lines.append(f"    [*] --> s{graph.start}")
    for arc in graph.arcs:
        lines.append(f"    s{arc.origin} --> s{arc.target} : {_mermaid(arc_label(arc))}")
    for state, fork in graph.forks.items():
        for start in fork.starts:
            lines.append(f"    s{state} --> s{start}")
            lines += [f"    s{final} --> j{state}" for final in _finals_of(graph, start)]
        lines.append(f"    j{state} --> s{fork.join}")
    lines += [f"    s{state} --> [*]" for state in sorted(graph.finals) if is_end(graph, state)]
    return "\n".join(lines) + "\n"


def draw_dot(graph: Graph) -> str:
    """A Graphviz digraph."""
    title = _dot(graph.name or "protocol")
    lines = [f"digraph {title} {{", "    node [shape=box, style=rounded];", "    begin [shape=point];"]
    for state in range(graph.size):
        shape = ""
        if state in graph.forks:
            shape = ', shape=box, style=filled, fillcolor=black, height=0.06, fixedsize=true, label=""'
        elif is_end(graph, state):
            shape = ", peripheries=2"
        label = "" if state in graph.forks else f"label={_dot(state_name(graph, state))}"
        lines.append(f"    s{state} [{(label + shape).removeprefix(', ')}];")
    lines.append(f"    begin -> s{graph.start};")
    lines += [f"    s{arc.origin} -> s{arc.target} [label={_dot(arc_label(arc))}];" for arc in graph.arcs]
    lines += [f"    s{edge.origin} -> s{edge.target} [style=dashed];" for edge in edges_of(graph) if edge.silent]
    return "\n".join([*lines, "}"]) + "\n"


def shown(name: str) -> str:
    """A name on one line, without characters that move the cursor."""
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in name)


def _finals_of(graph: Graph, start: int) -> list[int]:
    region = graph.regions[start]
    return sorted(state for state in graph.finals if graph.regions[state] == region)


def _mermaid(text: str) -> str:
    return "".join(
        character if character in _PLAIN or (character.isalnum() and character.isascii()) else f"#{ord(character)};"
        for character in shown(text)
    )


def _dot(text: str) -> str:
    return '"' + shown(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
