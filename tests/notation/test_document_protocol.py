"""Protocols inside documents: all notations, and faults that point into the document."""

import pytest

from duly.notation.document import parse_terms
from duly.notation.document_protocol import is_blocks
from duly.values.errors import DulyError


def places(text: str, name: str = "c.yaml") -> list[str]:
    with pytest.raises(DulyError) as caught:
        parse_terms(text, name=name)
    return [fault.where() for fault in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("duly: 1\nprotocol: |\n  !a .\n    X\n", "c.yaml:4:5"),
        ("duly: 1\nprotocol: |\n\n  \n  !a .\n    X\n", "c.yaml:6:5"),
        ("duly: 1\nprotocol: |2\n    !a . X\n", "c.yaml:3:10"),
        ("duly: 1\nprotocol: |-  # why\n      !a . X", "c.yaml:3:12"),
        ("duly: 1\r\nprotocol: |\r\n  !a .\r\n  X\r\n", "c.yaml:4:3"),
        ("duly: 1\nprotocols:\n  p: |\n     !a . X\n", "c.yaml:4:11"),
        ("duly: 1\nprotocol: '!a . X'\n", "c.yaml:2:17"),
        ('duly: 1\nprotocol: "!a . X"\n', "c.yaml:2:17"),
        ("duly: 1\nprotocol: rec L . X\n", "c.yaml:2:19"),
        ("duly: 1\nprotocols: {p: '!a . X'}\n", "c.yaml:2:22"),
        # what does not stand there as it is written points at its start
        ("duly: 1\nprotocol: >\n  !a .\n  X\n", "c.yaml:2:11"),
        ("duly: 1\nprotocol: '!a .\n  X'\n", "c.yaml:2:11"),
        ('duly: 1\nprotocol: "!a\\t. X"\n', "c.yaml:2:11"),
    ],
)
def test_a_fault_of_a_protocol_points_into_the_document(text: str, place: str) -> None:
    assert places(text) == [place]


def test_a_fault_of_a_protocol_in_json_points_into_the_line_or_at_its_start() -> None:
    assert places('{"duly": 1,\n "protocol": "!a . X"}', "c.json") == ["c.json:2:20"]
    assert places('{"duly": 1,\n "protocol": "!a .\\nX"}', "c.json") == ["c.json:2:14"]


def test_a_fault_of_a_protocol_in_toml_names_the_path_and_the_place_in_the_text() -> None:
    assert places("duly = 1\n[protocols]\np = '''\n!a .\nX'''", "c.toml") == ["c.toml:protocols.p:2:1"]


def test_a_reason_at_run_time_points_into_the_document() -> None:
    (graph,) = parse_terms("duly: 1\nprotocol: |\n  !a .\n  !b\n", name="c.yaml").protocols
    assert [graph.span(arc).where() for arc in graph.arcs] == ["c.yaml:3:3", "c.yaml:4:3"]


BLOCKS = "duly: 1\nprotocol: |\n  protocol Review:\n    open: Draft -> done\n    done: end\n"


def test_state_blocks_are_told_by_their_first_line() -> None:
    assert is_blocks("# a comment\n\nprotocol Review:\n  open: Draft -> done")
    assert not is_blocks("!protocol . ?b")


def test_state_blocks_bring_their_names() -> None:
    text = "duly: 1\nprotocol: |\n  protocol A:\n    x -> y\n    y\n\n  protocol B:\n    z\n"
    assert [graph.name for graph in parse_terms(text, name="c.yaml").protocols] == ["A", "B"]


def test_a_fault_of_a_state_block_points_into_the_document() -> None:
    assert places("duly: 1\nprotocol: |\n  protocol A:\n    x -> z\n    y\n")[0] == "c.yaml:4:10"


def test_undeclared_targets_end_the_protocol_where_the_document_says_so() -> None:
    text = "duly: 1\nundeclared: terminal\nprotocol: |\n  protocol A:\n    x -> z\n"
    (graph,) = parse_terms(text, name="c.yaml").protocols
    assert [note.where() for note in graph.notes] == ["c.yaml:5:10"]


def test_state_blocks_under_another_name_are_refused() -> None:
    text = "duly: 1\nprotocols:\n  B: |\n    protocol A:\n      x\n"
    with pytest.raises(DulyError) as caught:
        parse_terms(text, name="c.yaml")
    assert [fault.message for fault in caught.value.diagnostics] == ["`A` stands under the name `B`"]


def test_two_protocols_of_one_name_are_refused() -> None:
    text = "duly: 1\nprotocol: |\n  protocol A:\n    x\nprotocols: {A: '!a'}\n"
    with pytest.raises(DulyError) as caught:
        parse_terms(text, name="c.yaml")
    assert [fault.message for fault in caught.value.diagnostics] == ["two protocols are called `A`"]


TABLE = """\
duly: 1
protocol:
  initial: idle
  terminal: [done]
  transitions:
    - {source: idle, event: "!refund", target: waiting, guards: amount <= 100}
    - {source: waiting, event: "?refund", target: done}
"""


def test_transitions_are_written_as_data() -> None:
    (graph,) = parse_terms(TABLE, name="c.yaml").protocols
    assert (graph.notation, [(arc.side, arc.label) for arc in graph.arcs]) == (
        "transitions", [("!", "refund"), ("?", "refund")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('event: "?refund"', "event: refund", "c.yaml:7:32"),
        ("target: waiting", "target: wating", "c.yaml:6"),
        ("amount <= 100", "amount <=", "c.yaml:6"),
        ("initial: idle", "initial: idel", "c.yaml:3:3"),
        ("source: idle", "sauce: idle", "c.yaml:6:7"),
    ],
)
def test_a_fault_of_a_transition_points_at_its_row(old: str, new: str, place: str) -> None:
    assert places(TABLE.replace(old, new))[0].startswith(place)


def test_a_view_is_a_view_of_all_protocols() -> None:
    terms = parse_terms("duly: 1\nview: client\nprotocols: {p: '!a', q: '?b'}", name="c.yaml")
    assert [graph.view for graph in terms.protocols] == ["client", "client"]
