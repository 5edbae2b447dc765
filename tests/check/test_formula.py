"""What `duly check` says of formulas."""

import pytest

from duly import Contract, Tool, formula
from duly.check.contract import check_contract


def said(text, **terms):
    return [(each.severity, each.code, each.message) for each in check_contract(Contract(formula(text, id="f"), **terms))]


@pytest.mark.parametrize(
    "text", ["!a and not !a", "F !a and G not !a", "G(!a and ?a)", "X(!a and Y not true)", "G X true", "F(!a and WX false and X !b)"]
)
def test_a_formula_that_no_run_satisfies_is_an_error(text):
    assert said(text) == [("error", "formula", "no run satisfies the formula of `f`, so it refuses every act")]


@pytest.mark.parametrize("text", ["true", "!a or not !a", "F !a or G not !a", "G F !a -> F !a", "G(!a -> O !a)", "not (!a and ?a)"])
def test_a_formula_that_every_run_satisfies_is_a_warning(text):
    assert said(text) == [("warning", "formula", "every run satisfies the formula of `f`, so it refuses nothing")]


def test_a_name_that_nobody_declares_is_a_warning():
    found = said("G(!pay -> O ?lookpu)", tools=[Tool("pay"), Tool("lookup")])
    assert found == [("warning", "unknown", "the rule `f` names `lookpu`, which is not declared")]


def test_a_formula_that_says_something_is_fine():
    assert said("G(!a -> O ?b)") == []
