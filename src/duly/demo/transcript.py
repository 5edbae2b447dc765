"""The runs as files that any audit can read: one run a line, its messages in the form of chat completions."""

import json
from collections.abc import Iterable
from pathlib import Path
from shutil import copyfile
from typing import Any, Final

from msgspec import Struct

from duly.audit.report import Report, audit_files
from duly.gates.labels import Classifier

from .counter import Run
from .gate import CONTRACT, contract, contract_path

WITHOUT: Final = "without.jsonl"
WITH: Final = "with.jsonl"


class Written(Struct, frozen=True):
    """Where the transcripts and the contract lie."""

    without: Path
    with_: Path
    contract: Path


def write(runs: Iterable[Run], folder: Path) -> Written:
    """Writes the runs of both kinds, and beside them the contract to audit them with."""
    folder.mkdir(parents=True, exist_ok=True)
    written = Written(folder / WITHOUT, folder / WITH, folder / CONTRACT)
    both = list(runs)
    for path, guarded in ((written.without, False), (written.with_, True)):
        lines = [json.dumps(_line(run), ensure_ascii=False) for run in both if run.guarded is guarded]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    copyfile(contract_path(), written.contract)
    return written


def audit(path: Path) -> Report:
    """What the demo's contract says of a file of transcripts."""
    return audit_files([path], contract(), Classifier(contract().terms.labels))


def found(report: Report) -> dict[str, int]:
    """How many calls of each run took effect against the contract."""
    calls: dict[str, set[int]] = {}
    for finding in report.findings:
        if finding.outcome != "error":
            calls.setdefault(finding.run, set()).add(finding.index)
    return {run: len(indexes) for run, indexes in sorted(calls.items())}


def _line(run: Run) -> dict[str, Any]:
    return {"id": run.task, "task_id": run.task, "reward": 1.0 if run.served else 0.0, "messages": run.messages}
