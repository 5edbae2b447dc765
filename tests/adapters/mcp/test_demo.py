"""The demo's desk as an MCP server behind `duly mcp`, used by the real client: the same figures as in plain Python."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from duly.demo import show
from duly.demo.agent import Eager
from duly.demo.counter import play
from duly.demo.gate import contract_path
from duly.demo.run import SEED, scripted_runs
from duly.demo.served import LOG, NoDesk, Stage
from duly.demo.task import TASKS

from .driver import ENV, PYTHON

SOME = ("push-cancel", "two-changes", "not-refundable")


@pytest.mark.parametrize("era", ["2026", "2025"])
def test_the_desk_behind_the_gate_gives_what_the_plain_desk_gives(era: str, tmp_path: Path) -> None:
    plain = {(run.task, run.guarded): run for run in scripted_runs(SEED)}
    tasks = [task for task in TASKS if task.name in SOME]
    with Stage(tmp_path, era) as stage:
        runs = [
            play(task, Eager(SEED), guarded=guarded, setting=stage.place) for task in tasks for guarded in (False, True)
        ]
    for run in runs:
        known = plain[run.task, run.guarded]
        assert (run.served, run.unconfirmed, len(run.refusals)) == (
            known.served, known.unconfirmed, len(known.refusals)
        )  # fmt: skip
    text, before, after = next(each for each in stage.seen if set(each[1]) < set(each[2]))
    assert text.startswith("Yes")
    assert set(after) - set(before) == {
        "book_seats", "cancel_booking", "move_booking", "change_seats", "send_voucher",
    }  # fmt: skip
    shown = subprocess.run(
        [PYTHON, "-m", "duly", "sessions", "--store", str(stage.store), "--json"],
        capture_output=True, text=True, env=ENV, check=True,
    )  # fmt: skip
    assert {json.loads(line)["session"] for line in shown.stdout.splitlines()} == set(SOME)


def test_a_refusal_reaches_the_client_word_for_word(tmp_path: Path) -> None:
    task = next(task for task in TASKS if task.name == "push-cancel")
    with Stage(tmp_path, "2026") as stage:
        run = play(task, Eager(SEED), guarded=True, setting=stage.place)
    assert run.refusals[0].text.startswith("refused: `cancel_booking` has no place in the protocol in state `Desk`")
    assert "to make it legal: first say `Ask`, then ask for `Yes`" in run.refusals[0].text
    written = StringIO()
    show.store(Console(file=written, width=show.WIDTH), stage.store, contract_path(), task.name)
    shown = written.getvalue()
    assert f"duly sessions --store {stage.store}" in shown
    assert "1 session" in shown
    assert "“Yes. Cancel it.”" in shown
    assert "11 events decided again by box-office" in shown
    assert "error" not in shown


def test_a_server_that_does_not_start_ends_the_demo_and_does_not_hang_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(NoDesk), Stage(tmp_path, "2026") as stage:
        stage.place("push-cancel", False).gate.offered()
    assert (tmp_path / LOG).exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--era", "1999"], "unknown era `1999`"), (["--model", "local"], "the scripted agent serves")],
)
def test_what_cannot_be_played_is_said_before_anything_starts(options: list[str], said: str, tmp_path: Path) -> None:
    command = [PYTHON, "-m", "duly.demo", "--mcp", "--out", str(tmp_path / "runs"), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=ENV, check=False)
    assert (done.returncode, said in done.stderr) == (2, True)
    assert not (tmp_path / "runs").exists()
