"""What a rule in shadow would have said, and what was not done in time: in the log, in replays and in audits."""

import json
from pathlib import Path

import duly as library
from cli.conftest import Duly
from duly.journal.journal import open_journal

CONTRACT = """\
duly: 1
contract: watched
tools: {look: {effect: none}, pay: {effect: write}, lock: {effect: write}, unlock: {effect: write}}
rules:
  - {must_precede: [look, pay], mode: shadow, id: look-first}
  - {must_follow: {of: lock, by: unlock, within: 30s}, id: unlock-soon}
"""


def written(folder: Path) -> list[str]:
    contract, store = folder / "watched.yaml", folder / "watched.sqlite"
    contract.write_text(CONTRACT)
    journal = open_journal(str(store))
    now = [0.0]
    gate = library.Gate.open(library.load(contract), journal, "s1", clock=lambda: now[0])
    gate.settle(gate.begin("lock", {}), {})
    now[0] = 40.0
    passed = gate.begin("pay", {})
    assert [reason.rule for reason in passed.verdict.noted] == ["look-first", "unlock-soon"]
    gate.settle(passed, {})
    gate.leave()
    journal.close()
    return ["--store", str(store), "--contract", str(contract)]


def test_a_log_shows_what_was_noted_beside_an_act_that_ran(duly: Duly, here: Path) -> None:
    options = written(here)
    said = duly("log", "s1", *options[:2])
    assert "noted: look-first: `pay` needs an earlier `look`" in said.out
    assert "noted: unlock-soon: `unlock` did not follow `lock` within 30 s" in said.out
    lines = duly("log", "s1", "--refused", "--json", *options[:2]).lines
    assert [[each["rule"] for each in line["noted"]] for line in lines] == [["look-first", "unlock-soon"]]


def test_a_replay_shows_it_and_an_audit_finds_it(duly: Duly, here: Path) -> None:
    options = written(here)
    assert "noted: look-first" in duly("replay", "--session", "s1", *options).out
    trace = here / "run.jsonl"
    events = [{"event": "called", "label": "pay", "payload": {}, "id": "1"}, {"event": "returned", "label": "pay", "id": "1"}]
    trace.write_text("".join(json.dumps(event) + "\n" for event in events))
    said = duly("audit", str(trace), "--contract", options[3], "--json")
    assert [finding["rule"] for finding in json.loads(said.out)["findings"]] == ["look-first"]
    assert said.code == 4
