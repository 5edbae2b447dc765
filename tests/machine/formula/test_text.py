"""Formulas back to text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.machine.formula.node import (
    BINARY,
    COMPARISONS,
    JOINS,
    UNARY,
    Among,
    Atom,
    Binary,
    Count,
    Did,
    Formula,
    Truth,
    Unary,
)
from duly.machine.formula.parse import parse
from duly.machine.formula.text import text_of
from laws.settings import tried

NAMES = st.one_of(
    st.sampled_from(["a", "fs/*", "@g", "a-b", "not", "a b", 'q"\\\n', "2x", "G"]),
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=4).filter(lambda text: text != "@"),
)
WHERES = st.sampled_from([None, None, None, "args.n > 1", "args.s == '}'", "args == {'a': {}}"])
ACTS = st.builds(Atom, st.just("!"), NAMES, st.none(), WHERES)
RESULTS = st.builds(Atom, st.just("?"), NAMES, st.one_of(st.none(), st.sampled_from(["ok", "not yet"])), WHERES)
BARE = st.builds(Atom, st.just(""), NAMES, st.none(), WHERES)
ATOMS = st.one_of(ACTS, RESULTS, BARE)


@st.composite
def formulas(draw):
    nodes = []
    todo = draw(st.integers(1, 8))
    roots = []
    for _ in range(todo):
        kind = draw(st.sampled_from(["leaf", "unary", "binary"])) if roots else "leaf"
        if kind == "leaf" or (kind == "binary" and len(roots) < 2):
            atom = draw(ATOMS)
            several = tuple(draw(st.lists(ATOMS, min_size=1, max_size=3)))
            count = draw(st.integers(0, 99))
            leaves = [
                atom if atom.side else Did(atom),
                Truth(count % 2 == 0),
                Count(atom, draw(st.sampled_from(COMPARISONS)), count),
                Among("all", len(several), several),
                Among("any_of", 1, several),
                Among("at_least", count, several),
                Among("at_most", count, several),
            ]
            nodes.append(draw(st.sampled_from(leaves)))
            roots.append(len(nodes) - 1)
        elif kind == "unary":
            nodes.append(Unary(draw(st.sampled_from(UNARY)), roots.pop()))
            roots.append(len(nodes) - 1)
        else:
            right, left = roots.pop(), roots.pop()
            nodes.append(Binary(draw(st.sampled_from((*BINARY, *JOINS))), left, right))
            roots.append(len(nodes) - 1)
    while len(roots) > 1:
        right, left = roots.pop(), roots.pop()
        nodes.append(Binary("and", left, right))
        roots.append(len(nodes) - 1)
    return Formula(tuple(nodes))


@tried(300, 10_000)
@given(formulas())
def test_a_formula_is_read_back_from_its_text(formula):
    assert parse(text_of(formula)).formula == formula


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("((G((!a) -> (O ?b))))", "G(!a -> O ?b)"),
        ("(!a and !b) and !c", "!a and !b and !c"),
        ("!a and (!b and !c)", "!a and (!b and !c)"),
        ("!a -> (!b -> !c)", "!a -> !b -> !c"),
        ("(!a -> !b) -> !c", "(!a -> !b) -> !c"),
        ("(!a U !b) U (!c U !d)", "(!a U !b) U !c U !d"),
        ("not (!a or ?b=ok)", "not (!a or ?b=ok)"),
        ("(not !a) U (X !b)", "not !a U X !b"),
        ('!"a" and !"a b"', '!a and !"a b"'),
        ("at_least( 2 ,a,b )", "at_least(2, a, b)"),
        ("not(count(!a)>3)", "not count(!a) > 3"),
    ],
)
def test_only_the_brackets_that_are_needed_are_written(text, canonical):
    assert text_of(parse(text).formula) == canonical


def test_depth_is_no_limit_for_printing():
    text = "not " * 20_000 + "!a"
    assert text_of(parse(text).formula) == text
