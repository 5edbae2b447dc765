"""What would make a refused act legal."""

import pytest

from duly import Breaker, LabelRule, Repair, at_most, immediately_before, must_precede
from steps import call, held, ran, words


def test_the_shortest_steps_are_told() -> None:
    session = held("rec L.{?Ask.!lookup.?lookup.L, ?Yes.!refund.?refund.L, ?Bye}", must_precede("lookup", "refund"))
    assert session.repair("refund") == Repair("steps", ("ask for `Ask`", "call `lookup`", "ask for `Yes`"))


def test_a_step_back_along_two_rules_is_found() -> None:
    session = held(must_precede("a", "b"), must_precede("b", "c"))
    assert session.repair("c") == Repair("steps", ("call `a`", "call `b`"))


def test_what_is_spent_for_good_has_no_repair() -> None:
    session = held(at_most("a", 1))
    ran(session, "a", "1")
    assert session.repair("a") == Repair("none")


def test_what_an_open_call_may_give_back_is_undecided() -> None:
    session = held(at_most("a", 1))
    words(session, call("a", "1"))
    assert session.repair("a") == Repair("undecided")


@pytest.mark.parametrize(("scope", "step"), [("turn", "wait for the next turn"), ("run", "wait for the next run")])
def test_what_is_spent_for_now_comes_back(scope: str, step: str) -> None:
    session = held(at_most("a", 1, scope=scope))
    ran(session, "a", "1")
    assert session.repair("a") == Repair("steps", (step,))


def test_a_step_that_is_behind_the_protocol_has_no_repair() -> None:
    session = held("!a.?a.!b.?b", tools=["a", "b"])
    ran(session, "a", "1")
    assert session.repair("a") == Repair("none")


def test_an_act_that_is_legal_already_only_needs_other_arguments() -> None:
    session = held("!pay(n <= 5)")
    verdict = session.step(call("pay", "1", {"n": 9}))
    assert verdict.repair == Repair("steps", ())  # type: ignore[union-attr]


def test_a_halted_session_and_an_unknown_act_have_none() -> None:
    session = held(at_most("a", 0), breaker=Breaker(1), tools=["a"])
    assert session.repair("zzz") is None
    session.step(call("a", "1"))
    assert session.repair("a") == Repair("none")


def test_a_large_space_is_undecided_within_the_bound() -> None:
    sides = " || ".join(f"(rec A{n}.!{{a{n}.!b{n}.A{n}, c{n}}})" for n in range(14))
    session = held(f"({sides}).!goal")
    assert session.repair("goal") == Repair("undecided")


def test_messages_of_people_are_asked_for_and_never_called() -> None:
    session = held(must_precede("Yes", "pay"), tools=["pay"], labels=[LabelRule("Yes")])
    assert session.repair("pay") == Repair("steps", ("ask for `Yes`",))


def test_what_the_agent_itself_may_say_is_a_step() -> None:
    session = held(must_precede("Warned", "wipe"), tools=["wipe"], labels=[LabelRule("Warned", source="agent")])
    assert session.repair("wipe") == Repair("steps", ("say `Warned`",))


def test_what_a_rule_with_a_book_wants_first_is_all_that_is_asked_where_nothing_else_stands_in_the_way() -> None:
    session = held(immediately_before("a", "b"), must_precede("c", "d"))
    assert session.repair("b") == Repair("steps", ("call `a`",))
