"""The end: what is owed, and what a closed session still does."""

from duly import Closed, Ordered, Tool, at_most
from steps import back, broke, call, hear, held, ran, settle, why, words


def test_a_finished_protocol_ends_without_a_finding() -> None:
    session = held("!a.?a")
    ran(session, "a", "1")
    assert (session.is_terminal, session.close().word) == (True, "allowed")


def test_each_unfinished_protocol_is_one_finding() -> None:
    session = held("!a.?a", "!b.?b.?c", tools=["a", "b", "c"])
    ran(session, "a", "1")
    session.step(call("b", "2"))
    verdict = session.close()
    assert (verdict.word, verdict.finding, why(verdict)) == ("violation", True, [("protocol 2", "unfinished")])  # type: ignore[union-attr]
    assert verdict.reasons[0].text() == "the protocol has not ended; expected `?b` (go on to its end)"


def test_a_look_at_the_end_lists_what_is_owed_and_closes_nothing() -> None:
    session = held("!a.?a")
    before = session.state
    assert why(session.peek(Closed())) == [("protocol", "unfinished")] == why_of(session.owed())
    assert session.state is before


def why_of(reasons: object) -> list[tuple[str, str]]:
    return [(reason.rule, reason.kind) for reason in reasons]  # type: ignore[attr-defined]


def test_a_loop_that_is_meant_to_run_for_ever_owes_nothing() -> None:
    assert held("rec L.!a.L", forever=True).close().word == "allowed"


def test_open_calls_become_uncertain_and_keep_what_they_hold() -> None:
    session = held(at_most("a", 1), tools=["a"])
    session.step(call("a", "1"))
    assert not session.is_terminal
    session.close()
    assert (session.state.open["1"].uncertain, session.state.data) == (True, (1,))


def test_late_results_and_settlements_still_count() -> None:
    session = held("!a.?a || !b.?b", at_most("a", 5), tools=["a", "b"])
    words(session, call("a", "1"), call("b", "2"), Closed())
    assert words(session, back("a", "1"), settle("2", "failed")) == ["allowed", "allowed"]
    assert session.state.open == {}


def test_what_waits_is_withdrawn_with_the_end() -> None:
    session = held(tools=[Tool("pay", effect="write")])
    assert words(session, call("pay", "1"), broke("1", "unknown"), call("pay", "2")) == [
        "allowed",
        "allowed",
        "needs_approval",
    ]
    session.close()
    assert (session.state.more.parked, session.state.open["1"].uncertain) == ({}, True)


def test_a_session_ends_once() -> None:
    session = held(tools=["a"])
    assert words(session, Closed(), Closed(), hear("Hi"), Ordered("freeze", by="ana")) == [
        "allowed", "blocked", "allowed", "allowed",
    ]  # fmt: skip
