"""Histories: what counts when, what a refusal says, what repairs it, and which books are books."""

from typing import Any

import pytest

from duly import Contract, DulyError, LabelRule, Session, history
from duly.machine.watch.history import History
from steps import back, broke, call, hear, held, ran, words


def refused(session: Session, label: str, **more: object) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    verdict = session.peek(call(label, "x", **more))
    (reason,) = verdict.reasons  # type: ignore[union-attr]
    return reason.message, reason.help, reason.expected, verdict.repair.steps  # type: ignore[union-attr]


def test_what_permits_counts_its_successes_and_what_forbids_counts_from_admission() -> None:
    session = held(history("pay", "did(kyc) and not did(deny)"))
    assert words(session, call("kyc", "1"), call("pay", "2")) == ["allowed", "violation"]
    assert words(session, back("kyc", "1"), call("deny", "3"), call("pay", "4")) == ["allowed", "allowed", "violation"]
    assert words(session, broke("3"), call("pay", "5")) == ["allowed", "allowed"]


def test_a_refusal_says_what_is_missing_and_repair_what_to_do() -> None:
    session = held(history("pay", "did(kyc) and count(check) >= 2 and not did(deny)"))
    assert refused(session, "pay") == (
        "`pay` needs an earlier `kyc` and `check` 2 times before it, not 0 times", "`kyc` and `check` must succeed first",
        ("check", "kyc"), ("call `kyc`", "call `check` 2 times"),
    )  # fmt: skip
    ran(session, "check", "1")
    ran(session, "kyc", "2")
    assert refused(session, "pay") == (
        "`pay` needs `check` 2 times before it, not once", "`check` must succeed first", ("check",), ("call `check`",)
    )
    ran(session, "deny", "3")
    assert refused(session, "pay") == (
        "`pay` needs `check` 2 times before it, not once and no `deny` before it", "do without it", ("check",), (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("that", "message"),
    [
        ("any_of(a, b)", "an earlier `a` or `b`"),
        ("all(a, c)", "an earlier `a`"),
        ("at_least(2, a, b, c)", "2 different ones of `a`, `b`, `c` before it, not 1"),
        ("at_most(0, c, d)", "none of `c`, `d` before it, not 1"),
        ("not all(c, d) and at_most(1, c, d, e) and count(c) < 1", "no `c` before it"),
        ("count(d) < 2 and count(c) == 2", "`c` 2 times before it, not once"),
        ("count(c) != 1", "(`c` 2 times before it, not once or no `c` before it)"),
        ("(did(a) or not did(c)) and did(b)", "(an earlier `a` or no `c` before it) and an earlier `b`"),
        ("did(c) -> did(a)", "no `c` before it or an earlier `a`"),
    ],
)
def test_what_is_missing_is_said_in_words(that: str, message: str) -> None:
    session = held(history("x", that))
    ran(session, "c", "1")
    said = refused(session, "x")[0].removeprefix("`x` needs ")
    assert said in (message, message[1:-1])


def test_a_long_history_is_cited_and_cut() -> None:
    names = ", ".join(f"tool_{n}" for n in range(200))
    session = held(history("x", f"at_least(2, {names})"))
    assert refused(session, "x")[0].startswith("`x` needs `at_least(2, tool_0, tool_1, ")
    assert len(refused(session, "x")[0]) < 700


def test_a_sibling_permits_nothing_and_the_help_says_to_wait() -> None:
    session = held(history("b", "count(a) >= 2"))
    ran(session, "a", "1")
    assert words(session, call("a", "2", batch="t"), back("a", "2")) == ["allowed", "allowed"]
    assert refused(session, "b", batch="t")[1] == "wait for the answer, then ask in a new message"
    assert words(session, call("b", "3", batch="u")) == ["allowed"]


def test_messages_count_when_they_are_heard() -> None:
    labels = [LabelRule("Yes"), LabelRule("Stop")]
    session = held(history("pay", "did(Yes) and not did(Stop)"), tools=["pay"], labels=labels)
    assert refused(session, "pay")[3] == ("ask for `Yes`",)
    assert words(session, hear("Yes"), call("pay", "1"), back("pay", "1")) == ["allowed"] * 3
    assert words(session, hear("Stop"), call("pay", "2")) == ["allowed", "violation"]


def test_same_keeps_a_past_for_each_value_and_scope_begins_it_anew() -> None:
    session = held(history("pay", "did(kyc)", same="id"), history("mail", "count(mail) < 1", scope="turn"))
    ran(session, "kyc", "1", {"id": 1})
    assert words(session, call("pay", "2", {"id": 2}), call("pay", "3", {"id": 1})) == ["violation", "allowed"]
    assert words(session, call("mail", "4"), call("mail", "5"), call("mail", "6", turn="t2")) == [
        "allowed", "violation", "allowed",
    ]  # fmt: skip


def test_an_act_that_nobody_can_place_is_refused() -> None:
    session = held(history("pay", "did(kyc{args.level > 2})"))
    assert words(session, call("kyc", "1", {"level": 1}), back("kyc", "1"), call("pay", "2")) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip
    verdict = session.peek(call("kyc", "3", {"level": "high"}))
    assert [reason.kind for reason in verdict.reasons] == ["unknown"]  # type: ignore[union-attr]
    ran(session, "kyc", "4", {"level": 3})
    assert words(session, call("pay", "5")) == ["allowed"]


def test_snapshots_keep_the_past() -> None:
    contract = Contract(history("pay", "count(check) >= 2 and not did(deny)"))
    session = Session(contract)
    ran(session, "check", "1")
    session.step(call("deny", "2"))
    again = Session.from_dict(contract, session.to_dict())
    ran(again, "check", "3")
    assert words(again, call("pay", "4"), broke("2"), call("pay", "5")) == ["violation", "allowed", "allowed"]


@pytest.mark.parametrize(
    ("book", "whole"),
    [
        ({"sure": {}, "open": {}}, True),
        ({"sure": {"0": [[None, 1]], "1": [["t", 2]]}, "open": {"c1": ["t", [1]]}}, True),
        ({"sure": {"2": [[None, 1]]}, "open": {}}, False),
        ({"sure": {"0": [[None, -1]]}, "open": {}}, False),
        ({"sure": {}, "open": {"c1": [None, [9]]}}, False),
        ({"sure": {}}, False),
    ],
)  # fmt: skip
def test_only_books_of_the_rule_are_taken_from_outside(book: Any, whole: bool) -> None:
    (watch,) = Contract(history("pay", "did(a) and not did(b)")).watches
    assert isinstance(watch, History)
    assert watch.fits(book) is whole


def test_a_history_without_meaning_is_an_error() -> None:
    with pytest.raises(DulyError, match="at_least` asks for 3 of 2 names, which is never true"):
        history("pay", "at_least(3, a, b)")
