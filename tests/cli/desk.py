"""A desk in a journal: a refusal, a call that was cut off, and an equal one that waits for it."""

from pathlib import Path

import duly
from duly.journal.journal import open_journal

CONTRACT = """\
duly: 1
contract: desk
version: "1"
tools:
  look: {effect: none}
  pay: {effect: write}
labels:
  Yes: {from: user, matches: "(?i)^yes"}
  Other: {from: user, otherwise: true}
protocol: |
  rec Desk.{?Other.Desk, ?Yes.rec Agreed.{?Yes.Agreed, ?Other.Desk, !pay.Desk}}
outside: [look]
"""


def desk(folder: Path) -> list[str]:
    """Writes contract and journal into the folder; gives the options that name them."""
    contract, store = folder / "desk.yaml", folder / "desk.sqlite"
    contract.write_text(CONTRACT, encoding="utf-8")
    journal = open_journal(str(store))
    gate = duly.Gate.open(duly.load(contract), journal, "s1")
    for _ in range(1):
        try:
            gate.begin("pay", {"n": 1})
        except duly.Refused:
            gate.hear("yes please")
    gate.fail(gate.begin("pay", {"n": 1}, id="c7"), "unknown", "timeout")
    gate.hear("yes")
    try:
        gate.begin("pay", {"n": 1}, id="c8")
    except duly.Refused:
        gate.leave()
    journal.close()
    return ["--store", str(store), "--contract", str(contract)]


def stored(options: list[str]) -> list[str]:
    """Only the options that name the journal."""
    return options[:2]
