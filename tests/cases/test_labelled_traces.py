"""Labelled traces: the recorded reading finds the first breach of each rule where the labels say.

Covered are the traces whose rules are precedence and counts over exact tool names.
"""

from typing import Any

import pytest

from cases.shared import absent, cases
from duly import Called, Closed, Contract, Returned, Rule, at_most, must_precede, observe


def rule_of(number: int, told: dict[str, Any]) -> Rule:
    if told["kind"] == "precedence":
        return must_precede(told["before"], told["then"], id=f"r{number}")
    return at_most(told["of"], told["max"], id=f"r{number}")


def covered(case: dict[str, Any]) -> bool:
    return all(
        (rule["kind"] == "precedence" and isinstance(rule["before"], str) and isinstance(rule["then"], str))
        or (rule["kind"] == "count_cap" and isinstance(rule["of"], str))
        for rule in case["rules"]
    )


@absent("labelled_traces.json")
@pytest.mark.parametrize(
    "case", [case for case in cases("labelled_traces.json") if covered(case)], ids=lambda c: c["id"]
)
def test_first_breaches_are_where_the_labels_say(case: dict[str, Any]) -> None:
    contract = Contract(*(rule_of(number, rule) for number, rule in enumerate(case["rules"])))
    state, breaches = contract.start, []
    for index, told in enumerate(case["calls"]):
        identity = f"c{index}"
        verdict, state = observe(contract, state, Called(told["tool"], told.get("args") or {}, id=identity))
        breaches += [(reason.rule, index) for reason in verdict.reasons if not reason.follow_on]
        verdict, state = observe(contract, state, Returned(told["tool"], None, id=identity))
        assert verdict.word == "allowed"
    assert observe(contract, state, Closed())[0].word == "allowed"
    expected = [(f"r{found['rule']}", found["call"]) for found in case["expect"]["first_breaches"]]
    assert (sorted(breaches), bool(breaches)) == (sorted(expected), case["expect"]["violates"])
