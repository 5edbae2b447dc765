"""`duly sessions`: what a journal holds, at a glance."""

from pathlib import Path

from cli.conftest import Duly
from cli.desk import desk, stored


def test_sessions_are_listed_with_what_stands_in_them(duly: Duly, here: Path) -> None:
    said = duly("sessions", *stored(desk(here)))
    assert said.code == 0
    assert "s1" in said.out
    assert "desk 1" in said.out
    assert "1 uncertain" in said.out
    assert said.out.endswith("1 session\n")


def test_machines_get_one_object_a_session(duly: Duly, here: Path) -> None:
    (line,) = duly("sessions", "--json", *stored(desk(here))).lines
    assert (line["session"], line["events"], line["open"], line["uncertain"], line["over"]) == ("s1", 6, 1, 1, None)


def test_a_journal_that_is_not_there_or_none_at_all_is_said_so(duly: Duly, here: Path) -> None:
    assert duly("sessions", "--store", here / "none.sqlite").code == 2
    foreign = here / "foreign.sqlite"
    foreign.write_text("no database, " * 1000)
    said = duly("sessions", "--store", foreign)
    assert said.code == 6
    assert "Traceback" not in said.err
    assert foreign.read_text().startswith("no database")
