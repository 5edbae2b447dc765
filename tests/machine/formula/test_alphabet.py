"""The kinds of events that a formula tells apart."""

import pytest

from duly.machine.condition import Condition
from duly.machine.formula.alphabet import Said, alphabet
from duly.machine.formula.core import TooLarge
from duly.machine.formula.node import Atom


def said(side, names, outcome=None, where=None):
    condition = None if where is None else Condition(where, names=("args",))
    return Said(Atom(side, "/".join(names), outcome, where), frozenset(names), condition)


def letters(found):
    return [sorted(letter) for letter in found.letters]


def test_an_event_satisfies_the_atoms_of_one_label():
    found = alphabet([said("!", ["a"]), said("?", ["a"]), said("!", ["a", "b"])])
    assert letters(found) == [[], [0, 2], [1], [2]]
    assert {label: reading.letters for label, reading in found.acts.items()} == {"a": (1,), "b": (3,)}
    assert found.labels_of(3) == (("!", "b"),)
    assert found.labels_of(2) == (("?", "a"),)
    assert found.labels(frozenset({1, 3})) == {"a", "b"}


def test_an_outcome_that_is_named_is_told_apart_and_error_is_no_bare_result():
    found = alphabet([said("?", ["a"]), said("?", ["a"], "denied")])
    assert letters(found) == [[], [0], [0, 1]]
    assert {name: reading.letters for name, reading in found.results["a"].items()} == {
        None: (1,), "error": (0,), "denied": (2,),
    }  # fmt: skip
    assert {name: r.letters for name, r in alphabet([said("?", ["a"], "error")]).results["a"].items()} == {
        None: (0,), "error": (1,),
    }  # fmt: skip


def test_conditions_come_out_each_for_itself():
    found = alphabet([said("!", ["a"], where="args.n > 1"), said("!", ["a"], where="args.n < 5"), said("!", ["a"])])
    assert letters(found) == [[], [0, 1, 2], [0, 2], [1, 2], [2]]
    reading = found.acts["a"]
    assert reading.letters == (4, 3, 2, 1)
    answers = {"args.n > 1": True, "args.n < 5": None}
    assert reading.letters_of(lambda condition: answers[condition.text]) == ((1, 2), "args.n < 5")
    assert reading.letters_of(lambda condition: False) == ((4,), "")


def test_names_that_the_formula_cannot_tell_apart_are_one_letter():
    many = [f"t{number}" for number in range(1000)]
    assert letters(alphabet([said("!", many), said("?", ["x"])])) == [[], [0], [1]]


def test_too_many_conditions_are_refused():
    with pytest.raises(TooLarge, match="asks more than 8 different conditions of `a`"):
        alphabet([said("!", ["a"], where=f"args.n == {number}") for number in range(9)])
