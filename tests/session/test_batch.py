"""Siblings of a batch never permit, whatever fails, waits or happens beside them."""

import pytest

from duly import Received, Session
from steps import back, broke, call, held, words

TOOLS = ["a", "b", "c", "d"]
LOOP = "rec L.!a.{?a.!c.L, !b.?b.?a.L}"


def test_a_result_that_was_put_back_for_a_sibling_that_failed_is_taken_once() -> None:
    session = held(LOOP, tools=TOOLS)
    words(session, call("a", "1", batch="x"), back("a", "1"), call("b", "2", batch="x"), broke("2"))
    assert words(session, call("c", "3"), call("a", "4"), call("c", "5"), back("a", "4"), call("c", "6")) == [
        "allowed", "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_siblings_of_a_sibling_that_failed_are_judged_as_if_it_had_never_been() -> None:
    session = held("!a.{?a.!b.?b.end, !b.{?b.?a.end, !d.end}, !c.end}", tools=TOOLS)
    words(session, call("a", "1", batch="x"), back("a", "1"), call("b", "2", batch="x"), broke("2"))
    assert words(session, call("d", "3", batch="x"), call("c", "4", batch="x")) == ["violation", "allowed"]


def test_results_that_were_put_back_twice_are_taken_once() -> None:
    session = held("rec X.{!a.{?a.X, !b.{?a.X, !c.?a.X}}, !d.X}", tools=TOOLS)
    events = [call("a", "1", batch="x"), back("a", "1"), call("b", "2", batch="x"), call("c", "3", batch="x")]
    assert words(session, *events, call("d", "4")) == ["allowed"] * 5
    assert session.state.more.waiting == ()


def test_a_result_that_had_to_wait_permits_no_sibling_of_its_call() -> None:
    session = held("!a.!a.?a.!b", tools=TOOLS)
    words(session, call("a", "1", batch="x"), back("a", "1"), call("a", "2", batch="x"))
    assert words(session, call("b", "3", batch="x"), call("b", "4")) == ["violation", "allowed"]


@pytest.mark.parametrize(
    "beside",
    [
        [call("c", "9")],
        [call("c", "9", batch="y")],
        [call("c", "9", batch="y"), back("c", "9")],
        [Received("M")],
        [call("c", "9", batch="y"), broke("9")],
    ],
)
def test_what_happens_on_the_other_side_of_a_protocol_makes_no_sibling_permit(beside: list[object]) -> None:
    session = held("(!a.?a.!b.?b) || (rec X.{?M.X, !c.{?c.X, ?M.X}})", tools=TOOLS)
    words(session, call("a", "1", batch="x"), back("a", "1"))
    assert words(session, *beside) == ["allowed"] * len(beside)  # type: ignore[arg-type]
    assert words(session, call("b", "2", batch="x"), call("b", "3")) == ["violation", "allowed"]


def test_another_act_that_failed_makes_no_sibling_permit() -> None:
    session = held("!a.?a.!b.!c", tools=TOOLS)
    words(session, call("a", "1", batch="x"), back("a", "1"), call("b", "2"), broke("2"))
    assert words(session, call("b", "3", batch="x"), call("b", "4")) == ["violation", "allowed"]


def test_what_siblings_must_not_see_outlives_a_restore() -> None:
    session = held("(!a.?a(id as r).!b(id == r)) || (!c.?c(id as q).!d(id == q))", tools=TOOLS)
    words(session, call("a", "1", batch="x"), back("a", "1", {"id": 5}), call("c", "2", batch="y"))
    words(session, back("c", "2", {"id": 6}))
    again = Session.from_dict(session.contract, session.to_dict())
    assert again.state == session.state
    for each in (session, again):
        events = [call("b", "3", {"id": 5}, batch="x"), call("d", "4", {"id": 6}, batch="y")]
        assert words(each, *events, call("b", "5", {"id": 5}), call("d", "6", {"id": 6})) == [
            "violation", "violation", "allowed", "allowed",
        ]  # fmt: skip


@pytest.mark.parametrize("restored", [False, True])
def test_what_a_failed_call_bound_does_not_come_back_when_a_later_one_fails(restored: bool) -> None:
    session = held("rec L.{!a(id as r).L, !c(id == r).L}", tools=TOOLS)
    words(session, call("a", "0", {"id": "three"}), back("a", "0"))
    words(session, call("a", "1", {"id": "five"}), call("a", "2", {"id": "seven"}))
    if restored:
        session = Session.from_dict(session.contract, session.to_dict())
    words(session, broke("1"), broke("2"))
    assert words(session, call("c", "3", {"id": "five"}), call("c", "4", {"id": "three"})) == ["violation", "allowed"]
