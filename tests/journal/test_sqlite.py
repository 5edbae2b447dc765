import os
import sqlite3
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import pytest

from duly.journal.journal import Conflict, JournalError, open_journal
from duly.journal.sqlite import SqliteJournal
from duly.testing import check_journal
from duly.testing.material import META, note
from duly.values.event import Sent
from journal.stores import in_file


def test_journal_in_a_file_passes_the_kit(tmp_path):
    check_journal(partial(in_file, tmp_path))


@pytest.mark.parametrize("level", ["full", "memory"])
def test_journal_of_any_level_keeps_its_records(tmp_path, level):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path, level=level)
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    journal.close()
    assert open_journal(path).length("s") == 1


def test_level_is_what_sqlite_is_told(tmp_path):
    told = {}
    for level in ("full", "normal", "memory"):
        journal = SqliteJournal(str(tmp_path / f"{level}.sqlite"), level=level)
        told[level] = journal._link().execute("PRAGMA synchronous").fetchone()[0]
    assert told == {"full": 2, "normal": 1, "memory": 0}


def test_file_that_was_deleted_is_gone_and_not_written_past(tmp_path):
    path = tmp_path / "j.sqlite"
    journal = open_journal(str(path))
    journal.note("s", META)
    path.unlink()
    with pytest.raises(JournalError) as caught:
        journal.append("s", [note(0)], expected=0)
    assert caught.value.kind == "gone"
    assert caught.value.diagnostics[0].message == f"`{path}` is not there any more"


def test_another_file_put_in_its_place_is_noticed(tmp_path):
    path = tmp_path / "j.sqlite"
    journal = open_journal(str(path))
    journal.note("s", META)
    open_journal(str(tmp_path / "other.sqlite")).close()
    os.replace(tmp_path / "other.sqlite", path)
    with pytest.raises(JournalError) as caught:
        journal.append("s", [note(0)], expected=0)
    assert caught.value.kind == "gone"
    assert caught.value.diagnostics[0].message == f"`{path}` is another file than the one that was opened"


def test_file_that_another_program_holds_is_busy_after_the_wait(tmp_path):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path, wait=0.01)
    journal.note("s", META)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(JournalError) as caught:
        journal.append("s", [note(0)], expected=0)
    assert caught.value.kind == "busy"
    with pytest.raises(JournalError) as caught:
        journal.append("s", [note(0), note(1)], expected=0)
    assert caught.value.kind == "busy"
    holder.execute("ROLLBACK")
    journal.append("s", [note(0)], expected=0)
    assert journal.length("s") == 1


def test_full_disk_is_an_error_and_leaves_the_journal_whole(tmp_path):
    journal = SqliteJournal(str(tmp_path / "j.sqlite"))
    journal.note("s", META)
    connection = journal._link()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    large = [note(index, Sent("m", {"text": "x" * 9000})) for index in range(2)]
    journal.append("s", [note(0)], expected=0)
    for records in ([note(1, Sent("m", {"text": "x" * 90_000}))], [note(1, large[0].event), note(2, large[1].event)]):
        with pytest.raises(JournalError) as caught:
            journal.append("s", records, expected=1)
        assert caught.value.kind == "full"
    assert journal.length("s") == 1
    connection.execute(f"PRAGMA max_page_count = {pages + 100}")
    journal.append("s", [note(1)], expected=1)
    journal.check()


def test_journal_opened_for_reading_is_read_and_not_written(tmp_path):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    reader = open_journal(path, readonly=True)
    assert reader.length("s") == 1
    with pytest.raises(JournalError) as caught:
        reader.append("s", [note(1)], expected=1)
    assert caught.value.kind == "readonly"
    assert journal.length("s") == 1


def _scribble(path: Path, table: str) -> None:
    """Writes over the root page of a table."""
    connection = sqlite3.connect(path)
    root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xaa" * size)


def test_damaged_page_is_an_error_for_whoever_reads_it(tmp_path):
    path = tmp_path / "j.sqlite"
    journal = open_journal(str(path))
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    journal.close()
    _scribble(path, "record")
    journal = open_journal(str(path))
    for act in (
        lambda: list(journal.read("s")),
        lambda: journal.append("s", [note(1)], expected=1),
        lambda: journal.check(),
    ):
        with pytest.raises(JournalError) as caught:
            act()
        assert caught.value.kind == "corrupt"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE record SET text = '{' WHERE place % 8 = 1", "not a record"),
        ("UPDATE record SET text = replace(text, '\"index\":1,', '\"index\":2,')", "the record 1 is missing"),
        ("DELETE FROM record WHERE place % 8 = 1", "the record 1 is missing"),
    ],
)
def test_damaged_record_is_named_and_not_passed_over(tmp_path, change, what):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    journal.note("s", META)
    journal.append("s", [note(index) for index in range(3)], expected=0)
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    with pytest.raises(JournalError) as caught:
        list(journal.read("s"))
    assert caught.value.kind == "corrupt"
    assert f"the session `s` in `{path}` is damaged: {what}" in caught.value.diagnostics[0].message


def test_damaged_snapshot_is_none_at_all(tmp_path):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    journal.note("s", META)
    journal.save_snapshot("s", 0, {"duly": 1})
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE snapshot SET text = '{'")
    assert journal.snapshot("s") is None


def test_child_of_a_fork_writes_over_its_own_connection(tmp_path):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    child = os.fork()
    if child == 0:
        try:
            journal.append("s", [note(1, Sent("child"))], expected=1)
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    journal.append("s", [note(2, Sent("parent"))], expected=2)
    assert [record.event.label for record in journal.read("s")] == ["Hello", "child", "parent"]
    journal.check()


def test_forked_workers_share_the_journal_that_was_opened_before(tmp_path):
    journal = open_journal(str(tmp_path / "j.sqlite"), wait=30)
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    context = get_context("fork")
    workers = [context.Process(target=_append, args=(journal, 10)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert journal.length("s") == 31


def _append(journal, number):
    for _ in range(number):
        while True:
            expected = journal.length("s")
            try:
                journal.append("s", [note(expected)], expected=expected)
                break
            except Conflict:
                continue


def _append_elsewhere(path, index):
    """What another process does that opens the journal, records something and closes it."""
    process = get_context("spawn").Process(target=_append_once, args=(path, index))
    process.start()
    process.join()
    assert process.exitcode == 0


def _append_once(path, index):
    journal = open_journal(path)
    journal.append("s", [note(index)], expected=index)
    journal.close()


def _in_a_thread(path, journal):
    thread = Thread(target=journal.append, args=("s", [note(1)]), kwargs={"expected": 1})
    thread.start()
    thread.join()


def _opened_again(path, journal):
    open_journal(path).append("s", [note(1)], expected=1)


def _opened_to_read(path, journal):
    journal.append("s", [note(1)], expected=1)
    open_journal(path, readonly=True).close()


@pytest.mark.parametrize("use", [_in_a_thread, _opened_again, _opened_to_read])
def test_journal_that_is_used_twice_in_a_process_keeps_what_it_records_after_another_process_has_left(tmp_path, use):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    use(path, journal)
    _append_elsewhere(path, 2)
    journal.append("s", [note(3)], expected=3)
    _append_elsewhere(path, 4)
    assert [record.index for record in journal.read("s")] == [0, 1, 2, 3, 4]
    journal.check()


def test_child_of_a_fork_keeps_what_it_records_after_its_parent_has_left(tmp_path):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    (mine, yours), (go, wait) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            journal.append("s", [note(1)], expected=1)
            os.write(yours, b".")
            os.read(go, 1)
            journal.append("s", [note(3)], expected=3)
            os._exit(0)
        except BaseException:
            os._exit(1)
    os.close(yours)
    assert os.read(mine, 1) == b"."
    journal.close()
    _append_elsewhere(path, 2)
    os.write(wait, b".")
    assert os.waitpid(child, 0)[1] == 0
    assert [record.index for record in open_journal(path).read("s")] == [0, 1, 2, 3]


def test_connections_of_threads_that_ended_are_closed(tmp_path):
    journal = SqliteJournal(str(tmp_path / "j.sqlite"))
    for _ in range(3):
        thread = Thread(target=lambda: journal.length("s"))
        thread.start()
        thread.join()
    assert len(journal._links) == 1


def test_records_are_legible_without_duly(tmp_path):
    path = str(tmp_path / "j.sqlite")
    journal = open_journal(path)
    journal.note("s", META)
    journal.append("s", [note(0, Sent("Hello", {"n": 1}))], expected=0)
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT session, \"index\", text ->> '$.event.payload.n' FROM history").fetchall()
    assert rows == [("s", 0, 1)]
