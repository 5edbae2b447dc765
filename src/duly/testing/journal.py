"""What every journal must do, as checks that need no test framework."""

from decimal import Decimal
from functools import partial

from msgspec import UNSET

from duly.journal.journal import Conflict, Journal, JournalError
from duly.journal.record import Meta, Record
from duly.journal.replay import again, state_of
from duly.session.snapshot import restore, save
from duly.values.event import Called, Closed, Failed, Found, Returned, Sent
from duly.values.plain import Malformed
from duly.values.verdict import Reason

from .claim import fails, holds
from .ledger import LEDGER_CHECKS, keeps_ledgers_for_another_start, lets_no_process_overrun
from .material import CONTRACT, META, WALL, Make, equal, events, note, run
from .writer import lets_one_process_win, lets_one_thread_win


def check_journal(make: Make, *, writers: int = 4) -> None:
    """Everything that a journal must do.

    ``make(name)`` opens the journal of that name; a new name is an empty journal, and where the journal says that it
    is ``shared`` the same name is the same store, in other processes too (``make`` must then be picklable).
    ``writers`` threads, and as many processes, append at once.
    """
    for check in (
        _notes, _orders, _refuses_other_indexes, _is_all_or_nothing, _keeps_every_event, _keeps_every_field,
        _refuses_what_cannot_be_written, _keeps_sessions_apart, _keeps_the_latest_snapshot, _finds_calls, _finds_keys,
        _sums_up, _decides_again, *LEDGER_CHECKS, _ends,
    ):  # fmt: skip
        journal = make(check.__name__.lstrip("_"))
        try:
            check(journal)
        except JournalError as error:
            raise AssertionError(f"an error where all is well ({check.__name__.lstrip('_')}): {error}") from error
        finally:
            journal.close()
    lets_one_thread_win(make, writers)
    journal = make("shared")
    shared = journal.shared
    journal.close()
    if shared:
        _opens_again(make)
        keeps_ledgers_for_another_start(make)
        lets_no_process_overrun(make, writers)
        lets_one_process_win(make, writers)


def _notes(journal: Journal) -> None:
    holds(journal.meta("s") is None, "a session that was not noted has no meta")
    holds(journal.length("s") == 0 and list(journal.read("s")) == [], "a session that was not noted has no records")
    holds(journal.snapshot("s") is None, "a session that was not noted has no snapshot")
    holds(journal.find_key("s", "k") is None and journal.find_call("s", "c") is None, "nor any calls")
    fails("gone", lambda: journal.append("s", [note(0)], expected=0), "records of a session that was not noted")
    holds(journal.note("s", META) == META, "noting a session gives what is noted of it")
    other = Meta("other", "2", "sha256:11", 5.0)
    holds(journal.note("s", other) == META, "what was noted first stays")
    holds(journal.meta("s") == META, "the meta of a session is what was noted")


def _orders(journal: Journal) -> None:
    journal.note("s", META)
    for start in range(0, 600, 3):
        journal.append("s", [note(start + step, Sent(f"m{start + step}")) for step in range(3)], expected=start)
    holds(journal.length("s") == 600, "the length of a session is the number of its records")
    labels = [record.event.label for record in journal.read("s")]  # type: ignore[union-attr]
    holds(labels == [f"m{index}" for index in range(600)], "records are read in the order of their indexes")
    holds([record.index for record in journal.read("s", 598)] == [598, 599], "reading starts at the index asked for")
    holds(list(journal.read("s", 600)) == [], "there is nothing after the last record")


def _refuses_other_indexes(journal: Journal) -> None:
    journal.note("s", META)
    journal.append("s", [note(0), note(1)], expected=0)
    for expected in (0, 1, 3, 2**31):
        append = partial(journal.append, "s", [note(expected)], expected=expected)
        error = fails("conflict", append, f"appending at {expected} of 2")
        holds(isinstance(error, Conflict) and error.length == 2, "a conflict says the actual length")
    holds(journal.length("s") == 2, "a conflict leaves the journal as it was")
    fails("corrupt", lambda: journal.append("s", [note(5)], expected=2), "a record that carries another index")
    journal.append("s", [], expected=2)
    holds(journal.length("s") == 2, "appending nothing changes nothing")


def _is_all_or_nothing(journal: Journal) -> None:
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    for records in ([note(0), note(1), note(2)], [note(1), note(3)]):
        try:
            journal.append("s", records, expected=records[0].index)
        except JournalError:
            pass
        else:
            raise AssertionError("records that do not follow the last one are refused")
    holds(journal.length("s") == 1, "of records appended together all are kept or none")
    bad = note(2, Sent("\ud800"))
    try:
        journal.append("s", [note(1), bad], expected=1)
    except Malformed:
        pass
    else:
        raise AssertionError("a record that cannot be written is refused")
    holds(journal.length("s") == 1, "of records appended together all are kept or none")
    journal.append("s", [note(1), note(2)], expected=1)
    holds(journal.length("s") == 3, "a failed append does not stand in the way of the next")


def _keeps_every_event(journal: Journal) -> None:
    journal.note("s", META)
    written = [note(index, event) for index, event in enumerate(events())]
    for record in written:
        journal.append("s", [record], expected=record.index)
    read = list(journal.read("s"))
    holds(len(read) == len(written), "every event is kept")
    for mine, its in zip(written, read, strict=True):
        holds(equal(mine.event, its.event), f"`{str(mine.event)[:100]}` came back as `{str(its.event)[:100]}`")


def _keeps_every_field(journal: Journal) -> None:
    journal.note("s", META)
    reason = Reason(
        "at_most(pay)", "count", "one is enough", "!pay", ("`a`",), "stop", follow_on=True, severity="warning"
    )
    full = Record(
        0, Called("pay", {"n": 1}, id="c"), "violation", WALL, "shadow", True, False, (reason, reason), "t-1", True,
        True, True, "c", "open", "denied", "srv/pay", {"n": Decimal("2.0")}, "host/1/2", True, "sha256:22", "halted",
        3, 2, (reason,), {"kit/cap": {"2026-12-01": {"": {"n": "3"}, '"full"': None}}},
    )  # fmt: skip
    null = note(1, Called("pay", {}), args=None)
    journal.append("s", [full, null, note(2)], expected=0)
    one, two, three = journal.read("s")
    holds(one == full, f"a full record came back as `{one}`")
    holds(two.args is None and three.args is UNSET, "an argument of null is not the same as none")


def _refuses_what_cannot_be_written(journal: Journal) -> None:
    journal.note("s", META)
    for event in (Called("pay", {"text": "\udfff"}), Sent("\ud800"), Called("pay", {}, key="\ud800")):
        try:
            journal.append("s", [note(0, event)], expected=0)
        except Malformed:
            continue
        raise AssertionError("text that cannot be written as UTF-8 is refused")
    holds(journal.length("s") == 0, "what cannot be written leaves nothing behind")


def _keeps_sessions_apart(journal: Journal) -> None:
    names = ["s", "S", "s ", "🧾", "a/b", "1", "1 2", "'; DROP TABLE record; --", "x" * 2000]
    for place, name in enumerate(names):
        journal.note(name, META)
        called = Called("pay", {"place": place}, id="2 c", key="k")
        journal.append(name, [note(0, called, call="2 c", status="open")], expected=0)
    for place, name in enumerate(names):
        records = list(journal.read(name))
        holds(len(records) == 1 and records[0].event.payload == {"place": place}, f"`{name[:40]}` has its own records")  # type: ignore[union-attr]
        for found in (journal.find_key(name, "k"), journal.find_call(name, "2 c")):
            holds(found is not None and found.payload == {"place": place}, f"`{name[:40]}` has its own calls")
    holds(journal.find_call("1", "c") is None, "calls of other sessions are not found")
    holds([known.session for known in journal.sessions()] == names, "sessions are listed in the order they were noted")


def _keeps_the_latest_snapshot(journal: Journal) -> None:
    journal.note("s", META)
    journal.append("s", [note(index) for index in range(4)], expected=0)
    state = CONTRACT.start
    data = save(CONTRACT, state)
    journal.save_snapshot("s", 2, data)
    saved = journal.snapshot("s", CONTRACT.digest)
    holds(saved is not None and saved.index == 2 and saved.data == data, "a snapshot comes back as it was")
    holds(saved is not None and restore(CONTRACT, saved.data) == state, "a snapshot can be restored")
    holds(journal.snapshot("s", "sha256:other") is None, "a snapshot of another contract is none")
    journal.save_snapshot("s", 4, {**data, "at": 4.5})
    journal.save_snapshot("s", 3, data)
    saved = journal.snapshot("s")
    holds(saved is not None and saved.index == 4 and saved.data["at"] == 4.5, "the latest snapshot is kept")
    fails("corrupt", lambda: journal.save_snapshot("s", 5, data), "a snapshot past the last record")
    fails("gone", lambda: journal.save_snapshot("none", 0, data), "a snapshot of a session that was not noted")


def _finds_calls(journal: Journal) -> None:
    run(journal, "s", Called("look", {"n": 1}, id="c"), Returned("look", {"v": 1}, id="c"))
    holds(journal.find_call("s", "c") == Found("finished", "look", {"n": 1}, {"v": 1}, "ok", "c"), "a finished call")
    run(journal, "s", Called("look", {"n": 2}, id="c"))
    holds(journal.find_call("s", "c") == Found("open", "look", {"n": 2}, id="c"), "the last call of a number is found")
    run(journal, "s", Failed("c", "unknown"))
    holds(journal.find_call("s", "c") == Found("uncertain", "look", {"n": 2}, id="c"), "an uncertain call")
    run(journal, "s", Returned("look", {"v": 2}, id="c"), Returned("look", {"v": 3}, id="c"))
    wanted = Found("finished", "look", {"n": 2}, {"v": 2}, "ok", "c")
    holds(journal.find_call("s", "c") == wanted, "the first result stands")
    run(journal, "s", Called("pay", {"n": 1}, id="p"), Returned("pay", {"ok": False}, id="p"))
    wanted = Found("finished", "pay", {"n": 1}, {"ok": False}, "denied", "p")
    holds(journal.find_call("s", "p") == wanted, "an outcome is found with its call")
    run(journal, "s", Called("pay", {"n": 2}, id="p"), Failed("p", "none", "cut"))
    holds(journal.find_call("s", "p") == Found("failed", "pay", {"n": 2}, id="p"), "a call that broke off")
    run(journal, "s", Called("pay", {"n": 2}, id="q"), Returned("pay", {"why": "no"}, id="q", outcome="error"))
    wanted = Found("failed", "pay", {"n": 2}, {"why": "no"}, "error", "q")
    holds(journal.find_call("s", "q") == wanted, "a call that returned an error")
    holds(journal.find_call("s", "x") is None, "a number that no call had")
    begun = journal.begun("s", "c")
    admitted = begun is not None and (begun.index, begun.status) == (2, "open")
    holds(admitted, "the admission of the last call of a number")
    holds(journal.begun("s", "x") is None, "a number that no call was admitted under")


def _finds_keys(journal: Journal) -> None:
    run(journal, "s", Called("pay", {"n": 0}, id="no", key="k"))
    holds(journal.find_key("s", "k") is None, "a refused call has used no key")
    run(journal, "s", Called("look", {"n": 1}, id="c", key="k"))
    holds(journal.find_key("s", "k") == Found("open", "look", {"n": 1}, id="c"), "an open call is found by its key")
    run(journal, "s", Returned("look", {"v": 1}, id="c"), Called("look", {"n": 2}, id="c", key="other"))
    wanted = Found("finished", "look", {"n": 1}, {"v": 1}, "ok", "c")
    holds(journal.find_key("s", "k") == wanted, "a key finds its own call, whoever has the number since")
    holds(journal.find_key("s", "other") == Found("open", "look", {"n": 2}, id="c"), "and the other key the other")
    run(journal, "s", Failed("c", "none"), Called("look", {"n": 2}, id="d", key="other"), Returned("look", 5, id="d"))
    wanted = Found("finished", "look", {"n": 2}, 5, "ok", "d")
    holds(journal.find_key("s", "other") == wanted, "a key that failed and ran again finds the later call")
    holds(journal.find_key("s", "K") is None, "keys are equal by their code points")


def _sums_up(journal: Journal) -> None:
    run(journal, "s", Called("look", {}, id="a"), Called("look", {}, id="b"), Failed("b", "unknown"))
    journal.note("t", META)
    one, two = journal.sessions()
    holds((one.length, one.last, one.open, one.uncertain, one.over) == (3, WALL, 2, 1, None), f"a session is `{one}`")
    holds((two.length, two.last, two.meta) == (0, None, META), f"a session without records is `{two}`")
    run(journal, "s", Closed())
    holds(next(iter(journal.sessions())).over == "closed", "a session that is over says so")


def _decides_again(journal: Journal) -> None:
    state = run(
        journal, "s", Called("pay", {"n": 0.1}, id="x"), Called("look", {"n": 0.1}, id="a"),
        Returned("look", {}, id="a"),
        Called("pay", {"n": 1}, id="b", at=4.5), Failed("b"), Called("pay", {"n": 1.0}, id="c"), Closed(),
    )  # fmt: skip
    steps = list(again(CONTRACT, journal.read("s")))
    holds(all(step.agrees for step in steps), "events decided again have the verdicts that were recorded")
    holds(save(CONTRACT, steps[-1].state) == save(CONTRACT, state), "and lead to the same state")


def _ends(journal: Journal) -> None:
    journal.note("s", META)
    journal.close()
    for act in (
        lambda: journal.length("s"),
        lambda: list(journal.read("s")),
        lambda: journal.append("s", [note(0)], expected=0),
        lambda: journal.meta("s"),
        lambda: list(journal.sessions()),
    ):
        fails("gone", act, "what is closed is not used any more")
    journal.close()


def _opens_again(make: Make) -> None:
    journal = make("again")
    state = run(journal, "s", Called("look", {"n": Decimal("1.10")}, id="a", key="k"))
    journal.save_snapshot("s", 1, save(CONTRACT, state))
    journal.close()
    journal = make("again")
    holds(state_of(CONTRACT, journal, "s")[1] == 1, "records are still there when a journal is opened again")
    run(journal, "s", Returned("look", {"v": 1}, id="a"))
    journal.close()
    journal = make("again")
    holds(
        journal.find_key("s", "k") == Found("finished", "look", {"n": Decimal("1.10")}, {"v": 1}, "ok", "a"),
        "so are calls",
    )
    saved = journal.snapshot("s", CONTRACT.digest)
    holds(saved is not None and saved.index == 1, "and snapshots")
    journal.close()
