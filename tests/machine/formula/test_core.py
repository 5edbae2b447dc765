"""Formulas in few words."""

import pytest

from duly.machine.formula.core import core_of
from duly.machine.formula.node import Atom
from duly.machine.formula.parse import parse
from duly.machine.formula.progress import automaton
from duly.values.errors import DulyError


def machine(text):
    core = core_of(parse(text))
    order = [core.atoms.index(atom) for atom in sorted(core.atoms, key=str)]
    return automaton(core, [frozenset(), *(frozenset({number}) for number in order)])


@pytest.mark.parametrize(
    ("term", "spelt_out"),
    [
        ("F did(x)", "F ?x"),
        ("F did(!x)", "F !x"),
        ("G(!a -> did(x))", "G(!a -> O ?x)"),
        ("G count(!a) <= 1", "G not (!a and Y O !a)"),
        ("G count(!a) < 2", "G not (!a and Y O !a)"),
        ("F count(a) >= 2", "F(?a and X F ?a)"),
        ("F count(a) > 1", "F(?a and X F ?a)"),
        ("G(!a -> count(!b) == 1)", "G(!a -> O(!b and not Y O !b) and not O(!b and Y O !b))"),
        ("G(!a -> count(!b) != 0)", "G(!a -> O !b)"),
        ("G count(!a) >= 0", "true"),
        ("G count(!a) == 0", "G not !a"),
        ("G(!x -> all(a, b))", "G(!x -> O ?a and O ?b)"),
        ("G(!x -> any_of(a, b))", "G(!x -> O ?a or O ?b)"),
        ("G(!x -> at_least(2, a, b, c))", "G(!x -> O ?a and O ?b or O ?a and O ?c or O ?b and O ?c)"),
        ("G(!x -> at_most(1, a, b))", "G(!x -> not (O ?a and O ?b))"),
        ("G(!x -> at_least(0, a))", "G(!x -> true or O ?a)"),
        ("G(!x -> at_least(3, a, b))", "G(!x -> O ?a and O ?b and false)"),
    ],
)
def test_a_history_term_means_what_is_spelt_out(term, spelt_out):
    assert machine(term) == machine(f"({spelt_out}) and ({term} or true)")


def test_atoms_are_numbered_in_the_order_of_the_text():
    core = core_of(parse("!b and did(a) and ?a and not !b"))
    assert core.atoms == (Atom("!", "b"), Atom("?", "a"))


def test_an_atom_without_a_side_is_refused_where_it_stands_alone():
    from duly.machine.formula.node import Formula
    from duly.machine.formula.parse import Written
    from duly.values.source import Source

    written = Written(Formula((Atom("", "a"),)), Source("f", "a"), (0,), (1,))
    with pytest.raises(DulyError, match="`a` needs its side"):
        core_of(written)
