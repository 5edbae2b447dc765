"""Many at once against one cap, one yes, one store: never one too many, and nothing is lost."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from duly import Approval, Contract, Decided, Gate, NeedsApproval, Refused, Rule, Session, Tool, at_most
from duly.journal.journal import open_journal
from duly.session.split import left

ROUNDS = 100 if os.environ.get("DULY_SOAK") else 10
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


def test_what_threads_lend_and_use_adds_up(tmp_path: Path) -> None:
    from duly.machine.terms import Budget

    contract = Contract(tools=[Tool("pay", idempotent=True)], budget=(Budget({"calls": 50}),))
    gate = Gate(Session(contract))
    with ThreadPoolExecutor(16) as pool:
        done = sum(pool.map(lambda n: begun(gate, 1), range(128)))
    assert done == 50
    assert left(gate.session)["calls"] == 0
