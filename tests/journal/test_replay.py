from decimal import Decimal

import pytest

from duly import Called, Closed, Contract, DulyError, Failed, Returned, Sent, protocol
from duly.journal.journal import open_journal
from duly.journal.record import Meta, Record
from duly.journal.replay import again, held, state_of
from duly.session.snapshot import save
from duly.testing.material import CONTRACT, run

RUN = (
    Called("pay", {"n": 1}, id="x"),
    Called("look", {"n": 0.1}, id="a", at=2.5),
    Returned("look", {"v": 1}, id="a"),
    Called("pay", {"n": 2}, id="b"),
    Failed("b", "unknown"),
    Called("pay", {"n": Decimal("2.0")}, id="c"),
)


def test_events_decided_again_have_the_recorded_verdicts_and_lead_to_the_same_state():
    journal = open_journal("memory:")
    state = run(journal, "s", *RUN)
    steps = list(again(CONTRACT, journal.read("s")))
    assert [step.verdict.word for step in steps] == [
        "violation", "allowed", "allowed", "allowed", "allowed", "needs_approval",
    ]  # fmt: skip
    assert all(step.agrees for step in steps)
    assert save(CONTRACT, steps[-1].state) == save(CONTRACT, state)


def test_verdict_that_is_not_the_recorded_one_is_seen():
    (step,) = again(CONTRACT, [Record(0, Called("pay", {}), "allowed", 1.0)])
    assert (step.verdict.word, step.agrees) == ("violation", False)


def test_what_a_gate_said_without_deciding_moves_nothing():
    (step,) = again(CONTRACT, [Record(0, Closed(), "unrecognized", 1.0, judged=False)])
    assert (step.verdict, step.state, step.agrees) == (None, CONTRACT.start, True)


def test_guards_over_exact_values_decide_again_as_they_did_live():
    contract = Contract(
        protocol(
            "rec L.{!ask(n as wanted).L, !pay{n <= wanted}.?pay.L, !end.end}".replace("{n <= wanted}", "(n == wanted)")
        )
    )
    journal = open_journal("memory:")
    run(journal, "s", Sent("ask", {"n": 0.1}), Called("pay", {"n": 0.1}, id="a"), Called("pay", {"n": 0.3}, id="b"),
        contract=contract)  # fmt: skip
    steps = list(again(contract, journal.read("s")))
    assert [step.record.verdict for step in steps] == ["allowed", "allowed", "violation"]
    assert all(step.agrees for step in steps)


def test_state_is_that_of_the_snapshot_and_the_records_after_it():
    journal = open_journal("memory:")
    middle = run(journal, "s", *RUN[:3])
    journal.save_snapshot("s", 3, save(CONTRACT, middle))
    end = run(journal, "s", *RUN[3:])
    state, length = state_of(CONTRACT, journal, "s")
    assert (save(CONTRACT, state), length) == (save(CONTRACT, end), 6)


@pytest.mark.parametrize("damage", [{"sum": ""}, {"cursors": [5]}, {"duly": 99}])
def test_damaged_snapshot_is_worked_out_again_from_the_records(damage):
    journal = open_journal("memory:")
    state = run(journal, "s", *RUN)
    journal.save_snapshot("s", 6, {**save(CONTRACT, CONTRACT.start), **damage})
    assert save(CONTRACT, state_of(CONTRACT, journal, "s")[0]) == save(CONTRACT, state)


def test_session_of_another_contract_is_refused():
    journal = open_journal("memory:")
    journal.note("s", Meta("desk", "1.2", "sha256:0123456789abcdef", 1.0))
    with pytest.raises(DulyError) as caught:
        state_of(CONTRACT, journal, "s")
    message = (
        f"the session `s` is held to `desk` 1.2 (sha256:0123456789ab), not to this contract ({CONTRACT.digest[:19]})"
    )
    assert [diagnostic.message for diagnostic in caught.value.diagnostics] == [message]


def test_session_that_nobody_noted_is_held_to_nothing_yet():
    held(CONTRACT, open_journal("memory:"), "s")
