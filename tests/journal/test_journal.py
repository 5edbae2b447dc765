import pickle

import pytest

from duly.journal.journal import Conflict, JournalError, open_journal
from duly.journal.memory import MemoryJournal
from duly.journal.sqlite import SqliteJournal
from duly.values.errors import DulyError


def test_memory_address_opens_a_journal_in_memory():
    assert isinstance(open_journal("memory:"), MemoryJournal)


def test_plain_path_and_sqlite_address_open_the_same_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wanted = str(tmp_path / "j.sqlite")
    for address in ("j.sqlite", "./j.sqlite", wanted, "sqlite:///j.sqlite", f"sqlite:///{wanted}"):
        journal = open_journal(address)
        assert isinstance(journal, SqliteJournal)
        assert journal.path == wanted


def test_path_of_odd_characters_is_a_path_and_nothing_else(tmp_path):
    path = tmp_path / "a b?mode=memory#%41.sqlite"
    open_journal(str(path)).close()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("", "the address of a journal is empty"),
        ("sqlite:///", "the address of a journal is empty"),
        ("sqlite://host/j", "`sqlite://host/j` names no file"),
        ("mysql://host/j", "no store for `mysql://`"),
    ],
)
def test_address_that_means_nothing_is_refused(address, message):
    with pytest.raises(DulyError) as caught:
        open_journal(address)
    assert [diagnostic.message for diagnostic in caught.value.diagnostics] == [message]


def test_unknown_level_is_refused_and_no_file_is_made(tmp_path):
    with pytest.raises(DulyError) as caught:
        open_journal(str(tmp_path / "j.sqlite"), level="safe")
    assert caught.value.diagnostics[0].message == "unknown level `safe`"
    assert caught.value.diagnostics[0].help == "levels are full, normal, memory"
    assert list(tmp_path.iterdir()) == []


def test_errors_survive_pickling():
    conflict = pickle.loads(pickle.dumps(Conflict("s", 3, 5)))
    assert (type(conflict), conflict.kind, conflict.expected, conflict.length) == (Conflict, "conflict", 3, 5)
    error = pickle.loads(pickle.dumps(JournalError("busy", "held", "wait")))
    assert (error.kind, error.diagnostics[0].message, error.diagnostics[0].help) == ("busy", "held", "wait")
