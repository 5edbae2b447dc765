"""duly's own trace."""

from pathlib import Path

from duly.audit.detect import read
from duly.audit.trajectory import Trajectory
from duly.values.event import Called, Closed, Received, Returned


def run(folder: Path, text: str) -> Trajectory:
    path = folder / "trace.jsonl"
    path.write_text(text, encoding="utf-8")
    (found,) = read(path)
    return found


def test_events_are_read_as_they_stand(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        '{"event": "called", "label": "refund", "payload": {"amount": 240}, "id": "c7", "at": 12.5}\n'
        '{"event": "returned", "label": "refund", "payload": {"ok": true}, "id": "c7", "outcome": "denied"}\n'
        '{"event": "received", "label": null, "payload": {"text": "yes"}}\n'
        '{"event": "closed"}\n',
    )
    assert found.events == [
        Called("refund", {"amount": 240}, "c7", 12.5),
        Returned("refund", {"ok": True}, "c7", "denied"),
        Received(None, {"text": "yes"}),
        Closed(),
    ]
    assert (found.ended, found.problems, found.run, found.format) == (True, [], "trace", "duly")


def test_records_that_are_no_events_are_named_by_their_line(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        '{"event": "called", "label": "a"}\n{"event": "caled", "label": "a"}\n[1]\n'
        '{"event": "called", "label": 5}\n{"event": "called", "label": "b", "id": "x',
    )
    assert found.events == [Called("a")]
    assert [problem.line for problem in found.problems] == [2, 3, 4, 5]
    assert found.problems[0].message == "unknown event `caled`; did you mean `called`?"


def test_a_trace_without_its_end_has_not_ended(tmp_path: Path) -> None:
    assert not run(tmp_path, '{"event": "called", "label": "a"}\n').ended
