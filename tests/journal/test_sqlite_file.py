import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from duly.journal.journal import JournalError, open_journal
from duly.journal.sqlite_file import APPLICATION, FORMAT
from duly.testing.material import META, note


def _refused(path: Path, kind: str, **options) -> str:
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(JournalError) as caught:
        open_journal(str(path), **options)
    assert caught.value.kind == kind
    if before is not None:
        assert path.read_bytes() == before
        assert [each.name for each in path.parent.iterdir()] == [path.name]
    return caught.value.diagnostics[0].message


def test_new_file_and_its_directories_are_for_their_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        journal = open_journal(str(tmp_path / "a" / "b" / "j.sqlite"))
        journal.note("s", META)
    finally:
        os.umask(before)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")}
    modes |= {each.name: each.stat().st_mode & 0o777 for each in (tmp_path / "a" / "b").iterdir()}
    assert modes == {"a": 0o700, "a/b": 0o700, "j.sqlite": 0o600, "j.sqlite-shm": 0o600, "j.sqlite-wal": 0o600}


def test_directories_that_were_there_keep_their_modes(tmp_path):
    (tmp_path / "a").mkdir(mode=0o755)
    open_journal(str(tmp_path / "a" / "j.sqlite"))
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755


def test_empty_file_becomes_a_journal(tmp_path):
    path = tmp_path / "j.sqlite"
    path.touch()
    journal = open_journal(str(path))
    journal.note("s", META)
    assert journal.meta("s") == META


def test_text_file_is_foreign_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 50)
    assert _refused(path, "foreign") == f"`{path}` is no SQLite file; nothing was changed in it"


def test_database_of_another_program_is_foreign_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE record (place INTEGER)")
    connection.close()
    assert _refused(path, "foreign") == f"`{path}` is a database of another program; nothing was changed in it"


def test_log_of_another_programs_database_is_not_taken_in(tmp_path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (a)")
    log = path.with_name("other.db-wal")
    before = log.read_bytes()
    with pytest.raises(JournalError):
        open_journal(str(path))
    assert log.read_bytes() == before
    connection.close()


def test_journal_of_a_newer_duly_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "j.sqlite"
    open_journal(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    with pytest.raises(JournalError) as caught:
        open_journal(str(path))
    assert caught.value.kind == "newer"
    message = f"`{path}` was written by a newer duly, in format {FORMAT + 1}; this one reads up to {FORMAT}"
    assert caught.value.diagnostics[0].message == message
    assert caught.value.diagnostics[0].help == "use the newer duly; nothing was changed"


def test_journal_without_its_tables_is_damaged(tmp_path):
    path = tmp_path / "j.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE session (id)")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.close()
    with pytest.raises(JournalError) as caught:
        open_journal(str(path))
    assert caught.value.kind == "corrupt"


def test_directory_is_no_journal(tmp_path):
    assert _refused(tmp_path, "foreign") == f"`{tmp_path}` is a directory, not a journal"


def test_path_through_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(JournalError) as caught:
        open_journal(str(tmp_path / "file" / "j.sqlite"))
    assert caught.value.kind == "gone"


def test_nothing_is_created_by_reading(tmp_path):
    path = tmp_path / "j.sqlite"
    assert _refused(path, "gone", readonly=True) == f"`{path}` is not there"
    assert not path.exists()


_AS_NOBODY = """
import errno, os, sys, urllib.parse
import duly.journal.sqlite
from duly.journal.journal import JournalError, open_journal
from duly.testing.material import META, note
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
try:
    journal = open_journal(sys.argv[1])
    journal.append("s", [note(1)], expected=1)
except JournalError as error:
    print(error.kind)
"""


@pytest.mark.parametrize(("directory", "file"), [(0o555, 0o444), (0o555, 0o644), (0o777, 0o400), (0o500, 0o600)])
def test_user_without_the_right_to_write_is_told_so(tmp_path, directory, file):
    place = tmp_path / "place"
    path = place / "j.sqlite"
    journal = open_journal(str(path))
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    journal.close()
    path.chmod(file)
    place.chmod(directory)
    for parent in place.parents:
        if parent.stat().st_mode & 0o1777 != 0o1777 and parent.is_relative_to("/tmp"):
            parent.chmod(0o755)
    try:
        told = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, str(path)], capture_output=True, text=True, check=False
        )
    finally:
        place.chmod(0o755)
        path.chmod(0o644)
    assert told.stdout.strip() in ("readonly", "gone"), told.stderr
    assert open_journal(str(path)).length("s") == 1


def test_creator_killed_before_the_tables_leaves_a_file_that_the_next_one_takes(tmp_path):
    path = tmp_path / "j.sqlite"
    code = (
        "import os, sys, sqlite3\n"
        "from duly.journal import sqlite_file\n"
        "sqlite_file.create(sys.argv[1])\n"
        "link = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "link.execute('BEGIN IMMEDIATE')\n"
        "for statement in sqlite_file.SCHEMA: link.execute(statement)\n"
        "os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 9
    journal = open_journal(str(path))
    journal.note("s", META)
    assert journal.meta("s") == META


def test_several_processes_create_one_journal(tmp_path):
    path = tmp_path / "new" / "j.sqlite"
    code = (
        "import sys\n"
        "from duly.journal.journal import open_journal\n"
        "from duly.testing.material import META\n"
        "open_journal(sys.argv[1], wait=30).note(sys.argv[2], META)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), f"s{number}"]) for number in range(4)]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    assert {known.session for known in open_journal(str(path)).sessions()} == {"s0", "s1", "s2", "s3"}
