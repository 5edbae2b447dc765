"""Several processes at one session in one file, and processes that are killed in the middle of it."""

import os
import random
import signal
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

from duly import Contract, Gate, Ordered, Refused, Tool, at_most, guard
from duly.journal.journal import open_journal
from duly.journal.replay import again
from duly.session.snapshot import save
from steps import why

ONCE = Contract(at_most("pay", 1), name="once", tools=[Tool("pay", effect="write")])
MANY = Contract(
    at_most("pay", 100_000), name="many", tools=[Tool("look", effect="none"), Tool("pay", effect="write")]
)  # fmt: skip

SOAK = os.environ.get("DULY_SOAK") == "1"
"""All moments instead of a tenth of them."""


def _pay_often(path: str, paid: str, calls: int) -> None:
    gate = Gate.open(ONCE, open_journal(path, wait=30), "s", wait=60)

    @guard(gate)
    def pay(n: int) -> str:
        with open(paid, "a") as file:
            file.write(f"{os.getpid()}\n")
        return "paid"

    for n in range(calls):
        try:
            pay(n)
        except Refused as refused:
            kinds = {reason.kind for reason in refused.verdict.reasons}
            assert kinds == {"count"}, kinds


def test_tool_that_may_run_once_runs_once_in_four_processes_of_twenty_calls(tmp_path: Path) -> None:
    path, paid = str(tmp_path / "j.sqlite"), tmp_path / "paid"
    open_journal(path).close()
    context = get_context("spawn")
    processes = [context.Process(target=_pay_often, args=(path, str(paid), 20)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(paid.read_text().splitlines()) == 1
    journal = open_journal(path)
    steps = list(again(ONCE, journal.read("s")))
    assert [step.record.verdict for step in steps].count("violation") == 79
    assert len(steps) == 81
    assert all(step.agrees for step in steps)


def _work_until_killed(path: str, seed: int, told: int) -> None:
    """Decides without end, says what is decided, and is killed at a moment that nobody in it knows of."""
    pause = random.Random(seed).uniform(0.001, 0.06)

    def kill() -> None:
        sleep(pause)
        os.kill(os.getpid(), signal.SIGKILL)

    gate = Gate.open(MANY, open_journal(path), "s", every=7)
    Thread(target=kill).start()
    number = 0
    while True:
        for label in ("look", "pay"):
            passed = gate.begin(label, {"n": number})
            os.write(told, f"begun {passed.id}\n".encode())
            gate.settle(passed, {"n": number})
            os.write(told, f"ended {passed.id}\n".encode())
        number += 1


def _killed(path: str, seed: int) -> list[list[str]]:
    """What a process had been told before it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            _work_until_killed(path, seed, writer)
        finally:
            os._exit(3)
    os.close(writer)
    with os.fdopen(reader) as file:
        lines = [line.split() for line in file.read().splitlines()]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return lines


@pytest.mark.parametrize("seed", range(100 if SOAK else 10))
def test_no_decision_is_lost_when_a_process_is_killed_in_the_middle(tmp_path: Path, seed: int) -> None:
    path = str(tmp_path / "j.sqlite")
    open_journal(path).close()
    told = _killed(path, seed)
    journal = open_journal(path)
    journal.check()
    steps = list(again(MANY, journal.read("s")))
    assert all(step.agrees for step in steps)
    recorded = [["begun" if step.record.status == "open" else "ended", step.record.call] for step in steps]
    assert recorded[: len(told)] == told
    assert len(recorded) - len(told) in (0, 1)
    gate = Gate.open(MANY, journal, "s")
    left = [call.label for call in gate.session.state.open.values()]
    if recorded and recorded[-1][0] == "begun" and steps[-1].record.event.label == "pay":  # type: ignore[union-attr]
        assert (left, [call.uncertain for call in gate.session.state.open.values()]) == (["pay"], [True])
    else:
        assert left == []
    gate.settle(gate.begin("pay", {"n": -1}), 1)
    assert save(MANY, [*again(MANY, journal.read("s"))][-1].state) == save(MANY, gate.session.state)


def test_call_of_a_killed_process_is_uncertain_and_an_equal_one_waits_until_a_person_settles_it(tmp_path: Path) -> None:
    path = str(tmp_path / "j.sqlite")
    open_journal(path).close()
    child = os.fork()
    if child == 0:
        Gate.open(MANY, open_journal(path), "s").begin("pay", {"n": 1})
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    gate = Gate.open(MANY, open_journal(path), "s")
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": 1})
    assert (caught.value.verdict.word, why(caught.value.verdict)) == ("needs_approval", [("call", "uncertain")])
    assert gate.begin("pay", {"n": 2}).verdict.word == "allowed"
    (identity,) = (key for key, call in gate.session.state.open.items() if call.uncertain)
    assert gate.step(Ordered("settle", identity, "ana", payload={"as": "failed"})).word == "allowed"
    assert gate.begin("pay", {"n": 1}).verdict.word == "allowed"


def test_call_of_a_process_that_runs_is_not_uncertain_for_others(tmp_path: Path) -> None:
    path = str(tmp_path / "j.sqlite")
    Gate.open(MANY, open_journal(path), "s").begin("pay", {"n": 1})
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        state = Gate.open(MANY, open_journal(path), "s").session.state
        os.write(writer, repr([call.uncertain for call in state.open.values()]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"[False]"


@pytest.mark.parametrize("opened", ["before", "after"])
def test_call_of_a_process_that_is_killed_later_is_uncertain_for_whoever_has_the_session_open(
    tmp_path: Path, opened: str
) -> None:
    path = str(tmp_path / "j.sqlite")
    gate = Gate.open(MANY, open_journal(path), "s") if opened == "before" else None
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        Gate.open(MANY, open_journal(path), "s").begin("pay", {"n": 1})
        os.write(writer, b".")
        sleep(60)
        os._exit(0)
    os.read(reader, 1)
    gate = gate or Gate.open(MANY, open_journal(path), "s")
    assert gate.begin("pay", {"n": 2}).verdict.word == "allowed"
    assert [call.uncertain for call in gate.session.state.open.values()] == [False, False]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": 1})
    assert why(caught.value.verdict) == [("call", "uncertain")]
    assert [call.uncertain for call in gate.session.state.open.values()] == [True, False]


def test_session_that_was_opened_before_a_fork_is_shared_with_the_child(tmp_path: Path) -> None:
    gate = Gate.open(ONCE, open_journal(str(tmp_path / "j.sqlite")), "s")
    child = os.fork()
    if child == 0:
        gate.settle(gate.begin("pay", {}), 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(Refused):
        gate.begin("pay", {})
