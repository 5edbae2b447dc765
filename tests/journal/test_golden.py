"""Journals of earlier releases are read as they are."""

import sqlite3

import pytest

from duly.journal.journal import open_journal
from duly.journal.replay import again, state_of
from duly.session.snapshot import save
from duly.testing.material import CONTRACT, META, equal, events, run
from duly.values.event import Found
from golden.journal import GOLDEN, RUN


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "j.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(GOLDEN.read_text())
    connection.close()
    return open_journal(str(path))


def test_journal_of_0_1_decides_again_as_it_was_decided(journal):
    steps = list(again(CONTRACT, journal.read("run")))
    assert [step.record.verdict for step in steps] == [
        "violation", "allowed", "allowed", "allowed", "allowed", "needs_approval", "allowed", "allowed",
    ]  # fmt: skip
    assert all(step.agrees for step in steps)
    state, length = state_of(CONTRACT, journal, "run")
    assert (save(CONTRACT, state), length) == (save(CONTRACT, steps[-1].state), 8)


def test_journal_of_0_1_has_the_snapshot_and_calls_that_were_kept(journal):
    assert journal.snapshot("run", CONTRACT.digest).index == 3
    assert journal.find_key("run", "k1").result == {"v": 10**30}
    assert journal.find_call("run", "b").result == {"ok": True}
    assert journal.find_key("run", "k0") is None
    assert [known.over for known in journal.sessions()] == ["closed", None]


def test_journal_of_0_1_has_every_event(journal):
    kept = [event for event in events() if len(str(event)) < 5000]
    read = [record.event for record in journal.read("every event")]
    assert len(read) == len(kept)
    assert all(equal(mine, its) for mine, its in zip(kept, read, strict=True))


def test_journal_of_0_1_goes_on(journal):
    assert journal.meta("every event") == META
    fresh = run(journal, "new", *RUN)
    assert fresh.more.over == "closed"
    assert journal.find_call("new", "a") == Found("finished", "look", RUN[1].payload, {"v": 10**30}, "ok", "a")
