"""Several writers at one journal: threads, and processes where the store is shared."""

from multiprocessing import get_context
from threading import Barrier, Thread

from duly.journal.journal import Conflict, Journal
from duly.values.event import Sent

from .claim import holds
from .material import META, Make, note


def append_all(journal: Journal, writer: int, rounds: int) -> None:
    """One writer among several: appends its records, each at the first index that nobody else takes."""
    done = 0
    expected = 0
    while done < rounds:
        try:
            event = Sent("m", {"writer": writer, "round": done})
            journal.append("s", [note(expected, event), note(expected + 1, event)], expected=expected)
        except Conflict as conflict:
            expected = conflict.length
            continue
        done, expected = done + 1, expected + 2


def _one_after_another(journal: Journal, writers: int, rounds: int, who: str) -> None:
    records = list(journal.read("s"))
    pairs = [record.event.payload for record in records]  # type: ignore[union-attr]
    holds(
        len(records) == writers * rounds * 2, f"{who} lost or doubled records: {len(records)} of {writers * rounds * 2}"
    )
    holds(pairs[::2] == pairs[1::2], f"{who} came between records that were appended together")
    for writer in range(writers):
        mine = [int(pair["round"]) for pair in pairs[::2] if pair["writer"] == writer]
        holds(mine == list(range(rounds)), f"the records of one of several {who} are in its own order")


def lets_one_thread_win(make: Make, writers: int, rounds: int = 25) -> None:
    journal = make("threads")
    journal.note("s", META)
    start = Barrier(writers)
    failures: list[BaseException] = []

    def work(writer: int) -> None:
        try:
            start.wait()
            append_all(journal, writer, rounds)
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=work, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    holds(not failures, f"a thread failed: {failures[:1]}")
    _one_after_another(journal, writers, rounds, "threads")
    journal.close()


def lets_one_process_win(make: Make, writers: int, rounds: int = 15) -> None:
    journal = make("processes")
    journal.note("s", META)
    context = get_context("spawn")
    processes = [context.Process(target=_write_beside, args=(make, writer, rounds)) for writer in range(writers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    holds(all(process.exitcode == 0 for process in processes), "a process that appended beside others failed")
    _one_after_another(journal, writers, rounds, "processes")
    journal.close()


def _write_beside(make: Make, writer: int, rounds: int) -> None:
    journal = make("processes")
    append_all(journal, writer, rounds)
    journal.close()
