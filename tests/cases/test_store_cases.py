"""Field cases about several processes that share one store: each with a journal of its own on the same file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cases.shared import absent, cases
from duly import Approval, Contract, Decided, Gate, NeedsApproval, Refused, Tool, at_most
from duly.journal.journal import open_journal
from duly.values.verdict import Verdict

CASES = {case["id"]: case for case in cases("field_cases.json")}
WORDS = {"allow": "allowed", "deny": "violation", "hold": "needs_approval", "grant": "allowed", "release": "allowed",
         "void": "violation", "note": "allowed"}  # fmt: skip


@contextmanager
def opened(contract: Contract, names: dict[str, str], wait: float = 10.0) -> Iterator[tuple[Path, dict[str, Gate]]]:
    """One gate for each process, on one file; ``names`` says in which session each process works."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "store.sqlite"
        journals = {process: open_journal(str(path), wait=wait) for process in names}
        gates = {p: Gate.open(contract, journals[p], session, wait=wait) for p, session in names.items()}
        yield path, gates
        for journal in journals.values():
            journal.close()


def asked(gate: Gate, told: dict[str, Any]) -> tuple[str, Verdict]:
    """What a gate says of a call, which runs where it is allowed."""
    try:
        call = gate.begin(told["label"], told["args"], id=told.get("id") or told["args"]["id"])
    except Refused as refused:
        return refused.verdict.word, refused.verdict
    return call.verdict.word, call.verdict


@absent("field_cases.json")
def test_of_two_workers_that_wake_one_approved_run_one_runs_it() -> None:
    case = CASES["F23"]
    contract = Contract(Approval("apply", by=("ana",)), tools=[Tool("apply", effect="write")])
    ran = []
    with opened(contract, {"P1": "s", "P2": "s"}) as (_, gates):
        ticket = None
        for told, expected in zip(case["events"], case["expected"], strict=True):
            gate = gates[told.get("process", "P1")]
            if told["dir"] == "human":
                said, verdict = gate.step(Decided("approve", ticket=ticket, by="ana")).word, None
            else:
                call = {"label": "apply", "args": {}, "id": "a1"}
                said, verdict = asked(gate, call)
                ran += [told["process"]] if said == "allowed" else []
                ticket = verdict.ticket if isinstance(verdict, NeedsApproval) else ticket
            assert said == WORDS[expected["verdict"]], told
            if expected["verdict"] == "void":
                assert [reason.kind for reason in verdict.reasons] == ["in_flight"]  # type: ignore[union-attr]
    assert ran == ["P1"]


@absent("field_cases.json")
def test_a_store_that_cannot_be_asked_refuses_and_says_so() -> None:
    case = CASES["F26"]
    contract = Contract(at_most("send", 3, per="day", scope="store"), name="mail", tools=[Tool("send")])
    ran = 0
    with opened(contract, {"P1": "s1", "P2": "s2"}, wait=2.0) as (path, gates):
        for told, expected in zip(case["events"], case["expected"], strict=True):
            if told["dir"] == "system":
                os.rename(path, path.with_suffix(".away"))
                continue
            gate = gates[told["process"]]
            said, verdict = asked(gate, told)
            ran += said == "allowed"
            assert said == WORDS[expected["verdict"]], told
            if said == "violation":
                kinds = [reason.kind for reason in verdict.reasons]  # type: ignore[union-attr]
                assert kinds == (["count"] if told["id"] == "s4" else ["store"])
        # what the store did not answer is counted by itself, and the limit's refusal is not among it
        counted = {process: dict(gate.session.unanswered) for process, gate in gates.items()}  # type: ignore[attr-defined]
        assert counted == {"P1": {"store": 1}, "P2": {}}
    assert ran == 3


def test_a_store_that_others_hold_for_too_long_refuses_as_busy() -> None:
    import sqlite3

    contract = Contract(at_most("send", 3, scope="store"), name="mail", tools=[Tool("send")])
    with opened(contract, {"P1": "s1"}, wait=0.1) as (path, gates):
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        said, verdict = asked(gates["P1"], {"label": "send", "args": {}, "id": "a"})
        assert (said, [reason.kind for reason in verdict.reasons]) == ("violation", ["busy"])  # type: ignore[union-attr]
        assert dict(gates["P1"].session.unanswered) == {"busy": 1}  # type: ignore[attr-defined]
        other.execute("ROLLBACK")
        other.close()
        assert asked(gates["P1"], {"label": "send", "args": {}, "id": "a"})[0] == "allowed"
