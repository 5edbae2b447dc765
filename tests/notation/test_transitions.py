"""Transitions as data: every graph becomes rows and comes back, and faulty rows are all reported."""

import pytest
from msgspec.structs import replace

from duly.machine.graph import Graph
from duly.notation.blocks import parse_blocks
from duly.notation.compile import compile_text
from duly.notation.transitions import Transition, from_transitions, to_transitions
from duly.values.errors import DulyError
from duly.values.expr import Bind, Guard, Literal

PROTOCOLS = [
    "!a",
    "end",
    "rec X.!a.rec Y.!{b.Y, c}.X",
    'rec L.{?ask.L, ?get(id as maybe r).L, !"y es"(id == r, n in [1, 2.5]).end, !@"fs/*".end, ?v=denied}',
    "(!a || ?b=x).rec X.(!c || (!d.!e || ?Unrecognized.end)).?{l.X, q}",
    '!{a(x < 5).!b, a(x >= 5), a(else).?"\\n\'\\""}',
]


def shape(graph: Graph):
    return (
        graph.size, graph.start, graph.finals, graph.forks, graph.regions,
        [replace(arc, start=0, end=0) for arc in graph.arcs],
    )  # fmt: skip


def back(graph: Graph) -> Graph:
    table = to_transitions(graph)
    return from_transitions(
        table.rows, initial=table.initial, terminal=table.terminal, partings=table.partings, forever=True
    )


@pytest.mark.parametrize("text", [*PROTOCOLS, "rec X.!a.X"])
def test_graphs_of_strings_come_back_as_they_were(text):
    assert shape(back(compile_text(text))) == shape(compile_text(text))


def test_graphs_of_blocks_come_back_with_one_name_per_state():
    graph = parse_blocks("protocol R:\n  a -> d | z\n  d: D -> yes | no by field k\n  yes:\n  no -> d\n  z:\n")["R"]
    again = back(graph)
    assert sorted(again.names.values()) == ["a", "d", "d~2", "no", "yes", "z"]
    assert shape(back(again)) == shape(again)


def test_rows_are_mappings_or_transitions_and_guards_are_clauses():
    graph = from_transitions(
        [
            {"source": "idle", "event": "!lookup", "target": "asked", "guards": "n <= 3, id as who"},
            Transition("asked", "?lookup=denied", "idle"),
            {"source": "asked", "event": '?"fs.read"', "target": "done", "guards": ["x == 'a'"]},
        ],
        initial="idle", terminal=["done"], name="desk",
    )  # fmt: skip
    assert graph.names == {0: "idle", 1: "asked", 2: "done"}
    assert graph.finals == {2}
    assert graph.arcs[0].guards == (Guard(("n",), "<=", Literal(3)),)
    assert graph.arcs[0].binds == (Bind(("id",), "who"),)
    assert (graph.arcs[1].label, graph.arcs[1].outcome, graph.arcs[2].label) == ("lookup", "denied", "fs.read")
    assert graph.span(graph.arcs[1]).text() == "asked ?lookup=denied -> idle"
    assert graph.text.splitlines()[0] == "initial idle"


def test_all_faults_of_rows_are_reported():
    rows = [
        {"source": "idle", "event": "!lookup", "target": "lookd"},
        {"source": "looked", "evnt": "x"},
        {"source": "looked", "event": "!a.!b", "target": "idle"},
        {"source": "idle", "event": "!lookup", "target": "lookd"},
        {"source": "looked", "event": "!q", "guards": "x = 1", "target": "idle"},
        {"source": "idle", "event": 3, "target": "idle"},
        7,
    ]
    with pytest.raises(DulyError) as caught:
        from_transitions(rows, initial="idl")
    assert sorted((fault.path, fault.message) for fault in caught.value.diagnostics) == [
        ("initial", "undeclared state `idl`"),
        ("terminal", "no terminal state"),
        ("transitions[0].target", "undeclared state `lookd`"),
        ("transitions[1]", "`event` is missing"),
        ("transitions[1]", "`target` is missing"),
        ("transitions[1].evnt", "unknown key `evnt`"),
        ("transitions[2].event", "`!a.!b` is not one event"),
        ("transitions[3]", "the transition `idle !lookup lookd` stands twice"),
        ("transitions[3].target", "undeclared state `lookd`"),
        ("transitions[4].event", "`=` compares nothing"),
        ("transitions[5].event", "`event` must be a text"),
        ("transitions[6]", "a transition must be a mapping"),
    ]


def test_one_event_to_two_states_needs_guards_that_exclude_each_other():
    rows = [{"source": "a", "event": "!x", "target": "a"}, {"source": "a", "event": "!x", "target": "b"}]
    with pytest.raises(DulyError) as caught:
        from_transitions(rows, initial="a", terminal=["b"])
    assert [fault.message for fault in caught.value.diagnostics] == ["`!x` stands twice in one choice"]
