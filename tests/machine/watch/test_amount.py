"""Sums: exact at every size, per unit, given back once, and refused where nobody can say how much."""

from decimal import Decimal
from typing import Any

import pytest

from duly import Contract, DulyError, Session, at_most_total, ensures, learns
from steps import back, broke, call, held, ran, settle, why, words


def pay(id: str, amount: Any, **more: Any) -> Any:
    return call("pay", id, {"amount": amount, **more})


def test_sums_are_exact() -> None:
    session = held(at_most_total("pay", "amount", Decimal("0.3")))
    assert words(session, pay("1", 0.1), pay("2", 0.2), pay("3", Decimal("1E-300"))) == ["allowed", "allowed", "violation"]
    session = held(at_most_total("pay", "amount", 10**400))
    assert words(session, pay("1", 10**400 - 1), pay("2", 2), pay("3", 1), pay("4", Decimal("0.1"))) == [
        "allowed", "violation", "allowed", "violation",
    ]  # fmt: skip


def test_a_sum_with_more_digits_than_any_amount_is_kept_also_over_a_restart() -> None:
    limit = 2 * 10**300
    session = held(at_most_total("pay", "amount", limit))
    assert words(session, pay("1", 10**300), pay("2", Decimal("1E-299"))) == ["allowed", "allowed"]
    session = Session.from_dict(session.contract, session.to_dict())
    assert words(session, pay("3", 10**300), pay("4", 10**299)) == ["violation", "allowed"]


def test_what_comes_back_is_exact_at_every_size() -> None:
    session = held(at_most_total("pay", "amount", 10**60))
    words(session, pay("1", 10**59 + 1), pay("2", 10**59 + 3), broke("1"))
    assert session.state.books[0]["total"] == {"": Decimal(10**59 + 3)}
    words(session, broke("2"))
    assert session.state.books[0] == session.contract.watches[0].start


@pytest.mark.parametrize(
    ("amount", "word"),
    [("12.50", "allowed"), ("12.51", "violation"), ("-0", "allowed"), (-0.0, "allowed"), (12.5, "allowed"),
     (-1, "violation"), ("-1", "violation"), ("1e1", "violation"), (" 1", "violation"), ("١", "violation"), ("", "violation"),
     (".5", "violation"), ("NaN", "violation"), ("Infinity", "violation"), (True, "violation"), (None, "violation"),
     ([1], "violation"), ({}, "violation"), (Decimal("1e999"), "violation"), (float("inf"), "unrecognized")],
)  # fmt: skip
@pytest.mark.parametrize("on_excess", ["refuse", "ask"])
def test_only_plain_numbers_from_zero_pass(amount: Any, word: str, on_excess: Any) -> None:
    session = held(at_most_total("pay", "amount", 12.5, on_excess=on_excess))
    if on_excess == "ask" and amount == "12.51":
        word = "needs_approval"
    assert session.step(pay("1", amount)).word == word
    assert session.step(call("pay", "2", {})).word == "violation"


def test_uncertain_calls_keep_their_amount_until_they_are_settled() -> None:
    session = held(at_most_total("pay", "amount", 10))
    assert words(session, pay("1", 10), broke("1", "unknown"), pay("2", 1), settle("1", "failed"), pay("2", 1)) == [
        "allowed", "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_a_broken_result_keeps_its_amount() -> None:
    session = held(at_most_total("pay", "amount", 10), ensures("pay", "result.ok == true"))
    assert words(session, pay("1", 10), back("pay", "1", {"ok": False}), pay("2", 1)) == [
        "allowed", "violation", "violation",
    ]  # fmt: skip


def test_each_unit_has_a_sum_and_a_limit_of_its_own() -> None:
    session = held(at_most_total("pay", "amount", {"USD": 5, "EUR": 7}, units="currency"))
    calls = [("USD", 5), ("EUR", 6), ("USD", 1), ("EUR", 1), ("GBP", 0), (None, 0), ("usd", 0)]
    assert words(session, *(pay(str(n), amount, currency=unit) for n, (unit, amount) in enumerate(calls))) == [
        "allowed", "allowed", "violation", "allowed", "violation", "violation", "violation",
    ]  # fmt: skip
    assert why(session.step(pay("9", 0)))[0][1] == "unit"


def refunds(**more: Any) -> Session:
    return held(at_most_total("pay", "amount", 10, back={"of": "refund", "call": "args.pay"}, **more))


def test_room_comes_back_by_the_act_that_the_rule_names_once_for_each_call() -> None:
    session = refunds()
    ran(session, "pay", "p1", {"amount": 8})
    assert words(session, call("refund", "r1", {"pay": "p1"}), pay("p2", 8)) == ["allowed", "violation"]
    assert words(session, back("refund", "r1"), pay("p2", 8)) == ["allowed", "allowed"]
    ran(session, "refund", "r2", {"pay": "p1"})
    assert words(session, pay("p3", 3)) == ["violation"]


def test_room_comes_back_once_where_the_call_has_not_ended() -> None:
    session = refunds()
    words(session, pay("p1", 8))
    ran(session, "refund", "r1", {"pay": "p1"})
    ran(session, "refund", "r2", {"pay": "p1"})
    assert words(session, pay("p2", 10), back("pay", "p1"), pay("p3", 1)) == ["allowed", "allowed", "violation"]
    ran(session, "refund", "r3", {"pay": "p1"})
    assert words(session, pay("p3", 1)) == ["violation"]


def test_a_refund_without_success_gives_nothing_back() -> None:
    session = held(
        at_most_total("pay", "amount", 10, back={"of": "refund", "call": "pay"}), ensures("refund", "result.ok == true")
    )
    ran(session, "pay", "p1", {"amount": 10})
    for number, end in enumerate((broke("0"), back("refund", "1", {"ok": False}), broke("2", "unknown"))):
        words(session, call("refund", str(number), {"pay": "p1"}), end)
        assert words(session, pay("p2", 1)) == ["violation"]


def test_what_was_set_aside_is_replaced_by_what_it_was() -> None:
    session = held(at_most_total("ask", None, 1, reserve=Decimal("0.4"), settle="result.cost"))
    assert words(session, call("ask", "1"), call("ask", "2"), call("ask", "3")) == ["allowed", "allowed", "violation"]
    words(session, back("ask", "1", {"cost": "0.1"}), back("ask", "2", {"cost": None}))
    assert session.state.books[0]["total"] == {"": Decimal("0.5")}
    words(session, call("ask", "4"), back("ask", "4", {"cost": -3}), call("ask", "5"))
    assert session.legal() == ()


def test_what_names_no_amount_is_set_aside_and_what_names_one_is_that() -> None:
    session = held(at_most_total("ask", "amount", 10, reserve=4))
    words(session, call("ask", "1"), call("ask", "2", {"amount": 1}))
    assert session.state.books[0]["total"] == {"": Decimal(5)}
    assert words(session, call("ask", "3", {"amount": "much"})) == ["violation"]


def test_a_limit_may_be_a_fact() -> None:
    session = held(at_most_total("pay", "amount", "cap"), learns("look", "cap", "result.cap"))
    assert why(session.step(pay("1", 0))) == [("at_most_total(pay, field=amount, cap)", "unknown")]
    assert [legal.label for legal in session.legal()] == ["look"]
    ran(session, "look", "2", result={"cap": Decimal("5.5")})
    assert words(session, pay("3", 5.5), pay("4", "0.1")) == ["allowed", "violation"]


def test_a_limit_on_each_act_adds_nothing_up() -> None:
    session = held(at_most_total("pay", "amount", 10, per="act"))
    assert words(session, pay("1", 10), pay("2", 10), pay("3", 10.01)) == ["allowed", "allowed", "violation"]


def test_what_ran_under_watch_is_counted_and_legal_says_that_nothing_is_left() -> None:
    session = held(at_most_total("pay", "amount", 10))
    assert session.observe(pay("1", 30)).finding
    assert words(session, pay("2", 0)) == ["violation"]
    assert session.legal() == ()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"limit": {"USD": 1}}, "`limit` of `at_most_total` is one by unit where `units` says where the unit stands"),
        ({"limit": 1, "units": "currency"}, "`limit` of `at_most_total` is one by unit where `units` says where the unit stands"),
        ({"limit": {}, "units": "currency"}, "`limit` of `at_most_total` is one by unit where `units` says where the unit stands"),
        ({"limit": 1, "field": None}, "`at_most_total` needs `field`, where the amount stands, or `reserve`"),
        ({"limit": 1, "reserve": -1}, "`reserve` of `at_most_total` is a number from 0, not `-1`"),
        ({"limit": 1, "reserve": 1, "settle": "cost"}, "`settle` of `at_most_total` is a path in the result"),
        ({"limit": -1}, "`limit` of `at_most_total` is a number from 0, or a fact, not `-1`"),
        ({"limit": "cap"}, "`limit` of `at_most_total` names no fact: `cap`"),
    ],
)  # fmt: skip
def test_what_a_sum_cannot_mean_is_said_when_the_contract_is_built(more: dict[str, Any], said: str) -> None:
    with pytest.raises(DulyError) as caught:
        Contract(at_most_total("pay", **{"field": "amount", **more}))
    assert [fault.message for fault in caught.value.diagnostics] == [said]
