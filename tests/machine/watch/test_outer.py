"""Caps over a store and caps by day: what they refuse, what they say, and what a session's book adds to a ledger."""

from decimal import Decimal
from typing import Any

import pytest

from duly import (
    Called,
    Charged,
    Contract,
    DulyError,
    Elapsed,
    Failed,
    Ledger,
    Ordered,
    Returned,
    Rule,
    Session,
    Tool,
    at_most,
    at_most_total,
    cooldown,
    must_precede,
    rate_limit,
)  # fmt: skip
from duly.machine.terms import Budget
from duly.machine.watch.outer import Outer, Reading, add
from duly.values.verdict import Repair

DAY = 86400.0
NOON = 1_764_590_400.0
"""2025-12-01 at noon, UTC."""


def over(*rules: Rule, count: int = 2, **terms: Any) -> tuple[Ledger, list[Session]]:
    tools = [Tool(name, idempotent=True) for name in ("send", "refund", "look")]
    contract = Contract(*rules, name="desk", tools=tools, **terms)
    ledger = Ledger()
    return ledger, [Session(contract, ledger=ledger) for _ in range(count)]


def said(verdict: Any) -> list[str]:
    return [f"{reason.kind}: {reason.message}; {reason.help}" for reason in getattr(verdict, "reasons", ())]


def test_a_cap_over_a_store_counts_what_all_sessions_do() -> None:
    ledger, (one, other) = over(at_most("send", 2, scope="store"))
    assert one.step(Called("send", {}, id="a")).word == "allowed"
    assert other.step(Called("send", {}, id="a")).word == "allowed"
    verdict = one.step(Called("send", {}, id="b"))
    assert said(verdict) == [
        "count: `send` is allowed 2 times, and was admitted 2 times in all sessions of this store;"
        " do not ask for it again"
    ]
    assert "send" not in [act.label for act in other.legal()]
    assert ledger.total("desk/at_most(send, scope=store)") == {"": {"": {"n": 2}}}


def test_what_one_session_gives_back_another_can_take() -> None:
    ledger, (one, other) = over(at_most("send", 1, scope="store"))
    assert one.step(Called("send", {}, id="a")).word == "allowed"
    assert other.step(Called("send", {}, id="b")).word == "violation"
    assert one.step(Failed("a", "none")).word == "allowed"
    assert ledger.total("desk/at_most(send, scope=store)") == {}
    assert other.step(Called("send", {}, id="b")).word == "allowed"


def test_an_uncertain_call_keeps_its_share_until_it_is_settled() -> None:
    contract = Contract(at_most("send", 1, scope="store"), name="desk", tools=[Tool("send", effect="write")])
    ledger = Ledger()
    one, other = Session(contract, ledger=ledger), Session(contract, ledger=ledger)
    one.step(Called("send", {}, id="a"))
    one.step(Failed("a", "unknown"))
    assert other.step(Called("send", {}, id="b")).word == "violation"
    assert one.step(Ordered("settle", target="a", by="ana", payload={"as": "retry"})).word == "allowed"
    assert other.step(Called("send", {}, id="b")).word == "allowed"


def test_a_session_that_is_closed_or_begun_anew_keeps_what_it_spent() -> None:
    _, (one, other) = over(at_most("send", 2, scope="store"))
    for end in (one.close, one.reset):
        one.step(Called("send", {}, id="a"))
        one.step(Returned("send", {}, id="a"))
        end()
        one.reset()
    assert other.step(Called("send", {}, id="b")).word == "violation"


def test_a_session_without_a_ledger_refuses_what_counts_over_all() -> None:
    contract = Contract(at_most("send", 2, scope="store"), tools=[Tool("send"), Tool("look")])
    session = Session(contract)
    assert said(session.step(Called("send", {}))) == [
        "ledger: `send` counts over all sessions of a store, and their ledger is not at hand;"
        " open the session over a store, or give it a ledger: `Session(contract, ledger=duly.Ledger())`"
    ]
    assert [act.label for act in session.legal()] == ["look"]
    assert session.step(Called("look", {})).word == "allowed"


def test_acts_that_a_condition_leaves_out_need_no_ledger() -> None:
    session = Session(Contract(at_most("send", 1, scope="store", where="args.n > 5"), tools=[Tool("send")]))
    assert session.step(Called("send", {"n": 1})).word == "allowed"
    assert session.step(Called("send", {"n": 9})).word == "violation"


def test_a_copy_shares_the_ledger_and_a_pickle_leaves_it_behind() -> None:
    import copy
    import pickle

    ledger, (one, _) = over(at_most("send", 1, scope="store"))
    assert copy.deepcopy(one).ledger is ledger
    assert pickle.loads(pickle.dumps(one)).step(Called("send", {})).reasons[0].kind == "ledger"
    with pytest.raises(TypeError, match="a copy would count apart"):
        pickle.dumps(ledger)


def test_a_snapshot_holds_the_sessions_own_part_and_not_the_ledger() -> None:
    ledger, (one, other) = over(at_most("send", 3, scope="store"))
    one.step(Called("send", {}, id="a"))
    other.step(Called("send", {}, id="a"))
    data = one.to_dict()
    assert data["books"] == {"at_most(send, 3, scope=store)": '{"":{"n":1,"open":{"a":1}}}'}
    again = Session.from_dict(one.contract, data, ledger=ledger)
    assert again.step(Failed("a", "none")).word == "allowed"
    assert ledger.total("desk/at_most(send, scope=store)") == {"": {"": {"n": 1}}}


def test_sums_over_a_store_are_kept_by_unit_and_exact() -> None:
    limit = {"USD": 1, "EUR": 5}
    ledger, (one, other) = over(at_most_total("send", "n", limit, units="unit", scope="store", id="money"))
    assert one.step(Called("send", {"n": Decimal("0.1"), "unit": "USD"}, id="a")).word == "allowed"
    assert other.step(Called("send", {"n": "0.2", "unit": "USD"}, id="a")).word == "allowed"
    assert other.step(Called("send", {"n": 5, "unit": "EUR"}, id="b")).word == "allowed"
    assert said(one.step(Called("send", {"n": Decimal("0.71"), "unit": "USD"}, id="c"))) == [
        "amount: `send` asks for 0.71 USD, and 0.7 of 1 USD are left in all sessions of this store; ask for less"
    ]
    assert ledger.total("desk/money") == {"": {"": {"USD": Decimal("0.3"), "EUR": Decimal(5)}}}


def test_a_settled_amount_replaces_what_was_set_aside_in_the_ledger() -> None:
    rule = at_most_total("send", None, 10, reserve=4, settle="result.cost", scope="store", id="cost")
    ledger, (one, other) = over(rule)
    for session in (one, other):
        assert session.step(Called("send", {}, id="a")).word == "allowed"
    assert one.step(Called("send", {}, id="b")).word == "violation"
    one.step(Returned("send", {"cost": "0.5"}, id="a"))
    assert ledger.total("desk/cost") == {"": {"": {"": Decimal("4.5")}}}
    assert one.step(Called("send", {}, id="b")).word == "allowed"


def test_values_of_same_are_counted_apart_over_a_store() -> None:
    ledger, (one, other) = over(at_most("send", 1, same="args.to", scope="store", id="mail"))
    assert one.step(Called("send", {"to": "ana"}, id="a")).word == "allowed"
    assert other.step(Called("send", {"to": "bob"}, id="a")).word == "allowed"
    assert other.step(Called("send", {"to": "ana"}, id="b")).word == "violation"
    assert other.journal[-1].ledgers == {"desk/mail": {"": {'"ana"': {"n": "1"}}}}
    one.step(Failed("a", "none"))
    assert ledger.total("desk/mail") == {"": {'"bob"': {"n": 1}}}


@pytest.mark.parametrize("rule", [rate_limit("send", 1, 60, scope="store"), cooldown("send", 60, scope="store")])
def test_windows_over_a_store_are_half_open_and_follow_the_wall_clock(rule: Rule) -> None:
    _, (one, other) = over(rule)
    assert one.step(Called("send", {}, id="a", at=900, wall=NOON)).word == "allowed"
    verdict = other.step(Called("send", {}, id="b", at=0, wall=NOON + 59))
    assert said(verdict) == ["rate: `send` is allowed once in 60 s in all sessions of this store; wait 1 s"]
    assert verdict.repair == Repair("steps", ("wait 1 s",))
    assert other.step(Called("send", {}, id="b", wall=NOON - 3600)).word == "violation"
    assert other.step(Called("send", {}, id="b", wall=NOON + 60)).word == "allowed"


def test_a_window_gives_back_what_did_not_happen() -> None:
    _, (one, other) = over(rate_limit("send", 1, 60, scope="store"))
    one.step(Called("send", {}, id="a", wall=NOON))
    one.step(Failed("a", "none", wall=NOON + 1))
    assert other.step(Called("send", {}, id="b", wall=NOON + 2)).word == "allowed"


def test_a_daily_cap_begins_anew_at_midnight_of_its_zone_and_says_when() -> None:
    session = Session(Contract(at_most("send", 1, per="day", zone="Europe/Berlin"), tools=[Tool("send")]))
    assert session.step(Called("send", {}, id="a", at="2026-10-24T23:30:00+02:00")).word == "allowed"
    verdict = session.step(Called("send", {}, id="b", at="2026-10-24T21:59:30Z"))
    assert said(verdict) == [
        "count: `send` is allowed once, and was admitted 1 time on 2026-10-24; wait 30 s, for the next day"
    ]
    assert verdict.repair == Repair("steps", ("wait 30 s",))
    assert session.step(Called("send", {}, id="b", at="2026-10-24T22:00:00Z")).word == "allowed"
    # the clock is set back that night: the day has 25 hours
    assert session.step(Called("send", {}, id="c", at="2026-10-25T22:59:59Z")).word == "violation"
    assert session.step(Called("send", {}, id="c", at="2026-10-25T23:00:00Z")).word == "allowed"


def test_a_clock_that_is_set_back_opens_no_day_again() -> None:
    _, (one, other) = over(at_most("send", 1, per="day", scope="store"))
    assert one.step(Called("send", {}, id="a", wall=NOON)).word == "allowed"
    assert other.step(Called("send", {}, id="b", wall=NOON - DAY)).word == "violation"
    assert one.step(Called("send", {}, id="b", wall=NOON - DAY)).word == "violation"
    assert other.step(Called("send", {}, id="b", wall=NOON + DAY)).word == "allowed"
    assert one.step(Called("send", {}, id="b", wall=NOON)).word == "violation"


def test_what_is_given_back_belongs_to_its_own_day() -> None:
    _, (one, other) = over(at_most("send", 1, per="day", scope="store"))
    one.step(Called("send", {}, id="a", wall=NOON))
    other.step(Called("send", {}, id="b", wall=NOON + DAY))
    one.step(Failed("a", "none", wall=NOON + DAY))
    assert one.step(Called("send", {}, id="c", wall=NOON + DAY)).word == "violation"


def test_a_request_above_the_whole_limit_is_not_told_to_wait() -> None:
    session = Session(Contract(at_most_total("send", "n", 5, per="day"), tools=[Tool("send")]))
    assert said(session.step(Called("send", {"n": 6}, wall=NOON))) == [
        "amount: `send` asks for 6, and 5 of 5 are left on 2025-12-01; ask for less"
    ]
    assert session.step(Called("send", {"n": 5}, id="a", wall=NOON)).word == "allowed"
    assert said(session.step(Called("send", {"n": 1}, wall=NOON))) == [
        "amount: `send` asks for 1, and 0 of 5 are left on 2025-12-01; wait 43200 s, for the next day"
    ]


def test_without_wall_time_a_daily_cap_refuses_and_the_finding_is_untimed() -> None:
    session = Session(Contract(at_most("send", 1, per="day"), tools=[Tool("send")]))
    verdict = session.step(Called("send", {}, at=3.0))
    assert said(verdict) == [
        "clock: `send` counts by the calendar, and what time it is is not known;"
        " say `at` as an instant with a zone, or ask through a gate"
    ]
    assert verdict.reasons[0].untimed
    assert session.step(Elapsed(4.0, wall=NOON)).word == "allowed"
    assert session.step(Called("send", {})).word == "allowed"


@pytest.mark.parametrize("wall", ["noon", True, float("nan"), 1e300, -1e300, object()])
def test_a_wall_time_that_is_none_is_malformed(wall: Any) -> None:
    session = Session(Contract(at_most("send", 1, per="day"), tools=[Tool("send")]))
    assert session.step(Called("send", {}, wall=wall)).word == "unrecognized"


def test_a_budget_of_a_store_is_used_up_by_all_and_charged_in_the_ledger() -> None:
    purse = Budget({"calls": 3, "usd": Decimal("1.00")}, scope="store")
    ledger, (one, other) = over(budget=(purse,))
    one.step(Called("send", {}, id="a"))
    other.step(Called("send", {}, id="a"))
    assert one.step(Charged({"usd": Decimal("0.60")})).word == "allowed"
    verdict = other.step(Charged({"usd": Decimal("0.60")}))
    assert said(verdict) == [
        "budget: more usd were used than the budget of 1.00; acts that need it are refused"
    ]
    assert said(one.step(Called("look", {}))) == [
        "budget: the budget of all sessions of this store of 1.00 usd is used up; end the session"
    ]
    assert ledger.total("desk/budget") == {"": {"": {"calls": 2, "usd": Decimal("1.20")}}}


def test_a_budget_by_day_begins_anew_with_the_day() -> None:
    _, (one, other) = over(budget=(Budget({"calls": 1}, scope="store", per="day", zone="Asia/Kolkata"),))
    assert one.step(Called("send", {}, id="a", wall=NOON)).word == "allowed"
    assert said(other.step(Called("send", {}, id="b", wall=NOON + 1))) == [
        "budget: the budget of all sessions of this store of 1 calls is used up on 2025-12-01;"
        " wait 23399 s, for the next day"
    ]
    assert other.step(Called("send", {}, id="b", wall=NOON + 23400)).word == "allowed"


def test_a_cap_of_a_store_can_ask_people_instead() -> None:
    _, (one, other) = over(at_most("send", 1, scope="store", on_excess="ask", by=["ana"]))
    assert one.step(Called("send", {}, id="a")).word == "allowed"
    assert other.step(Called("send", {}, id="b")).word == "needs_approval"


def test_what_ran_under_watch_counts_in_the_ledger() -> None:
    ledger, (one, other) = over(at_most("send", 1, scope="store"))
    one.observe(Called("send", {}, id="a"))
    assert one.observe(Called("send", {}, id="b")).word == "violation"
    assert ledger.total("desk/at_most(send, scope=store)") == {"": {"": {"n": 2}}}
    assert other.step(Called("send", {}, id="c")).word == "violation"


def test_a_refused_act_adds_nothing() -> None:
    ledger, (one, _) = over(at_most("send", 5, scope="store"), must_precede("look", "send"))
    assert one.step(Called("send", {}, id="a")).word == "violation"
    assert ledger.total("desk/at_most(send, scope=store)") == {}


def test_a_ledger_outlives_the_limit_and_the_version_of_its_contract() -> None:
    ledger = Ledger()
    for n, version in ((1, "1"), (2, "2")):
        contract = Contract(at_most("send", n, scope="store"), name="d", version=version, tools=[Tool("send")])
        assert contract.ledgers == {0: "d/at_most(send, scope=store)"}
        session = Session(contract, ledger=ledger)
        assert session.step(Called("send", {}, id="a")).word == "allowed"
        assert session.step(Called("send", {}, id="b")).word == "violation"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            must_precede("look", "send", scope="store"),
            "`must_precede` cannot count over all sessions of a store;"
            " what can is at_most, at_most_total, rate_limit, cooldown",
        ),
        (
            at_most("send", 1, per="act", scope="store"),
            "`at_most` cannot count over all sessions of a store;"
            " what can is at_most, at_most_total, rate_limit, cooldown",
        ),
        (at_most("send", 1, per="day", scope="turn"), "`per: day` and `scope: turn` exclude one another"),
        (at_most("send", 1, zone="UTC"), "`zone` says whose days are meant, and belongs to `per: day`"),
        (at_most("send", 1, per="day", zone="Nowhere"), "unknown zone `Nowhere`"),
        (at_most("send", 1, per="week"), "`per` of `at_most` is the word `act` or `day`, not `'week'`"),  # type: ignore[arg-type]
    ],
)
def test_what_has_no_clear_meaning_is_refused_when_the_contract_is_built(rule: Rule, message: str) -> None:
    with pytest.raises(DulyError) as caught:
        Contract(rule)
    assert [each.message for each in caught.value.diagnostics] == [message]


@pytest.mark.parametrize(
    ("purse", "message"),
    [
        (Budget({"calls": 1}, per="day", scope="run"), "`per: day` and `scope: run` exclude one another"),
        (Budget({"calls": 1}, zone="UTC"), "`zone` says whose days are meant, and belongs to `per: day`"),
        (Budget({"calls": 1}, per="day", zone="Nowhere"), "unknown zone `Nowhere`"),
    ],
)
def test_a_budget_without_a_clear_meaning_is_refused(purse: Budget, message: str) -> None:
    with pytest.raises(DulyError) as caught:
        Contract(budget=(purse,))
    assert [each.message for each in caught.value.diagnostics] == [message]


def test_a_reading_remembers_what_was_asked_and_a_recorded_one_knows_no_more() -> None:
    value = {"2025-12-01": {"": {"n": Decimal(2)}, "x": {"n": Decimal(1)}}}
    reading = Reading(value)
    assert (reading.latest(), reading.row("2025-12-01", "x"), reading.row("2025-12-01", "y")) == (
        "2025-12-01", {"n": 1}, {},
    )  # fmt: skip
    assert reading.used == {"2025-12-01": {"x": {"n": "1"}, "y": {}}}
    again = Reading(reading.used, whole=False)
    assert (again.latest(), again.row("2025-12-01", "x"), again.row("2025-12-01", "y")) == (
        "2025-12-01", {"n": 1}, {},
    )  # fmt: skip
    assert again.row("2025-12-01", "") is None


def test_a_ledger_has_room_for_so_many_values_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duly.machine.watch.outer.ROWS", 2)
    _, (one, other) = over(at_most("send", 2, same="args.to", scope="store"))
    for number in range(2):
        assert one.step(Called("send", {"to": number}, id=f"a{number}")).word == "allowed"
    assert other.step(Called("send", {"to": 1}, id="b")).word == "allowed"
    assert [reason.kind for reason in other.step(Called("send", {"to": 2}, id="c")).reasons] == ["bound"]


def test_pruning_a_ledger_changes_no_answer() -> None:
    contract = Contract(at_most("send", 2, per="day", scope="store"), rate_limit("look", 1, 60, scope="store"))
    daily, paced = (watch for _, watch in contract.outer)
    assert isinstance(daily, Outer)
    assert isinstance(paced, Outer)
    days = {"2025-11-30": {"": {"n": Decimal(2)}}, "2025-12-01": {"": {"n": Decimal(1)}}}
    assert daily.pruned(days) == {"2025-12-01": {"": {"n": 1}}}
    times = {"": {"": {"10.0": Decimal(1), "69.5": Decimal(1), "70.5": Decimal(1)}}}
    assert paced.pruned(times) == {"": {"": {"69.5": 1, "70.5": 1}}}
    assert daily.pruned({}) == {}


def test_sums_of_a_ledger_are_exact_and_what_comes_to_nothing_is_not_kept() -> None:
    value: Any = {}
    add(value, {"": {"": {"USD": "1E+30", "EUR": 1}}})
    add(value, {"": {"": {"USD": "0.01", "EUR": -1}}})
    assert value == {"": {"": {"USD": Decimal("1000000000000000000000000000000.01")}}}
    add(value, {"": {"": {"USD": "-1000000000000000000000000000000.01"}}})
    assert value == {}
