"""Acts that wait for people: tickets, yeses bound to what would run and spent once, noes, expiry, edits, standing yes."""

from typing import Any

import pytest

from duly import (
    Above,
    Allowed,
    Approval,
    Called,
    Closed,
    Contract,
    Decided,
    DulyError,
    Elapsed,
    Ordered,
    Session,
    Stand,
    Tool,
    at_most,
)  # fmt: skip
from duly.session.ticket import ticket
from steps import back, broke, call, hear, held, why, words

PAY = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


def under(*rules: Any, approval: Approval | None = None, **terms: Any) -> Session:
    approval = approval if approval is not None else Approval("pay")
    tools = [Tool("pay", effect="write", idempotent=True, schema=PAY), Tool("look", effect="none")]
    return held(*rules, approval, tools=tools, **terms)


def yes(target: str | None = None, by: str | None = "ana", **more: Any) -> Decided:
    return Decided("approve", target, by=by, **more)


def no(target: str | None = None, by: str | None = "ana", **more: Any) -> Decided:
    return Decided("deny", target, by=by, **more)


def test_a_yes_is_spent_by_the_identical_act_and_by_no_other() -> None:
    session = under()
    assert words(session, call("pay", "1", {"n": 1}), yes("1")) == ["needs_approval", "allowed"]
    assert words(session, call("pay", "2", {"n": 2}), call("pay", "3", {"n": 1})) == ["needs_approval", "allowed"]
    assert words(session, call("pay", "4", {"n": 1})) == ["needs_approval"]


def test_the_same_id_with_other_arguments_is_malformed_and_asked_again_it_is_decided_anew() -> None:
    session = under()
    words(session, call("pay", "1", {"n": 1}))
    assert words(session, call("pay", "1", {"n": 2}), call("pay", "1", {"n": 1})) == ["unrecognized", "needs_approval"]
    assert words(session, yes("1"), call("pay", "1", {"n": 1})) == ["allowed", "allowed"]


def test_a_call_without_an_id_that_is_asked_again_is_the_one_that_waits() -> None:
    session = under()
    first, second = session.step(Called("pay", {"n": 1})), session.step(Called("pay", {"n": 1}))
    assert first.ticket == second.ticket  # type: ignore[union-attr]
    assert len(session.state.more.parked) == 1


@pytest.mark.parametrize(
    "event",
    [yes("1", by=None), yes("1", by=""), yes("9"), yes(ticket="t9"), no("1", by="bot"), yes("1", by="eve"),
     Decided("maybe", "1", by="ana"), Ordered("stand", "1", "eve")],  # type: ignore[arg-type]
)  # fmt: skip
def test_who_may_not_decide_and_what_means_no_ticket_is_void_and_changes_nothing(event: Any) -> None:
    session = under(approval=Approval("pay", by=("ana", "bot")))
    words(session, call("pay", "1", {"n": 1}, agent="bot"))
    before = session.state
    verdict = session.step(event)
    assert verdict.word in ("violation", "unrecognized")
    assert session.state == before


def test_a_decision_without_a_name_is_taken_if_exactly_one_act_can_be_meant() -> None:
    session = under()
    words(session, call("pay", "1", {"n": 1}), call("pay", "2", {"n": 2}))
    assert why(session.step(yes())) == [("people", "void")]
    assert words(session, no("1"), yes(), call("pay", "2", {"n": 2})) == ["allowed"] * 3


def test_late_doubled_and_spent_decisions_are_void() -> None:
    session = under()
    words(session, call("pay", "1", {"n": 1}), yes("1"))
    assert why(session.step(yes("1"))) == [("people", "void")]
    words(session, call("pay", "1", {"n": 1}))
    assert why(session.step(no("1"))) == [("people", "void")]


def test_a_yes_is_good_until_it_expires_counted_from_the_request() -> None:
    session = under(approval=Approval("pay", expires=60.0))
    assert words(session, call("pay", "1", {"n": 1}, at=0), yes("1", at=50), call("pay", "1", {"n": 1}, at=60)) == [
        "needs_approval", "allowed", "needs_approval",
    ]  # fmt: skip
    assert words(session, yes("1", at=80), call("pay", "1", {"n": 1}, at=119.9)) == ["allowed", "allowed"]
    words(session, call("pay", "2", {"n": 2}, at=200))
    late = session.step(yes("2", at=260))
    assert why(late) == [("people", "void")]
    assert "expired" in late.reasons[0].message


def test_a_no_holds_for_equal_calls_until_the_next_turn() -> None:
    session = under(labels=[])
    assert words(session, call("pay", "1", {"n": 1}), no("1"), call("pay", "2", {"n": 1})) == [
        "needs_approval", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, call("pay", "3", {"n": 2}), Elapsed(1.0, turn="next"), call("pay", "4", {"n": 1})) == [
        "needs_approval", "allowed", "needs_approval",
    ]  # fmt: skip


def test_a_no_to_the_turn_refuses_every_act_of_its_kind_and_withdraws_the_others() -> None:
    session = under(approval=Approval("pay", no="turn"))
    words(session, call("pay", "1", {"n": 1}), call("pay", "2", {"n": 2}), no("1"))
    assert session.state.more.parked == {}
    assert words(session, call("pay", "3", {"n": 3}), yes("2")) == ["violation", "violation"]
    assert [act.label for act in session.legal()] == ["look"]


def test_a_message_of_a_person_withdraws_only_where_the_contract_says_so() -> None:
    for withdraws, left in (("order", 1), ("message", 0)):
        session = under(withdraw_on=withdraws)
        words(session, call("pay", "1", {"n": 1}), hear("Hello"))
        assert len(session.state.more.parked) == left


def test_n_of_m_counts_distinct_names_who_may() -> None:
    session = under(approval=Approval("pay", by=("ana", "bo", "cy"), need=2))
    words(session, call("pay", "1", {"n": 1}))
    assert words(session, yes("1", "ana"), yes("1", "ana"), call("pay", "1", {"n": 1})) == [
        "allowed", "violation", "needs_approval",
    ]  # fmt: skip
    assert words(session, yes("1", "cy"), call("pay", "1", {"n": 1})) == ["allowed", "allowed"]


def test_what_another_rule_refuses_is_not_parked_and_a_yes_outlives_such_a_refusal() -> None:
    session = under(at_most("pay", 1), at_most("look", 0))
    assert words(session, call("look", "0"), call("pay", "1", {"n": 1}), yes("1")) == [
        "violation", "needs_approval", "allowed",
    ]  # fmt: skip
    words(session, call("pay", "2", {"n": 2}), yes("2"), call("pay", "2", {"n": 2}))
    assert words(session, call("pay", "1", {"n": 1}), broke("2"), call("pay", "1", {"n": 1})) == [
        "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_what_waits_holds_no_count_and_no_place() -> None:
    session = under("!pay.?pay.!look", at_most("pay", 1))
    words(session, call("pay", "1", {"n": 1}), call("pay", "2", {"n": 2}))
    assert session.state.data == (0,)
    assert words(session, yes("2"), call("pay", "2", {"n": 2}), back("pay", "2"), call("look", "3")) == ["allowed"] * 4


def test_an_edit_is_a_new_granted_ticket_and_what_it_says_runs() -> None:
    session = under()
    first = session.step(call("pay", "1", {"n": 1}))
    assert words(session, Decided("edit", "1", by="ana", payload={"n": 7})) == ["allowed"]
    assert ticket(session.contract, session.state, "1").ticket != first.ticket  # type: ignore[union-attr]
    ran = session.step(call("pay", "1", {"n": 1}))
    assert isinstance(ran, Allowed)
    assert ran.payload == {"n": 7}
    assert session.state.open["1"].args == {"n": 7}


@pytest.mark.parametrize("payload", [None, [], {"n": "x"}, {"m": 1}])
def test_an_edit_that_does_not_fit_the_tool_is_void(payload: Any) -> None:
    session = under()
    words(session, call("pay", "1", {"n": 1}))
    before = session.state
    assert why(session.step(Decided("edit", "1", by="ana", payload=payload))) == [("people", "void")]
    assert session.state == before


def test_an_edited_act_is_decided_anew() -> None:
    session = held(
        Approval("pay", by=("ana",)), Approval("pay", when="args.n > 100", by=("bo",), id="large"),
        tools=[Tool("pay", schema=PAY)],
    )  # fmt: skip
    words(session, call("pay", "1", {"n": 1}), Decided("edit", "1", by="ana", payload={"n": 500}))
    assert words(session, call("pay", "1", {"n": 1})) == ["needs_approval"]


def test_a_standing_yes_covers_equal_acts_or_as_far_as_the_contract_lets_it() -> None:
    session = under()
    assert words(session, call("pay", "1", {"n": 1}), Ordered("stand", "1", "ana")) == ["needs_approval", "allowed"]
    assert words(session, *(call("pay", str(n), {"n": 1}) for n in range(1, 4)), call("pay", "9", {"n": 2})) == [
        "allowed", "allowed", "allowed", "needs_approval",
    ]  # fmt: skip
    session = under(approval=Approval("pay", stand="none"))
    words(session, call("pay", "1", {"n": 1}))
    assert why(session.step(Ordered("stand", "1", "ana"))) == [("people", "void")]


def test_a_standing_yes_lies_within_its_glob_lasts_its_time_and_can_be_withdrawn() -> None:
    stand = Stand({"path": "/srv/**"}, lasts=100.0)
    session = held(Approval("write", stand=stand), tools=[Tool("write", paths={"path": None})])

    def write(id: str, path: str, at: float) -> str:
        return session.step(call("write", id, {"path": path}, at=at)).word

    assert write("1", "/srv/a", 0) == "needs_approval"
    for scope in ({"path": "/**"}, {"path": "/srv/../**"}, {"other": "*"}, "/etc/*", {"path": 1}):
        assert why(session.step(Ordered("stand", "1", "ana", scope=scope))) == [("people", "void")]
    assert session.step(Ordered("stand", "1", "ana", scope={"path": "/srv/*/x/**"})).word == "violation"
    assert session.step(Ordered("stand", "1", "ana", scope="/srv/**")).word == "allowed"
    assert [write("2", "/srv/b/c", 1), write("3", "/srv/../etc/x", 2), write("4", "/srv/z", 100)] == [
        "allowed", "needs_approval", "needs_approval",
    ]  # fmt: skip
    session.step(Ordered("stand", "4", "ana", scope="/srv/**"))
    assert write("5", "/srv/y", 101) == "allowed"
    assert session.step(Ordered("withdraw", by="ana", scope="/srv/**")).word == "allowed"
    assert write("6", "/srv/y", 102) == "needs_approval"


def test_the_outcomes_of_a_ticket_move_a_protocol_that_names_them_and_no_other() -> None:
    text = "!pay.?{pay.end, pay=denied.!look.end, pay=expired.end, pay=withdrawn.end}"
    for event, word in ((no("1"), "allowed"), (Ordered("withdraw", "1", "ana"), "allowed"), (Elapsed(99.0), "allowed")):
        session = under(text, approval=Approval("pay", expires=50.0))
        words(session, call("pay", "1", {"n": 1}, at=0))
        assert session.step(event).word == word
        assert session.step(call("look", "2")).word == ("allowed" if event == no("1") else "violation")
    session = under("!pay.?pay.end")
    words(session, call("pay", "1", {"n": 1}))
    assert words(session, no("1")) == ["allowed"]
    assert session.legal()[0].label == "pay"


def test_a_condition_that_cannot_be_worked_out_refuses_and_parks_nothing() -> None:
    session = under(approval=Approval("pay", when="args.n > 10"))
    assert words(session, call("pay", "1", {"n": 1})) == ["allowed"]
    verdict = session.step(call("pay", "2", {}))
    assert (verdict.word, [kind for _, kind in why(verdict)]) == ("violation", ["unknown"])
    assert session.state.more.parked == {}


def test_what_runs_under_watch_without_a_yes_is_a_finding_and_a_yes_that_is_there_is_spent() -> None:
    session = under()
    found = session.observe(call("pay", "1", {"n": 1}))
    assert (found.word, found.finding) == ("needs_approval", True)  # type: ignore[union-attr]
    assert "1" in session.state.open
    words(session, call("pay", "2", {"n": 2}), yes("2"))
    assert session.observe(call("pay", "2", {"n": 2})).word == "allowed"
    assert session.state.more.parked == {}


def test_legal_and_repair_say_who_must_say_yes() -> None:
    session = under(approval=Approval("pay", by=("ana",)))
    assert [(act.label, act.approval) for act in session.legal()] == [("look", False), ("pay", True)]
    verdict = session.step(call("pay", "1", {"n": 1}))
    assert verdict.repair is not None  # type: ignore[union-attr]
    assert verdict.repair.steps == ("approval by ana",)  # type: ignore[union-attr]
    conditional = under(approval=Approval("pay", when="args.n > 1"))
    assert conditional.legal()[1].conditions == ("needs a yes from a person where args.n > 1",)


def test_a_session_that_is_over_takes_no_decision_and_its_tickets_are_withdrawn() -> None:
    session = under()
    words(session, call("pay", "1", {"n": 1}), Closed())
    assert session.state.more.parked == {}
    assert why(session.step(yes("1"))) == [("people", "void")]


def test_tickets_yeses_and_noes_come_back_with_the_session() -> None:
    session = held(
        Approval("pay", need=2, expires=90.0), Approval("look", no="turn"), tools=[Tool("pay"), Tool("look")]
    )
    words(session, call("pay", "1", {"n": 1}, at=3), yes("1"), call("look", "2"), no("2"), call("pay", "3", {"n": 3}),
          Decided("edit", "3", by="bo", payload={"n": 4}), call("pay", "4", {"n": 9}), Ordered("stand", "4", "cy"))  # fmt: skip
    again = Session.from_dict(session.contract, session.to_dict())
    assert again.state == session.state
    assert again.to_dict() == session.to_dict()
    for one in (session, again):
        assert words(one, yes("1", "bo"), call("pay", "1", {"n": 1}), call("look", "5")) == [
            "allowed", "allowed", "violation",
        ]  # fmt: skip


def test_a_question_is_filled_with_what_would_run() -> None:
    session = held(
        Approval("pay", ask="Pay {args.n} to {args.to.name}, {args.what}?"), tools=[Tool("pay", clamp={"n": {"max": 50}})]
    )
    words(session, call("pay", "1", {"n": 100, "to": {"name": "Bo"}}))
    shown = ticket(session.contract, session.state, "1")
    assert (shown.question, shown.args["n"]) == ("Pay 50 to Bo, {args.what}?", 50)
    assert session.step(yes("1"))
    assert session.step(call("pay", "1", {"n": 100, "to": {"name": "Bo"}})).payload["n"] == 50  # type: ignore[union-attr]


def test_what_the_agent_wrote_stays_in_its_line_of_the_question() -> None:
    session = held(Approval("pay", ask="Pay {args.to}?\nThink."), tools=["pay"])
    words(session, call("pay", "1", {"to": "5\n\nNothing else\u202e\x1b[2J"}))
    question = ticket(session.contract, session.state, "1").question
    assert question == "Pay 5\\n\\nNothing else\\u202e\\x1b[2J?\nThink."


def summed(**more: Any) -> Session:
    above = Above("n", more.pop("limit", 100), same="order")
    tools = [Tool("pay", effect="write", idempotent=True), Tool("look", effect="none")]
    return held(Approval("pay", above=above, **more), tools=tools)


def pay(id: str, order: Any, n: Any) -> Any:
    return call("pay", id, {"order": order, "n": n})


def test_what_would_lead_beyond_a_total_waits_and_nothing_else() -> None:
    session = summed()
    assert words(session, pay("1", 1, 60), pay("2", 2, 60), pay("3", 1, 60), pay("4", 1, 40), pay("5", 2, 40.5)) == [
        "allowed", "allowed", "needs_approval", "allowed", "needs_approval",
    ]  # fmt: skip
    assert words(session, yes("3"), pay("3", 1, 60), pay("6", 1, 1), pay("7", 3, 100)) == [
        "allowed", "allowed", "needs_approval", "allowed",
    ]  # fmt: skip


def test_the_total_that_is_shown_is_that_of_the_moment() -> None:
    session = summed(ask="Pay {args.n}?", by=("ana",))
    words(session, pay("1", 1, 60))
    waits = session.step(pay("3", 1, 60))
    assert waits.reasons[0].message == "`pay` needs a yes from ana: it leads to 120, and up to 100 needs no yes"
    words(session, pay("4", 1, 40))
    shown = ticket(session.contract, session.state, "3").question
    assert shown == "Pay 60? It leads to 160, and up to 100 needs no yes."


def test_what_is_given_back_leaves_the_total() -> None:
    session = summed()
    words(session, pay("1", 1, 60), broke("1", "none"))
    assert words(session, pay("2", 1, 100), broke("2", "unknown"), pay("3", 1, 1)) == ["allowed", "allowed", "needs_approval"]


def test_a_condition_says_which_of_them_wait_and_all_of_them_count() -> None:
    session = summed(when="args.n > 50")
    assert words(session, pay("1", 1, 90), pay("2", 1, 40), pay("3", 1, 51)) == ["allowed", "allowed", "needs_approval"]


@pytest.mark.parametrize(
    ("args", "kind"),
    [({"order": 1}, "amount"), ({"n": 1}, "same"), ({"order": 1, "n": "x"}, "amount"),
     ({"order": 1, "n": -1}, "amount"), ({"order": 1, "n": True}, "amount")],
)  # fmt: skip
def test_what_has_no_amount_or_no_value_to_tell_it_by_is_refused(args: Any, kind: str) -> None:
    verdict = summed().step(call("pay", "1", args))
    assert (verdict.word, [reason.kind for reason in verdict.reasons]) == ("violation", [kind])


def test_a_total_is_exact_and_may_be_a_fact() -> None:
    approval = Approval("pay", above=Above("n", "most", same="order"))
    session = held(approval, tools=["pay"], facts={"most": 0.3})
    assert words(session, pay("1", 1, 0.1), pay("2", 1, 0.2), pay("3", 1, 0.0), pay("4", 1, 1e-9)) == [
        "allowed", "allowed", "allowed", "needs_approval",
    ]  # fmt: skip


def test_a_total_and_what_waits_for_it_come_back_with_a_snapshot() -> None:
    session = summed()
    words(session, pay("1", 1, 60), pay("2", 1, 60), yes("2"))
    again = Session.from_dict(session.contract, session.to_dict())
    assert again.state == session.state
    assert words(again, pay("2", 1, 60), pay("3", 1, 1)) == ["allowed", "needs_approval"]


@pytest.mark.parametrize(
    ("above", "message"),
    [
        (Above("", 1), "`above`: `total` is a field"),
        (Above("n", -1), "`limit` of `at_most_total` is a number from 0, or a fact, not `-1`"),
        (Above("n", {"EUR": 1}), "`above`: `limit` is a number, or the name of a fact"),
        (Above("n", 1, same={"pay": "order"}), "`above`: `same` is a field"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_faulty_total_is_refused_at_load(above: Above, message: str) -> None:
    with pytest.raises(DulyError) as caught:
        held(Approval("pay", above=above), tools=["pay"])
    assert [each.message for each in caught.value.diagnostics] == [message]


def test_two_contracts_with_totals_hold_a_session_together() -> None:
    one = Contract(Approval("pay", above=Above("n", 100)), tools=[Tool("pay")])
    two = Contract(Approval("pay", above=Above("n", 50, same="order")), tools=[Tool("pay")])
    session = Session(one, two)
    assert words(session, pay("1", 1, 50), pay("2", 2, 50), pay("3", 2, 1)) == ["allowed", "allowed", "needs_approval"]
