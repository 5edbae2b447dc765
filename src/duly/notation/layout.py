"""A layered layout of a protocol: where states, labels and the bends of edges stand.

After K. Sugiyama, S. Tagawa, M. Toda (1981): turn back edges around, put states into layers by longest paths, give
each long edge a place in every layer it passes, order the layers by the mean place of the neighbours, and shift
places within their order as close to their neighbours as they come. Labels have layers of their own between the
layers of states, so that no label ever covers a state or another label. Deterministic, without recursion.
"""

import itertools
from bisect import bisect_right, insort
from collections.abc import Sequence

from msgspec import Struct

from .draw import Edge

GAP = 26.0
SWEEPS = 12


class Place(Struct):
    """A state, a label, or a bend: its box is centred at (x, y), and may be wider to the right (room for a loop)."""

    layer: int
    width: float
    height: float
    right: float = 0.0
    x: float = 0.0
    y: float = 0.0
    above: list[int] = []
    below: list[int] = []


class Route(Struct, frozen=True):
    """One edge: the places it passes from its origin to its target, and the place of its label."""

    edge: Edge
    places: list[int]
    label: int | None


class Layout(Struct, frozen=True):
    places: list[Place]  # the first ones are the states, by number
    routes: list[Route]
    width: float
    height: float


def lay_out(
    sizes: Sequence[tuple[float, float, float]],
    edges: Sequence[Edge],
    labels: Sequence[tuple[float, float]],
    start: int,
) -> Layout:
    """Places for states of these sizes (width, height, room to the right), edges, and labels of these sizes."""
    turned = _back_edges(len(sizes), edges, start)
    layers = _layers(len(sizes), edges, turned)
    places = [Place(2 * layers[at], width, height, right) for at, (width, height, right) in enumerate(sizes)]
    routes = []
    for at, edge in enumerate(edges):
        if edge.origin == edge.target:
            continue
        upper, lower = (edge.target, edge.origin) if at in turned else (edge.origin, edge.target)
        passed = [upper]
        label = None
        last = places[lower].layer
        wanted = places[upper].layer + 1 if at not in turned else last - 1
        for layer in range(places[upper].layer + 1, last):
            size = labels[at] if layer == wanted and edge.labels else (8.0, 0.0)
            if layer == wanted and edge.labels:
                label = len(places)
            places.append(Place(layer, *size))
            passed.append(len(places) - 1)
        passed.append(lower)
        for one, other in itertools.pairwise(passed):
            places[one].below = [*places[one].below, other]
            places[other].above = [*places[other].above, one]
        routes.append(Route(edge, passed[::-1] if at in turned else passed, label))
    rows = _ordered(places)
    width = _set_columns(places, rows)
    height = _set_rows(places, rows, len(sizes))
    return Layout(places, routes, width, height)


def _back_edges(size: int, edges: Sequence[Edge], start: int) -> set[int]:
    """The edges that close a circle, found by depth-first search from the start."""
    leaving: list[list[int]] = [[] for _ in range(size)]
    for at, edge in enumerate(edges):
        leaving[edge.origin].append(at)
    back: set[int] = set()
    colour = [0] * size
    for root in (start, *range(size)):
        if colour[root]:
            continue
        colour[root] = 1
        path = [(root, iter(leaving[root]))]
        while path:
            state, rest = path[-1]
            for at in rest:
                target = edges[at].target
                if colour[target] == 1:
                    back.add(at)
                elif colour[target] == 0:
                    colour[target] = 1
                    path.append((target, iter(leaving[target])))
                    break
            else:
                colour[state] = 2
                path.pop()
    return back


def _layers(size: int, edges: Sequence[Edge], turned: set[int]) -> list[int]:
    """Longest paths from the sources, over the edges as turned."""
    following: list[list[int]] = [[] for _ in range(size)]
    waiting = [0] * size
    for at, edge in enumerate(edges):
        if edge.origin == edge.target:
            continue
        upper, lower = (edge.target, edge.origin) if at in turned else (edge.origin, edge.target)
        following[upper].append(lower)
        waiting[lower] += 1
    layers = [0] * size
    ready = [state for state in range(size) if not waiting[state]]
    for state in ready:
        for target in following[state]:
            layers[target] = max(layers[target], layers[state] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return layers


def _ordered(places: list[Place]) -> list[list[int]]:
    """The places of each layer from left to right, by the mean of their neighbours; the best order is kept."""
    rows: list[list[int]] = [[] for _ in range(max(place.layer for place in places) + 1)]
    for at, place in enumerate(places):
        rows[place.layer].append(at)
    best, fewest = [list(row) for row in rows], _crossings(places, rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        where = {at: index for row in rows for index, at in enumerate(row)}
        for row in rows if down else rows[::-1]:
            means = {}
            for at in row:
                near = places[at].above if down else places[at].below
                means[at] = sum(where[other] for other in near) / len(near) if near else float(where[at])
            row.sort(key=lambda at: (means[at], where[at]))
            where.update((at, index) for index, at in enumerate(row))
        crossings = _crossings(places, rows)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _crossings(places: list[Place], rows: list[list[int]]) -> int:
    where = {at: index for row in rows for index, at in enumerate(row)}
    count = 0
    for row in rows:
        ends: list[int] = []  # of the lines further left, sorted
        for _, end in sorted((where[at], where[other]) for at in row for other in places[at].below):
            count += len(ends) - bisect_right(ends, end)
            insort(ends, end)
    return count


def _set_columns(places: list[Place], rows: list[list[int]]) -> float:
    """Horizontal positions; returns the width of all."""
    for row in rows:
        _shift(places, row, [0.0] * len(row))
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            wanted = []
            for at in row:
                near = places[at].above if down else places[at].below
                near = near or (places[at].below if down else places[at].above)
                wanted.append(sum(places[other].x for other in near) / len(near) if near else places[at].x)
            _shift(places, row, wanted)
    left = min(place.x - place.width / 2 for place in places)
    for place in places:
        place.x -= left
    return max(place.x + place.width / 2 + place.right for place in places)


def _shift(places: list[Place], row: list[int], wanted: list[float]) -> None:
    """Positions nearest to the wanted ones (least squares) in order and with gaps, by pooling adjacent violators."""
    offsets = [0.0]
    for one, other in itertools.pairwise(row):
        apart = places[one].width / 2 + places[one].right + GAP + places[other].width / 2
        offsets.append(offsets[-1] + apart)
    blocks: list[tuple[float, int]] = []  # mean, length
    for want, offset in zip(wanted, offsets, strict=False):
        mean, length = want - offset, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, length = (before * count + mean * length) / (count + length), count + length
        blocks.append((mean, length))
    at = 0
    for mean, length in blocks:
        for _ in range(length):
            places[row[at]].x = mean + offsets[at]
            at += 1


def _set_rows(places: list[Place], rows: list[list[int]], states: int) -> float:
    """Vertical positions; returns the height of all. Bends and labels become as high as their row, so that edges
    pass straight between the labels and curve only in the gaps, which grow with how far the edges must go."""
    y = 0.0
    for layer, row in enumerate(rows):
        height = max((places[at].height for at in row), default=0.0)
        for at in row:
            places[at].y = y + height / 2
            if at >= states:
                places[at].height = height
        farthest = max((abs(places[at].x - places[other].x) for at in row for other in places[at].below), default=0.0)
        y += height + (min(18.0 + 0.07 * farthest, 90.0) if layer + 1 < len(rows) else 0.0)
    return y
