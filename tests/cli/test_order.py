"""`duly freeze`, `unfreeze`, `withdraw`, and what people decide about tickets: from another process, over the store."""

import json
from pathlib import Path

import pytest

import duly as library
from cli.conftest import Duly
from duly.journal.journal import open_journal

CONTRACT = """\
duly: 1
contract: till
tools:
  look: {effect: none}
  pay: {effect: write}
  write: {effect: write}
approvals:
  - {of: pay, ask: "Pay {args.amount}?", by: [ana, bo], need: 2, expires: 1h}
  - {of: write, stand: {within: {path: "/srv/**"}}}
"""


class Till:
    def __init__(self, folder: Path) -> None:
        self.contract, self.store = folder / "till.yaml", folder / "till.sqlite"
        self.contract.write_text(CONTRACT)
        self.options = ["--store", str(self.store), "--contract", str(self.contract)]

    def call(self, label: str, payload: dict[str, object]) -> library.Verdict:
        """What a gate says of a call that is asked for now; what runs has ended at once."""
        journal = open_journal(str(self.store))
        gate = library.Gate.open(library.load(self.contract), journal, "s1")
        try:
            passed = gate.begin(label, payload)
            gate.settle(passed, {})
            return passed.verdict
        except library.Refused as refused:
            return refused.verdict
        finally:
            gate.leave()
            journal.close()


@pytest.fixture
def till(here: Path) -> Till:
    return Till(here)


def ticket(verdict: library.Verdict) -> str:
    assert isinstance(verdict, library.NeedsApproval)
    assert verdict.ticket is not None
    return verdict.ticket


def test_a_ticket_is_shown_with_its_question_and_decided_by_those_who_may(duly: Duly, till: Till) -> None:
    name = ticket(till.call("pay", {"amount": 5}))
    (line,) = duly("pending", "--json", *till.options).lines
    assert (line["ticket"], line["question"], line["by"], line["need"], line["yes"]) == (
        name, "Pay 5?", ["ana", "bo"], 2, [],
    )  # fmt: skip
    assert 3500 < line["left"] <= 3600
    assert "0 of 2 yes, by ana or bo" in duly("pending", *till.options).out
    assert duly("approve", name, "--by", "eve", *till.options).code == 4
    assert duly("approve", name, "--by", "ana", *till.options).code == 0
    assert duly("approve", name, "--by", "ana", *till.options).code == 4
    assert ticket(till.call("pay", {"amount": 5})) == name
    assert duly("approve", name, "--by", "bo", *till.options).code == 0
    assert "granted by ana, bo" in duly("pending", *till.options).out
    assert till.call("pay", {"amount": 5}).word == "allowed"
    assert ticket(till.call("pay", {"amount": 5})) != name


def test_an_edited_act_runs_as_edited(duly: Duly, till: Till) -> None:
    name = ticket(till.call("write", {"path": "/etc/x"}))
    edited = json.dumps({"path": "/srv/x"})
    assert duly("approve", name, "--by", "ana", "--edit", edited, *till.options).code == 0
    verdict = till.call("write", {"path": "/etc/x"})
    assert isinstance(verdict, library.Allowed)
    assert verdict.payload == {"path": "/srv/x"}


def test_a_standing_yes_reaches_as_far_as_the_contract_lets_it_and_can_be_taken_back(duly: Duly, till: Till) -> None:
    name = ticket(till.call("write", {"path": "/srv/a"}))
    wide = json.dumps({"path": "/**"})
    assert duly("approve", name, "--by", "ana", "--always", "--scope", wide, *till.options).code == 4
    scope = json.dumps({"path": "/srv/**"})
    assert duly("approve", name, "--by", "ana", "--always", "--scope", scope, *till.options).code == 0
    assert till.call("write", {"path": "/srv/b"}).word == "allowed"
    assert till.call("write", {"path": "/etc/b"}).word == "needs_approval"
    assert duly("withdraw", "s1", "write", "--by", "ana", *till.options).code == 0
    assert till.call("write", {"path": "/srv/c"}).word == "needs_approval"


def test_a_frozen_session_reads_and_changes_nothing(duly: Duly, till: Till) -> None:
    till.call("look", {})
    assert duly("freeze", "s1", "--by", "ana", *till.options).code == 0
    assert till.call("look", {}).word == "allowed"
    frozen = till.call("write", {"path": "/srv/a"})
    assert (frozen.word, [reason.kind for reason in frozen.reasons]) == ("violation", ["frozen"])
    assert duly("unfreeze", "s1", "--by", "ana", *till.options).code == 0
    assert till.call("write", {"path": "/srv/a"}).word == "needs_approval"


@pytest.mark.parametrize(
    "options",
    [["--edit", "{"], ["--edit", "[]"], ["--scope", "{}"], ["--edit", "{}", "--always"]],
)
def test_what_is_no_decision_is_said_before_the_store_is_opened(duly: Duly, till: Till, options: list[str]) -> None:
    till.call("write", {"path": "/srv/a"})
    assert duly("approve", "t1-1", *options, *till.options).code == 2


def test_what_was_withdrawn_waits_no_longer(duly: Duly, till: Till) -> None:
    name = ticket(till.call("pay", {"amount": 5}))
    assert duly("withdraw", "s1", name, "--by", "ana", *till.options).code == 0
    assert duly("pending", *till.options).code == 0
    assert duly("withdraw", "s1", name, "--by", "ana", *till.options).code == 4


def test_a_running_gate_obeys_a_mode_from_another_process_and_what_ran_under_watch_counts(duly: Duly, here: Path) -> None:
    contract, store = here / "caps.yaml", here / "caps.sqlite"
    contract.write_text(
        "duly: 1\ncontract: caps\ntools: {pay: {effect: write}, look: {effect: none}}\n"
        "rules: [{at_most_total: {of: pay, field: n, limit: 10}, id: cap}, {at_most: {of: look, n: 1}, id: once}]\n"
    )
    options = ["--store", str(store), "--contract", str(contract), "--by", "ana"]
    journal = open_journal(str(store))
    gate = library.Gate.open(library.load(contract), journal, "s1")

    def said(label: str, **payload: object) -> str:
        try:
            passed = gate.begin(label, payload)
        except library.Refused as refused:
            return refused.verdict.word
        gate.settle(passed, {})
        return f"ran, {passed.verdict.word}"

    assert [said("pay", n=8), said("pay", n=5)] == ["ran, allowed", "violation"]
    assert duly("mode", "s1", "shadow", *options).out == "taken\n"
    assert [said("pay", n=5), said("look"), said("look")] == ["ran, violation", "ran, allowed", "ran, violation"]
    assert duly("mode", "s1", "enforce", *options).code == 0
    # 13 were spent, and of 10 nothing is left
    assert [said("pay", n=1), said("look")] == ["violation", "violation"]
    assert duly("mode", "s1", "shadow", "--rule", "once", *options).code == 0
    assert [said("look"), said("pay", n=1)] == ["ran, allowed", "violation"]
    assert duly("mode", "s1", "enforce", "--rule", "once", *options).code == 0
    assert said("look") == "violation"
    gate.leave()
    records = list(journal.read("s1", 0))
    # an order is recorded under the mode that it found
    assert [record.mode for record in records if record.event.__struct_config__.tag == "ordered"] == [
        "enforce", "shadow", "enforce", "enforce",
    ]  # fmt: skip
    assert [record.mode for record in records if record.verdict == "violation"] == [
        "enforce", "shadow", "shadow", "enforce", "enforce", "enforce", "enforce",
    ]  # fmt: skip
    journal.close()
    assert duly("replay", "--session", "s1", *options[:4]).code == 4


def test_a_mode_for_a_rule_that_is_none_is_not_taken(duly: Duly, till: Till) -> None:
    till.call("look", {})
    said = duly("mode", "s1", "shadow", "--rule", "cap", *till.options, "--by", "ana")
    assert (said.code, said.err) == (4, "finding: no rule `cap` (name a rule by its id)\n")
