"""Orders and decisions of people, as far as they concern settlement, freeze and mode."""

import pytest

from duly import Decided, Ordered, Tool
from duly.values.event import Event
from steps import broke, call, held, settle, why, words


def test_an_order_that_names_nobody_is_void_and_changes_nothing() -> None:
    session = held(tools=["a"])
    before = session.state
    verdict = session.step(Ordered("freeze"))
    assert (verdict.word, why(verdict), verdict.finding) == ("violation", [("people", "void")], True)  # type: ignore[union-attr]
    assert session.state == before


@pytest.mark.parametrize(
    "event",
    [
        Decided("approve", "c1", by="ana"),
        Decided("approve", by="ana"),
        Decided("deny", ticket="t9", by="ana"),
        Ordered("settle", "c1", "ana", payload={"as": "done"}),
        Ordered("settle", None, "ana", payload={"as": "done"}),
        Ordered("settle", "open", "ana", payload={"as": "done"}),
        Ordered("mode", by="ana", scope="lax"),
        Ordered("stand", "c1", "ana"),
        Ordered("withdraw", "c1", "ana"),
        Ordered("accept", "fs", "ana"),
    ],
)
def test_what_can_be_meant_of_nothing_is_void(event: Event) -> None:
    session = held(tools=["a"])
    session.step(call("a", "open"))
    before = session.state
    assert why(session.step(event)) == [("people", "void")]
    assert session.state == before


def test_a_call_that_waits_for_a_settlement_cannot_be_approved() -> None:
    session = held(tools=[Tool("pay", effect="write")])
    words(session, call("pay", "p1"), broke("p1", "unknown"), call("pay", "p2"))
    verdicts = [
        session.step(Decided("approve", by="ana", **named)) for named in ({"target": "p2"}, {"ticket": "t-p2"}, {})
    ]
    assert [why(verdict) for verdict in verdicts] == [[("people", "void")]] * 3
    assert words(session, call("pay", "p2")) == ["needs_approval"]


def test_a_settlement_moves_what_the_result_would_have_moved() -> None:
    session = held("!a.?a(n as r).!b", tools=["a", "b"])
    words(session, call("a", "1"), broke("1", "unknown"))
    assert words(session, settle("1", "done", result={"n": 5}), call("b", "2")) == ["allowed", "allowed"]
    assert session.registers == {"r": 5}


def test_a_call_is_settled_once() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1"), broke("1", "unknown"))
    assert words(session, settle("1", "done"), settle("1", "failed")) == ["allowed", "violation"]


def test_an_order_changes_the_mode() -> None:
    session = held(tools=["a"])
    assert words(session, Ordered("mode", by="ana", scope="shadow")) == ["allowed"]
    assert session.state.more.mode == "shadow"
    assert words(session, Ordered("mode", by="ana", payload={"mode": "enforce"})) == ["allowed"]
    assert session.state.more.mode == "enforce"
