"""Gates over a journal: going on, sharing, waiting with a bound, and what cannot be written."""

import copy
import pickle
import random
from threading import Barrier, Thread

import pytest

from duly import Contract, DulyError, Gate, Refused, Tool, Violation, at_most, must_precede, protocol
from duly.gates.stored import Mode
from duly.journal.journal import Conflict, JournalError, open_journal
from duly.journal.memory import MemoryJournal
from duly.session.snapshot import save
from duly.testing.material import events
from duly.values.event import Called, Closed, Failed, Ordered, Returned, Sent
from duly.values.verdict import Reason
from gates.agree import agrees
from steps import why

CONTRACT = Contract(
    must_precede("look", "pay"),
    at_most("pay", 1),
    name="desk",
    tools=[Tool("look", effect="none"), Tool("pay", effect="write")],
)


def looked(gate: Gate) -> None:
    gate.settle(gate.begin("look", {}), {"v": 1})


class Broken(MemoryJournal):
    """A journal that fails to append as long as it is told to."""

    error: Exception | None = None

    def append(self, session, records, *, expected):
        if self.error is not None:
            raise self.error
        super().append(session, records, expected=expected)


FULL = JournalError("full", "no room", "make room")


def test_session_goes_on_where_its_journal_left_off(tmp_path) -> None:
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    looked(Gate.open(CONTRACT, journal, "s"))
    journal.close()
    journal = open_journal(path)
    gate = Gate.open(CONTRACT, journal, "s")
    passed = gate.begin("pay", {"n": 0.1})
    gate.settle(passed, {"ok": True})
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": 1})
    assert why(caught.value.verdict) == [("at_most(pay, 1)", "count")]
    assert [record.verdict for record in journal.read("s")] == ["allowed"] * 4 + ["violation"]
    assert agrees(journal, gate)


def test_every_way_to_step_the_session_is_recorded() -> None:
    journal = open_journal("memory:")
    session = Gate.open(Contract(tools=[Tool("look")]), journal, "s").session
    session.send("look", {"n": 1})
    session.receive("look", {"v": 1})
    session.step(Sent("Hello"))
    session.observe(Called("look", {}, id="x"))
    session.require(Returned("look", {}, id="x"))
    session.close()
    kinds = [type(record.event).__name__ for record in journal.read("s")]
    assert kinds == ["Called", "Returned", "Sent", "Called", "Returned", "Closed"]
    assert session.trace == ["!look", "?look", "!Hello", "!look", "?look", "closed"]


def test_peeking_and_asking_what_is_legal_record_nothing_and_see_what_others_did() -> None:
    journal = open_journal("memory:")
    one, other = Gate.open(CONTRACT, journal, "s"), Gate.open(CONTRACT, journal, "s")
    looked(other)
    assert one.session.peek(Called("pay", {})).word == "allowed"
    looked(other)
    assert [act.label for act in one.session.legal()] == ["look", "pay"]
    one.session.repair("pay")
    assert (one.session.owed(), journal.length("s")) == ((), 4)


def test_of_two_gates_the_second_decides_on_what_the_first_one_wrote() -> None:
    journal = open_journal("memory:")
    one, other = Gate.open(CONTRACT, journal, "s"), Gate.open(CONTRACT, journal, "s")
    looked(one)
    other.begin("pay", {})
    with pytest.raises(Refused) as caught:
        one.begin("pay", {})
    assert why(caught.value.verdict) == [("at_most(pay, 1)", "count")]
    assert agrees(journal, one)


def test_session_of_another_contract_is_not_opened() -> None:
    journal = open_journal("memory:")
    Gate.open(CONTRACT, journal, "s")
    with pytest.raises(DulyError, match="the session `s` is held to `desk`"):
        Gate.open(Contract(name="other"), journal, "s")


def test_session_without_a_name_is_not_opened() -> None:
    with pytest.raises(DulyError, match="a session in a journal has a name"):
        Gate.open(CONTRACT, open_journal("memory:"), "")


def test_opened_session_is_neither_copied_nor_begun_anew() -> None:
    session = Gate.open(CONTRACT, open_journal("memory:"), "s").session
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="opened, not copied"):
            act(session)
    with pytest.raises(DulyError, match="not begun anew"):
        session.reset()


def test_gate_of_an_opened_session_is_the_one_that_opened_it() -> None:
    gate = Gate.open(CONTRACT, open_journal("memory:"), "s")
    assert Gate.of(gate.session) is gate


def test_snapshot_is_kept_after_so_many_records_and_on_leaving() -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s", every=4)
    indexes = []
    for _ in range(5):
        looked(gate)
        saved = journal.snapshot("s")
        indexes.append(saved.index if saved is not None else None)
    assert indexes == [None, 4, 4, 8, 8]
    gate.leave()
    saved = journal.snapshot("s")
    assert saved is not None
    assert (saved.index, saved.data) == (10, save(CONTRACT, gate.session.state))


def test_reopening_reads_no_record_before_the_snapshot() -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s", every=4)
    for _ in range(3):
        looked(gate)
    journal._streams["s"].records[:4] = [b"{"] * 4  # type: ignore[attr-defined]
    assert save(CONTRACT, Gate.open(CONTRACT, journal, "s").session.state) == save(CONTRACT, gate.session.state)


def test_time_goes_on_at_the_last_record_plus_what_the_wall_clock_says() -> None:
    journal = open_journal("memory:")
    clock, wall = [50.0], [1000.0]
    options = {"clock": lambda: clock[0], "wall": lambda: wall[0]}
    gate = Gate.open(CONTRACT, journal, "s", **options)  # type: ignore[arg-type]
    clock[0] = 62.5
    looked(gate)
    clock[0], wall[0] = 3.0, 1010.0
    gate = Gate.open(CONTRACT, journal, "s", **options)  # type: ignore[arg-type]
    looked(gate)
    wall[0] = 7.0
    gate = Gate.open(CONTRACT, journal, "s", **options)  # type: ignore[arg-type]
    looked(gate)
    assert [record.event.at for record in journal.read("s")] == [12.5, 12.5, 22.5, 22.5, 22.5, 22.5]


def test_one_of_many_threads_gets_the_only_place() -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s")
    looked(gate)
    start, answers = Barrier(8), []

    def ask() -> None:
        start.wait()
        for _ in range(5):
            try:
                gate.begin("pay", {})
                answers.append("allowed")
            except Refused as refused:
                answers.append(why(refused.verdict)[0][1])

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["allowed"] + ["count"] * 39
    assert agrees(journal, gate)


def test_who_is_never_first_is_refused_and_does_not_hang() -> None:
    journal = Broken()
    gate = Gate.open(CONTRACT, journal, "s")
    journal.error = Conflict("s", 0, 5)
    with pytest.raises(Refused) as caught:
        gate.begin("look", {})
    message = "the session `s` has 5 records, not 0"
    help = "read what was appended and decide again"
    assert caught.value.verdict == Violation((Reason("journal", "busy", message, help=help),))
    journal.error = None
    looked(gate)


def test_who_waits_too_long_for_the_session_is_refused() -> None:
    gate = Gate.open(CONTRACT, open_journal("memory:"), "s", wait=0.01)
    gate.session._lock.acquire()
    with pytest.raises(Refused) as caught:
        gate.begin("look", {})
    assert why(caught.value.verdict) == [("journal", "busy")]
    gate.session._lock.release()
    looked(gate)


def test_act_that_cannot_be_recorded_is_refused_and_moves_nothing() -> None:
    journal = Broken()
    gate = Gate.open(CONTRACT, journal, "s")
    before = gate.session.state
    journal.error = FULL
    with pytest.raises(Refused) as caught:
        gate.begin("look", {})
    assert caught.value.verdict == Violation((Reason("journal", "store", "no room", help="make room"),))
    assert (gate.session.state, journal.length("s"), gate.session.trace) == (before, 0, [])


def test_result_that_cannot_be_recorded_is_recorded_before_anything_else() -> None:
    journal = Broken()
    gate = Gate.open(CONTRACT, journal, "s")
    passed = gate.begin("look", {})
    journal.error = FULL
    verdict = gate.settle(passed, {"v": 1})
    assert (why(verdict), verdict.finding) == ([("journal", "store")], True)
    journal.error = None
    gate.begin("pay", {})
    assert [type(record.event).__name__ for record in journal.read("s")] == ["Called", "Returned", "Called"]
    assert agrees(journal, gate)


def test_what_is_due_is_recorded_on_leaving() -> None:
    journal = Broken()
    gate = Gate.open(CONTRACT, journal, "s")
    passed = gate.begin("look", {})
    journal.error = FULL
    gate.settle(passed, {"v": 1})
    with pytest.raises(JournalError):
        gate.leave()
    journal.error = None
    gate.leave()
    assert [record.status for record in journal.read("s")] == ["open", "finished"]


def test_key_is_answered_from_the_journal_in_another_process_of_the_session() -> None:
    journal = open_journal("memory:")
    one = Gate.open(CONTRACT, journal, "s")
    looked(one)
    one.settle(one.begin("pay", {"n": 1}, key="k"), {"ok": 1.5})
    other = Gate.open(CONTRACT, journal, "s")
    passed = other.begin("pay", {"n": 1}, key="k")
    assert (passed.replayed, passed.recorded) == (True, {"ok": 1.5})
    with pytest.raises(Refused) as caught:
        other.begin("pay", {"n": 2}, key="k")
    assert caught.value.verdict.word == "unrecognized"
    assert agrees(journal, other)


def test_second_result_is_compared_with_the_recorded_one() -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s")
    passed = gate.begin("look", {})
    gate.settle(passed, {"v": 1})
    gate = Gate.open(CONTRACT, journal, "s")
    assert gate.settle(passed, {"v": 1.0}).word == "allowed"
    assert why(gate.settle(passed, {"v": 2})) == [("call", "contradiction")]
    assert agrees(journal, gate)


@pytest.mark.parametrize(
    "event",
    [
        Called("look", {"n": float("nan")}, id="a"),
        Called("look", {"t": "\ud800"}, id="a"),
        Called("look", {}, key="\ud800"),
        Called("look", {}, at=float("nan")),
        Called("look", {}, agent=5),  # type: ignore[arg-type]
        Called(5, {}),  # type: ignore[arg-type]
    ],
)
def test_event_that_is_not_well_formed_is_recorded_and_moves_nothing_when_decided_again(event: Called) -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s")
    assert gate.step(event).word == "unrecognized"
    (record,) = journal.read("s")
    assert (record.verdict, record.judged) == ("unrecognized", False)
    looked(gate)
    assert agrees(journal, gate)


def test_in_shadow_what_is_refused_runs_under_a_number_of_its_own() -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s", mode="shadow")
    passed = gate.begin("pay", {})
    assert (passed.verdict.word, passed.id != "") == ("violation", True)
    assert gate.settle(passed, {}).word == "allowed"
    assert [(record.mode, record.happened) for record in journal.read("s")] == [("shadow", True)] * 2
    assert agrees(journal, gate)


def test_mode_that_a_person_ordered_elsewhere_is_in_force_here() -> None:
    journal = open_journal("memory:")
    watching, other = Gate.open(CONTRACT, journal, "s", mode="shadow"), Gate.open(CONTRACT, journal, "s")
    other.step(Ordered("mode", by="ana", scope="enforce"))
    with pytest.raises(Refused):
        watching.begin("pay", {})
    assert watching.mode == "enforce"


def test_list_of_calls_is_decided_in_its_order_and_recorded_together() -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s")
    looked(gate)
    answers = gate.begin_all([("look", {}), ("pay", {"n": 1}), ("pay", {"n": 2})], batch="b")
    assert [type(answer).__name__ for answer in answers] == ["Pass", "Pass", "Refused"]
    records = list(journal.read("s", 2))
    assert [(record.event.batch, record.listed) for record in records] == [("b", True)] * 3  # type: ignore[union-attr]
    assert agrees(journal, gate)


def test_call_of_a_list_permits_none_of_the_others() -> None:
    answers = Gate.open(CONTRACT, open_journal("memory:"), "s").begin_all([("look", {}), ("pay", {})], batch="b")
    assert [type(answer).__name__ for answer in answers] == ["Pass", "Refused"]


def test_call_of_a_list_that_is_not_well_formed_leaves_the_others_alone() -> None:
    journal = open_journal("memory:")
    gate = Gate.open(CONTRACT, journal, "s")
    answers = gate.begin_all([("look", {}), ("look", {"t": "\ud800"}), ("look", {"n": 1})], batch="b")
    assert [type(answer).__name__ for answer in answers] == ["Pass", "Refused", "Pass"]
    assert agrees(journal, gate)


def test_list_that_cannot_be_recorded_is_refused_as_a_whole() -> None:
    journal = Broken()
    gate = Gate.open(CONTRACT, journal, "s")
    journal.error = FULL
    answers = gate.begin_all([("look", {}), ("look", {})], batch="b")
    assert [type(answer).__name__ for answer in answers] == ["Refused", "Refused"]
    assert gate.session.state.open == {}


def test_protocols_with_registers_go_on_as_they_stood() -> None:
    contract = Contract(protocol("!find . ?find(id as it) . rec L.{!pay(id == it) . ?pay . L, !stop . end}"), tools=[
        Tool("find"), Tool("pay"), Tool("stop"),
    ])  # fmt: skip
    journal = open_journal("memory:")
    gate = Gate.open(contract, journal, "s")
    gate.settle(gate.begin("find", {}), {"id": 0.1})
    gate = Gate.open(contract, journal, "s")
    gate.settle(gate.begin("pay", {"id": 0.1}), 1)
    with pytest.raises(Refused):
        gate.begin("pay", {"id": 0.2})
    assert agrees(journal, gate)


def test_closing_ends_the_session_for_everybody() -> None:
    journal = open_journal("memory:")
    one, other = Gate.open(CONTRACT, journal, "s"), Gate.open(CONTRACT, journal, "s")
    assert one.close().word == "allowed"
    with pytest.raises(Refused) as caught:
        other.begin("look", {})
    assert caught.value.verdict.word == "blocked"
    assert next(iter(journal.sessions())).over == "closed"


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("seed", range(10))
def test_any_stream_of_events_decides_again_as_it_was_decided(mode: Mode, seed: int) -> None:
    chance = random.Random(seed)
    journal = open_journal("memory:")
    kinds = [
        lambda n: Called("look", {"n": n / 10}, id=chance.choice(["a", "b", None]), key=chance.choice([None, "k"])),
        lambda n: Called("pay", {"n": n / 10}, id=chance.choice(["a", "p", None]), batch=chance.choice([None, "b"])),
        lambda n: Returned("look", {"v": n / 10}, id=chance.choice(["a", "b", None])),
        lambda n: Returned("pay", {"v": n}, id=chance.choice(["a", "p"]), outcome=chance.choice([None, "error"])),
        lambda n: Failed(chance.choice(["a", "b", "p"]), chance.choice(["none", "unknown"])),
        lambda n: Ordered(
            "settle", chance.choice(["a", "b", "p"]), "ana", payload={"as": chance.choice(["done", "x"])}
        ),
        lambda n: chance.choice(events()),
    ]
    gate = Gate.open(CONTRACT, journal, "s", mode=mode, every=9)
    for _ in range(120):
        if chance.random() < 0.05:
            gate = Gate.open(CONTRACT, journal, "s", mode=mode, every=9)
        event = chance.choice(kinds)(chance.randrange(3))
        # the end comes last, if at all
        if type(event) is not Closed:
            gate.step(event)
    gate.close()
    assert agrees(journal, gate)
