"""`duly tell`: a person's words reach the session that a gate elsewhere holds."""

from pathlib import Path

import duly as library
from cli.conftest import Duly
from cli.desk import desk
from duly.journal.journal import open_journal


def test_what_is_told_is_taken_into_account_by_a_gate_that_is_open_already(duly: Duly, here: Path) -> None:
    options = desk(here)
    journal = open_journal(options[1])
    gate = library.Gate.open(library.load(options[3]), journal, "s2")
    said = duly("tell", "s2", "received", "Yes", "--text", "yes, do", *options)
    assert (said.code, said.out) == (0, "taken\n")
    assert gate.begin("pay", {"n": 2}).label == "pay"
    journal.close()


def test_a_text_without_a_label_is_named_by_the_contract(duly: Duly, here: Path) -> None:
    options = desk(here)
    duly("tell", "s1", "received", "--text", "yes, again", *options)
    assert '"label":"Yes"' in duly("log", "s1", "--json", *options[:2]).out.splitlines()[-1]


def test_a_misspelt_message_is_no_message(duly: Duly, here: Path) -> None:
    said = duly("tell", "s1", "received", "Yess", *desk(here))
    assert (said.code, said.err) == (2, "error: unknown message `Yess`\n  help: did you mean `Yes`?\n")


def test_nothing_can_be_told_of_a_session_that_does_not_exist(duly: Duly, here: Path) -> None:
    said = duly("tell", "s11", "received", "Yes", *desk(here))
    assert (said.code, said.err) == (2, "error: no session `s11`\n  help: did you mean `s1`?\n")


def test_a_tool_is_not_a_message_and_a_silent_tell_says_nothing(duly: Duly, here: Path) -> None:
    options = desk(here)
    assert duly("tell", "s1", "received", "pay", *options).code == 2
    assert duly("tell", "s1", "received", *options).code == 2
    assert duly("tell", "s1", "called", "pay", *options).code == 2


def test_another_contract_may_not_speak_for_the_session(duly: Duly, here: Path) -> None:
    options = desk(here)
    other = here / "other.yaml"
    other.write_text(Path(options[3]).read_text().replace('"1"', '"2"'))
    said = duly("tell", "s1", "received", "Yes", *options[:2], "--contract", other)
    assert said.code == 3
    assert "Traceback" not in said.err
