"""Rules that count: over what was admitted and not given back, by weight, by facts, and what people may let by."""

from decimal import Decimal
from typing import Any

import pytest

from duly import Closed, DulyError, LabelRule, Received, Sent, at_least, at_most, learns, must_happen, no_repeat
from steps import back, broke, call, held, ran, settle, why, words


def test_a_cap_counts_from_admission_and_gives_back_what_did_not_happen() -> None:
    session = held(at_most("a", 1, where="true"))
    assert words(session, call("a", "1"), call("a", "2"), broke("1", "unknown"), call("a", "2")) == [
        "allowed", "violation", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, settle("1", "failed"), call("a", "2"), back("a", "2", outcome="error"), call("a", "3")) == [
        "allowed"
    ] * 4


def test_the_order_of_results_makes_no_difference() -> None:
    session = held(at_most("a", 3, where="true"))
    words(session, call("a", "1"), call("a", "2"), call("a", "3"), broke("3"), back("a", "1"), broke("2"))
    assert words(session, call("a", "4"), call("a", "5"), call("a", "6")) == ["allowed", "allowed", "violation"]


@pytest.mark.parametrize(
    ("weight", "word"),
    [([1, 2], "allowed"), ([], "allowed"), (2, "allowed"), (2.0, "allowed"), (Decimal("2.0"), "allowed"), (0, "allowed"),
     ([1, 2, 3], "violation"), (3, "violation"), (-1, "violation"), (1.5, "violation"), ("2", "violation"),
     (True, "violation"), (None, "violation"), ({}, "violation"), (float("nan"), "unrecognized")],
)  # fmt: skip
def test_a_list_weighs_its_length_and_a_whole_number_itself(weight: object, word: str) -> None:
    session = held(at_most("a", 2, weigh={"a": "args.ids"}))
    assert session.step(call("a", "1", {"ids": weight})).word == word


def test_what_has_no_weight_is_refused_where_people_would_be_asked_for_more() -> None:
    session = held(at_most("a", 2, weigh={"a": "ids"}, on_excess="ask"))
    assert words(session, call("a", "1", {"ids": [1, 2, 3]}), call("a", "2", {"ids": "many"}), call("a", "3", {})) == [
        "needs_approval", "violation", "violation",
    ]  # fmt: skip
    assert [(legal.label, legal.approval) for legal in session.legal()] == [("a", False)]


def test_legal_marks_what_only_a_person_lets_by() -> None:
    session = held(at_most("a", 1, on_excess="ask"), at_most({"of": "b"}, 1))
    ran(session, "a", "1")
    ran(session, "b", "2")
    assert [(legal.label, legal.approval) for legal in session.legal()] == [("a", True)]


def test_a_message_over_its_cap_is_refused_since_nobody_can_hold_it() -> None:
    session = held(at_most("Tell", 1, on_excess="ask"), labels=[LabelRule("Tell", source="agent")])
    assert words(session, Sent("Tell"), Sent("Tell")) == ["allowed", "violation"]


def test_a_limit_on_each_act_counts_nothing() -> None:
    session = held(at_most("a", 2, weigh={"a": "ids"}, per="act"))
    assert words(session, *(call("a", str(n), {"ids": [1, 2]}) for n in range(5)), call("a", "9", {"ids": [1] * 3})) == [
        *["allowed"] * 5, "violation",
    ]  # fmt: skip


@pytest.mark.parametrize("said", [-1, 1.5, "3", True, None, [3]])
def test_a_fact_that_is_no_whole_number_allows_nothing(said: object) -> None:
    session = held(at_most("a", "n"), facts={"n": said})
    assert why(session.step(call("a", "1"))) == [("at_most(a, n)", "unknown")]
    assert session.legal() == ()


def test_a_limit_follows_its_fact() -> None:
    session = held(at_most("a", "n"), learns("ask", "n", "result.n"), facts={"n": 1})
    assert words(session, call("a", "1"), call("a", "2"), call("ask", "3"), back("ask", "3", {"n": 2}), call("a", "2")) == [
        "allowed", "violation", "allowed", "allowed", "allowed",
    ]  # fmt: skip
    assert session.step(call("a", "4")).reasons[0].message == "`a` is allowed 2 times, and was admitted 2 times"


def test_a_call_of_an_earlier_turn_takes_no_place_in_this_one() -> None:
    session = held(at_most("a", 1, scope="turn", where="true"), labels=[LabelRule("Go")])
    assert words(session, call("a", "1"), Received("Go"), call("a", "2"), broke("1"), call("a", "3")) == [
        "allowed", "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_too_few_successes_are_found_at_the_end() -> None:
    session = held(at_least("a", 2))
    ran(session, "a", "1")
    assert words(session, call("a", "2"), broke("2")) == ["allowed", "allowed"]
    assert session.status("at_least(a, 2)") == "open"
    verdict = session.step(Closed())
    assert [reason.message for reason in verdict.reasons] == ["`a` must succeed at least 2 times, and did so once"]


def test_how_often_may_be_a_fact() -> None:
    session = held(at_least("a", "n"), facts={"n": 2})
    ran(session, "a", "1")
    assert why(session.peek(Closed())) == [("at_least(a, n)", "owed")]
    ran(session, "a", "2")
    assert words(session, Closed()) == ["allowed"]


def test_before_refuses_while_it_is_owed_and_siblings_do_not_pay() -> None:
    session = held(must_happen("write", before="finish"))
    assert words(session, call("write", "1", batch="x"), back("write", "1"), call("finish", "2", batch="x")) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, call("finish", "2"), Closed()) == ["allowed", "allowed"]


def test_equal_acts_in_a_row_are_equal_by_value_and_broken_by_another() -> None:
    session = held(no_repeat("a", 2))
    rows = ({"n": 1}, {"n": 1.0}, {"n": Decimal("1.00")}, {"n": "1"}, {"n": 1}, {"n": True}, {"n": 1})
    assert words(session, *(call("a", str(n), args) for n, args in enumerate(rows))) == [
        "allowed", "allowed", "violation", "allowed", "allowed", "allowed", "allowed",
    ]  # fmt: skip


def test_a_row_forgets_what_did_not_happen() -> None:
    session = held(no_repeat("a", 1))
    assert words(session, call("a", "1"), call("a", "2"), broke("1"), call("a", "2")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_how_many_equal_ones_may_be_a_fact_and_none_is_none() -> None:
    session = held(no_repeat("a", "n"), learns("ask", "n", "result.n"), facts={"n": 1})
    assert words(session, call("a", "1"), call("a", "2")) == ["allowed", "violation"]
    ran(session, "ask", "3", result={"n": 2})
    assert words(session, call("a", "2"), call("a", "4")) == ["allowed", "violation"]
    ran(session, "ask", "5", result={"n": 0})
    assert "a" not in {legal.label for legal in session.legal()}


def test_acts_between_equal_ones_make_no_difference_among_so_many() -> None:
    session = held(no_repeat(["a", "b"], 2, among=6))
    turns = [call(label, str(number), {"n": label}) for number, label in enumerate("ababab")]
    assert words(session, *turns) == ["allowed"] * 4 + ["violation"] * 2
    said = session.step(call("a", "7", {"n": "a"}))
    assert said.reasons[0].message == "this `a` was asked for with equal arguments 2 times already, among the last 5 acts"


def test_what_is_older_than_so_many_acts_is_forgotten() -> None:
    session = held(no_repeat("a", 1, among=3))
    acts = [call("a", str(number), {"n": n}) for number, n in enumerate((1, 2, 3, 1, 2, 1))]
    assert words(session, *acts) == ["allowed"] * 5 + ["violation"]
    assert len(session.state.books[0]["row"]) == 5  # all may still be given back
    for number in range(5):
        session.step(back("a", str(number)))
    words(session, call("a", "9", {"n": 9}))
    assert len(session.state.books[0]["row"]) == 3


@pytest.mark.parametrize("among", [0, 1, 2, 1.5, -1, 5000, "n", True])
def test_too_few_acts_to_look_back_on_are_an_error(among: Any) -> None:
    with pytest.raises(DulyError) as caught:
        held(no_repeat("a", 2, among=among), facts={"n": 9})
    assert "`among` of `no_repeat`" in str(caught.value)
