"""What can be said of one protocol's shape: what is never reached, what never ends, what cannot be told apart.

Errors are what cannot work, warnings what is suspicious (F6). Each has its place, and where a run shows the fault, a
shortest one. Everything here is linear in the graph, up to the logarithm of a heap.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from duly.machine.graph import Arc, Graph
from duly.values.errors import Diagnostic, suggest
from duly.values.source import Span

from .component import bottoms
from .guard import indistinguishable, satisfiable
from .name import look_alikes
from .register import unbound_registers
from .run import Runs, arc_text, arcs_by_origin, shortest_runs

# All witnesses of one check together are no longer than this many labels; later faults come without a run.
WITNESS_LABELS: Final = 200_000
# Outcomes that no tool declares: duly's own, and those of an act that waited for a person (D3).
OWN_OUTCOMES: Final = ("ok", "error", "denied", "expired", "withdrawn")


def check_shape(graph: Graph, *, forever: bool = False) -> list[Diagnostic]:
    """All that is wrong or suspicious about the protocol; `forever` accepts loops without an end."""
    hopeless = {id(arc) for arc in graph.arcs if arc.guards and not satisfiable(arc.guards)}
    runs = shortest_runs(graph, usable=(lambda arc: id(arc) not in hopeless) if hopeless else None)
    found = list(graph.notes)
    found += [
        _at_arc(
            graph,
            arc,
            "never",
            "warning",
            f"the guards of `{arc_text(arc)}` can never hold together",
            "change one of them",
        )
        for arc in graph.arcs
        if id(arc) in hopeless
    ]
    found += _with_runs(indistinguishable(graph), graph, runs)
    found += _unreachable(graph, runs)
    if not forever:
        found += _endless(graph, runs, hopeless)
    found += unbound_registers(graph)
    found += _lonely_else(graph)
    found += _alike(graph)
    return found


def check_outcomes(graph: Graph, declared: Mapping[str, Iterable[str]]) -> list[Diagnostic]:
    """Warnings for results whose outcome no edge of a state names (B2), and for outcomes that no tool declares.

    `declared` gives for each tool its outcomes; `ok` and `error` need no naming there. An `error` that no edge names
    is no fault: the protocol goes back to before the call.
    """
    found: list[Diagnostic] = []
    runs: Runs | None = None
    for state, arcs in arcs_by_origin(graph).items():
        named: dict[str, list[Arc]] = {}
        for arc in arcs:
            if arc.side == "?" and arc.label is not None and arc.label in declared and not arc.group:
                named.setdefault(arc.label, []).append(arc)
        for tool, edges in named.items():
            known = [*declared[tool], *OWN_OUTCOMES]
            for arc in edges:
                if arc.outcome is not None and arc.outcome not in known:
                    help = suggest(arc.outcome, known) or f"declare it under `outcomes` of `{tool}`"
                    found.append(
                        _at_arc(
                            graph, arc, "unknown_outcome", "warning", f"`{tool}` has no outcome `{arc.outcome}`", help
                        )
                    )
            taken = {arc.outcome for arc in edges}
            missing = [
                outcome
                for outcome in dict.fromkeys(["ok", *declared[tool]])
                if outcome not in taken and outcome != "error"
            ]
            if None in taken or not missing:
                continue
            runs = runs or shortest_runs(graph)
            fault = _at_arc(
                graph, edges[0], "unhandled_outcome", "warning",
                f"no edge takes `{tool}` with outcome {', '.join(f'`{outcome}`' for outcome in missing)}",
                f"add `?{tool}={missing[0]}`, or a bare `?{tool}` for all the rest",
            )  # fmt: skip
            witness = (*runs.to(state), f"?{tool}={missing[0]}") if state in runs.cost else ()
            found.append(replace(fault, witness=witness))
    return found


def _unreachable(graph: Graph, runs: Runs) -> list[Diagnostic]:
    """Warnings for states that no run enters, only the first of each chain of them."""
    lost = [state for state in range(graph.size) if state not in runs.cost]
    if not lost:
        return []
    leaving = arcs_by_origin(graph)
    joins = {fork.join for fork in graph.forks.values()}
    # A state behind another lost state needs no word of its own, unless notations name it.
    behind = {arc.target for state in lost for arc in leaving.get(state, ()) if arc.target != state}
    found = []
    for state in lost:
        if (state in behind and state not in graph.names) or (state in graph.finals and state not in graph.names):
            continue
        arcs = leaving.get(state, [])
        span = Span(graph.source, arcs[0].start, arcs[0].end) if arcs and arcs[0].end else None
        what = (
            f"state `{graph.names[state]}`"
            if state in graph.names
            else "what follows `||`"
            if state in joins
            else "this"
        )
        help = "some side before it never ends" if state in joins else "lead a transition to it, or remove it"
        found.append(
            Diagnostic(code="unreachable", message=f"{what} is never reached", severity="warning", span=span, help=help)
        )
    return found


def _endless(graph: Graph, runs: Runs, hopeless: set[int]) -> list[Diagnostic]:
    """An error for each loop, or dead end, in which some run stays without an end."""
    ending = _can_end(graph, hopeless)
    stuck = [state for state in sorted(runs.cost, key=runs.cost.__getitem__) if state not in ending]
    if not stuck:
        return []
    leaving = arcs_by_origin(graph)
    leading: dict[int, list[int]] = {}
    for state in stuck:
        fork = graph.forks.get(state)
        targets = [arc.target for arc in leaving.get(state, ()) if id(arc) not in hopeless]
        targets += [*fork.starts, fork.join] if fork is not None else []
        leading[state] = [target for target in targets if target not in ending and target in runs.cost]
    found: list[Diagnostic] = []
    budget = WITNESS_LABELS
    for component in bottoms(stuck, leading):
        state = min(component, key=runs.cost.__getitem__)
        budget -= runs.cost[state]
        arcs = leaving.get(state, [])
        name = f" from state `{graph.names[state]}`" if state in graph.names else " from here"
        help = "give the loop a branch that ends, or say `forever: true`"
        if not leading[state]:
            help = "mark it as terminal, or lead on from it"
        found.append(Diagnostic(
            code="no_end",
            message=f"no way to an end{name}",
            span=graph.span(arcs[0]) if arcs and arcs[0].end else None,
            help=help,
            witness=runs.to(state) if budget >= 0 else (),
        ))  # fmt: skip
    return found


def _can_end(graph: Graph, hopeless: set[int]) -> set[int]:
    """The states from which an end of their region can be reached, walked backwards from the ends."""
    entering: dict[int, list[int]] = {}
    for arc in graph.arcs:
        if id(arc) not in hopeless:
            entering.setdefault(arc.target, []).append(arc.origin)
    joined: dict[int, list[int]] = {}
    started: dict[int, list[int]] = {}
    for state, fork in graph.forks.items():
        joined.setdefault(fork.join, []).append(state)
        for start in fork.starts:
            started.setdefault(start, []).append(state)
    ending: set[int] = set(graph.finals)
    work = list(ending)
    while work:
        state = work.pop()
        before = list(entering.get(state, ()))
        # A fork is passed when its join and all its starts can end, whichever is found last.
        for place in (*joined.get(state, ()), *started.get(state, ())):
            fork = graph.forks[place]
            if fork.join in ending and all(start in ending for start in fork.starts):
                before.append(place)
        for place in before:
            if place not in ending:
                ending.add(place)
                work.append(place)
    return ending


def _lonely_else(graph: Graph) -> list[Diagnostic]:
    rivals: dict[tuple[int, str, str | None, str | None, bool], int] = {}
    others = [arc for arc in graph.arcs if arc.otherwise]
    if others:
        for arc in graph.arcs:
            key = (arc.origin, arc.side, arc.label, arc.outcome, arc.group)
            rivals[key] = rivals.get(key, 0) + 1
    return [
        _at_arc(graph, arc, "else", "warning", f"`else` of `{arc_text(arc)}` has no other branch", "remove it")
        for arc in others
        if rivals[(arc.origin, arc.side, arc.label, arc.outcome, arc.group)] == 1
    ]


def _alike(graph: Graph) -> list[Diagnostic]:
    first: dict[str, Arc] = {}
    for arc in graph.arcs:
        if arc.label is not None:
            first.setdefault(arc.label, arc)
    return [
        _at_arc(
            graph,
            first[second],
            "look_alike",
            "warning",
            f"`{one}` and `{second}` differ only by {what}",
            "use one spelling",
        )
        for one, second, what in look_alikes(first)
    ]


def _with_runs(faults: list[Diagnostic], graph: Graph, runs: Runs) -> list[Diagnostic]:
    if not faults:
        return []
    by_start = {(arc.start, arc.end): arc for arc in graph.arcs}
    out = []
    for fault in faults:
        arc = by_start.get((fault.span.start, fault.span.end)) if fault.span else None
        if arc is not None and arc.origin in runs.cost:
            fault = replace(fault, witness=(*runs.to(arc.origin), arc_text(arc)))
        out.append(fault)
    return out


def _at_arc(graph: Graph, arc: Arc, code: str, severity: str, message: str, help: str) -> Diagnostic:
    span = graph.span(arc) if arc.end else None
    return Diagnostic(code=code, message=message, severity=severity, span=span, help=help)  # type: ignore[arg-type]
