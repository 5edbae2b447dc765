"""Shortest runs through a protocol: what can be reached, and by which labels.

Dijkstra's algorithm region by region, inner regions first, since leaving a fork costs what its sides cost. Nothing
recurses, and the work is that of one search over the whole graph.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from msgspec import Struct

from duly.machine.graph import Arc, Graph


class Runs(Struct, frozen=True):
    """The shortest runs found: `cost` per state counts the labels to it, and lacks states that cannot be reached."""

    graph: Graph
    cost: dict[int, int]
    via: dict[int, tuple[int, Arc | None]]  # the state before, and the arc taken (None: all sides of a fork have ended)
    finished: dict[int, int]  # per region: the final state that is reached first, within the region
    above: dict[int, int]  # per region: the fork that starts it

    def to(self, state: int) -> tuple[str, ...]:
        """The labels of a shortest run from the start into the state."""
        region = region_of(self.graph, state)
        above = [state]
        while region in self.above:
            above.append(self.above[region])
            region = region_of(self.graph, above[-1])
        out: list[str] = []
        todo: list[int | Arc] = list(above)  # a state stands for the way to it from the entry of its region
        while todo:
            item = todo.pop()
            if type(item) is not int:
                out.append(arc_text(item))  # type: ignore[arg-type]
                continue
            trail: list[int | Arc] = []
            at = item
            while at in self.via:
                at, arc = self.via[at]
                if arc is not None:
                    trail.append(arc)
                else:
                    sides = [region_of(self.graph, start) for start in self.graph.forks[at].starts]
                    trail.extend(self.finished[side] for side in reversed(sides))
            todo.extend(trail)
        return tuple(out)


def shortest_runs(graph: Graph, *, usable: Callable[[Arc], bool] | None = None) -> Runs:
    """The shortest runs over the arcs that are usable (all by default)."""
    leaving = arcs_by_origin(graph)
    above = {region_of(graph, start): state for state, fork in graph.forks.items() for start in fork.starts}
    entries = {region_of(graph, graph.start): graph.start}
    for fork in graph.forks.values():
        entries.update((region_of(graph, start), start) for start in fork.starts)
    local: dict[int, int] = {}
    via: dict[int, tuple[int, Arc | None]] = {}
    finished: dict[int, int] = {}
    for region in inner_first(graph):
        _search(graph, leaving, usable, entries[region], local, via, finished)
    cost: dict[int, int] = {}
    base = {region_of(graph, graph.start): 0}
    for region in reversed(inner_first(graph)):
        if region in above and above[region] in local and region_of(graph, above[region]) in base:
            base[region] = base[region_of(graph, above[region])] + local[above[region]]
    for state, length in local.items():
        if region_of(graph, state) in base:
            cost[state] = base[region_of(graph, state)] + length
    return Runs(graph=graph, cost=cost, via=via, finished=finished, above=above)


def _search(
    graph: Graph,
    leaving: dict[int, list[Arc]],
    usable: Callable[[Arc], bool] | None,
    entry: int,
    local: dict[int, int],
    via: dict[int, tuple[int, Arc | None]],
    finished: dict[int, int],
) -> None:
    """Within one region, from its entry; `finished` already knows the inner regions."""
    heap = [(0, entry)]
    local[entry] = 0
    done: set[int] = set()
    while heap:
        length, state = heappop(heap)
        if state in done:
            continue
        done.add(state)
        if state in graph.finals:
            finished.setdefault(region_of(graph, state), state)
        for arc in leaving.get(state, ()):
            if (usable is None or usable(arc)) and length + 1 < local.get(arc.target, length + 2):
                local[arc.target] = length + 1
                via[arc.target] = (state, arc)
                heappush(heap, (length + 1, arc.target))
        fork = graph.forks.get(state)
        if fork is not None:
            ends = [finished.get(region_of(graph, start)) for start in fork.starts]
            if all(end is not None for end in ends):
                through = length + sum(local[end] for end in ends if end is not None)
                if through < local.get(fork.join, through + 1):
                    local[fork.join] = through
                    via[fork.join] = (state, None)
                    heappush(heap, (through, fork.join))


def inner_first(graph: Graph) -> list[int]:
    """The regions, each after all regions that are forked within it."""
    main = region_of(graph, graph.start)
    inner: dict[int, list[int]] = {}
    for state, fork in graph.forks.items():
        inner.setdefault(region_of(graph, state), []).extend(region_of(graph, start) for start in fork.starts)
    order, met = [main], {main}
    for region in order:
        for child in inner.get(region, ()):
            if child not in met:
                met.add(child)
                order.append(child)
    return order[::-1]


def region_of(graph: Graph, state: int) -> int:
    return graph.regions[state] if graph.regions else 0


def arcs_by_origin(graph: Graph) -> dict[int, list[Arc]]:
    leaving: dict[int, list[Arc]] = {}
    for arc in graph.arcs:
        leaving.setdefault(arc.origin, []).append(arc)
    return leaving


def arc_text(arc: Arc) -> str:
    """`!label`, `?label=outcome`, `?Unrecognized`: an edge as people read it, without clauses."""
    label = "Unrecognized" if arc.label is None else ("@" if arc.group else "") + arc.label
    return arc.side + label + (f"={arc.outcome}" if arc.outcome is not None else "")
