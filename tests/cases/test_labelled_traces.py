"""Labelled traces: the recorded reading finds the first breach of each rule where the labels say, in all of them."""

import re
from typing import Any

import pytest

from cases.shared import absent, cases
from duly import Called, Closed, Contract, Returned, Rule, observe

CASES = cases("labelled_traces.json")


def member(told: Any) -> Any:
    """A name, or a tool whose argument holds a pattern (in any case; a missing argument holds nothing)."""
    if isinstance(told, str):
        return told
    arg, pattern = told["arg"], told["regex"].replace("\\", "\\\\").replace("'", "\\'")
    where = f"has(args.{arg}) && type(args.{arg}) == string && args.{arg}.matches('(?i){pattern}')"
    return {"of": told["tool"], "where": where}


def rule_of(number: int, told: dict[str, Any]) -> Rule:
    names = {key: member(told[key]) for key in ("before", "then", "of", "forbidden", "after") if key in told}
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "precedence": ("must_precede", {"first": names.get("before"), "then": names.get("then")}),
        "count_cap": ("at_most", {"of": names.get("of"), "n": told.get("max")}),
        "sum_cap": (
            "at_most_total", {"of": names.get("of"), "field": told.get("field"), "limit": told.get("max")},
        ),
        "forbidden_after": ("never_after", {"never": names.get("forbidden"), "after": names.get("after")}),
        "must_happen": ("must_happen", {"of": names.get("of")}),
        "exclusive": ("exclusive", {"members": [member(tool) for tool in told.get("tools", ())]}),
        "rate_cap": ("rate_limit", {"of": names.get("of"), "n": told.get("max"), "per": told.get("per_seconds")}),
    }  # fmt: skip
    template, args = kinds[told["kind"]]
    return Rule(template, args, id=f"r{number}")


def breaches(case: dict[str, Any]) -> list[tuple[str, Any]]:
    contract = Contract(*(rule_of(number, rule) for number, rule in enumerate(case["rules"])))
    state, found = contract.start, []
    for index, told in enumerate(case["calls"]):
        identity, at = f"c{index}", told.get("t", 0)
        verdict, state = observe(contract, state, Called(told["tool"], told.get("args") or {}, id=identity, at=at))
        found += [(reason.rule, index) for reason in verdict.reasons if not reason.follow_on]
        verdict, state = observe(contract, state, Returned(told["tool"], None, id=identity))
        assert verdict.word == "allowed"
    if case["session_ends"]:
        verdict, state = observe(contract, state, Closed())
        found += [(reason.rule, "end") for reason in verdict.reasons if not reason.follow_on]
    return found


@absent("labelled_traces.json")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_first_breaches_are_where_the_labels_say(case: dict[str, Any]) -> None:
    found = breaches(case)
    expected = [(f"r{each['rule']}", each["call"]) for each in case["expect"]["first_breaches"]]
    key = lambda pair: (pair[0], str(pair[1]))  # noqa: E731
    assert (sorted(found, key=key), bool(found)) == (sorted(expected, key=key), case["expect"]["violates"])


@absent("labelled_traces.json")
def test_all_of_them_are_asserted() -> None:
    assert len(CASES) == 77
    assert all(re.fullmatch(r"[LT]\d{3}", case["id"]) for case in CASES)
