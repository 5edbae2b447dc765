"""Many at once against one cap, one yes, one store: never one too many, and nothing is lost."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from duly import (
    Approval,
    Contract,
    Decided,
    Gate,
    Ledger,
    NeedsApproval,
    Refused,
    Rule,
    Session,
    Tool,
    at_most,
    at_most_total,
)
from duly.journal.journal import Journal, open_journal
from duly.machine.watch.outer import add
from duly.session.split import left

ROUNDS = 100 if os.environ.get("DULY_SOAK") else 10
STORE_ROUNDS = {
    kind: rounds * (10 if os.environ.get("DULY_SOAK") else 1)
    for kind, rounds in {"threads": 500, "stored": 60, "tasks": 400, "processes": 40}.items()
}
"""Rounds against one cap over a store: 1,000 in all."""
CAPPED = Contract(
    at_most("pay", 5),
    Rule("at_most_total", {"of": "pay", "field": "amount", "limit": 10}),
    tools=[Tool("pay", effect="write", idempotent=True)],
)
ASKING = Contract(Approval("pay", by=("ana",)), tools=[Tool("pay", effect="write", idempotent=True)])


def begun(gate: Gate, amount: float, id: str | None = None) -> bool:
    try:
        call = gate.begin("pay", {"amount": amount}, id=id)
    except Refused:
        return False
    gate.settle(call, {})
    return True


def test_sixty_four_threads_take_no_more_than_the_cap_leaves() -> None:
    for _ in range(ROUNDS):
        gate = Gate(Session(CAPPED))
        with ThreadPoolExecutor(64) as pool:
            done = list(pool.map(lambda n, gate=gate: begun(gate, 2.5), range(64)))
        assert sum(done) == 4
        assert gate.session.state.open == {}


def test_sixty_four_tasks_take_no_more_than_the_cap_leaves(tmp_path: Path) -> None:
    journal = open_journal(str(tmp_path / "a.sqlite"))
    gate = Gate.open(CAPPED, journal, "s")

    async def one() -> bool:
        try:
            call = await gate.abegin("pay", {"amount": 1})
        except Refused:
            return False
        await gate.asettle(call, {})
        return True

    async def all_of_them() -> list[bool]:
        return list(await asyncio.gather(*(one() for _ in range(64))))

    assert sum(asyncio.run(all_of_them())) == 5
    gate.leave()
    journal.close()


@pytest.mark.parametrize("same_id", [True, False])
def test_eight_that_share_a_store_run_one_yes_once(tmp_path: Path, same_id: bool) -> None:
    for number in range(ROUNDS):
        path = str(tmp_path / f"{number}.sqlite")
        journals = [open_journal(path) for _ in range(8)]
        gates = [Gate.open(ASKING, journal, "s") for journal in journals]
        with pytest.raises(Refused) as caught:
            gates[0].begin("pay", {"amount": 1}, id="c1")
        verdict = caught.value.verdict
        assert isinstance(verdict, NeedsApproval)
        assert gates[1].step(Decided("approve", ticket=verdict.ticket, by="ana"))
        gather = Barrier(8)

        def resume(place: int, gates: list[Gate] = gates, gather: Barrier = gather) -> bool:
            gather.wait()
            return begun(gates[place], 1, "c1" if same_id else f"other-{place}")

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(resume, range(8))) == 1
        for gate, journal in zip(gates, journals, strict=True):
            gate.leave()
            journal.close()


OVER_ALL = [at_most("pay", 5, scope="store", id="times"),
            at_most_total("pay", "amount", 10, scope="store", id="money")]  # fmt: skip


def over_all(name: str) -> Contract:
    """A contract whose caps count in ledgers of its own."""
    return Contract(*OVER_ALL, name=name, tools=[Tool("pay", effect="write", idempotent=True)])


def taken(gate: Gate, number: int) -> bool:
    """A call of 2; every third one turns out not to have happened, and gives its place back."""
    try:
        call = gate.begin("pay", {"amount": 2})
    except Refused as refused:
        if {reason.kind for reason in refused.verdict.reasons} <= {"count", "amount"}:
            return False
        raise
    if number % 3 == 0:
        gate.fail(call, "none", "cut")
        return False
    gate.settle(call, {})
    return True


def none_over(done: int, gates: list[Gate], held: dict[str, Any], name: str) -> None:
    """Never more than the cap, and the ledger says what was kept, no more and no less."""
    assert done <= 5
    assert all(gate.session.state.open == {} for gate in gates)
    assert held.get(f"{name}/times", {}) == ({"": {"": {"n": done}}} if done else {})
    assert held.get(f"{name}/money", {}) == ({"": {"": {"": 2 * done}}} if done else {})


def totals(journal: Journal) -> dict[str, Any]:
    """What the postings of each ledger come to."""
    found: dict[str, Any] = {}
    for ledger in journal.ledgers():
        for posting in journal.postings(ledger):
            add(found.setdefault(ledger, {}), posting.add)
    return found


def test_sixty_four_threads_of_sixty_four_sessions_stay_under_one_cap() -> None:
    contract = over_all("threads")
    with ThreadPoolExecutor(64) as pool:
        for _ in range(STORE_ROUNDS["threads"]):
            ledger = Ledger()
            gates = [Gate(Session(contract, ledger=ledger)) for _ in range(64)]
            done = sum(pool.map(taken, gates, range(64)))
            none_over(done, gates, {name: ledger.total(name) for name in ledger.names}, "threads")


def test_sixty_four_threads_of_sixty_four_stored_sessions_stay_under_one_cap() -> None:
    contract = over_all("stored")
    with ThreadPoolExecutor(64) as pool:
        for _ in range(STORE_ROUNDS["stored"]):
            journal = open_journal("memory:")
            gates = [Gate.open(contract, journal, f"s{n}") for n in range(64)]
            done = sum(pool.map(taken, gates, range(64)))
            none_over(done, gates, totals(journal), "stored")


def test_sixty_four_tasks_of_sixty_four_sessions_stay_under_one_cap() -> None:
    contract = over_all("tasks")

    async def one(gate: Gate, number: int) -> bool:
        try:
            call = await gate.abegin("pay", {"amount": 2})
        except Refused:
            return False
        await asyncio.sleep(0)
        if number % 3 == 0:
            await gate.afail(call, "none", "cut")
            return False
        await gate.asettle(call, {})
        return True

    async def rounds() -> None:
        for number in range(STORE_ROUNDS["tasks"]):
            ledger = Ledger()
            journal = open_journal("memory:")
            # now and then over a store, whose appends are awaited in threads
            stored = number % 100 == 0
            gates = [
                Gate.open(contract, journal, f"s{n}") if stored else Gate(Session(contract, ledger=ledger))
                for n in range(64)
            ]
            done = sum(await asyncio.gather(*(one(gate, n) for n, gate in enumerate(gates))))
            held = totals(journal) if stored else {name: ledger.total(name) for name in ledger.names}
            none_over(done, gates, held, "tasks")

    asyncio.run(rounds())


def _take_beside(path: str, worker: int, rounds: int, told: Any) -> None:
    journal = open_journal(path, wait=30)
    for number in range(rounds):
        gate = Gate.open(over_all(f"r{number}"), journal, f"s{worker}-{number}", wait=60)
        told.put((number, sum(taken(gate, place) for place in range(worker, worker + 4))))
    journal.close()


def test_four_processes_over_one_file_stay_under_one_cap(tmp_path: Path) -> None:
    path, rounds = str(tmp_path / "j.sqlite"), STORE_ROUNDS["processes"]
    open_journal(path).close()
    context = get_context("spawn")
    told = context.Queue()
    processes = [context.Process(target=_take_beside, args=(path, n, rounds, told)) for n in range(4)]
    for process in processes:
        process.start()
    done = [0] * rounds
    for _ in range(4 * rounds):
        number, took = told.get(timeout=300)
        done[number] += took
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    journal = open_journal(path)
    held = totals(journal)
    for number in range(rounds):
        none_over(done[number], [], held, f"r{number}")
    assert all(known.open == 0 for known in journal.sessions())
    journal.close()


def test_what_threads_lend_and_use_adds_up(tmp_path: Path) -> None:
    from duly.machine.terms import Budget

    contract = Contract(tools=[Tool("pay", idempotent=True)], budget=(Budget({"calls": 50}),))
    gate = Gate(Session(contract))
    with ThreadPoolExecutor(16) as pool:
        done = sum(pool.map(lambda n: begun(gate, 1), range(128)))
    assert done == 50
    assert left(gate.session)["calls"] == 0
