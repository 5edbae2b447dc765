"""The recorder numbers calls and finds the call that a result belongs to."""

from typing import Any

import pytest

from duly.audit.trajectory import Problem, Recorder, Trajectory
from duly.values.event import Called, Received, Returned, Sent


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(Trajectory("f", "r"))


def answers(recorder: Recorder) -> list[tuple[str | None, Any]]:
    return [(event.id, event.payload) for event in recorder.take() if type(event) is Returned]


def test_a_repeated_outer_id_is_answered_by_the_nearest_call_before(recorder: Recorder) -> None:
    for result in ("first", "second"):
        recorder.called("a", {}, id="x")
        recorder.returned(result, id="x")
    assert answers(recorder) == [("c1", "first"), ("c2", "second")]


def test_two_open_calls_with_one_outer_id_are_answered_nearest_first(recorder: Recorder) -> None:
    recorder.called("a", {}, id="x")
    recorder.called("a", {}, id="x")
    recorder.returned("near", id="x")
    recorder.returned("far", id="x")
    assert answers(recorder) == [("c2", "near"), ("c1", "far")]


def test_results_without_ids_are_answered_in_the_order_of_the_calls(recorder: Recorder) -> None:
    recorder.called("a", {}, id="x")
    recorder.called("b", {})
    recorder.returned(1)
    recorder.returned(2)
    assert answers(recorder) == [("c1", 1), ("c2", 2)]


def test_a_result_with_a_name_goes_to_a_call_of_that_name(recorder: Recorder) -> None:
    recorder.called("a", {})
    recorder.called("b", {})
    recorder.returned("of b", name="b")
    assert answers(recorder) == [("c2", "of b")]


def test_a_second_result_of_a_call_is_told_of_that_call(recorder: Recorder) -> None:
    recorder.called("a", {}, id="x")
    recorder.returned(1, id="x")
    recorder.called("a", {}, id="y")
    recorder.returned(2, id="x")
    assert answers(recorder) == [("c1", 1), ("c1", 2)]


def test_a_result_whose_call_is_not_recorded_makes_the_run_incomplete(recorder: Recorder) -> None:
    recorder.called("a", {}, id="x")
    recorder.line = 7
    recorder.returned("lost", id="never")
    assert recorder.trajectory.problems == [
        Problem("missing", "a result `never` belongs to a call that is not recorded", 7, 1)
    ]
    assert answers(recorder) == []


def test_a_named_result_without_a_call_stays_an_event_of_its_own(recorder: Recorder) -> None:
    recorder.returned("late", id="never", name="pay")
    assert recorder.take() == [Returned("pay", "late")]


@pytest.mark.parametrize(
    ("arguments", "payload", "raw"),
    [
        ({"n": 1}, {"n": 1}, None),
        ('{"n": 1}', {"n": 1}, None),
        ('{"n": 1, "n": 2}', None, '{"n": 1, "n": 2}'),
        ('{"n": ', None, '{"n": '),
        ("[1]", None, "[1]"),
        ([1], None, "[1]"),
        ("", None, ""),
        (None, None, ""),
        ("null", None, "null"),
    ],
)
def test_arguments_that_are_not_one_object_stay_undecoded(
    recorder: Recorder, arguments: Any, payload: Any, raw: str | None
) -> None:
    recorder.called("a", arguments)
    assert recorder.take() == [Called("a", payload, "c1", raw=raw)]


def test_arguments_nested_beyond_reason_stay_undecoded(recorder: Recorder) -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    recorder.called("a", deep)
    (event,) = recorder.take()
    assert type(event) is Called
    assert (event.payload, event.raw) == (None, "nested too deeply")


def test_the_stop_mark_and_space_are_no_speech(recorder: Recorder) -> None:
    recorder.heard("  Thanks! ###STOP### ")
    recorder.heard("###STOP###")
    assert recorder.take() == [Received(None, {"text": "Thanks!"}), Received(None, {"text": ""})]
    assert recorder.trajectory.ended


def test_white_space_alone_is_not_said_and_other_words_stay_as_they_are(recorder: Recorder) -> None:
    recorder.said(" \n")
    recorder.said(" hello ")
    assert recorder.take() == [Sent(None, {"text": " hello "})]


def test_each_event_keeps_the_line_of_its_record(recorder: Recorder) -> None:
    for line in (3, 9):
        recorder.line = line
        recorder.heard("x")
    assert list(recorder.trajectory.lines) == [3, 9]


@pytest.mark.parametrize(
    ("reward", "outcome"),
    [(1, "pass"), (1.0, "pass"), (0.9999999, "pass"), (0.5, "fail"), (0, "fail"), (None, None), ("x", None)],
)
def test_a_run_passed_when_its_reward_is_one(reward: Any, outcome: str | None) -> None:
    trajectory = Trajectory("f", "r")
    trajectory.rewarded(reward)
    assert trajectory.outcome == outcome


def test_answered_ids_are_forgotten_in_the_long_run(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    monkeypatch.setattr("duly.audit.trajectory.REMEMBERED", 10)
    for number in range(50):
        recorder.called("a", {}, id=str(number))
        recorder.returned(1, id=str(number))
    assert recorder.knows("49")
    assert not recorder.knows("1")
