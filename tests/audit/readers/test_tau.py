"""tau-bench results and few-shot transcripts."""

import json
from pathlib import Path
from typing import Any

from duly.audit.detect import read
from duly.audit.trajectory import Trajectory
from duly.values.event import Called, Received, Returned, Sent

TRAJ: list[dict[str, Any]] = [
    {"role": "system", "content": "policy"},
    {"role": "user", "content": "cancel it"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "x", "type": "function", "function": {"name": "cancel", "arguments": '{"id": "A"}'}}]},
    {"role": "tool", "tool_call_id": "x", "name": "cancel", "content": "Error: no"},
    {"role": "user", "content": "bye ###STOP###"},
]  # fmt: skip


def runs(folder: Path, text: str) -> list[Trajectory]:
    path = folder / "results.json"
    path.write_text(text, encoding="utf-8")
    return list(read(path))


def test_a_run_carries_its_task_trial_reward_and_events(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, json.dumps([{"task_id": 2, "reward": 1.0, "info": {}, "traj": TRAJ, "trial": 3}]))
    assert (run.run, run.task, run.trial, run.outcome, run.reward) == ("2/3", "2", "3", "pass", 1.0)
    assert (run.ended, run.format, run.tells_errors) == (True, "tau-bench", False)
    assert run.events == [
        Received(None, {"text": "cancel it"}),
        Called("cancel", {"id": "A"}, "c1"),
        Returned("cancel", "Error: no", "c1"),
        Received(None, {"text": "bye"}),
    ]


def test_a_torn_result_file_gives_the_whole_runs_and_one_that_is_lost(tmp_path: Path) -> None:
    whole = json.dumps([{"task_id": 2, "reward": 0, "traj": TRAJ, "trial": 0}] * 3, indent=1)
    found = runs(tmp_path, whole[:-200])
    assert [(run.run, [problem.message for problem in run.problems]) for run in found] == [
        ("2/0", []),
        ("2/0", []),
        ("results/3", ["the file ends inside this record"]),
    ]


def test_a_run_without_a_conversation_is_incomplete(tmp_path: Path) -> None:
    failed = {"task_id": 4, "reward": 0.0, "info": {"error": "boom"}, "traj": None, "trial": 1}
    _, run = runs(tmp_path, json.dumps([{"task_id": 2, "reward": 0, "traj": TRAJ, "trial": 0}, failed]))
    assert (run.run, run.outcome, run.events) == ("4/1", "fail", [])
    assert [problem.message for problem in run.problems] == ["the run has no recorded conversation"]


def test_few_shot_transcripts_are_read_and_their_unnamed_calls_make_them_incomplete(tmp_path: Path) -> None:
    shown = "user: Hi, two\nlines\nassistant: None\ntool: Error: no\nassistant: Sorry.\nuser: ###STOP###"
    (run,) = runs(tmp_path, json.dumps({"messages_display": shown}) + "\n")
    assert run.events == [
        Received(None, {"text": "Hi, two\nlines"}),
        Sent(None, {"text": "Sorry."}),
        Received(None, {"text": ""}),
    ]
    assert [problem.message for problem in run.problems] == [
        "a tool was called whose name and arguments are not recorded"
    ]
