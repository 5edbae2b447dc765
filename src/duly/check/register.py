"""Registers that some path leaves unbound (B8): what is bound for sure in each state, and a run on which it is not."""

from collections.abc import Iterable
from functools import reduce
from operator import and_, or_

from duly.machine.graph import Graph
from duly.values.errors import Diagnostic
from duly.values.expr import Register

from .run import arc_text, arcs_by_origin, region_of, shortest_runs

# Each faulty register costs one search over the graph; beyond this many the run is left out, not the fault.
WITNESSES = 20


def unbound_registers(graph: Graph) -> list[Diagnostic]:
    """Errors for guards that read a register which some path to them leaves unbound, unless it is marked `maybe`."""
    maybe = {bind.register for arc in graph.arcs for bind in arc.binds if bind.maybe}
    asked = [
        (arc, guard.operand.name)
        for arc in graph.arcs
        for guard in arc.guards
        if type(guard.operand) is Register and guard.operand.name not in maybe
    ]
    if not asked:
        return []
    bits = {name: 1 << at for at, name in enumerate(dict.fromkeys(name for _, name in asked))}
    bound = _surely_bound(graph, bits)
    faults = [(arc, name) for arc, name in asked if arc.origin in bound and not bound[arc.origin] & bits[name]]
    runs = {}
    for name in list(dict.fromkeys(name for _, name in faults))[:WITNESSES]:
        runs[name] = shortest_runs(graph, usable=lambda arc, name=name: all(b.register != name for b in arc.binds))  # type: ignore[misc]
    return [
        Diagnostic(
            code="maybe_unbound",
            message=f"`{arc_text(arc)}` reads register `{name}`, which may be unbound",
            span=graph.span(arc) if arc.end else None,
            help=f"bind it on every path, or mark it where it is bound: `(… as maybe {name})`",
            witness=(*runs[name].to(arc.origin), arc_text(arc))
            if name in runs and arc.origin in runs[name].cost
            else (),
        )
        for arc, name in dict.fromkeys(faults)
    ]


def _surely_bound(graph: Graph, bits: dict[str, int]) -> dict[int, int]:
    """Per reachable state the set of registers, as bits, that every path to it binds: a falling fixed point."""
    leaving = arcs_by_origin(graph)
    parents = {region_of(graph, start): state for state, fork in graph.forks.items() for start in fork.starts}
    finals: dict[int, list[int]] = {}
    for state in graph.finals:
        finals.setdefault(region_of(graph, state), []).append(state)
    gains = {id(arc): sum(bits.get(name, 0) for name in {bind.register for bind in arc.binds}) for arc in graph.arcs}
    bound = {graph.start: 0}
    work = [graph.start]

    def meet(state: int, mask: int) -> None:
        before = bound.get(state)
        after = mask if before is None else before & mask
        if after != before:
            bound[state] = after
            work.append(state)

    while work:
        state = work.pop()
        for arc in leaving.get(state, ()):
            meet(arc.target, bound[state] | gains[id(arc)])
        region = region_of(graph, state)
        joining = [state] if state in graph.forks else []
        if state in graph.finals and region in parents and parents[region] in bound:
            joining.append(parents[region])
        if state in graph.forks:
            for start in graph.forks[state].starts:
                meet(start, bound[state])
        for place in joining:
            ended = [_meet_of(bound, finals.get(region_of(graph, start), ())) for start in graph.forks[place].starts]
            if all(mask is not None for mask in ended):
                # when all sides have ended, what any of them has bound is bound
                meet(graph.forks[place].join, bound[place] | _union(ended))
    return bound


def _meet_of(bound: dict[int, int], states: Iterable[int]) -> int | None:
    """What is bound in all of the states that can be reached; None if none can."""
    masks = [bound[state] for state in states if state in bound]
    return reduce(and_, masks) if masks else None


def _union(masks: Iterable[int | None]) -> int:
    return reduce(or_, (mask for mask in masks if mask is not None), 0)
