"""The gate: asking before, settling after, enforce and shadow, time, nesting, batches."""

import pytest

from duly import Allowed, DulyError, Gate, LabelRule, Ordered, Refused, Session, Tool, at_most, must_precede
from duly.gates.gate import batch
from duly.values.event import Called, Event
from steps import held, why


class Clock:
    """Seconds that a test sets."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_a_call_is_asked_for_and_settled() -> None:
    session = held("!a.?a(n as r)", tools=["a"])
    gate = Gate(session)
    passed = gate.begin("a", {"x": 1})
    assert (passed.id, passed.label, passed.payload, bool(passed.verdict)) == ("#1", "a", {"x": 1}, True)
    assert gate.settle(passed, {"n": 5}).word == "allowed"
    assert (session.is_terminal, session.registers) == (True, {"r": 5})


def test_a_refused_call_raises_with_its_verdict() -> None:
    gate = Gate(held(at_most("a", 0)))
    with pytest.raises(Refused) as caught:
        gate.begin("a", {})
    assert why(caught.value.verdict) == [("at_most(a, 0)", "count")]


def test_in_shadow_everything_runs_and_the_record_says_what_enforce_would_say() -> None:
    session = held(at_most("send", 1), mode="shadow")
    gate = Gate(session)
    passes = [gate.begin("send", {}) for _ in range(3)]
    assert [passed.verdict.word for passed in passes] == ["allowed", "violation", "violation"]
    for passed in passes:
        assert gate.settle(passed, 1).word == "allowed"
    assert [entry.verdict.word for entry in session.journal][:3] == ["allowed", "violation", "violation"]  # type: ignore[union-attr]
    assert (session.state.data, session.state.open) == ((3,), {})


def test_counts_from_watching_stand_after_a_switch_to_enforce() -> None:
    session = held(at_most("send", 2))
    gate = Gate(session, mode="shadow")
    for _ in range(3):
        gate.begin("send", {})
    gate.step(Ordered("mode", by="ana", scope="enforce"))
    assert gate.mode == "enforce"
    with pytest.raises(Refused):
        gate.begin("send", {})


def test_the_mode_comes_from_an_order_else_the_gate_else_the_contract() -> None:
    session = held(tools=["a"], mode="shadow")
    assert (Gate(session).mode, Gate(session, mode="enforce").mode) == ("shadow", "enforce")
    session.step(Ordered("mode", by="ana", scope="shadow"))
    assert Gate(session, mode="enforce").mode == "shadow"
    with pytest.raises(DulyError, match="unknown mode `lax`"):
        Gate(session, mode="lax")  # type: ignore[arg-type]


def test_a_session_has_one_gate() -> None:
    session = held(tools=["a"])
    assert Gate.of(session) is Gate.of(session)


def test_time_is_read_once_per_event_and_goes_on_where_the_session_stood() -> None:
    session, clock = held(tools=["a"]), Clock(1000.0)
    gate = Gate(session, clock=clock)
    clock.now = 1012.5
    passed = gate.begin("a", {})
    clock.now = 1011.0
    gate.settle(passed, 1)
    assert [entry.event.at for entry in session.journal] == [12.5, 11.0]  # type: ignore[union-attr]
    assert session.state.at == 12.5
    again = Session.from_dict(session.contract, session.to_dict())
    Gate(again, clock=clock).begin("a", {})
    assert again.state.at == 12.5


def test_a_failure_is_told_with_its_effect() -> None:
    session = held(at_most("a", 1), tools=["a"])
    gate = Gate(session)
    gate.fail(gate.begin("a", {}), "none", "refused")
    gate.fail(gate.begin("a", {}), "unknown", "timeout")
    assert [call.uncertain for call in session.state.open.values()] == [True]


def test_an_idempotency_key_is_answered_from_the_record() -> None:
    gate = Gate(held(tools=[Tool("pay", effect="write")]))
    gate.settle(gate.begin("pay", {"n": 1}, key="k"), {"ok": True})
    passed = gate.begin("pay", {"n": 1}, key="k")
    assert (passed.replayed, passed.recorded, passed.id) == (True, {"ok": True}, "#1")


def test_a_call_inside_another_names_it_as_its_parent() -> None:
    session = held("!outer.?outer", tools=["outer", "inner"], outside=["inner"])
    gate = Gate(session)
    outer = gate.begin("outer", {})
    with gate.inside(outer):
        inner = gate.begin("inner", {})
    gate.settle(inner, 1)
    gate.settle(outer, 1)
    calls = [entry.event for entry in session.journal if isinstance(entry.event, Called)]
    assert [(called.label, called.parent) for called in calls] == [("outer", None), ("inner", "#1")]


def test_a_call_inside_a_tool_of_another_session_has_no_parent_here() -> None:
    first, second = Gate(held(tools=["a"])), Gate(held(tools=["b"]))
    with first.inside(first.begin("a", {})):
        assert second.session.state.open == {}
        second.begin("b", {})
    assert [entry.event.parent for entry in second.session.journal] == [None]  # type: ignore[union-attr]


def test_siblings_of_a_batch_permit_nothing() -> None:
    gate = Gate(held(must_precede("check", "pay")))
    with batch("b1"):
        gate.settle(gate.begin("check", {}), 1)
        with pytest.raises(Refused):
            gate.begin("pay", {})
    assert gate.begin("pay", {}).verdict == Allowed({}, id="#2")


def test_arguments_that_cannot_be_judged_are_refused_and_recorded() -> None:
    session = held(tools=["a"])
    gate = Gate(session)

    def fail() -> object:
        raise ValueError("not a finite number")

    with pytest.raises(Refused) as caught:
        gate.judged("a", fail)
    assert caught.value.verdict.text() == "not understood: `a`: not a finite number (send a well-formed event)"
    assert [(entry.event, entry.verdict.word) for entry in session.journal] == [(Called("a"), "unrecognized")]  # type: ignore[union-attr]
    assert Gate(session, mode="shadow").judged("a", fail) is None


def test_what_people_say_is_named_where_it_comes_in() -> None:
    session = held("rec L.{?Yes.!refund.L, ?No.L}", tools=["refund"], labels=[
        LabelRule("Yes", matches=r"(?i)^\W*yes\b"), LabelRule("No", matches=r"(?i)^\W*no\b"),
    ])  # fmt: skip
    gate = Gate(session)
    texts = ["disallow this", "no, don't approve it", "you could bypass the check yesterday"]
    assert [gate.hear(text).word for text in texts] == ["unrecognized", "allowed", "unrecognized"]
    with pytest.raises(Refused):
        gate.begin("refund", {})
    assert gate.hear("Yes").word == "allowed"
    gate.begin("refund", {})


def test_what_the_agent_says_is_named_by_its_own_labels() -> None:
    label = LabelRule("Offer", source="agent", matches="(?i)offer")
    session = held("!Offer.!Offer", labels=[label])
    gate = Gate(session)
    assert [gate.say(text).word for text in ("well", "I offer 5", "I offer 6")] == ["allowed"] * 3
    with pytest.raises(Refused):
        gate.say("one more offer")
    assert Gate(session, mode="shadow").say("one more offer").word == "violation"


def test_an_action_that_changes_what_it_is_shown_changes_nothing_that_was_judged() -> None:
    session = held(tools=["send"])

    def change(event: Event, verdict: object) -> None:
        if isinstance(event, Called) and event.payload is not None:
            event.payload["to"].append("eve")

    gate = Gate(session, actions=[change])
    passed = gate.begin("send", {"to": ["ana"]})
    assert passed.payload == session.state.open[passed.id].args == {"to": ["ana"]}
