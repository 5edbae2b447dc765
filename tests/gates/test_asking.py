"""Coroutines at a gate over a journal: the loop goes on, and whoever is cancelled has asked, begun or not at all."""

import asyncio
from threading import Event

import anyio
import pytest

from duly import Contract, Gate, LabelRule, Refused, Tool, at_most, guard
from duly.gates.asking import Asking, Job, surely
from duly.gates.outside import Outside
from duly.journal.journal import open_journal
from duly.journal.memory import MemoryJournal
from duly.journal.replay import again
from steps import why

CONTRACT = Contract(at_most("pay", 1), tools=[Tool("look", effect="none"), Tool("pay", effect="write")])


class Slow(MemoryJournal):
    """A journal whose appends wait until they are let by."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.let = Event(), Event()
        self.let.set()

    def append(self, session, records, *, expected):
        self.reached.set()
        assert self.let.wait(30)
        super().append(session, records, expected=expected)


async def reached(event: Event) -> None:
    while not event.is_set():
        await asyncio.sleep(0)


def labels(journal: MemoryJournal) -> list[str]:
    return [f"{type(record.event).__name__} {record.verdict}" for record in journal.read("s")]


def test_every_step_has_a_twin_for_coroutines(tmp_path) -> None:
    contract = Contract(
        tools=[Tool("look")], labels=[LabelRule("Hi", source="agent", matches="hi"), LabelRule("Yes", matches="yes")]
    )

    async def run() -> None:
        journal = open_journal(str(tmp_path / "j.sqlite"))
        gate = Gate.open(contract, journal, "s")
        await gate.ahear("yes")
        await gate.asay("hi")
        await gate.areceive("Yes", {"text": "yes"})
        await gate.asettle(await gate.abegin("look", {}), {})
        await gate.afail(await gate.abegin("look", {}), "none", "cut")
        first, second = await gate.abegin_all([("look", {}), ("look", {})], batch="b")
        await gate.asettle(first, 1)
        await gate.asettle(second, 1)
        await gate.aclose()
        assert [step.agrees for step in again(contract, journal.read("s"))] == [True] * 12

    asyncio.run(run())


def test_refusal_is_raised_in_the_coroutine() -> None:
    async def run() -> None:
        gate = Gate.open(CONTRACT, open_journal("memory:"), "s")
        await gate.abegin("pay", {})
        with pytest.raises(Refused) as caught:
            await gate.abegin("pay", {})
        assert why(caught.value.verdict) == [("at_most(pay, 1)", "count")]

    asyncio.run(run())


def test_one_of_many_tasks_gets_the_only_place() -> None:
    async def run() -> None:
        gate = Gate.open(CONTRACT, open_journal("memory:"), "s")
        asked = await asyncio.gather(*(gate.abegin("pay", {}) for _ in range(30)), return_exceptions=True)
        assert sorted(type(answer).__name__ for answer in asked) == ["Pass"] + ["Refused"] * 29

    asyncio.run(run())


def test_loop_goes_on_while_the_journal_is_slow() -> None:
    async def run() -> None:
        journal = Slow()
        gate = Gate.open(CONTRACT, journal, "s")
        journal.let.clear()
        task = asyncio.create_task(gate.abegin("look", {}))
        await reached(journal.reached)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not task.done()
        journal.let.set()
        assert (await task).label == "look"

    asyncio.run(run())


def test_who_is_cancelled_while_waiting_for_the_session_was_never_asked() -> None:
    async def run() -> None:
        journal = Slow()
        gate = Gate.open(CONTRACT, journal, "s")
        journal.let.clear()
        first = asyncio.create_task(gate.abegin("look", {}))
        await reached(journal.reached)
        second = asyncio.create_task(gate.abegin("pay", {}))
        for _ in range(20):
            await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        journal.let.set()
        await gate.asettle(await first, 1)
        assert labels(journal) == ["Called allowed", "Returned allowed"]
        assert (await gate.abegin("pay", {})).label == "pay"

    asyncio.run(run())


def test_who_is_cancelled_after_the_question_gives_its_place_back() -> None:
    async def run() -> None:
        journal = Slow()
        gate = Gate.open(CONTRACT, journal, "s")
        journal.let.clear()
        task = asyncio.create_task(gate.abegin("pay", {}))
        await reached(journal.reached)
        task.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        journal.let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert labels(journal) == ["Called allowed", "Failed allowed"]
        assert (gate.session.state.open, gate.session.state.data) == ({}, (0,))

    asyncio.run(run())


def test_list_that_is_cancelled_is_given_back_as_a_whole() -> None:
    async def run() -> None:
        journal = Slow()
        gate = Gate.open(CONTRACT, journal, "s")
        journal.let.clear()
        task = asyncio.create_task(gate.abegin_all([("pay", {}), ("look", {})], batch="b"))
        await reached(journal.reached)
        task.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        journal.let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (gate.session.state.open, gate.session.state.data) == ({}, (0,))

    asyncio.run(run())


@pytest.mark.parametrize(("tool", "uncertain"), [("pay", [True]), ("look", [])])
def test_body_that_is_cancelled_leaves_its_call_uncertain_unless_it_changes_nothing(tool, uncertain) -> None:
    async def run() -> None:
        journal = open_journal("memory:")
        gate = Gate.open(CONTRACT, journal, "s")
        begun = asyncio.Event()

        async def body() -> None:
            begun.set()
            await asyncio.sleep(3600)

        task = asyncio.create_task(guard(gate, body, name=tool)())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [call.uncertain for call in gate.session.state.open.values()] == uncertain

    asyncio.run(run())


def test_result_is_recorded_even_where_the_caller_is_cancelled_meanwhile() -> None:
    async def run() -> None:
        journal = Slow()
        gate = Gate.open(CONTRACT, journal, "s")
        call = await gate.abegin("pay", {})
        journal.reached.clear()
        journal.let.clear()
        task = asyncio.create_task(gate.asettle(call, 1))
        await reached(journal.reached)
        task.cancel()
        await asyncio.sleep(0)
        journal.let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert labels(journal) == ["Called allowed", "Returned allowed"]

    asyncio.run(run())


def test_result_is_recorded_where_the_caller_was_cancelled_before() -> None:
    async def run() -> None:
        journal = open_journal("memory:")
        gate = Gate.open(CONTRACT, journal, "s")
        call = await gate.abegin("pay", {})

        async def late() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                await gate.asettle(call, 1)

        task = asyncio.create_task(late())
        await asyncio.sleep(0)
        task.cancel()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert labels(journal) == ["Called allowed", "Returned allowed"]

    asyncio.run(run())


def test_scope_that_ends_cancels_in_the_same_way() -> None:
    async def run() -> None:
        journal = Slow()
        gate = Gate.open(CONTRACT, journal, "s")
        journal.let.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gate.abegin, "pay", {})
            await reached(journal.reached)
            tasks.cancel_scope.cancel()
            journal.let.set()
        assert (gate.session.state.open, gate.session.state.data) == ({}, (0,))

    anyio.run(run)


def test_guard_that_hangs_holds_up_no_other_task() -> None:
    over = Event()

    async def run() -> None:
        gate = Gate.open(CONTRACT, open_journal("memory:"), "s", guards=[
            Outside(("pay",), lambda args: over.wait(), 30.0, "limit"),
        ])  # fmt: skip
        task = asyncio.create_task(gate.abegin("pay", {}))
        await gate.asettle(await gate.abegin("look", {}), 1)
        assert not task.done()
        over.set()
        assert (await task).label == "pay"

    asyncio.run(run())


def test_guarded_coroutine_runs_as_ever(tmp_path) -> None:
    async def run() -> None:
        journal = open_journal(str(tmp_path / "j.sqlite"))
        gate = Gate.open(CONTRACT, journal, "s")

        async def pay(amount: float) -> dict[str, float]:
            return {"paid": amount}

        assert await guard(gate, pay)(0.5) == {"paid": 0.5}
        with pytest.raises(Refused):
            await guard(gate, pay)(0.5)
        assert all(step.agrees for step in again(CONTRACT, journal.read("s")))

    asyncio.run(run())


def test_question_is_given_up_at_one_moment_only() -> None:
    asking = Asking()
    assert (asking.give_up(), asking.start()) == ("waiting", False)
    asking = Asking()
    assert (asking.start(), asking.give_up(), asking.answer()) == (True, "asked", False)
    asking = Asking()
    assert (asking.start(), asking.answer(), asking.give_up()) == (True, True, "answered")


def test_job_is_done_once() -> None:
    done: list[int] = []
    job = Job(lambda: done.append(1))
    job.run()
    job.insist()
    job.run()
    assert (done, job.done.is_set()) == ([1], True)


def test_error_of_sure_work_is_raised_where_it_was_asked_for() -> None:
    def fail() -> None:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        asyncio.run(surely(fail))
