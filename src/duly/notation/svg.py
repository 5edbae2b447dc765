"""A protocol as a picture: one self-contained SVG, drawn by our own layered layout."""

import unicodedata
from html import escape
from typing import Final

from duly.machine.graph import Graph
from duly.values.errors import fault

from .draw import Edge, edges_of, is_end, shown, state_name
from .layout import Layout, Place, Route, lay_out

MOST_STATES: Final = 400  # nobody reads a larger picture, and its layout takes seconds
MARGIN: Final = 28.0
LINE: Final = 16.0
LONGEST: Final = 44  # characters of a label; the whole text is in its tooltip
MOST_LINES: Final = 8
STYLE: Final = (
    "text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:12px;fill:#1f2937}"
    ".title{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:16px;font-weight:600}"
    ".key{font-size:11px;fill:#6b7280}.act{fill:#1d4ed8}.learn{fill:#047857}"
    ".state{fill:#f8fafc;stroke:#334155;stroke-width:1.4}.end{fill:#ecfdf5}.ring{fill:none;stroke:#334155}"
    ".edge{fill:none;stroke:#64748b;stroke-width:1.3}.silent{stroke-dasharray:4 4}"
    ".tip{fill:#64748b}.back{fill:#fff}.bar,.dot{fill:#334155}"
)


def draw_svg(graph: Graph, *, title: str = "") -> str:
    """The picture of a protocol; texts of users are escaped, long labels cut with the whole in a tooltip.

    Raises DulyError above 400 states.
    """
    if graph.size > MOST_STATES:
        help = f"pictures are drawn up to {MOST_STATES} states; draw it as text, Mermaid or DOT"
        raise fault("size", f"a picture of {graph.size} states cannot be read", help=help)
    edges = edges_of(graph)
    loops = {edge.origin: edge for edge in edges if edge.origin == edge.target}
    sizes = [_state_size(graph, state, loops.get(state), edges) for state in range(graph.size)]
    layout = lay_out(sizes, edges, [_label_size(edge) for edge in edges], graph.start)
    title = title or graph.name
    top = MARGIN + (34.0 if title else 0.0) + 26.0
    out = [_route(layout, route) for route in layout.routes]
    out += [_loop(layout.places[state], edge) for state, edge in loops.items()]
    out += [_state(graph, state, layout.places[state]) for state in range(graph.size)]
    out.append(_entry(layout.places[graph.start]))
    width = max(layout.width, 9.6 * _cells(_cut(title)), 330.0) + 2 * MARGIN
    height = layout.height + top + MARGIN + 26.0
    heading = f'<text class="title" x="{MARGIN:g}" y="{MARGIN + 12:g}">{escape(_cut(title))}</text>' if title else ""
    key = (
        f'<text class="key" x="{MARGIN:g}" y="{height - 14:.1f}"><tspan class="act">!</tspan> the agent acts'
        '<tspan class="learn" dx="16">?</tspan> it learns<tspan dx="16">double line: may end</tspan></text>'
    )
    shift = (width - layout.width) / 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img"><title>{escape(shown(title or "protocol"))}</title>'
        f'<style>{STYLE}</style><rect class="back" width="100%" height="100%"/>{heading}'
        f'<g transform="translate({shift:.1f} {top:.1f})">{"".join(out)}</g>{key}</svg>\n'
    )


def _state_size(graph: Graph, state: int, loop: Edge | None, edges: list[Edge]) -> tuple[float, float, float]:
    """Width, height, and room to the right for a loop; a state that many edges meet is wide enough for their ends."""
    room = 0.0
    height = 34.0
    if loop is not None:
        width, tall = _label_size(loop)
        room, height = width + 34.0, max(height, tall)
    if state in graph.forks:
        return 64.0, 6.0, room
    text = _cut(state_name(graph, state))
    meeting = sum(1 for edge in edges if state in (edge.origin, edge.target) and edge.origin != edge.target)
    return max(38.0, 7.4 * _cells(text) + 24.0, min(8.0 * meeting, 320.0)), height, room


def _label_size(edge: Edge) -> tuple[float, float]:
    lines = _lines(edge)
    return max((7.4 * _cells(line) + 8.0 for line in lines), default=8.0), LINE * len(lines) + 2.0


def _lines(edge: Edge) -> list[str]:
    lines = [_cut(label) for label in edge.labels]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"… {len(lines) - MOST_LINES + 1} more"]
    return lines


def _cut(text: str) -> str:
    text = shown(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _cells(text: str) -> int:
    """How many columns a text takes: characters of East Asia are twice as wide, marks take none."""
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else not unicodedata.combining(character)
        for character in text
    )


def _state(graph: Graph, state: int, place: Place) -> str:
    name = state_name(graph, state)
    x, y, width = place.x, place.y, place.width
    if state in graph.forks:
        return f'<rect class="bar" x="{x - width / 2:.1f}" y="{y - 3:.1f}" width="{width:.1f}" height="6" rx="2"/>'
    box = f'x="{x - width / 2:.1f}" y="{y - 17:.1f}" width="{width:.1f}" height="34"'
    end = is_end(graph, state)
    out = f'<rect class="state{" end" if end else ""}" {box} rx="17"/>'
    if end:
        out += (
            f'<rect class="ring" x="{x - width / 2 + 3.5:.1f}" y="{y - 13.5:.1f}" width="{width - 7:.1f}" '
            'height="27" rx="13.5"/>'
        )
    out += f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(_cut(name))}</text>'
    return f"<g>{out}<title>{escape(shown(name))}</title></g>"


def _entry(place: Place) -> str:
    x, y = place.x, place.y - 17
    return f'<circle class="dot" cx="{x:.1f}" cy="{y - 26:.1f}" r="4.5"/>' + _curve([(x, y - 21), (x, y)], silent=False)


def _route(layout: Layout, route: Route) -> str:
    """An edge from port to port through its bends, and its label over the line."""
    places = layout.places
    down = places[route.places[-1]].layer > places[route.places[0]].layer
    points = [_port(layout, route.places[0], route.places[1], below=down)]
    for at in route.places[1:-1]:
        half = places[at].height / 2 * (1 if down else -1)
        points += [(places[at].x, places[at].y - half), (places[at].x, places[at].y + half)]
    points.append(_port(layout, route.places[-1], route.places[-2], below=not down))
    label = _label(places[route.label], route.edge) if route.label is not None else ""
    return _curve(points, silent=route.edge.silent) + label


def _port(layout: Layout, state: int, toward: int, *, below: bool) -> tuple[float, float]:
    """Where an edge meets its state: the edges of one side share its width in the order of where they go."""
    place = layout.places[state]
    near = sorted(place.below if below else place.above, key=lambda at: layout.places[at].x)
    share = (near.index(toward) + 1) / (len(near) + 1) - 0.5
    half = 3.0 if place.width == 64.0 and place.height == 6.0 else 17.0
    # The ends of the box are round: ports keep to its straight part, or near the middle of a circle.
    reach = max(place.width - 26.0, 14.0)
    return place.x + share * reach, place.y + (half if below else -half)


def _curve(points: list[tuple[float, float]], *, silent: bool) -> str:
    (x, y), steps = points[0], []
    tip_x, tip_y = points[-1]
    up = tip_y < points[-2][1]
    last = tip_y + (7.0 if up else -7.0)
    for to_x, to_y in [*points[1:-1], (tip_x, last)]:
        middle = (y + to_y) / 2
        steps.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}" + "".join(steps)
    tip = f"M{tip_x:.1f} {tip_y:.1f}l-4 {7 if up else -7}h8z"
    return f'<path class="edge{" silent" if silent else ""}" d="{path}"/><path class="tip" d="{tip}"/>'


def _loop(place: Place, edge: Edge) -> str:
    x, y = place.x + place.width / 2, place.y
    path = f"M{x - 5:.1f} {y - 9:.1f}C{x + 24:.1f} {y - 24:.1f} {x + 24:.1f} {y + 24:.1f} {x + 1:.1f} {y + 11:.1f}"
    tip = f"M{x - 5:.1f} {y + 8.5:.1f}l8.5 -1.5l-3.5 7.5z"
    width, height = _label_size(edge)
    spot = Place(place.layer, width, height, x=x + 22.0 + width / 2, y=y)
    return f'<path class="edge" d="{path}"/><path class="tip" d="{tip}"/>' + _label(spot, edge)


def _label(place: Place, edge: Edge) -> str:
    lines = _lines(edge)
    top = place.y - LINE * len(lines) / 2
    out = (
        f'<g><rect class="back" x="{place.x - place.width / 2:.1f}" y="{top - 1:.1f}" width="{place.width:.1f}" '
        f'height="{LINE * len(lines) + 2:.1f}"/>'
    )
    for at, line in enumerate(lines):
        kind = {"!": "act", "?": "learn"}.get(line[0], "key")
        y = top + LINE * at + 12
        out += f'<text class="{kind}" x="{place.x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(line)}</text>'
    return out + f"<title>{escape(shown(chr(10).join(edge.labels)))}</title></g>"
