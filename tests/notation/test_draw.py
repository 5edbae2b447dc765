"""Drawings: every state and label is there, and no text of a user becomes syntax of the format."""

import re
import xml.etree.ElementTree as ET

import pytest
from msgspec.structs import replace

from duly.notation.blocks import parse_blocks
from duly.notation.compile import compile_text
from duly.notation.draw import draw_dot, draw_mermaid, draw_text, edges_of
from duly.notation.layout import lay_out
from duly.notation.svg import draw_svg
from duly.values.errors import DulyError

NASTY = compile_text('!"<script>alert(1)</script>" . ?"a\\"]; x --> [*] : # \\n\\u{202e}" . !"a&b"')
DESK = compile_text("rec L.{?ask.L, !get.?get.L, ?bye}")
SIDES = compile_text("!s.(rec X.!{a.X, b} || ?c).!d")


def test_text_shows_states_arrows_and_ends():
    assert draw_text(DESK) == (
        ">  L\n     ?ask  ->  L\n     !get  ->  1\n     ?bye  ->  2\n   1\n     ?get  ->  L\n * 2\n"
    )
    assert "     X || 3  ->  4\n" in draw_text(SIDES)


def test_mermaid_draws_states_forks_and_ends():
    assert draw_mermaid(DESK).splitlines() == [
        "stateDiagram-v2", '    state "L" as s0', '    state "1" as s1', '    state "2" as s2', "    [*] --> s0",
        "    s0 --> s0 : ?ask", "    s0 --> s1 : !get", "    s0 --> s2 : ?bye",
        "    s1 --> s0 : ?get", "    s2 --> [*]",
    ]  # fmt: skip
    assert "state s1 <<fork>>" in draw_mermaid(SIDES)


def test_mermaid_labels_hold_no_syntax():
    for line in draw_mermaid(NASTY).splitlines()[1:]:
        assert re.fullmatch(
            r'    (state "\d+" as s\d+|\[\*\] --> s\d+|s\d+ --> (\[\*\]|s\d+ : [^;:<>"{}]*(#\d+;[^:<>"{}]*)*))', line
        ), line


def test_dot_labels_are_quoted():
    text = draw_dot(NASTY)
    assert 's1 -> s2 [label="?\\"a\\\\\\"]; x --> [*] : # \\\\n\\\\u202e\\""];' in text
    assert text.count("{") == text.count("}") == 1
    assert "peripheries=2" in text


@pytest.mark.parametrize("graph", [NASTY, DESK, SIDES])
def test_svg_is_well_formed_and_shows_every_label(graph):
    root = ET.fromstring(draw_svg(replace(graph, name='<b> & "x"')))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == '<b> & "x"'
    for edge in edges_of(graph):
        assert set(edge.labels) <= set(texts)
    assert {element.tag.split("}")[1] for element in root.iter()} <= {
        "svg", "title", "style", "rect", "g", "path", "text", "tspan", "circle",
    }  # fmt: skip


def test_no_two_states_or_labels_cover_each_other():
    graph = parse_blocks(
        "protocol P:\n  a -> b | c | d\n  b -> c | a\n  c -> a | b | d | e\n"
        "  d -> e | a\n  e -> f | a | g\n  f -> a\n  g:\n"
    )["P"]
    edges = edges_of(graph)
    layout = lay_out([(60.0, 34.0, 0.0)] * graph.size, edges, [(80.0, 18.0)] * len(edges), graph.start)
    boxes = [(place.layer, place.x - place.width / 2, place.x + place.width / 2) for place in layout.places]
    for at, (layer, left, right) in enumerate(boxes):
        for other, start, end in boxes[at + 1 :]:
            assert layer != other or right <= start or end <= left
    assert sum(route.label is not None for route in layout.routes) == len([e for e in edges if e.origin != e.target])


def test_drawing_the_same_graph_twice_gives_the_same_picture():
    assert draw_svg(SIDES) == draw_svg(SIDES)


def test_a_picture_nobody_could_read_is_refused():
    with pytest.raises(DulyError) as caught:
        draw_svg(compile_text(".".join(f"!a{n}" for n in range(500))))
    assert [fault.code for fault in caught.value.diagnostics] == ["size"]
