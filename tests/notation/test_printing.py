"""Printing and parsing undo each other, whatever a tree says."""

import os
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.notation.printing import protocol_text
from duly.notation.strings import parse
from duly.values.errors import DulyError
from duly.values.expr import Bind, Guard, Literal, Register
from duly.values.protocol import Jump, Loop, Mark, Step, protocol_of

NASTY = [
    "end", "rec", "Unrecognized", "a.!wire", "a b", "'", '"', "\\", "fs/*", "\n", "\u200d👩‍🚀",
    "é", "e\u0301", "#", "²", "in", "0", "-", "{", "as",
]  # fmt: skip
names = st.sampled_from([*NASTY, "a", "b-c", "mcp:tool"]) | st.text(min_size=1, max_size=6).filter(lambda t: _utf8(t))
words = st.sampled_from(["r", "maybe", "as", "in", "else", "order-id", "_x", "é"])
numbers = st.integers(-(10**30), 10**30) | st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(
    lambda d: abs(d.as_tuple().exponent) < 5000 and abs(d.adjusted()) < 5000
)
scalars = st.none() | st.booleans() | numbers | st.text(max_size=6).filter(lambda t: _utf8(t))
literals = scalars | st.lists(scalars, max_size=3).map(tuple)
paths = st.builds(lambda first, rest: (first, *rest), names, st.lists(names | st.integers(0, 99), max_size=2))
guards = st.builds(
    Guard, paths, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"]), literals.map(Literal) | words.map(Register)
)
binds = st.builds(Bind, paths, words, st.booleans())


def _utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


@st.composite
def steps(draw):
    side = draw(st.sampled_from("!?"))
    clauses = {
        "guards": tuple(draw(st.lists(guards, max_size=2))),
        "binds": tuple(draw(st.lists(binds, max_size=2))),
        "otherwise": draw(st.booleans()),
    }
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return Step("?", None, **clauses)
    outcome = draw(st.none() | names) if side == "?" else None
    return Step(side, draw(names), outcome, kind == 1, **clauses)


def _nested(inner):
    rows = st.lists(inner, min_size=1, max_size=3).map(lambda parts: [node for part in parts for node in part])

    def bracket(mark, parts):
        out = [mark]
        for at, part in enumerate(parts):
            out += [Mark.NEXT, *part] if at else part
        return [*out, Mark.CLOSE]

    branches = st.lists(
        st.builds(lambda head, tail: [head, *tail], steps(), st.just([]) | rows), min_size=1, max_size=3
    )
    return (
        branches.map(lambda parts: bracket(Mark.CHOICE, parts))
        | st.lists(rows, min_size=2, max_size=3).map(lambda parts: bracket(Mark.SIDES, parts))
        | rows.map(lambda row: bracket(Mark.GROUP, [row]))
        | st.builds(lambda name, row: [Loop(name), *row], words, rows)
    )


atoms = st.one_of(steps().map(lambda step: [step]), st.just([Mark.END]), words.map(lambda name: [Jump(name)]))
trees = st.recursive(atoms, _nested, max_leaves=12).map(protocol_of)


@settings(max_examples=5000 if os.environ.get("DULY_SOAK") else 120, deadline=None)
@given(trees)
def test_parsing_what_was_printed_gives_the_same_tree(tree):
    text = protocol_text(tree)
    read = parse(text).protocol
    # repr, because True, 1 and 1.0 are equal in Python and three different literals here
    assert repr(read) == repr(tree)
    assert protocol_text(read) == text


@pytest.mark.parametrize("label", NASTY)
def test_nasty_labels_survive_in_every_place(label):
    tree = protocol_of([
        Step("!", label), Step("?", label, label), Step("!", label, None, True),
        Mark.CHOICE, Step("?", label, guards=(Guard((label, label, 0), "==", Literal(label)),)), Mark.NEXT,
        Step("?", None), Mark.CLOSE,
    ])  # fmt: skip
    assert parse(protocol_text(tree)).protocol == tree


def test_numbers_keep_their_exact_form():
    for text in ("0.00001", "1E-10", "1E+20", "100000000000000000000.0", "5.", "1.50", "-0.0", "7"):
        assert protocol_text(parse(f"!a(x == {text})").protocol) == f"!a(x == {text})"
    assert repr(parse("!a(x == 1e5)").protocol.nodes[0].guards[0].operand.value) == repr(Decimal("1E+5"))


def test_canonical_text_is_short_and_has_one_form():
    said = {
        "?{Yes.end, No.end}": "?{Yes, No}",
        "{ !a , !b.end }": "!{a, b}",
        "rec X . ( ( !a ) ) . X # loop": "rec X.!a.X",
        "((!a || ?b) || !c)": "!a || ?b || !c",
        "(!a || ?b).!c.end": "(!a || ?b).!c.end",
        '!"plain".?"Unrecognized".?Unrecognized': '!plain.?"Unrecognized".?Unrecognized',
        "!a(x==\"it's\", y in [1,'b'], z as maybe r)": "!a(x == \"it's\", y in [1, 'b'], z as maybe r)",
    }
    assert {text: protocol_text(parse(text).protocol) for text in said} == said


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (Step("!", ""), "empty_label"),
        (Step("!", "\ud800"), "utf8"),
        (Step("!", "a", guards=(Guard(("x",), "==", Literal(Decimal("NaN"))),)), "literal"),
        (Step("!", "a", guards=(Guard(("x",), "==", Literal(10**2000)),)), "literal"),
        (Step("!", "a", guards=(Guard(("x",), "==", Literal(((1,),))),)), "literal"),
        (Step("!", "a", guards=(Guard(("x",), "==", Literal(object())),)), "literal"),
        (Step("!", "a", guards=(Guard((0,), "==", Literal(1)),)), "path"),
        (Step("!", "a", guards=(Guard(("x",), "==", Register("a b")),)), "register"),
        (Step("!", "a", binds=(Bind(("x",), "true"),)), "register"),
        (Loop("a.b"), "rec"),
        (Jump("end"), "rec"),
    ],
)
def test_what_cannot_be_written_is_refused(step, code):
    with pytest.raises(DulyError) as caught:
        protocol_text(protocol_of([step, Mark.END]))
    assert [fault.code for fault in caught.value.diagnostics] == [code]
