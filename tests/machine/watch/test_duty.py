"""Duties: when they begin, what pays them, and that a missed one is found once."""

from duly import Closed, Elapsed, LabelRule, Received, ensures, must_follow
from steps import back, broke, call, held, ran, settle, why, words


def test_acts_that_leave_no_room_are_refused_until_the_duty_is_paid() -> None:
    session = held(must_follow("lock", "unlock", {"acts": 2}))
    assert words(session, call("lock", "1"), call("x", "2"), call("y", "3"), call("unlock", "4")) == [
        "allowed", "allowed", "violation", "allowed",
    ]  # fmt: skip
    assert words(session, call("y", "5"), back("unlock", "4"), Closed()) == ["allowed", "allowed", "allowed"]


def test_a_duty_goes_with_what_began_it() -> None:
    session = held(must_follow("lock", "unlock", {"acts": 1}))
    assert words(session, call("lock", "1"), call("x", "2"), broke("1"), call("x", "2")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_a_payment_that_did_not_happen_is_found_once_and_then_no_longer_owed() -> None:
    session = held(must_follow("lock", "unlock", {"acts": 2}))
    words(session, call("lock", "1"), call("x", "2"), call("unlock", "3"), call("y", "4"))
    verdict = session.step(broke("3"))
    assert (verdict.finding, why(verdict)) == (True, [("must_follow(lock, unlock, {\"acts\":2})", "late")])
    assert words(session, call("x", "5"), call("y", "6"), Closed()) == ["allowed", "allowed", "allowed"]


def test_a_payment_that_happened_without_success_pays_nothing() -> None:
    session = held(must_follow("lock", "unlock", {"acts": 1}), ensures("unlock", "result.ok == true"))
    words(session, call("lock", "1"), call("unlock", "2"))
    verdict = session.step(back("unlock", "2", {"ok": False}))
    assert [reason.kind for reason in (*verdict.reasons, *verdict.noted)] == ["ensures", "late"]
    assert words(session, call("x", "3")) == ["allowed"]


def test_an_id_that_is_used_again_takes_no_older_duty_away() -> None:
    session = held(must_follow("lock", "unlock", 10))
    ran(session, "lock", "1")
    assert words(session, call("lock", "1"), broke("1")) == ["allowed", "allowed"]
    assert why(session.step(Closed())) == [("must_follow(lock, unlock, 10)", "owed")]


def test_the_limit_in_seconds_is_one_finding_of_an_observation_and_a_note_beside_an_act() -> None:
    first, second = held(must_follow("lock", "unlock", 10)), held(must_follow("lock", "unlock", 10))
    for session in (first, second):
        words(session, call("lock", "1", at=0), back("lock", "1"))
    assert words(first, Elapsed(9.9), Elapsed(10), Elapsed(20), Closed()) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip
    verdict = second.step(call("x", "2", at=10))
    assert (verdict.word, [reason.kind for reason in verdict.noted]) == ("allowed", ["late"])


def test_a_payment_admitted_in_time_may_succeed_later() -> None:
    session = held(must_follow("lock", "unlock", 10))
    words(session, call("lock", "1", at=0), call("unlock", "2", at=9))
    assert words(session, Elapsed(30), back("unlock", "2"), Closed()) == ["allowed", "allowed", "allowed"]


def test_a_payment_admitted_in_time_that_fails_later_is_found_at_once() -> None:
    session = held(must_follow("lock", "unlock", 10))
    words(session, call("lock", "1", at=0), back("lock", "1"), call("unlock", "2", at=9), Elapsed(11))
    assert why(session.step(broke("2"))) == [("must_follow(lock, unlock, 10)", "late")]


def test_an_uncertain_payment_leaves_the_duty_open_until_it_is_settled() -> None:
    session = held(must_follow("lock", "unlock", {"acts": 1}))
    assert words(session, call("lock", "1"), call("unlock", "2"), broke("2", "unknown"), call("x", "3")) == [
        "allowed"
    ] * 4
    assert why(session.step(settle("2", "failed"))) == [("must_follow(lock, unlock, {\"acts\":1})", "late")]


def test_a_message_pays_at_once_but_not_the_duty_that_it_begins() -> None:
    session = held(must_follow("a", "Yes", 5), labels=[LabelRule("Yes")])
    assert words(session, call("a", "1", at=0), Received("Yes"), Closed()) == ["allowed", "allowed", "allowed"]
    session = held(must_follow("Yes", "Yes", 5), must_follow("Yes", "Yes", {"acts": 1}), labels=[LabelRule("Yes")])
    words(session, Received("Yes", at=0), Received("Yes", at=1))
    assert [reason.kind for reason in session.step(Closed()).reasons] == ["owed", "owed"]


def test_a_malformed_event_hides_no_finding() -> None:
    session = held(must_follow("lock", "unlock", 10))
    words(session, call("lock", "1", at=0), back("lock", "1"))
    verdict = session.step(call("x", "2", at=11, raw="{"))
    assert (verdict.word, [reason.kind for reason in verdict.noted]) == ("unrecognized", ["late"])


def test_legal_hides_what_leaves_no_room() -> None:
    session = held(must_follow("lock", "unlock", {"acts": 1}), tools=["lock", "unlock", "x"])
    assert {legal.label for legal in session.legal()} == {"lock", "unlock", "x"}
    words(session, call("lock", "1"))
    assert {legal.label for legal in session.legal()} == {"unlock"}
    assert session.repair("x").steps == ("call `unlock`",)  # type: ignore[union-attr]
