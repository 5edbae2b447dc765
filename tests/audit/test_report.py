"""Figures over many runs, the exit code, JSON, and a file that cannot be read among others."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from duly.audit import report as subject
from duly.audit.report import Note, Report, audit_files
from duly.audit.run import Finding
from duly.machine.contract import Contract
from duly.machine.rule import must_precede

CONTRACT = Contract(must_precede("lookup", "pay"), name="desk", version="1.0")


def conversation(*calls: str, reward: float | None = None, task: int = 0) -> dict[str, Any]:
    traj: list[dict[str, Any]] = [{"role": "user", "content": "pay [it]"}]
    for number, name in enumerate(calls):
        call = {"id": str(number), "type": "function", "function": {"name": name, "arguments": '{"n": 1}'}}
        traj.append({"role": "assistant", "content": None, "tool_calls": [call]})
        traj.append({"role": "tool", "tool_call_id": str(number), "content": "ok"})
    return {"task_id": task, "trial": 0, "reward": reward, "traj": traj}


def written(folder: Path, name: str, *runs: Any) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(run) + "\n" for run in runs), encoding="utf-8")
    return path


def test_runs_are_counted_by_verdict_and_beside_their_outcome(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "runs.jsonl",
        conversation("pay", "pay", reward=1, task=1),
        conversation("lookup", "pay", reward=1, task=2),
        conversation("pay", reward=0, task=3),
        conversation("lookup", task=4),
    )
    report = audit_files([path], CONTRACT)
    assert (report.files, report.runs, report.violating_runs, report.passing_runs) == (1, 4, 2, 2)
    tallies = {outcome: (tally.runs, tally.violating) for outcome, tally in report.by_outcome.items()}
    assert tallies == {"pass": (2, 1), "fail": (1, 1), "unknown": (1, 0)}
    assert [(finding.run, finding.counted) for finding in report.findings] == [
        ("1/0", True),
        ("1/0", False),
        ("3/0", True),
    ]
    assert (report.violating_calls, report.events, report.exit_code) == (3, 16, 4)
    assert report.mute_formats == ["tau-bench"]


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_audited(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.touch()
    seen: list[tuple[int, int]] = []
    good = written(tmp_path, "runs.jsonl", conversation("lookup"))
    report = audit_files([empty, good], CONTRACT, on_file=lambda done, total: seen.append((done, total)))
    help = "an empty record proves nothing: look for the original"
    assert report.unreadable_files == [Note(str(empty), "empty", "is empty", help=help)]
    assert (report.files, report.runs, report.exit_code, seen) == (2, 1, 6, [(1, 2), (2, 2)])


def test_an_error_in_a_reader_is_named_as_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr(subject, "audit", broken)
    report = audit_files([written(tmp_path, "runs.jsonl", conversation("lookup"))], CONTRACT)
    assert [note.message for note in report.internal] == ["the reader failed: KeyError: 'x'"]
    assert report.exit_code == 1


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"runs": 1, "passing_runs": 1}, 0),
        ({"runs": 1, "incomplete_runs": 1}, 6),
        ({"runs": 1, "unreadable_files": [Note("f", "empty", "is empty")]}, 6),
        ({"runs": 2, "violating_runs": 1, "incomplete_runs": 1}, 4),
        ({"runs": 2, "violating_runs": 1, "internal": [Note("f", "internal", "x")]}, 1),
        ({}, 6),
    ],
)
def test_the_gravest_of_several_gives_the_exit_code(facts: dict[str, Any], code: int) -> None:
    assert Report(**facts).exit_code == code


def test_a_torn_log_is_incomplete_and_never_a_pass(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = [
        '{"type": "call", "id": "1", "tool": "lookup", "args": {}}',
        "",
        "\0\0\0",
        '{"type": "result", "id": "1", "ok": true}',
    ]
    path.write_text("\n".join([*lines, '{"type": "call", "id": "2", "to']), encoding="utf-8")
    report = audit_files([path], CONTRACT)
    assert [note.text() for note in report.problems] == [
        f"{path}:3: nothing but zero bytes",
        f"{path}:5: the file ends inside this record",
    ]
    assert (report.incomplete_runs, report.events, report.exit_code) == (1, 2, 6)


def test_a_violation_in_the_sound_part_of_a_torn_log_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"type": "call", "id": "1", "tool": "pay"}\n{"type": "call", "to', encoding="utf-8")
    report = audit_files([path], CONTRACT)
    assert (report.violating_runs, report.incomplete_runs, report.exit_code) == (1, 0, 4)


def test_one_run_in_four_formats_has_the_same_findings(tmp_path: Path) -> None:
    chat = conversation("pay", "lookup", "pay")["traj"]
    blocks: list[dict[str, Any]] = [{"role": "user", "content": "pay [it]"}]
    native, steps = [{"event": "received", "label": None, "payload": {"text": "pay [it]"}}], []
    steps.append({"type": "user", "content": "pay [it]"})
    for number, name in enumerate(("pay", "lookup", "pay")):
        id = str(number)
        blocks.append(
            {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": {"n": 1}}]}
        )
        blocks.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]})
        native.append({"event": "called", "label": name, "payload": {"n": 1}, "id": id})
        native.append({"event": "returned", "label": name, "payload": "ok", "id": id})
        steps.append({"type": "call", "id": id, "tool": name, "args": {"n": 1}})
        steps.append({"type": "result", "id": id, "result": "ok"})
    found = set()
    for name, records in (("chat", chat), ("blocks", blocks), ("native", native), ("steps", steps)):
        report = audit_files([written(tmp_path, name, *records)], CONTRACT)
        found.add(tuple((f.index, f.rule, f.label, f.outcome, f.message, f.shown, f.heard) for f in report.findings))
    assert len(found) == 1
    assert [finding[:4] for finding in found.pop()] == [(1, "must_precede(lookup, pay)", "!pay", "ok")]


def test_json_holds_every_figure(tmp_path: Path) -> None:
    report = audit_files([written(tmp_path, "runs.jsonl", conversation("pay", reward=1))], CONTRACT)
    value = json.loads(report.to_json())
    assert {
        key: value[key] for key in ("contract", "version", "runs", "violating_runs", "exit_code", "by_outcome")
    } == {
        "contract": "desk",
        "version": "1.0",
        "runs": 1,
        "violating_runs": 1,
        "exit_code": 4,
        "by_outcome": {
            "pass": {"runs": 1, "violating": 1},
            "fail": {"runs": 0, "violating": 0},
            "unknown": {"runs": 0, "violating": 0},
        },
    }
    assert value["findings"][0]["rule"] == "must_precede(lookup, pay)"


def test_tables_show_rules_outcomes_and_the_first_violating_runs(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.touch()
    runs = [conversation("pay", reward=1, task=task) for task in range(3)]
    report = audit_files([written(tmp_path, "runs.jsonl", *runs), empty], CONTRACT)
    out = StringIO()
    report.render(Console(file=out, width=200, color_system=None), runs=2)
    text = out.getvalue()
    for part in (
        "desk 1.0 3 runs in 2 files, 9 events: 3 violating, 0 incomplete, 0 passing",
        "must_precede(lookup, pay)   order",
        "pass         3           3   100.0 %",
        "0/0 ",
        "heard  pay [it]",
        'did    !pay {"n":1}',
        "and 1 more violating run\n",
        "files that could not be read (1)",
        "empty.json: is empty",
        "tau-bench cannot say that a call failed",
    ):
        assert part in text, (part, text)


def test_findings_on_failed_calls_stand_apart_where_effective_calls_count() -> None:
    report = Report(contract="x", count="effective")
    report.findings = [
        Finding(file="f", run="1", index=0, rule="r", kind="order", label="!pay", message="m", outcome=outcome)
        for outcome in ("error", "ok")
    ]
    value = json.loads(report.to_json())
    assert [each["outcome"] for each in value["findings"]] == ["ok"]
    assert [each["outcome"] for each in value["findings_left_out"]] == ["error"]
