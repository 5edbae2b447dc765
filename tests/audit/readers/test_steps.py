"""Step logs: one step a line."""

from pathlib import Path

from duly.audit.detect import read
from duly.audit.trajectory import Trajectory
from duly.values.event import Called, Received, Returned, Sent


def run(folder: Path, text: str) -> Trajectory:
    path = folder / "steps.jsonl"
    path.write_text(text, encoding="utf-8")
    (found,) = read(path)
    return found


def test_calls_and_results_are_read_and_a_result_can_say_that_it_failed(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        '{"type": "call", "id": "1", "tool": "search", "args": {"q": "a"}}\n{"type": "result", "id": "1", "ok": true}\n'
        '{"type": "call", "id": "2", "tool": "book"}\n{"type": "result", "id": "2", "ok": false, "error": "full"}\n',
    )
    assert found.events == [
        Called("search", {"q": "a"}, "c1"),
        Returned("search", None, "c1"),
        Called("book", None, "c2", raw=""),
        Returned("book", "full", "c2", "error"),
    ]
    assert found.problems == []


def test_a_monitored_conversation_is_read_without_the_verdicts_of_its_monitor(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        '{"type": "meta", "task_id": "04", "trial": 1}\n{"type": "user", "content": "book it"}\n'
        '{"type": "agent_tool_call", "name": "book", "args": {"n": 1}}\n'
        '{"type": "monitor", "kind": "send", "label": "Book", "verdict": "Ok"}\n'
        '{"type": "tool_result", "name": "book", "content": "done"}\n{"type": "agent_text", "content": "Booked."}\n'
        '{"type": "outcome", "outcome": "ok"}\n',
    )
    assert found.events == [
        Received(None, {"text": "book it"}),
        Called("book", {"n": 1}, "c1"),
        Returned("book", "done", "c1"),
        Sent(None, {"text": "Booked."}),
    ]
    assert (found.run, found.ended, found.left_out) == ("04/1", True, {"the verdict of another monitor": 2})


def test_steps_of_unknown_kinds_make_the_run_incomplete(tmp_path: Path) -> None:
    found = run(tmp_path, '{"type": "call", "tool": "a"}\n{"type": "dream"}\n{"x": 1}\n')
    assert [(problem.line, problem.message) for problem in found.problems] == [
        (2, "a step of the unknown kind `dream`"),
        (3, "a record that is not a step"),
    ]
