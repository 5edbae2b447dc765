"""Hostile lines in recorded runs: refused, or named as unreadable, and the lines behind them are read."""

import json
from pathlib import Path

import pytest

from cli.conftest import Duly
from duly import load
from duly.audit.detect import read
from duly.audit.run import audit
from gates.test_hostile import RAW

LINES: dict[str, tuple[str, str]] = {
    **{name: (f'{{"event": "called", "label": "pay", "payload": {text}, "id": "1"}}', "unrecognized")
       for name, text in RAW.items() if name not in ("nothing", "blanks")},
    "an integer of 400 digits": (f'{{"event": "called", "label": "pay", "payload": {{"x": {"9" * 400}}}, "id": "1"}}', "violation"),
    "a text of 10 MB": (json.dumps({"event": "called", "label": "pay", "payload": {"x": "a" * 10_000_000}, "id": "1"}), "violation"),
    "a huge exponent": ('{"event": "called", "label": "pay", "payload": {"x": 1e999999}, "id": "1"}', "violation"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_hostile_line_of_a_trace_is_refused_or_named_and_the_next_ones_are_read(name: str, duly: Duly, here: Path) -> None:
    line, expected = LINES[name]
    trace, contract = here / "run.jsonl", here / "c.yaml"
    good = '{"event": "called", "label": "look", "payload": {}, "id": "2"}'
    trace.write_text(f"{good}\n{line}\n{good.replace('2', '3')}\n", "utf-8")
    contract.write_text("duly: 1\ntools: {pay: {}, look: {}}\nrules: [{at_most_total: {of: pay, field: x, limit: 5}}]\n")
    said = duly("replay", trace, "-c", contract, "--json")
    assert [found["verdict"] for found in said.lines] == ["allowed", expected, "allowed"]
    assert said.code == (6 if expected == "unrecognized" else 4)
    (run,) = read(str(trace))
    report = audit(run, load(contract))
    assert (report.verdict, report.internal) == ("incomplete" if expected == "unrecognized" else "violation", [])
