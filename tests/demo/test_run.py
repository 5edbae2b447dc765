"""The demo from end to end: its figures, its files, its audit, its exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from duly.demo import transcript
from duly.demo.run import SEED, scripted_runs
from duly.demo.score import figures, score, unconfirmed


def _demo(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "duly.demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_scripted_agent_slips_four_times_without_duly_and_never_with_it() -> None:
    runs = scripted_runs(SEED)
    without = figures(run for run in runs if not run.guarded)
    guarded = figures(run for run in runs if run.guarded)
    assert (without.runs, without.unconfirmed, without.served, without.served_with_unconfirmed) == (12, 4, 11, 3)
    assert (guarded.runs, guarded.unconfirmed, guarded.served, guarded.refusals) == (12, 0, 12, 4)


@pytest.mark.parametrize("seed", range(12))
def test_no_seed_gets_an_unconfirmed_change_past_duly_and_the_audit_agrees_with_the_customers(
    seed: int, tmp_path: Path
) -> None:
    runs = scripted_runs(seed)
    written = transcript.write(runs, tmp_path)
    found = [transcript.found(transcript.audit(path)) for path in (written.without, written.with_)]
    result = score(runs, model="scripted", seed=seed, audit_without=found[0], audit_with=found[1])
    assert (result.with_.unconfirmed, result.with_.served) == (0, 12)
    assert found == [unconfirmed(runs, guarded=False), {}]
    assert result.agrees


def test_audit_names_the_runs_in_which_the_agent_slipped(tmp_path: Path) -> None:
    written = transcript.write(scripted_runs(SEED), tmp_path)
    report = transcript.audit(written.without)
    assert transcript.found(report) == {"other-yes": 1, "push-cancel": 1, "two-changes": 1, "unclear": 1}
    assert report.exit_code == 4
    assert transcript.audit(written.with_).exit_code == 0


def test_same_seed_writes_the_same_transcripts(tmp_path: Path) -> None:
    first, second = (transcript.write(scripted_runs(SEED), tmp_path / name) for name in ("a", "b"))
    assert first.without.read_bytes() == second.without.read_bytes()
    assert first.with_.read_bytes() == second.with_.read_bytes()


def test_demo_prints_no_line_wider_than_a_page_and_no_colours_into_a_file(tmp_path: Path) -> None:
    done = _demo("--out", str(tmp_path / "runs"))
    assert done.returncode == 0, done.stderr
    shell = f"duly audit {tmp_path / 'runs' / 'without.jsonl'}"
    wide = [line for line in done.stdout.splitlines() if len(line) > 100 and shell not in line]
    assert wide == []
    assert "\x1b" not in done.stdout
    assert "What next" in done.stdout


def test_demo_gives_its_figures_as_json(tmp_path: Path) -> None:
    done = _demo("--json", "--out", str(tmp_path))
    value = json.loads(done.stdout)
    assert (value["without"]["unconfirmed"], value["with"]["unconfirmed"], value["agrees"]) == (4, 0, True)
    assert len(value["tasks"]) == 24


def test_unknown_model_is_a_usage_error() -> None:
    done = _demo("--model", "huge")
    assert (done.returncode, done.stderr) == (2, "unknown model `huge`; a model is `scripted` or `local`\n")


def test_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = _demo("--out", str(tmp_path / "file"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cannot write to `")
