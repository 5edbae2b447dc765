"""The pure function, and the reading in which everything has happened."""

from typing import Any

import pytest

from duly import (
    Called,
    Charged,
    Closed,
    Contract,
    Elapsed,
    LabelRule,
    Listed,
    Opened,
    Ordered,
    Sent,
    Session,
    Tool,
    at_most,
    decide,
    must_precede,
    observe,
)  # fmt: skip
from duly.machine.ir import State
from duly.values.event import KINDS, Event
from duly.values.verdict import Verdict
from steps import back, broke, call, hear, held, why


def after(session: Session, *events: Event) -> tuple[list[Verdict], State]:
    """The verdicts and the last state of the recorded reading."""
    state, verdicts = session.contract.start, []
    for event in events:
        verdict, state = observe(session.contract, state, event)
        verdicts.append(verdict)
    return verdicts, state


def test_every_kind_of_event_is_decided() -> None:
    from duly.session.decide import _JUDGES

    assert set(_JUDGES) == set(KINDS.values())


@pytest.mark.parametrize("event", [Charged({"tokens": 5}), Opened("s2"), Listed("fs", {}), Elapsed(1.0)])
def test_observations_that_no_machine_listens_to_are_recorded_and_move_nothing(event: Event) -> None:
    contract = held("!a.?a").contract
    verdict, state = decide(contract, contract.start, event)
    assert (verdict.word, state.cursors) == ("allowed", contract.start.cursors)


@pytest.mark.parametrize("odd", [None, 5, "called", object()])
def test_what_is_no_event_is_never_a_yes_and_never_an_exception(odd: Any) -> None:
    contract = held("!a.?a").contract
    for judge in (decide, observe):
        verdict, state = judge(contract, contract.start, odd)
        assert (verdict.word, why(verdict), state) == ("violation", [("duly", "internal")], contract.start)
    assert Session(contract).step(odd).word == "unrecognized"


def test_an_error_of_ours_refuses_and_leaves_the_state() -> None:
    class Broken(dict):  # type: ignore[type-arg]
        def get(self, *args: object) -> object:
            raise RuntimeError("broken")

    contract = Contract(at_most("a", 1))
    contract.acts = Broken()
    verdict, state = decide(contract, contract.start, call("a", "1"))
    assert (verdict.word, why(verdict), state) == ("violation", [("duly", "internal")], contract.start)
    assert verdict.reasons[0].message == "the decision failed: RuntimeError: broken"


@pytest.mark.parametrize(
    "field",
    [{"id": 5}, {"id": []}, {"batch": 1}, {"key": {}}, {"parent": 7}, {"server": b"x"}, {"turn": 1}, {"run": 2.0}],
)
def test_names_that_are_no_text_are_malformed(field: dict[str, Any]) -> None:
    session = held(at_most("a", 1))
    before = session.state
    verdict = session.step(Called("a", {}, **field))
    name, value = next(iter(field.items()))
    assert verdict.reasons[0].message == f"`{name}` is text, not `{type(value).__name__}`"
    assert session.state == before


# what happened all the same


def test_a_refused_call_that_ran_is_a_finding_and_its_count_is_taken() -> None:
    session = held(at_most("send", 1))
    verdicts, state = after(session, call("send", "1"), call("send", "2"), call("send", "3"))
    assert [(v.word, bool(getattr(v, "finding", False))) for v in verdicts] == [
        ("allowed", False), ("violation", True), ("violation", True),
    ]  # fmt: skip
    assert (state.data, list(state.open)) == ((3,), ["1", "2", "3"])
    assert decide(session.contract, state, call("send", "4"))[0].word == "violation"


def test_further_findings_of_one_machine_are_follow_on() -> None:
    verdicts, _ = after(
        held(at_most("a", 1), must_precede("x", "b")), *(call(n, f"{i}") for i, n in enumerate("aaabab"))
    )
    marks = [[(reason.rule, reason.follow_on) for reason in verdict.reasons] for verdict in verdicts]
    cap, order = "at_most(a, 1)", "must_precede(x, b)"
    assert marks == [[], [(cap, False)], [(cap, True)], [(order, False)], [(cap, True)], [(order, True)]]


def test_the_machine_that_refused_stays_and_every_other_goes_on() -> None:
    session = held("!a.?a.!b.?b", "!b.?b.!c", must_precede("b", "c"), tools=["a", "b", "c"])
    verdicts, state = after(session, call("b", "1"), back("b", "1"), call("c", "2"))
    assert [why(verdict) for verdict in verdicts] == [[("protocol 1", "protocol")], [], []]
    assert state.cursors[0] == session.contract.start.cursors[0]
    assert decide(session.contract, state, call("a", "3"))[0].word == "allowed"


def test_a_success_of_a_call_that_another_rule_refused_counts_for_the_others() -> None:
    session = held(at_most("check", 0), must_precede("check", "pay"))
    verdicts, _ = after(session, call("check", "1"), back("check", "1"), call("pay", "2"))
    assert [verdict.word for verdict in verdicts] == ["violation", "allowed", "allowed"]


def test_a_tool_that_is_closed_out_is_counted_when_it_ran() -> None:
    session = held("!a.?a", at_most("shell", 1), tools=["a", "shell"])
    verdicts, state = after(session, call("shell", "1"), call("shell", "2"))
    assert [why(verdict) for verdict in verdicts] == [
        [("protocol", "protocol")], [("protocol", "protocol"), ("at_most(shell, 1)", "count")],
    ]  # fmt: skip
    assert state.data == (2,)


def test_an_unknown_tool_that_ran_is_a_finding_and_its_result_is_awaited() -> None:
    verdicts, state = after(held("!a.?a", tools=["a"]), call("x", "1"), back("x", "1"), call("a", "2"))
    assert [why(verdict) for verdict in verdicts] == [[("contract", "unknown")], [], []]
    assert list(state.open) == ["2"]


def test_a_malformed_call_that_ran_is_no_violation_and_its_result_is_awaited() -> None:
    session = held(at_most("a", 1), tools=["a"], aliases={"b": "a"})
    verdicts, state = after(session, Called("b", raw="{", id="1"), back("b", "1", {"x": 1}))
    assert ([verdict.word for verdict in verdicts], state.open, state.data) == (["unrecognized", "allowed"], {}, (0,))


def test_a_message_that_ran_as_a_tool_forges_no_consent() -> None:
    for session in (
        held("?Yes.!refund", tools=["refund"], labels=[LabelRule("Yes")]),
        held("?Yes.!refund", must_precede("Yes", "refund")),
    ):
        verdicts, _ = after(session, call("Yes", "1"), back("Yes", "1"), call("refund", "2"))
        assert [verdict.word for verdict in verdicts] == ["violation", "allowed", "violation"]


def test_what_ran_in_a_frozen_session_is_a_finding_and_counts() -> None:
    session = held("!w.?w", at_most("w", 5), tools=[Tool("w", effect="write")])
    verdicts, state = after(session, Ordered("freeze", by="ana"), call("w", "1"), back("w", "1"))
    assert [why(verdict) for verdict in verdicts] == [[], [("order", "frozen")], []]
    assert (state.data, state.more.frozen, state.open) == ((1,), True, {})


def test_what_ran_after_the_end_is_blocked_as_a_finding_and_counts() -> None:
    session = held(at_most("a", 1))
    verdicts, state = after(session, Closed(), call("a", "1"), Sent("Hi"))
    assert [(v.word, bool(getattr(v, "finding", False))) for v in verdicts] == [
        ("allowed", False), ("blocked", True), ("blocked", True),
    ]  # fmt: skip
    assert (state.data, state.more.over) == ((1,), "closed")


def test_an_equal_act_that_ran_while_a_call_was_uncertain_is_a_finding_and_nothing_waits() -> None:
    session = held(tools=[Tool("pay", effect="write")])
    verdicts, state = after(session, call("pay", "1"), broke("1", "unknown"), call("pay", "2"))
    assert [(v.word, why(v)) for v in verdicts][-1] == ("needs_approval", [("call", "uncertain")])
    assert (state.more.parked, list(state.open)) == ({}, ["1", "2"])


def test_a_clean_run_reads_alike_live_and_recorded() -> None:
    session = held("rec L.{?Ask.!a.?a.L, ?Bye}", at_most("a", 2))
    events = [hear("Ask"), call("a", "1"), back("a", "1", 5), hear("Ask"), call("a", "2"), broke("2"), call("a", "3"),
              back("a", "3", 6), hear("Bye"), Closed()]  # fmt: skip
    verdicts, state = after(session, *events)
    assert [session.step(event) for event in events] == verdicts
    assert session.state == state
