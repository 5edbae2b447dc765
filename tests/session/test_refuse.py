"""Refusals that no rule gives: keys, freezes, halts, and the breaker that counts them."""

from decimal import Decimal

import pytest

from duly import Breaker, Called, Closed, LabelRule, Ordered, Sent, Session, Tool, at_most, must_precede
from duly.session.refuse import mark
from steps import back, broke, call, hear, held, ran, settle, why, words

PAY = Tool("pay", effect="write")


# keys


def test_a_finished_call_is_answered_from_the_record_and_counted_once() -> None:
    session = held(at_most("ship", 1), tools=["ship"])
    ran(session, "ship", "s1", {"order": 1}, None)
    session = held(at_most("ship", 1), tools=["ship"])
    words(session, call("ship", "s1", {"order": 1}, key="k1"), back("ship", "s1", {"parcel": 9}))
    verdict = session.step(call("ship", "s2", {"order": 1.0}, key="k1"))
    assert (verdict.word, verdict.recorded, verdict.replayed, verdict.id) == ("allowed", {"parcel": 9}, True, "s1")  # type: ignore[union-attr]
    assert (session.state.open, session.state.data) == ({}, (1,))


def test_a_key_with_other_arguments_or_another_tool_is_malformed() -> None:
    session = held(tools=["ship", "sink"])
    words(session, call("ship", "s1", {"order": 1}, key="k1"), back("ship", "s1"))
    assert words(session, call("ship", "s2", {"order": 2}, key="k1"), call("sink", "s3", {"order": 1}, key="k1")) == [
        "unrecognized", "unrecognized",
    ]  # fmt: skip
    assert words(session, call("ship", "s4", {"order": 2}, key="k2")) == ["allowed"]


def test_a_key_of_an_open_or_uncertain_call_is_refused_with_that_reason() -> None:
    session = held(tools=[PAY])
    session.step(call("pay", "1", {}, key="k"))
    assert why(session.step(call("pay", "2", {}, key="k"))) == [("call", "in_flight")]
    session.step(broke("1", "unknown"))
    assert why(session.step(call("pay", "3", {}, key="k"))) == [("call", "uncertain")]


@pytest.mark.parametrize("end", [broke("1"), back("pay", "1", {"e": 1}, "error"), settle("1", "failed")])
def test_a_key_of_a_call_that_did_not_happen_runs(end: Called) -> None:
    session = held(at_most("pay", 1), tools=[PAY])
    session.step(call("pay", "1", {}, key="k"))
    if isinstance(end, Ordered):
        session.step(broke("1", "unknown"))
    assert words(session, end, call("pay", "2", {}, key="k")) == ["allowed", "allowed"]
    assert list(session.state.open) == ["2"]


def test_a_key_is_answered_when_the_result_came_after_a_timeout() -> None:
    session = held(tools=[PAY])
    words(session, call("pay", "1", {}, key="k"), broke("1", "unknown"), back("pay", "1", {"ok": 1}))
    assert session.step(call("pay", "2", {}, key="k")).recorded == {"ok": 1}  # type: ignore[union-attr]


def test_a_key_is_answered_when_a_person_has_settled_the_call_as_done() -> None:
    session = held(tools=[PAY])
    words(session, call("pay", "1", {}, key="k"), broke("1", "unknown"), settle("1", "done", result=5))
    verdict = session.step(call("pay", "2", {}, key="k"))
    assert (verdict.replayed, verdict.recorded) == (True, 5)  # type: ignore[union-attr]


def test_a_key_is_answered_when_call_and_result_had_no_id() -> None:
    session = held(tools=[PAY])
    session.step(Called("pay", {"n": 1}, key="k"))
    session.receive("pay", {"ok": 1})
    verdict = session.step(Called("pay", {"n": 1}, key="k"))
    assert (verdict.replayed, verdict.recorded) == (True, {"ok": 1})  # type: ignore[union-attr]


def test_a_key_answered_from_the_record_is_answered_again() -> None:
    session = held(tools=[PAY])
    words(session, call("pay", "1", {}, key="k"), back("pay", "1", {"ok": 1}))
    answers = [session.step(call("pay", f"again {n}", {}, key="k")) for n in range(3)]
    assert [(answer.replayed, answer.recorded) for answer in answers] == [(True, {"ok": 1})] * 3  # type: ignore[union-attr]


def test_keys_are_compared_by_the_arguments_that_ran() -> None:
    tool = Tool("write", paths={"path": "/w"}, schema={"properties": {"mode": {"default": "w"}}})
    session = held(tools=[tool], aliases={"w": "write"})
    words(session, call("write", "1", {"path": "a"}, key="k"), back("write", "1", 7))
    verdict = session.step(call("w", "2", {"path": "/w/./a"}, key="k"))
    assert (verdict.word, verdict.recorded) == ("allowed", 7)  # type: ignore[union-attr]


def test_a_key_of_an_open_call_outlives_a_snapshot() -> None:
    session = held(tools=[PAY])
    session.step(call("pay", "1", {}, key="k"))
    again = Session.from_dict(session.contract, session.to_dict())
    assert why(again.step(call("pay", "2", {}, key="k"))) == [("call", "in_flight")]


# freeze


def test_a_freeze_refuses_what_may_change_something_until_it_is_lifted() -> None:
    session = held(
        tools=[Tool("read", effect="none"), Tool("write", effect="write"), "other"], labels=[LabelRule("Hi", "agent")]
    )
    assert words(session, Ordered("freeze", by="ana")) == ["allowed"]
    verdict = session.step(call("write", "w1"))
    assert (verdict.word, why(verdict)) == ("violation", [("order", "frozen")])
    assert words(session, call("other", "o"), call("nobody", "n"), call("read", "r"), Sent("Hi"), hear("keep going")) == [
        "violation", "violation", "allowed", "allowed", "allowed",
    ]  # fmt: skip
    assert words(session, Ordered("unfreeze", by="ana"), call("write", "w2")) == ["allowed", "allowed"]


def test_a_freeze_holds_acts_whose_tools_are_not_declared() -> None:
    session = held("rec L.!a.L")
    words(session, Ordered("freeze", by="ana"))
    assert (words(session, call("a", "1"), Sent("a")), [act.label for act in session.legal()]) == (
        ["violation"] * 2,
        [],
    )


def test_results_still_settle_while_frozen() -> None:
    session = held("!a.?a", tools=[Tool("a", effect="write")])
    assert words(session, call("a", "1"), Ordered("freeze", by="ana"), back("a", "1")) == ["allowed"] * 3
    assert session.is_terminal


def test_while_frozen_only_harmless_acts_are_legal() -> None:
    session = held(tools=[Tool("read", effect="none"), Tool("write", effect="write")])
    session.step(Ordered("freeze", by="ana"))
    assert [act.label for act in session.legal()] == ["read"]


# halts


def test_by_default_the_session_lives_on_after_a_refusal() -> None:
    session = held("?a.!a.?b.!b")
    session.step(hear("a"))
    assert words(session, call("b", "1"), call("a", "2")) == ["violation", "allowed"]
    assert not session.is_halted


def test_a_contract_may_halt_at_the_first_violation() -> None:
    session = held("!a.!b", on_violation="halt")
    verdict = session.step(call("b", "1"))
    assert (verdict.word, verdict.halted, session.is_halted) == ("violation", True, True)  # type: ignore[union-attr]
    blocked = session.step(call("a", "2"))
    assert (blocked.word, why(blocked)) == ("blocked", [("session", "halted")])
    assert (words(session, Sent("a")), session.legal()) == (["blocked"], ())


def test_results_still_settle_after_a_halt() -> None:
    session = held("!a.?a", on_violation="halt")
    assert words(session, call("a", "1"), call("a", "2"), back("a", "1")) == ["allowed", "violation", "allowed"]
    assert session.state.open == {}


def test_the_nth_refusal_in_a_row_halts() -> None:
    session = held(must_precede("a", "b"), breaker=Breaker(3))
    assert words(session, call("b", "1"), call("b", "2"), call("c", "x"), call("b", "3"), call("b", "4")) == [
        "violation", "violation", "allowed", "violation", "violation",
    ]  # fmt: skip
    verdict = session.step(call("b", "5"))
    assert (verdict.halted, words(session, call("c", "6"))) == (True, ["blocked"])  # type: ignore[union-attr]


def test_any_admitted_act_breaks_the_row_also_of_an_unknown_tool_or_a_message() -> None:
    session = held(must_precede("a", "b"), breaker=Breaker(2))
    assert words(session, call("b", "1"), Sent("Whatever"), call("b", "2"), call("zzz", "3"), call("b", "4")) == [
        "violation", "allowed", "violation", "allowed", "violation",
    ]  # fmt: skip
    assert not session.is_halted


def test_a_message_of_a_person_does_not_break_the_row() -> None:
    session = held(must_precede("a", "b"), breaker=Breaker(2))
    assert words(session, call("b", "1"), hear("Hi"), call("b", "2"), call("c", "3")) == [
        "violation", "allowed", "violation", "blocked",
    ]  # fmt: skip


def test_equal_refusals_are_counted_whatever_lies_between() -> None:
    session = held(
        must_precede("validate", "delete"), tools=["validate", "delete"], breaker=Breaker(3, "equal", "turn")
    )
    acts = [call("delete", "1", {"id": 1}), call("delte", "2"), call("validate", "3"), call("delete", "4", {"id": 1.0})]
    assert words(session, *acts, call("delete", "5", {"id": "1"})) == [
        "violation",
        "violation",
        "allowed",
        "violation",
        "violation",
    ]
    verdict = session.step(call("delete", "6", {"id": Decimal("1.00")}))
    assert (verdict.word, verdict.halted) == ("violation", True)  # type: ignore[union-attr]


def test_a_halt_for_a_turn_ends_with_it() -> None:
    session = held(at_most("a", 0), breaker=Breaker(1, per="turn"))
    verdict = session.step(call("a", "1"))
    assert (verdict.halted, words(session, call("b", "2"), hear("Hi"), call("b", "3"))) == (  # type: ignore[union-attr]
        True, ["blocked", "allowed", "allowed"],
    )  # fmt: skip


def test_a_halt_for_a_run_ends_with_it_and_not_with_a_turn() -> None:
    session = held(at_most("a", 0), breaker=Breaker(1, per="run"))
    assert words(session, call("a", "1", {}, run="r1"), hear("Hi"), call("b", "2"), call("b", "3", {}, run="r2")) == [
        "violation",
        "allowed",
        "blocked",
        "allowed",
    ]


def test_malformed_acts_are_never_counted_by_the_breaker() -> None:
    session = held(at_most("a", 0), breaker=Breaker(2))
    assert words(session, call("a", "1"), Called("a", raw="{", id="2"), Called("a", raw="[]", id="3")) == [
        "violation", "unrecognized", "unrecognized",
    ]  # fmt: skip
    assert not session.is_halted


def test_attempts_in_a_frozen_session_are_counted_by_the_breaker() -> None:
    session = held(tools=[PAY], breaker=Breaker(2))
    words(session, Ordered("freeze", by="ana"))
    assert (words(session, call("pay", "1"), call("pay", "2")), session.is_halted) == (["violation"] * 2, True)


def test_the_tally_shows_no_arguments_and_has_a_bounded_size_per_act() -> None:
    session = held(at_most("a", 0), breaker=Breaker(9, "equal"))
    session.step(call("a", "1", {"card": "4111" * 1000}))
    assert list(session.state.more.tally) == [f"a {mark({'card': '4111' * 1000})}"]
    assert len(mark({})) == 32


def test_after_the_end_acts_are_blocked_without_a_halt() -> None:
    session = held(tools=["a"])
    session.step(Closed())
    verdict = session.step(call("a", "1"))
    assert (verdict.word, verdict.halted, verdict.text()) == (  # type: ignore[union-attr]
        "blocked", False, "blocked: the session is closed (open a new session)",
    )  # fmt: skip
