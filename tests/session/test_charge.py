"""What is used up: budgets of calls and of any other unit, by session, run and turn, and ends that stay in reach."""

from decimal import Decimal

import pytest

from duly import Charged, Closed, Contract, DulyError, Elapsed, Opened, Session, Tool
from duly.machine.terms import Budget
from duly.session.split import left
from steps import back, broke, call, held, ran, why, words

TOOLS = [Tool("a"), Tool("b"), Tool("c")]


def under(*protocols: str, of: str | None = None, scope: str = "session", **limits: object) -> Session:
    return held(*protocols, tools=TOOLS, budget=(Budget(limits, of=of, scope=scope),))  # type: ignore[arg-type]


def test_calls_are_counted_from_admission_and_given_back_only_when_they_did_not_happen() -> None:
    session = under(calls=2)
    assert words(session, call("a", "1"), call("b", "2"), call("c", "3")) == ["allowed", "allowed", "violation"]
    assert words(session, broke("1"), call("c", "3"), call("a", "4")) == ["allowed", "allowed", "violation"]
    assert words(session, broke("3", "unknown"), call("a", "4")) == ["allowed", "violation"]
    assert why(session.step(call("a", "4"))) == [("budget", "budget")]


def test_a_unit_that_is_used_up_stops_the_next_act_and_what_went_over_is_a_finding() -> None:
    session = under(usd=Decimal("0.3"))
    assert words(session, Charged({"usd": 0.1}), Charged({"usd": Decimal("0.1")}), call("a", "1")) == ["allowed"] * 3
    assert words(session, Charged({"usd": "0.1"})) == ["allowed"]
    assert session.legal() == ()
    verdict = session.step(call("a", "2"))
    assert (verdict.word, why(verdict)) == ("violation", [("budget", "budget")])
    over = session.step(Charged({"usd": "0.000001"}))
    assert (over.word, over.finding) == ("violation", True)  # type: ignore[union-attr]
    assert left(session) == {"usd": Decimal("-0.000001")}


@pytest.mark.parametrize("usage", [{"usd": -1}, {"usd": True}, {"usd": "NaN"}, {"usd": None}, {"usd": [1]}])
def test_what_is_no_amount_is_not_charged(usage: dict[str, object]) -> None:
    session = under(usd=1)
    assert words(session, Charged(usage)) == ["unrecognized"]
    assert left(session) == {"usd": Decimal(1)}


def test_a_budget_of_a_turn_begins_anew_with_each_turn_and_one_of_some_tools_leaves_the_others() -> None:
    session = under(calls=1, scope="turn")
    assert words(session, call("a", "1"), call("a", "2")) == ["allowed", "violation"]
    assert words(session, Elapsed(1.0, turn="next"), call("a", "2")) == ["allowed", "allowed"]
    session = under(calls=1, of="a")
    assert words(session, call("a", "1"), call("b", "2"), call("a", "3")) == ["allowed", "allowed", "violation"]


def test_an_act_after_which_no_end_could_be_reached_is_refused() -> None:
    session = under("rec L.{!a.?a.L, !b.?b.!c.?c.end}", calls=4)
    ran(session, "a", "1")
    ran(session, "a", "2")
    refused = session.step(call("a", "3"))
    assert why(refused) == [("budget", "budget")]
    assert "needs 2 more calls to end, and 1 are left" in refused.text()  # type: ignore[union-attr]
    ran(session, "b", "4")
    ran(session, "c", "5")
    assert words(session, Closed()) == ["allowed"]


def test_a_sum_with_more_digits_than_any_amount_is_still_used_up() -> None:
    session = under(usd=5)
    for usage in ("1" * 500, "0." + "0" * 500 + "1", 10**599):
        session.step(Charged({"usd": usage}))
        assert words(session, call("a", "1")) == ["violation"]
    session = Session.from_dict(session.contract, session.to_dict())
    assert words(session, Charged({"usd": 1}), call("a", "1")) == ["violation", "violation"]


def test_all_is_lent_or_nothing_is() -> None:
    session = held(tools=TOOLS, budget=(Budget({"calls": 3, "usd": 1}),))
    assert words(session, Opened("kid", budget={"calls": 2, "usd": 2})) == ["violation"]
    assert left(session) == {"calls": Decimal(3), "usd": Decimal(1)}
    assert words(session, Opened("kid", budget={"calls": 2, "usd": "0.5"}), Opened("kid", budget={"calls": 1})) == [
        "allowed", "violation",
    ]  # fmt: skip
    assert left(session) == {"calls": Decimal(1), "usd": Decimal("0.5")}
    assert words(session, call("a", "1"), back("a", "1"), call("a", "2")) == ["allowed", "allowed", "violation"]
    assert words(session, Charged({"calls": 1, "usd": 0}, id="kid"), call("a", "2")) == ["allowed", "allowed"]
    assert left(session) == {"calls": Decimal(0), "usd": Decimal(1)}


def test_a_session_that_comes_back_has_what_it_had() -> None:
    session = held(tools=TOOLS, budget=(Budget({"calls": 9, "usd": 1}),))
    words(session, call("a", "1"), Opened("kid", budget={"calls": 2, "usd": "0.1"}), Charged({"usd": "0.25"}))
    again = Session.from_dict(session.contract, session.to_dict())
    assert left(again) == left(session) == {"calls": Decimal(6), "usd": Decimal("0.65")}


@pytest.mark.parametrize("limits", [{}, {"usd": -1}, {"usd": "x"}, {"usd": float("nan")}])
def test_a_budget_without_a_limit_is_refused(limits: dict[str, object]) -> None:
    with pytest.raises(DulyError):
        Contract(tools=TOOLS, budget=(Budget(limits),))
