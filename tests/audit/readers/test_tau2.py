"""tau2 results."""

import json
from pathlib import Path
from typing import Any

from duly.audit.detect import read
from duly.audit.trajectory import Trajectory
from duly.values.event import Called, Received, Returned, Sent


def simulation(messages: list[dict[str, Any]], **facts: Any) -> dict[str, Any]:
    return {"id": "s", "task_id": "7", "trial": 0, "messages": messages, "reward_info": {"reward": 1.0},
            "termination_reason": "user_stop", **facts}  # fmt: skip


def runs(folder: Path, *simulations: Any) -> list[Trajectory]:
    path = folder / "results.json"
    path.write_text(json.dumps({"info": {}, "tasks": [], "simulations": list(simulations)}), encoding="utf-8")
    return list(read(path))


def call(name: str, arguments: Any, *, id: str = "x", requestor: str = "assistant") -> dict[str, Any]:
    return {"id": id, "name": name, "arguments": arguments, "requestor": requestor}


def test_calls_results_and_error_flags_become_events(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Hi!", "tool_calls": None},
        {"role": "user", "content": "cancel A", "tool_calls": None},
        {"role": "assistant", "content": None, "tool_calls": [call("cancel", {"id": "A"})]},
        {"role": "tool", "id": "x", "content": "no such thing", "error": True, "requestor": "assistant"},
        {"role": "user", "content": "###STOP###", "tool_calls": None},
    ]
    (run,) = runs(tmp_path, simulation(messages))
    assert run.events == [
        Sent(None, {"text": "Hi!"}),
        Received(None, {"text": "cancel A"}),
        Called("cancel", {"id": "A"}, "c1"),
        Returned("cancel", "no such thing", "c1", "error"),
        Received(None, {"text": ""}),
    ]
    assert (run.run, run.outcome, run.ended, run.problems) == ("7/0", "pass", True, [])


def test_the_users_own_tool_calls_are_counted_and_are_no_events(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": None, "tool_calls": [call("reboot", {}, requestor="user")]},
        {"role": "tool", "id": "x", "content": "rebooted", "error": False, "requestor": "user"},
        {"role": "user", "content": "done", "tool_calls": None},
    ]
    (run,) = runs(tmp_path, simulation(messages))
    assert run.events == [Received(None, {"text": "done"})]
    assert run.left_out == {"the user's own tool call": 1, "result of the user's own tool call": 1}


def test_several_results_in_one_message_are_taken_apart(tmp_path: Path) -> None:
    results = [{"role": "tool", "id": id, "content": id, "requestor": "assistant"} for id in ("y", "x")]
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [call("a", {}), call("b", {}, id="y")]},
        {"role": "tool", "tool_messages": results},
    ]
    (run,) = runs(tmp_path, simulation(messages))
    assert run.events == [
        Called("a", {}, "c1", batch="b1"),
        Called("b", {}, "c2", batch="b1"),
        Returned("b", "y", "c2"),
        Returned("a", "x", "c1"),
    ]


def test_times_are_seconds_since_the_start_and_never_fall(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": text, "timestamp": f"2026-01-01T00:00:{second}"}
        for text, second in (("a", "02.5"), ("b", "01"), ("c", "04"))
    ]
    (run,) = runs(tmp_path, simulation(messages, start_time="2026-01-01T00:00:00"))
    assert [event.at for event in run.events] == [2.5, 2.5, 4.0]


def test_a_simulation_without_messages_is_an_incomplete_run(tmp_path: Path) -> None:
    broken = {"task_id": "9", "trial": 2, "messages": None, "reward_info": {"reward": 0}}
    _, run = runs(tmp_path, simulation([]), broken)
    assert (run.run, run.outcome) == ("9/2", "fail")
    assert [problem.message for problem in run.problems] == ["a simulation without messages"]
