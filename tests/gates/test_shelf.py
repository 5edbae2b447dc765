"""Ledgers of a store as processes know them: killed, forked, late, or second."""

import os
import signal
from multiprocessing import get_context
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import Any

import pytest

from duly import Contract, Gate, JournalError, Ordered, Refused, Tool, at_most
from duly.gates.shelf import Desk, shelf_of
from duly.journal.journal import open_journal
from duly.journal.record import Posting
from duly.journal.replay import again
from duly.machine.terms import Budget

ONCE = Contract(
    at_most("pay", 1, scope="store"), name="once", tools=[Tool("pay", effect="write"), Tool("look", effect="none")]
)
LEDGER = "once/at_most(pay, scope=store)"


def refused(gate: Gate, label: str = "pay", id: str | None = None) -> list[str]:
    with pytest.raises(Refused) as caught:
        gate.begin(label, {}, id=id)
    return [reason.kind for reason in caught.value.verdict.reasons]


def _begin_and_die(path: str) -> None:
    Gate.open(ONCE, open_journal(path), "dead").begin("pay", {}, id="c")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_killed_before_its_call_ran_keeps_its_share_until_the_call_is_settled(tmp_path: Path) -> None:
    path = str(tmp_path / "j.sqlite")
    process = get_context("spawn").Process(target=_begin_and_die, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    journal = open_journal(path)
    gate = Gate.open(ONCE, journal, "alive")
    assert refused(gate) == ["count"]
    left = Gate.open(ONCE, journal, "dead")
    assert [call.uncertain for call in left.session.state.open.values()] == [True]
    assert refused(gate) == ["count"]
    left.step(Ordered("settle", target="c", by="ana", payload={"as": "failed"}))
    assert [posting.add for posting in journal.postings(LEDGER)] == [{"": {"": {"n": "1"}}}, {"": {"": {"n": "-1"}}}]
    call = gate.begin("pay", {})
    gate.settle(call, {})
    assert refused(left) == ["count"]
    for name in ("alive", "dead"):
        assert all(step.agrees for step in again(ONCE, journal.read(name)))
    journal.close()


def test_a_session_that_was_closed_keeps_what_it_spent(tmp_path: Path) -> None:
    journal = open_journal(str(tmp_path / "j.sqlite"))
    one = Gate.open(ONCE, journal, "one")
    one.settle(one.begin("pay", {}), {})
    one.close()
    assert refused(Gate.open(ONCE, journal, "other")) == ["count"]


def test_what_a_ledger_is_not_asked_about_does_not_wait_for_it(tmp_path: Path) -> None:
    journal = open_journal(str(tmp_path / "j.sqlite"))
    gate = Gate.open(ONCE, journal, "s", wait=0.05)
    with shelf_of(journal).turn(journal, ONCE, [], monotonic() + 1):
        gate.settle(gate.begin("look", {}), {})
        assert refused(gate) == ["busy"]
    assert [record.ledgers for record in journal.read("s")] == [None, None]


def test_an_attempt_that_comes_second_takes_back_what_it_had_added(tmp_path: Path) -> None:
    journals = [open_journal(str(tmp_path / "j.sqlite")) for _ in range(2)]
    gates = [Gate.open(ONCE, journal, f"s{n}") for n, journal in enumerate(journals)]
    # both know the empty ledger; the second decides on it, is told that it has moved, and decides again
    views = shelf_of(journals[1]).views
    original = Desk.shares
    waiting = [gates[0]]

    def shares(desk: Desk) -> dict[str, Any]:
        if waiting:
            waiting.pop().begin("pay", {})
        return original(desk)

    Desk.shares = shares  # type: ignore[method-assign]
    try:
        assert refused(gates[1]) == ["count"]
    finally:
        Desk.shares = original  # type: ignore[method-assign]
    assert (views[LEDGER].length, views[LEDGER].value) == (1, {"": {"": {"n": 1}}})
    assert gates[1].session.state.open == {}


def test_a_result_that_the_store_did_not_take_settles_later_and_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    journal = open_journal(str(path))
    gate = Gate.open(ONCE, journal, "s", wait=1)
    call = gate.begin("pay", {})
    path.rename(tmp_path / "away")
    assert [reason.kind for reason in gate.fail(call, "none", "cut").reasons] == ["store"]  # type: ignore[union-attr]
    (tmp_path / "away").rename(path)
    gate.settle(gate.begin("pay", {}), {})
    assert [posting.add[""][""]["n"] for posting in journal.postings(LEDGER)] == ["1", "-1", "1"]


def test_a_forked_child_goes_on_with_what_the_store_says(tmp_path: Path) -> None:
    journal = open_journal(str(tmp_path / "j.sqlite"))
    gate = Gate.open(ONCE, journal, "parent")
    held, go = Flag(), Flag()

    def hold() -> None:
        with shelf_of(journal).turn(journal, ONCE, [LEDGER], monotonic() + 5):
            held.set()
            go.wait()

    thread = Thread(target=hold)
    thread.start()
    held.wait()
    pid = os.fork()
    if not pid:
        try:
            Gate.open(ONCE, journal, "child", wait=5).begin("pay", {})
            os._exit(0)
        except BaseException:
            os._exit(1)
    go.set()
    thread.join()
    assert os.waitpid(pid, 0)[1] == 0
    assert refused(gate) == ["count"]


def test_peek_legal_and_repair_see_what_others_did(tmp_path: Path) -> None:
    journal = open_journal(str(tmp_path / "j.sqlite"))
    one, other = (Gate.open(ONCE, journal, name) for name in ("one", "other"))
    assert [act.label for act in other.session.legal()] == ["look", "pay"]
    one.begin("pay", {})
    assert other.session.peek_send("pay").word == "violation"
    assert [act.label for act in other.session.legal()] == ["look"]
    assert journal.length("other") == 0
    assert journal.posted(LEDGER) == 1


def test_a_batch_sees_what_its_earlier_calls_took(tmp_path: Path) -> None:
    journal = open_journal(str(tmp_path / "j.sqlite"))
    contract = Contract(at_most("pay", 2, scope="store"), name="b", tools=[Tool("pay", idempotent=True)])
    gate = Gate.open(contract, journal, "s")
    answers = gate.begin_all([("pay", {}), ("pay", {}), ("pay", {})], batch="b")
    assert [isinstance(answer, Refused) for answer in answers] == [False, False, True]
    (posted,) = {posting.record for posting in journal.postings("b/at_most(pay, scope=store)")} - {0}
    assert posted == 1
    told = [record.ledgers["b/at_most(pay, scope=store)"][""][""] for record in journal.read("s")]  # type: ignore[index]
    assert told == [{}, {"n": "1"}, {"n": "2"}]


def test_a_budget_of_a_store_is_charged_over_all(tmp_path: Path) -> None:
    from duly import Charged

    contract = Contract(name="p", tools=[Tool("pay")], budget=(Budget({"usd": 1}, scope="store"),))
    journal = open_journal(str(tmp_path / "j.sqlite"))
    one, other = (Gate.open(contract, journal, name) for name in ("one", "other"))
    one.step(Charged({"usd": 1}))
    assert refused(other) == ["budget"]
    assert list(journal.postings("p/budget")) == [Posting("one", 0, {"": {"": {"usd": "1"}}})]


def test_a_ledger_that_is_damaged_refuses_and_never_permits(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "j.sqlite"
    journal = open_journal(str(path))
    Gate.open(ONCE, journal, "s").begin("pay", {})
    journal.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE posting SET text = '{'")
    connection.close()
    journal = open_journal(str(path))
    assert refused(Gate.open(ONCE, journal, "t")) == ["store"]
    with pytest.raises(JournalError, match="the ledger `once/at_most") as caught:
        journal.check()  # type: ignore[attr-defined]
    assert caught.value.kind == "corrupt"
