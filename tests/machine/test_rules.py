"""The table of rules."""

import pytest

from duly import Contract, DulyError, Rule, at_most, must_precede
from duly.machine.rules import TEMPLATES, misfits, text_of


def test_a_rule_is_named_by_its_canonical_text() -> None:
    rules = [
        must_precede("a", "@change"), at_most("a", 2), at_most("b_*", 0, except_=["b_1", "b_2"]),
        at_most("a", 1, scope="turn"), must_precede("a", "b", id="mine"),
    ]  # fmt: skip
    assert [text_of(rule) for rule in rules] == [
        "must_precede(a, @change)", "at_most(a, 2)", "at_most(b_*, 0, except=b_1, except=b_2)",
        "at_most(a, 1, scope=turn)", "must_precede(a, b)",
    ]  # fmt: skip
    assert list(Contract(rules[4]).rules) == ["mine"]


def test_every_row_says_what_it_takes_and_refuses() -> None:
    for name, template in TEMPLATES.items():
        assert (template.name, template.form in ("list", "members", "mapping", "text"), bool(template.about)) == (name, True, True)
        assert all(argument.about for argument in template.arguments)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (at_most("a", -1), "`n` of `at_most` is a whole number from 0, not `-1`"),
        (at_most("a", True), "`n` of `at_most` is a whole number from 0, not `True`"),
        (at_most("a", 1.0), "`n` of `at_most` is a whole number from 0, not `1.0`"),  # type: ignore[arg-type]
        (at_most("", 1), "`of` of `at_most` names a tool or a message, not `''`"),
        (must_precede(None, "b"), "`first` of `must_precede` names a tool or a message, not `None`"),  # type: ignore[arg-type]
        (at_most("a", 1, scope="day"), "unknown scope `day`; scopes are session, turn, run, store"),
        (Rule("at_most", {"of": "a"}), "`at_most` needs `n`: how many are allowed, or the fact that says so"),
        (Rule("at_most", {"of": "a", "n": 1, "m": 2}), "`at_most` takes no `m`"),
    ],
)
def test_a_rule_with_wrong_arguments_is_refused_when_the_contract_is_built(rule: Rule, said: str) -> None:
    assert misfits(rule) == [said]
    with pytest.raises(DulyError) as caught:
        Contract(rule)
    assert [fault.message for fault in caught.value.diagnostics] == [said]


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(DulyError, match="unknown rule `at_mots`"):
        Contract(Rule("at_mots", {"of": "a", "n": 1}))
