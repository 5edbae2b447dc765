from typing import Any

import pytest

from duly import Contract, Graph, LabelRule, Rule, Tool, at_most, must_precede, protocol
from duly.check.contract import check_contract
from duly.values.errors import Diagnostic


def said(*parts: Graph | Rule, **terms: Any) -> list[tuple[str, str, str]]:
    return [(each.severity, each.code, each.message) for each in check_contract(Contract(*parts, **terms))]


def tools(*names: str) -> list[Tool]:
    return [Tool(name) for name in names]


def test_a_sound_contract_has_nothing_to_be_said_of_it() -> None:
    desk = protocol("rec L.{?Ask.!lookup.?lookup.L, ?Yes.!refund.?refund.L, ?Bye.end}")
    assert said(desk, must_precede("lookup", "refund"), at_most("refund", 3)) == []


def test_a_tool_that_no_protocol_speaks_of_and_that_is_not_outside_is_an_error() -> None:
    message = "no protocol speaks of the tool `b`, so it is never allowed"
    assert said(protocol("!a.?a.end"), tools=tools("a", "b")) == [("error", "silent", message)]
    assert said(protocol("!a.?a.end"), tools=tools("a", "b"), outside=("b",)) == []
    assert said(protocol("!a.?a.end"), tools=tools("a", "bx", "by"), outside=("b*",)) == []


def test_without_a_protocol_no_tool_need_be_spoken_of() -> None:
    assert said(must_precede("a", "b"), tools=tools("a", "b", "c")) == []


@pytest.mark.parametrize(
    ("parts", "stuck"),
    [
        ((must_precede("a", "b"), must_precede("b", "a")), ["a", "b"]),
        ((must_precede("a", "a"),), ["a"]),
        ((at_most("a", 0), must_precede("a", "b")), ["b"]),
        ((protocol("!b.!a.end"), must_precede("a", "b")), ["b"]),
        ((protocol("(!a.!b || !c.!d).!e.end"), must_precede("e", "a")), ["a"]),
        ((protocol("!{a.!b, c.!d}.end"), must_precede("d", "a")), []),
        ((protocol("rec L.!{a.L, b.L, z.end}"), must_precede("b", "a")), []),
        ((must_precede("a", "b"), must_precede("b", "c"), must_precede("c", "d")), []),
    ],
)
def test_an_act_that_is_never_allowed_is_an_error(parts: tuple[Any, ...], stuck: list[str]) -> None:
    found = [each for each in said(*parts) if each[1] == "never"]
    assert sorted(message.split("`")[1] for _, _, message in found) == stuck
    assert {severity for severity, _, _ in found} <= {"error"}


def test_what_a_rule_forbids_outright_is_meant_to_be_so() -> None:
    assert said(at_most("a", 0)) == []
    assert said(protocol("rec L.!{a.L, z.end}"), at_most("a", 0)) == []


def test_what_lies_behind_a_forbidden_act_in_the_protocol_is_an_error() -> None:
    found = said(protocol("!a.!b.end"), at_most("a", 0))
    assert found == [("error", "never", "`!b` never happens: every way to it needs an act that is never allowed")]


def test_a_message_can_always_come() -> None:
    labels = [LabelRule("Yes", matches="yes")]
    assert said(protocol("?Yes.!pay.?pay.end"), must_precede("Yes", "pay"), tools=tools("pay"), labels=labels) == []


def test_a_long_chain_of_rules_is_checked_in_linear_time() -> None:
    rules = [must_precede(f"a{number}", f"a{number + 1}") for number in range(3000)]
    assert said(*rules) == []


def test_names_that_are_declared_nowhere_are_warned_of_where_the_tools_are_closed() -> None:
    def unknown(*parts: Any, **terms: Any) -> list[Diagnostic]:
        return [each for each in check_contract(Contract(*parts, **terms)) if each.code == "unknown"]

    rule = at_most("refnd", 1)
    assert unknown(rule) == []
    (fault,) = unknown(rule, tools=tools("refund"))
    assert (fault.message, fault.severity) == (
        "the rule `at_most(refnd, 1)` names `refnd`, which is not declared",
        "warning",
    )
    assert fault.help == "did you mean `refund`?"
    (fault,) = unknown(protocol("!refnd.end"), tools=tools("refund"), outside=("refund",))
    assert (fault.message, fault.where()) == ("the protocol names `refnd`, which is not declared", "<protocol>:1:1")
    assert len(unknown(tools=tools("a"), outside=("b",), aliases={"c": "d"})) == 2


def test_rules_that_can_go_are_warned_of() -> None:
    same = said(at_most("a", 1), at_most("a", 1, id="again"))
    assert same == [("warning", "redundant", "the rule `again` says the same as `at_most(a, 1)`")]
    weaker = said(at_most("a", 3), at_most("a", 1))
    message = "the rule `at_most(a, 3)` can never matter: `at_most(a, 1)` refuses earlier"
    assert weaker == [("warning", "redundant", message)]
    assert said(at_most("a", 1), at_most("a", 3, scope="turn")) == []
    assert said(at_most("a", 3), at_most("a", 1, scope="turn")) == []
    nothing = said(at_most("a", 1, except_=["a"]))
    assert nothing == [("warning", "redundant", "the rule `at_most(a, 1, except=a)` speaks of nothing")]


def test_names_that_look_alike_are_warned_of() -> None:
    found = said(tools=[Tool("pay"), Tool("Pay")])
    assert found == [("warning", "look_alike", "`pay` and `Pay` differ only by case")]


def test_an_empty_contract_is_warned_of() -> None:
    assert said() == [("warning", "empty", "the contract says nothing: every act is allowed")]
