"""A run folded over a contract: findings, how their calls ended, what rates leave out, the verdict."""

from typing import Any

import pytest

from duly.audit import run as subject
from duly.audit.run import RunReport, audit
from duly.audit.trajectory import Problem, Recorder, Trajectory
from duly.machine.contract import Contract
from duly.machine.rule import at_most, must_precede
from duly.machine.terms import LabelRule
from duly.values.event import Closed, Event, Received, Returned, Sent
from duly.values.verdict import ALLOWED, Reason, Verdict, Violation


class Words:
    def classify(self, text: str, *, source: str = "user") -> str | None:
        return {"yes": "Yes", "bye": "Bye"}.get(text) if source == "user" else None


def recorded(*steps: Any, ended: bool = False) -> Trajectory:
    """A run of steps: a text is what a person says, `!x` a call of x with its result, `!x=error` one that fails."""
    trajectory = Trajectory("runs.jsonl", "1", ended=ended)
    recorder = Recorder(trajectory)
    for step in steps:
        if not step.startswith("!"):
            recorder.heard(step)
            continue
        name, _, outcome = step[1:].partition("=")
        recorder.called(name, {})
        if outcome != "open":
            recorder.returned("done", error=outcome == "error")
    trajectory.events = recorder.take()
    return trajectory


def confirmed(count: str = "attempted", **terms: Any) -> Contract:
    labels = [LabelRule("Yes"), LabelRule("Bye")]
    return Contract(must_precede("Yes", "pay"), labels=labels, count=count, **terms)


def told(report: RunReport) -> list[tuple[int, str, str | None, bool, bool]]:
    return [(f.index, f.label, f.outcome, f.follow_on, f.counted) for f in report.findings]


def test_a_call_that_a_rule_refuses_is_a_finding_with_its_place_and_outcome() -> None:
    report = audit(recorded("hello", "!pay"), confirmed(), Words())
    (finding,) = report.findings
    assert (finding.file, finding.run, finding.index, finding.rule) == ("runs.jsonl", "1", 1, "must_precede(Yes, pay)")
    assert (finding.label, finding.kind, finding.outcome, finding.line) == ("!pay", "order", "ok", 1)
    assert (finding.shown, finding.heard) == ("!pay {}", "hello")
    assert (report.verdict, report.events, report.unrecognized) == ("violation", 3, 1)


def test_a_named_text_permits() -> None:
    assert audit(recorded("yes", "!pay"), confirmed(), Words()).verdict == "pass"


def test_further_findings_of_a_rule_are_follow_on_and_do_not_count() -> None:
    report = audit(recorded("!pay", "!pay"), confirmed(), Words())
    assert told(report) == [(0, "!pay", "ok", False, True), (2, "!pay", "ok", True, False)]
    assert report.violating_calls == 2


def test_a_call_that_failed_is_left_out_where_effective_calls_count() -> None:
    report = audit(recorded("!pay=error"), confirmed("effective"), Words())
    assert told(report) == [(0, "!pay", "error", False, False)]
    assert (report.verdict, report.violating_calls) == ("pass", 0)


def test_a_failed_first_finding_does_not_hide_an_effective_one_after_it() -> None:
    report = audit(recorded("!pay=error", "!pay"), confirmed("effective"), Words())
    assert told(report) == [(0, "!pay", "error", False, False), (2, "!pay", "ok", True, True)]
    assert report.verdict == "violation"


def test_an_open_call_counts_as_effective() -> None:
    report = audit(recorded("!pay=open"), confirmed("effective"), Words())
    assert told(report) == [(0, "!pay", None, False, True)]


def test_all_rules_that_one_call_breaks_are_found() -> None:
    contract = Contract(must_precede("a", "pay"), at_most("pay", 0))
    report = audit(recorded("!pay"), contract)
    assert sorted(finding.rule for finding in report.findings) == ["at_most(pay, 0)", "must_precede(a, pay)"]
    assert report.violating_calls == 1


def test_what_rests_on_missing_records_is_possible_and_the_run_incomplete() -> None:
    trajectory = recorded("!pay")
    trajectory.problems.append(Problem("torn", "the file ends inside this record", 1, 0))
    report = audit(trajectory, confirmed(), Words())
    assert [(finding.possible, finding.counted) for finding in report.findings] == [(True, False)]
    assert report.verdict == "incomplete"


def test_a_finding_before_the_gap_is_certain() -> None:
    trajectory = recorded("!pay")
    trajectory.problems.append(Problem("torn", "the file ends inside this record", 9, 2))
    assert audit(trajectory, confirmed(), Words()).verdict == "violation"


def test_a_count_that_was_exceeded_is_certain_whatever_is_missing() -> None:
    trajectory = recorded("!pay", "!pay")
    trajectory.problems.append(Problem("torn", "the file ends inside this record", 1, 0))
    assert audit(trajectory, Contract(at_most("pay", 1))).verdict == "violation"


def test_an_unreadable_record_alone_makes_a_run_incomplete() -> None:
    trajectory = recorded("yes")
    trajectory.problems.append(Problem("torn", "the file ends inside this record", 2, 1))
    assert audit(trajectory, confirmed(), Words()).verdict == "incomplete"


@pytest.mark.parametrize(("outcome", "verdict"), [("", "incomplete"), ("=error", "pass")])
def test_a_call_that_cannot_be_read_is_no_pass_unless_it_did_nothing(outcome: str, verdict: str) -> None:
    trajectory = Trajectory("f", "r")
    recorder = Recorder(trajectory)
    recorder.called("pay", '{"amount": ')
    recorder.returned("x", error=bool(outcome))
    trajectory.events = recorder.take()
    report = audit(trajectory, Contract(at_most("pay", 5)))
    assert (report.verdict, report.unrecognized) == (verdict, 1)


class Fake:
    """A contract whose only rule is that `bye` is said before the end; its state counts the events."""

    start, outer = 0, ()

    class terms:
        count = "attempted"


def fake_judge(contract: Any, state: int, event: Event, happened: bool) -> tuple[Verdict, int]:
    assert happened
    if type(event) is Closed and state < 100:
        return Violation((Reason("ends", "owed", "nobody said goodbye"),), finding=True), state
    if type(event) is Received and event.label == "Bye":
        return ALLOWED, 100
    if type(event) is Sent and event.payload["text"] == "crash":
        return Violation((Reason("duly", "internal", "the decision failed"),)), state
    return ALLOWED, state + 1


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(subject, "judge", fake_judge)
    return Fake


def test_what_is_owed_at_a_recorded_end_is_a_finding(faked: Any) -> None:
    report = audit(recorded("hello", ended=True), faked, Words())
    assert [(finding.label, finding.index, finding.message) for finding in report.findings] == [
        ("closed", 1, "nobody said goodbye")
    ]
    assert (report.verdict, report.events) == ("violation", 1)


def test_what_is_owed_where_no_end_was_seen_leaves_the_run_incomplete(faked: Any) -> None:
    report = audit(recorded("hello"), faked, Words())
    assert (report.verdict, report.owed, report.findings) == ("incomplete", ["nobody said goodbye"], [])


@pytest.mark.parametrize("ended", [True, False])
def test_nothing_owed_is_a_pass_with_and_without_an_end(faked: Any, ended: bool) -> None:
    assert audit(recorded("bye", ended=ended), faked, Words()).verdict == "pass"


def test_an_end_that_is_an_event_is_not_told_twice(faked: Any) -> None:
    trajectory = Trajectory("f", "r", events=[Closed()], ended=True)
    assert len(audit(trajectory, faked).findings) == 1


def test_an_error_of_ours_is_no_finding_and_no_pass(faked: Any) -> None:
    trajectory = Trajectory("f", "r", events=[Sent(None, {"text": "crash"}), Received("Bye", {"text": "bye"})])
    report = audit(trajectory, faked)
    assert (report.verdict, report.findings) == ("incomplete", [])
    assert report.internal == ["!Unrecognized: the decision failed"]


def test_a_label_on_paper_is_kept(faked: Any) -> None:
    trajectory = Trajectory("f", "r", events=[Received("Bye", {"text": "yes"})], ended=True)
    assert audit(trajectory, faked, Words()).verdict == "pass"


def test_events_may_come_from_an_iterator_and_problems_while_it_runs() -> None:
    trajectory = Trajectory("f", "r")

    def flow() -> Any:
        yield Returned("lookup", "x")
        trajectory.problems.append(Problem("torn", "the file ends inside this record", 2, 1))

    trajectory.events = flow()
    report = audit(trajectory, Contract(at_most("pay", 1)))
    assert report.problems == trajectory.problems != []
