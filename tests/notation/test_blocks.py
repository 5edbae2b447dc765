"""State blocks: what they mean, how they print, and what is said of faulty ones."""

import os
from pathlib import Path

import pytest

from duly.notation.blocks import parse_blocks, print_blocks
from duly.notation.compile import compile_text
from duly.values.errors import DulyError
from duly.values.expr import Guard, Literal

SHARED = Path(os.environ.get("DULY_SHARED") or Path(__file__).resolve().parents[3] / "shared")
SEED = SHARED / "seeds" / "002_12ddd2d741af0d20.txt"

REVIEW = """\
protocol Review:
    propose: Draft -> critique
    critique: Critique -> revise | accept
    revise: Draft -> critique
    accept: Final -> end
"""


def faults(text):
    with pytest.raises(DulyError) as caught:
        parse_blocks(text)
    return [(fault.span.where(), fault.message) for fault in caught.value.diagnostics]


def test_the_next_event_is_the_act_named_like_the_target():
    graph = parse_blocks(REVIEW)["Review"]
    arrows = [(graph.names[arc.origin], arc.side + arc.label, graph.names[arc.target]) for arc in graph.arcs]
    assert arrows == [
        ("propose", "!critique", "critique"),
        ("critique", "!revise", "revise"),
        ("critique", "!accept", "accept"),
        ("revise", "!critique", "critique"),
        ("accept", "!end", "end"),
    ]
    assert graph.names[graph.start] == "propose"
    assert {graph.names[state] for state in graph.finals} == {"end"}
    assert graph.payloads == {"propose": "Draft", "critique": "Critique", "revise": "Draft", "accept": "Final"}
    assert graph.span(graph.arcs[1]).text() == "revise"


def test_comments_tabs_and_several_protocols_stand_in_one_text():
    graphs = parse_blocks("# both\nprotocol A: # first\n\ta: X -> b # to b\n\n\tb\nprotocol B:\n  x -> y\n  y:\n")
    assert list(graphs) == ["A", "B"]
    assert [graph.size for graph in graphs.values()] == [2, 2]


def test_printing_and_parsing_undo_each_other():
    text = (
        REVIEW + '\nprotocol "a b":\n    start -> "x y" | d\n'
        '    "x y": list[Draft]\n    d: D -> start | "x y" by field result.kind\n'
    )
    assert print_blocks(parse_blocks(text)) == text
    assert parse_blocks(REVIEW)["Review"].text == REVIEW


def test_a_field_of_the_payload_picks_the_branch():
    graph = parse_blocks("protocol R:\n  a -> d\n  d: D -> yes | no by field decision\n  yes:\n  no -> d\n")["R"]
    into = [(graph.names[arc.origin], arc.guards, arc.target) for arc in graph.arcs if arc.label == "d"]
    yes, no = (Guard(("decision",), "==", Literal(value)) for value in ("yes", "no"))
    assert into == [("a", (yes,), 1), ("a", (no,), 2), ("no", (yes,), 1), ("no", (no,), 2)]
    assert [(arc.origin, arc.label) for arc in graph.arcs if arc.origin in (1, 2)] == [(1, "yes"), (2, "no")]
    assert graph.names[1] == graph.names[2] == "d"


def test_no_field_can_pick_a_branch_in_the_initial_state():
    assert faults("protocol R:\n  a -> b | c by field x\n  b:\n  c:\n") == [
        ("<blocks>:2:3", "no event enters the initial state `a`, so no field can pick a branch there")
    ]


def test_undeclared_targets_are_errors_with_a_suggestion_or_terminal_on_request():
    text = "protocol R:\n  draft -> reviw | done\n  review -> draft\n"
    assert faults(text) == [("<blocks>:2:12", "undeclared state `reviw`"), ("<blocks>:2:20", "undeclared state `done`")]
    graph = parse_blocks(text, undeclared="terminal")["R"]
    assert [(note.severity, note.message, note.help) for note in graph.notes] == [
        ("warning", "undeclared state `reviw`, read as terminal", "did you mean `review`?"),
        ("warning", "undeclared state `done`, read as terminal", "write a line `done:` for it, or lead to `end`"),
    ]
    assert {graph.names[state] for state in graph.finals} == {"reviw", "done"}


def test_all_faults_of_a_text_are_reported():
    text = (
        "x -> y\nprotocol R\n  a -> b b\n  a: Q\n  b => c\n  -> a\n  c -> end | end\n"
        "  end -> a\nprotocol R:\nprotocol E:\n"
    )
    assert [message for _, message in faults(text)] == [
        "a state outside of any protocol",
        "`:` is missing behind `protocol R`",
        "`b` means nothing here",
        "state `a` stands twice",
        "`=> c` means nothing here",
        "a line must begin with the name of a state",
        "target `end` stands twice",
        "`end` is terminal and leads nowhere",
        "protocol `R` stands twice",
        "protocol `E` has no states",
    ]
    assert faults("") == [("<blocks>:1:1", "no protocol in this text")]


def test_a_graph_that_blocks_cannot_say_is_refused():
    with pytest.raises(DulyError):
        print_blocks([compile_text("!a.?b")])


@pytest.mark.skipif(not SEED.exists(), reason="the shared inputs are not here")
def test_semas_page_loads_as_it_is_with_undeclared_targets_as_terminal():
    lines, inside = [], False
    for line in SEED.read_text().splitlines():
        inside = (line.startswith("protocol ") and line.split("#")[0].rstrip().endswith(":")) or (
            inside and line[:1] == " "
        )
        lines += [line] if inside else []
    graphs = parse_blocks("\n".join(lines), undeclared="terminal")
    assert {name: graph.size for name, graph in graphs.items()} == {
        "Review": 5,
        "OperatorRecovery": 6,
        "CellSupervisor": 9,
    }
    assert [len(graph.notes) for graph in graphs.values()] == [0, 1, 4]
    assert parse_blocks(print_blocks(graphs)).keys() == graphs.keys()


def test_thousands_of_undeclared_states_are_told_within_a_moment():
    text = "protocol X:\n" + "".join(f"  s{n}: !a -> t{n}\n" for n in range(5_000))
    with pytest.raises(DulyError) as error:
        parse_blocks(text)
    assert len(error.value.diagnostics) == 101
