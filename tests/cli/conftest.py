"""Runs verbs in this process, in a folder of their own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from duly.cli.main import application

CONTRACT = """\
duly: 1
contract: refunds
version: "1"
tools:
  find_order: {effect: none}
  refund_order: {effect: write}
labels:
  Yes: {from: user, matches: "(?i)^yes"}
  Other: {from: user, otherwise: true}
rules:
  - must_precede: [Yes, refund_order]
  - at_most: {of: refund_order, n: 1}
examples:
  - {text: "Yes, please", label: Yes}
"""
GOOD = """\
{"event": "received", "label": null, "payload": {"text": "Yes, please"}}
{"event": "called", "label": "refund_order", "payload": {"id": 3}, "id": "c1"}
{"event": "returned", "label": "refund_order", "payload": {"ok": true}, "id": "c1"}
{"event": "closed"}
"""
BAD = """\
{"event": "called", "label": "refund_order", "payload": {"id": 3}, "id": "c1"}
{"event": "received", "label": null, "payload": {"text": "Yes, please"}}
{"event": "called", "label": "refund_order", "payload": {"id": 3}, "id": "c2"}
{"event": "returned", "label": "refund_order", "payload": {"ok": true}, "id": "c2"}
{"event": "closed"}
"""


class Said:
    """How a verb ended: its exit code and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Duly = Callable[..., Said]


@pytest.fixture
def duly() -> Duly:
    """`duly("check", path)`; a traceback on any stream fails the test."""
    app = application()

    def run(*args: object, stdin: str | bytes | None = None) -> Said:
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert "Traceback" not in result.stdout + result.stderr
        return Said(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a contract, a good run and a bad one, in which the verbs run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "good.jsonl").write_text(GOOD)
    (tmp_path / "bad.jsonl").write_text(BAD)
    return tmp_path


def sparse(path: Path, size: int = 50 * 2**20) -> Path:
    """A file of zero bytes that takes no room."""
    with path.open("wb") as file:
        file.truncate(size)
    return path
