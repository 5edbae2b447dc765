"""Orders and decisions of people: settlement and mode, what became of tickets, noes, edits, and who said what."""

import pickle

import pytest
from msgspec import structs

from duly import Allowed, Approval, Called, Decided, Elapsed, Ordered, Rule, Session, Stand, Tool, at_most
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


N = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def desk(approval: Approval, *more: Rule, **terms: object) -> Session:
    return held(approval, *more, tools=[Tool("pay", schema=N), Tool("look", effect="none")], **terms)


def pay(id: str, n: int, **more: object) -> Called:
    return call("pay", id, {"n": n}, **more)


def yes(target: str, by: str = "ana") -> Decided:
    return Decided("approve", target, by=by)


def no(target: str, by: str = "ana") -> Decided:
    return Decided("deny", target, by=by)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([no("1")], "`1` was decided: no"),
        ([Ordered("withdraw", "1", "ana")], "`1` was withdrawn"),
        ([yes("1"), pay("1", 1)], "`1` was decided, and its yes is used up"),
        ([Elapsed(60.0)], "`1` has expired"),
    ],
)
def test_a_decision_that_comes_too_late_is_told_what_became_of_the_ticket(ends: list[Event], said: str) -> None:
    session = desk(Approval("pay", expires=60.0))
    words(session, pay("1", 1, at=0), *ends)
    before = session.state
    (reason,) = session.step(yes("1", "bo")).reasons
    assert (reason.kind, reason.message) == ("void", said)
    assert session.state == before


def test_the_ticket_of_what_was_edited_is_void_and_the_new_one_is_not() -> None:
    session = desk(Approval("pay", need=2))
    first = session.step(pay("1", 1))
    words(session, Decided("edit", "1", by="ana", payload={"n": 2}))
    late = session.step(Decided("approve", ticket=first.ticket, by="bo"))  # type: ignore[union-attr]
    assert "another ticket stands for what it was changed to" in late.reasons[0].message
    assert words(session, pay("1", 1), yes("1", "bo"), pay("1", 1)) == ["needs_approval", "allowed", "allowed"]
    assert session.state.open["1"].args == {"n": 2}


def test_only_the_latest_tickets_are_remembered() -> None:
    session = desk(Approval("pay"))
    for number in range(100):
        words(session, pay(f"c{number}", number), no(f"c{number}"))
    assert len(session.state.more.past) == 32
    assert session.step(yes("c99")).reasons[0].message == "`c99` was decided: no"
    assert session.step(yes("c0")).reasons[0].message == "no open ticket `c0`"


def test_a_no_to_what_another_person_has_edited_covers_what_was_asked_for_too() -> None:
    session = desk(Approval("pay", need=2))
    words(session, pay("1", 1), Decided("edit", "1", by="ana", payload={"n": 2}), no("1", "bo"))
    assert words(session, pay("2", 1), pay("3", 2), pay("4", 3)) == ["violation", "violation", "needs_approval"]


def test_a_later_yes_to_an_equal_act_takes_a_no_back() -> None:
    session = desk(Approval("pay"))
    words(session, pay("1", 1), pay("2", 1), no("1"))
    assert words(session, pay("2", 1), yes("2"), pay("2", 1)) == ["violation", "allowed", "allowed"]


def test_what_a_cap_asks_people_about_can_be_denied_and_edited() -> None:
    excess = at_most("pay", 1)
    session = held(
        structs.replace(excess, on_excess="ask", by=("ana",)), tools=[Tool("pay", schema=N), Tool("look", effect="none")]
    )
    assert words(session, pay("0", 0), pay("1", 1), no("1"), pay("2", 1)) == [
        "allowed", "needs_approval", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, pay("3", 3), Decided("edit", "3", by="ana", payload={"n": 4})) == ["needs_approval", "allowed"]
    ran = session.step(pay("3", 3))
    assert isinstance(ran, Allowed)
    assert ran.payload == {"n": 4}


def test_who_says_yes_to_anothers_call_has_not_said_yes_to_his_own() -> None:
    session = desk(Approval("pay"))
    words(session, pay("1", 1, agent="bot"), yes("1", "ana"))
    assert words(session, pay("2", 1, agent="ana"), pay("3", 1, agent="bot")) == ["needs_approval", "allowed"]
    words(session, pay("4", 4, agent="bot"), Ordered("stand", "4", "ana"), pay("4", 4, agent="bot"))
    assert words(session, pay("5", 4, agent="ana"), pay("6", 4, agent="bot")) == ["needs_approval", "allowed"]


def test_a_halted_session_takes_no_decision_and_no_standing_yes() -> None:
    session = desk(Approval("pay"), at_most("look", 0), on_violation="halt")
    words(session, pay("1", 1), call("look", "2"))
    for event in (yes("1"), no("1"), Ordered("stand", "1", "ana")):
        assert why(session.step(event)) == [("people", "void")]
    assert words(session, pay("1", 1)) == ["blocked"]


def test_a_yes_outlives_an_equal_call_of_which_nobody_knows() -> None:
    session = held(Approval("pay"), tools=[Tool("pay", effect="write")])
    words(session, call("pay", "1"), yes("1"), call("pay", "1"), call("pay", "2"), yes("2"), broke("1", "unknown"))
    assert words(session, call("pay", "2")) == ["needs_approval"]
    assert words(session, settle("1", "failed"), call("pay", "2")) == ["allowed", "allowed"]


def test_siblings_of_a_batch_have_their_own_fate() -> None:
    session = desk(Approval("pay"))
    assert words(session, call("look", "1", batch="b"), pay("2", 1, batch="b"), pay("3", 2, batch="b")) == [
        "allowed", "needs_approval", "needs_approval",
    ]  # fmt: skip
    words(session, no("2"), yes("3"))
    assert words(session, pay("3", 2, batch="b"), pay("2", 1, batch="b")) == ["allowed", "violation"]


def test_a_session_with_tickets_can_be_pickled() -> None:
    session = desk(Approval("pay", stand=Stand({}, 9.0)))
    words(session, pay("1", 1, at=0), pay("2", 2), Ordered("stand", "2", "ana"), pay("3", 3), no("3"))
    again = pickle.loads(pickle.dumps(session))
    assert again.state == session.state
    assert words(again, yes("1"), pay("1", 1), pay("9", 2), pay("4", 3)) == ["allowed", "allowed", "allowed", "violation"]


@pytest.mark.parametrize("ends", [[no("1")], [Ordered("withdraw", "1", "ana")], [yes("1"), pay("1", 1)]])
@pytest.mark.parametrize("late", [Decided("approve", "t1-1", by="ana"), Ordered("stand", "t1-1", "ana")])
def test_a_call_that_is_named_like_a_ticket_is_not_meant_by_its_decision(ends: list[Event], late: Event) -> None:
    session = desk(Approval("pay"))
    words(session, pay("1", 1), *ends)
    for number in range(40):
        words(session, pay(f"c{number}", number + 2), no(f"c{number}"))
    assert words(session, pay("t1-1", 99)) == ["needs_approval"]
    assert why(session.step(late)) == [("people", "void")]
    assert words(session, pay("other", 99)) == ["needs_approval"]


def test_a_withdrawal_of_a_ticket_leaves_a_call_of_its_name() -> None:
    session = desk(Approval("pay"))
    words(session, pay("t2-2", 1), pay("2", 2), Ordered("withdraw", "t2-2", "ana"))
    assert [*session.state.more.parked] == ["t2-2"]


def test_a_decision_on_a_tool_does_not_mean_another_call_of_its_name() -> None:
    session = held(Approval("pay"), Approval("look"), tools=["pay", "look"])
    words(session, pay("look", 1), call("look", "2"))
    assert "name a ticket" in session.step(yes("look")).text()


def two(*by: str, **more: object) -> Session:
    return held(Approval("a", by=by, **more), tools=[Tool("a", effect="write")])  # type: ignore[arg-type]


def test_what_is_left_to_others_stays_open_and_is_told_to_them() -> None:
    session = two("policy", "ana")
    words(session, call("a", "c1"))
    left = Decided("leave", "c1", by="policy", recommendation="approve", reason="known", channel="program")
    assert words(session, left) == ["allowed"]
    assert session.state.more.parked["c1"].said == (("policy", "leave", "approve: known"),)
    assert words(session, Decided("approve", "c1", by="ana"), call("a", "c1")) == ["allowed", "allowed"]


def test_a_program_decides_only_where_it_is_named() -> None:
    session = two()
    words(session, call("a", "c1"))
    before = session.state
    verdict = session.step(Decided("approve", "c1", by="policy", channel="program"))
    assert verdict.reasons[0].message == "`policy` is a program, and only people decide `t1-c1`"
    assert session.state == before
    assert words(session, Decided("approve", "c1", by="policy", channel="callback"), call("a", "c1")) == ["allowed"] * 2


@pytest.mark.parametrize(
    "event",
    [
        Decided("approve", "c1", by="policy", channel="program", fault="timeout"),
        Decided("leave", "c1", by="policy", channel="callback", fault="crash"),
        Decided("approve", "c1", by="policy", channel="oracle"),  # type: ignore[arg-type]
        Decided("deny", "c1", by="policy", channel="program", fault="odd"),  # type: ignore[arg-type]
        Decided("leave", "c1", by="eve"),
    ],
)
def test_a_fault_is_never_a_yes_and_no_strange_channel_decides(event: Event) -> None:
    session = two("policy")
    words(session, call("a", "c1"))
    before = session.state
    assert why(session.step(event)) == [("people", "void")]
    assert session.state == before


def test_a_no_for_the_turn_says_whose_it_was_until_the_turn_ends() -> None:
    session = two("check", no="turn")
    words(session, call("a", "c1"), Decided("deny", "c1", by="check", reason="late", channel="program", fault="timeout"))
    verdict = session.step(call("a", "c2", {"n": 2}))
    message = "no to every `a` of this kind: `check` has not answered: late"
    assert [(r.kind, r.message) for r in verdict.reasons] == [("timeout", message)]
    words(session, Elapsed(0.0, turn="2"))
    assert session.state.more.noes == ()
    assert words(session, call("a", "c2", {"n": 2})) == ["needs_approval"]


def test_a_persons_no_takes_the_words_of_an_earlier_program_away() -> None:
    session = two("policy", "ana")
    words(session, call("a", "c1"), Decided("deny", "c1", by="policy", channel="program", fault="crash"))
    assert session.state.more.noes
    more = structs.replace(session.state.more, denied=())
    session.state = structs.replace(session.state, more=more)
    words(session, call("a", "c1"), Decided("deny", "c1", by="ana"))
    assert session.step(call("a", "c1")).reasons[0].message == "a person has said no to this `a`"


def test_what_was_said_and_given_along_comes_back_with_a_snapshot() -> None:
    session = two("policy", "ana", need=2)
    words(
        session, Called("a", {}, id="c1", context={"why": [1.5, None]}),
        Decided("approve", "c1", by="policy", reason="fine", channel="program"), Called("a", {"n": 2}, id="c2"),
        Decided("deny", "c2", by="policy", channel="program", fault="rubbish", reason="?"),
    )  # fmt: skip
    again = Session.from_dict(session.contract, session.to_dict())
    assert again.state == session.state
    assert again.state.more.parked["c1"].programs == ("policy",)
    assert words(again, Decided("approve", "c1", by="ana"), call("a", "c1")) == ["allowed", "allowed"]
