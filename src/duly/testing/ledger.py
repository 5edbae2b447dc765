"""What every journal must do with ledgers: records and postings together or neither, one order, nothing lost."""

from functools import partial
from multiprocessing import get_context
from threading import Barrier, Thread

from duly.journal.journal import Journal, LedgerConflict
from duly.journal.record import Posting, Share
from duly.values.event import Sent
from duly.values.plain import Malformed

from .claim import fails, holds
from .material import META, Make, note

CAP = 40
"""How much several writers may take together."""


def posting(session: str, record: int, n: int = 1) -> Posting:
    return Posting(session, record, {"": {"": {"n": str(n)}}})


def ledgers_begin_empty(journal: Journal) -> None:
    holds(list(journal.ledgers()) == [], "a journal begins without ledgers")
    holds(journal.posted("l") == 0 and list(journal.postings("l")) == [], "a ledger without postings is empty")
    holds(journal.balance("l") is None, "and has no balance")
    fails("corrupt", lambda: journal.save_balance("l", 1, {}), "a balance of what was never posted")


def ledgers_go_with_records(journal: Journal) -> None:
    journal.note("s", META)
    odd = Posting("s", 0, {"2026-12-01": {'{"id":"🧾"}': {"USD": "-0.10", "": "1E+600"}}, "": {}})
    journal.append("s", [note(0)], expected=0, shares=[Share("l", 0, (odd,)), Share("L", 0)])
    journal.append("s", [note(1), note(2)], expected=1, shares=[Share("l", 1, (posting("s", 1), posting("s", 2)))])
    holds(list(journal.postings("l")) == [odd, posting("s", 1), posting("s", 2)], "postings are read as they were made")
    holds(list(journal.postings("l", 2)) == [posting("s", 2)], "reading starts at the index asked for")
    holds((journal.posted("l"), journal.posted("L")) == (3, 0), "names of ledgers are equal by their code points")
    fails("corrupt", lambda: journal.save_balance("l", 4, {}), "a balance past the last posting")
    journal.save_balance("l", 2, {"": {"": {"n": "2"}}})
    journal.save_balance("l", 1, {})
    kept = journal.balance("l")
    holds(kept is not None and (kept.index, kept.data) == (2, {"": {"": {"n": "2"}}}), "the latest balance is kept")
    holds("l" in list(journal.ledgers()), "ledgers are listed")


def ledgers_are_all_or_nothing(journal: Journal) -> None:
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0, shares=[Share("l", 0, (posting("s", 0),))])
    stale = partial(journal.append, "s", [note(1)], expected=1, shares=[Share("l", 0, (posting("s", 1),))])
    error = fails("conflict", stale, "posting where somebody was first")
    holds(isinstance(error, LedgerConflict) and error.length == 1, "a conflict of a ledger says its actual length")
    looked = partial(journal.append, "s", [note(1)], expected=1, shares=[Share("l", 0)])
    fails("conflict", looked, "a record that rests on what a ledger no longer holds")
    late = partial(journal.append, "s", [note(0)], expected=0, shares=[Share("l", 1, (posting("s", 0),))])
    second = fails("conflict", late, "a record that comes second")
    holds(not isinstance(second, LedgerConflict), "a conflict of the session is none of its ledgers")
    both = [Share("m", 0, (posting("s", 1),)), Share("l", 0, (posting("s", 1),))]
    fails("conflict", partial(journal.append, "s", [note(1)], expected=1, shares=both), "one of two ledgers has moved")
    for bad in (
        partial(journal.append, "s", [note(1)], expected=1, shares=[Share("l", 1, (posting("\ud800", 1),))]),
        partial(journal.append, "s", [note(1, Sent("\ud800"))], expected=1, shares=[Share("l", 1, (posting("s", 1),))]),
    ):
        try:
            bad()
        except Malformed:
            continue
        raise AssertionError("what cannot be written is refused")
    holds(journal.length("s") == 1, "records stay out where their postings do")
    holds((journal.posted("l"), journal.posted("m")) == (1, 0), "and postings stay out where their records do")
    journal.append("s", [note(1)], expected=1, shares=[Share("l", 1, (posting("s", 1),))])
    holds((journal.length("s"), journal.posted("l")) == (2, 2), "a conflict does not stand in the way of the next")


def ledgers_let_no_thread_overrun(journal: Journal) -> None:
    start, failures = Barrier(8), list[BaseException]()

    def work(writer: int) -> None:
        try:
            start.wait()
            take_all(journal, writer)
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=work, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    holds(not failures, f"a thread that posted beside others failed: {failures[:1]}")
    _nothing_over(journal, "threads")


LEDGER_CHECKS = (
    ledgers_begin_empty, ledgers_go_with_records, ledgers_are_all_or_nothing, ledgers_let_no_thread_overrun,
)  # fmt: skip


def take_all(journal: Journal, writer: int) -> None:
    """One writer among several: takes one at a time for as long as anything is left."""
    name = f"s{writer}"
    journal.note(name, META)
    taken = 0
    while (length := journal.posted("l")) < CAP:
        try:
            journal.append(
                name, [note(taken)], expected=taken, shares=[Share("l", length, (posting(name, taken),))]
            )
        except LedgerConflict:
            continue
        taken += 1


def _nothing_over(journal: Journal, who: str) -> None:
    postings = list(journal.postings("l"))
    holds(len(postings) == CAP, f"{who} took {len(postings)} of {CAP}")
    known = {(posting.session, posting.record) for posting in postings}
    kept = {(each.session, record.index) for each in journal.sessions() for record in journal.read(each.session)}
    holds(known == kept, f"records and postings of {who} do not belong together")


def keeps_ledgers_for_another_start(make: Make) -> None:
    journal = make("ledger")
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0, shares=[Share("l", 0, (posting("s", 0),))])
    journal.save_balance("l", 1, {"": {"": {"n": "1"}}})
    journal.close()
    journal = make("ledger")
    kept = journal.balance("l")
    holds(list(journal.postings("l")) == [posting("s", 0)], "postings are still there when a journal is opened again")
    holds(kept is not None and kept.index == 1, "and balances")
    journal.close()


def lets_no_process_overrun(make: Make, writers: int) -> None:
    make("ledgers").close()
    context = get_context("spawn")
    processes = [context.Process(target=_take_beside, args=(make, writer)) for writer in range(writers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    holds(all(process.exitcode == 0 for process in processes), "a process that posted beside others failed")
    journal = make("ledgers")
    _nothing_over(journal, "processes")
    journal.close()


def _take_beside(make: Make, writer: int) -> None:
    journal = make("ledgers")
    take_all(journal, writer)
    journal.close()
