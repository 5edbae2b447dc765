"""Printing: the canonical text of a contract says exactly what was read."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from duly.machine.graph import Graph
from duly.machine.rule import at_most, must_precede
from duly.machine.terms import Approval, Breaker, Example, LabelRule, OutsideGuard, Rule, Stand, Terms, Tool
from duly.notation.blocks import parse_blocks
from duly.notation.compile import compile_text
from duly.notation.document import parse_page, parse_terms
from duly.notation.document_print import leading_comments, print_page, print_terms
from duly.notation.transitions import from_transitions
from duly.values.errors import DulyError

from .bare import bare, bare_graph

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = TEXT.filter(str.strip) | st.sampled_from(["yes", "null", "1", "a.b", "mcp/x", "@change", "fs.read", "<<"])
PATTERN = st.sampled_from([r"(?i)\byes\b", "", "a|b", r"\W*#", ".*: .*"])
NUMBER = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def some(inner: Any, *, least: int = 0) -> Any:
    return st.dictionaries(NAME, inner, min_size=least, max_size=3)


def names(least: int = 0) -> Any:
    return st.lists(NAME, unique=True, min_size=least, max_size=3).map(tuple)


BOUNDS = st.fixed_dictionaries({"min": st.integers(-5, 0)}, optional={"max": st.integers(1, 5)})
TOOL = st.builds(
    Tool,
    name=st.just(""),
    effect=st.sampled_from([None, "none", "write"]),
    error=st.none() | NAME,
    outcomes=some(NAME),
    uncertain=st.none() | NAME,
    on_error=st.sampled_from(["back", "unknown"]),
    idempotent=st.booleans(),
    schema=st.none() | st.dictionaries(TEXT.filter(str.strip), VALUE, max_size=3),
    paths=some(st.none() | TEXT),
    clamp=some(BOUNDS),
    pairs=names(),
    pin=st.sampled_from([False, True, f"sha256:{'a' * 64}"]),
)
LABEL = st.builds(LabelRule, name=st.just(""), source=NAME, matches=PATTERN, unless=st.none() | PATTERN) | st.builds(
    LabelRule, name=st.just(""), source=NAME
)
OPTIONS: dict[str, Any] = {
    "id": st.just("") | NAME,
    "excepting": names(),
    "scope": st.sampled_from(["session", "turn", "run"]),
    "severity": st.sampled_from(["error", "warning"]),
}
RULE = st.builds(
    Rule, st.just("must_precede"), st.fixed_dictionaries({"first": NAME, "then": NAME}), **OPTIONS
) | st.builds(Rule, st.just("at_most"), st.fixed_dictionaries({"of": NAME, "n": st.integers(0, 10**30)}), **OPTIONS)
LASTS = st.sampled_from([1.0, 90.0, 300.0, 5400.0, 172800.0, 90061.0, 0.1, 2.5, 1e15]) | st.floats(
    0, 10**6, exclude_min=True, allow_subnormal=False
)
APPROVAL = st.builds(
    Approval,
    NAME,
    when=st.none() | NAME,
    ask=TEXT,
    by=names(),
    need=st.integers(1, 3),
    expires=st.none() | LASTS,
    no=st.sampled_from(["call", "turn"]),
    stand=st.sampled_from(["exact", "none"]) | st.builds(Stand, some(TEXT), st.none() | LASTS),
    id=st.just("") | NAME,
    excepting=names(),
)
GUARD = st.builds(OutsideGuard, NAME, TEXT, st.just(5.0) | LASTS)
STRINGS = [
    "!a.?a",
    "rec L.{?Ask.!a.?a(id as r).L, ?Bye}",
    '!"fs.read"(n <= 1.50, s == "x\\ny").?b=denied',
    "!@change || ?x",
]
ROWS = [{"source": "s", "event": "!a", "target": "t", "guards": "n > 1"}]
GRAPHS = st.sampled_from(
    [
        (),
        *((compile_text(text),) for text in STRINGS),
        tuple(parse_blocks("protocol A:\n  x: Go -> y\n  y\n\nprotocol B:\n  z\n").values()),
        (from_transitions(ROWS, initial="s", terminal=["t"]),),
    ]
)


@st.composite
def terms(draw: st.DrawFn) -> Terms:
    labels = {name: replace(label, name) for name, label in draw(some(LABEL)).items()}
    tools = draw(st.none() | some(TOOL))
    view = draw(st.sampled_from(["agent", "client"]))
    graphs: tuple[Graph, ...] = draw(GRAPHS)
    return Terms(
        name=draw(st.just("") | NAME),
        version=draw(TEXT),
        mode=draw(st.sampled_from(["enforce", "shadow"])),
        tools=None if tools is None else {name: replace(tool, name) for name, tool in tools.items()},
        groups=draw(some(names().map(list) | st.sampled_from([{"effect": "write"}, {"effect": "none"}]))),
        aliases=draw(some(NAME)),
        labels=labels,
        facts=draw(some(VALUE)),
        protocols=tuple(_seen(graph, view) for graph in graphs),
        rules=tuple(draw(st.lists(RULE, max_size=3))),
        approvals=tuple(draw(st.lists(APPROVAL, max_size=2))),
        withdraw_on=draw(st.sampled_from(["order", "message"])),
        guards=tuple(draw(st.lists(GUARD, max_size=2))),
        outside=draw(names()),
        breaker=draw(
            st.none()
            | st.builds(
                Breaker, st.integers(1, 9), st.sampled_from(["in_a_row", "equal"]), st.sampled_from(["turn", "session"])
            )
        ),
        on_violation=draw(st.sampled_from(["refuse", "halt"])),
        pin=draw(names() | st.just(("*",))),
        show=draw(st.lists(st.sampled_from(["reasons", "legal", "repair"]), unique=True).map(tuple)),
        count=draw(st.sampled_from(["attempted", "effective"])),
        forever=draw(st.booleans()),
        view=view,
        undeclared=draw(st.sampled_from(["error", "terminal"])),
        examples=tuple(
            draw(st.lists(st.builds(Example, TEXT, st.sampled_from([None, *labels])), max_size=2))
        ),
    )  # fmt: skip


def replace(value: Any, name: str) -> Any:
    return structs.replace(value, name=name)


def _seen(graph: Graph, view: str) -> Graph:
    return structs.replace(graph, view=view, name=graph.name if graph.notation == "blocks" else "")


@settings(max_examples=60, deadline=None)
@given(terms())
def test_what_is_printed_reads_back_as_the_same_terms(said: Terms) -> None:
    text = print_terms(said)
    back = parse_terms(text, name="c.yaml")
    assert bare(back) == bare(said)
    assert print_terms(back) == text


def test_the_canonical_form_is_pleasant_to_read() -> None:
    said = Terms(
        name="desk",
        version="1.0",
        tools={"a": Tool("a", effect="none"), "b": Tool("b", effect="write", clamp={"n": {"max": Decimal("0.50")}})},
        labels={"Yes": LabelRule("Yes", matches="(?i)yes")},
        protocols=(compile_text("rec L.{?Yes . !b . L}"),),
        rules=(must_precede("a", "@change"), at_most("b", 1, scope="turn")),
        approvals=(
            Approval("b", "args.n > 100", "Take {args.n}?", ("ana", "bo"), 2, 5400.0, stand=Stand({"path": "/srv/**"}, 90.0)),
            Approval("@change", no="turn", stand="none", id="people", excepting=("a",)),
        ),
        withdraw_on="message",
        guards=(OutsideGuard("b", "desk.limits:within", 0.5),),
        breaker=Breaker(3),
        examples=(Example("yes", "Yes"), Example("", None)),
    )
    said = bare(said)
    assert print_terms(said) == (
        "duly: 1\n"
        "contract: desk\n"
        'version: "1.0"\n'
        "tools:\n"
        "  a: {effect: none}\n"
        "  b: {effect: write, clamp: {n: {max: 0.50}}}\n"
        "labels:\n"
        '  Yes: {matches: "(?i)yes"}\n'
        "protocol: |\n"
        "  rec L.?{Yes.!b.L}\n"
        "rules:\n"
        '  - must_precede: [a, "@change"]\n'
        "  - {at_most: {of: b, n: 1}, scope: turn}\n"
        "approvals:\n"
        "  - of: b\n"
        '    when: "args.n > 100"\n'
        '    ask: "Take {args.n}?"\n'
        "    by: [ana, bo]\n"
        "    need: 2\n"
        "    expires: 90m\n"
        '    stand: {within: {path: "/srv/**"}, lasts: 90s}\n'
        '  - {of: "@change", no: turn, stand: none, id: people, except: [a]}\n'
        "withdraw_on: message\n"
        "guards:\n"
        '  - {of: b, run: "desk.limits:within", within: 0.5}\n'
        "breaker: {refusals: 3}\n"
        "examples:\n"
        '  - {text: yes, label: Yes}\n'
        '  - {text: "", label: null}\n'
    )  # fmt: skip


def test_a_page_keeps_its_includes_and_its_first_comments() -> None:
    text = "\ufeff# what this is\n#  for\n\nduly: 1  # lost\ninclude: [a.yaml]\n# lost\ncontract: x\n"
    assert print_page(parse_page(text, name="c.yaml"), text=text) == (
        "# what this is\n#  for\nduly: 1\ncontract: x\ninclude: [a.yaml]\n"
    )


def test_comments_lead_only_before_the_first_key() -> None:
    assert leading_comments("duly: 1\n# x\n") == ""
    assert leading_comments("\n\n# a\n\n# b\n\nduly: 1") == "\n\n# a\n\n# b\n"


def test_several_protocols_without_a_name_cannot_be_printed() -> None:
    graph = bare_graph(compile_text("!a"))
    with pytest.raises(DulyError, match="2 protocols have no name"):
        print_terms(Terms(protocols=(graph, graph)))
