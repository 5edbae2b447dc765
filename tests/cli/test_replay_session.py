"""`duly replay --session`: a session of a journal, decided again and held against its record."""

from pathlib import Path

import pytest

from cli.conftest import Duly
from cli.desk import desk, stored


def test_a_session_is_decided_again_and_agrees_with_its_record(duly: Duly, here: Path) -> None:
    where = desk(here)
    said = duly("replay", "--session", "s1", "--json", *where)
    log = duly("log", "s1", "--json", *stored(where)).lines
    assert [line["verdict"] for line in said.lines] == [line["verdict"] for line in log]
    assert all(line["agrees"] for line in said.lines)
    assert said.code == 4


def test_a_replay_may_end_in_the_middle_and_says_how_much_it_was(duly: Duly, here: Path) -> None:
    where = ("--session", "s1", "--at", 2, *desk(here))
    assert "3 events decided again" in duly("replay", *where).out
    assert len(duly("replay", *where, "--json").lines) == 3


def test_another_contract_decides_again_and_claims_no_disagreement(duly: Duly, here: Path) -> None:
    store = desk(here)
    other = here / "other.yaml"
    other.write_text("duly: 1\ncontract: other\nrules: [{forbid: {of: pay}}]\n")
    where = [str(part) for part in store]
    where[where.index("--contract") + 1] = str(other)
    said = duly("replay", "--session", "s1", *where)
    assert "under another contract than it was held to" in said.out
    assert "`pay` is forbidden" in said.out
    assert "the record says" not in said.out


@pytest.mark.parametrize("given", [["--session", "s1"], ["x.jsonl", "--session", "s1"], []])
def test_a_file_or_a_session_and_not_both(duly: Duly, here: Path, given: list[str]) -> None:
    desk(here)
    assert duly("replay", *given, "--contract", "contract.yaml").code == 2


def test_a_session_that_does_not_exist_is_said_so(duly: Duly, here: Path) -> None:
    assert duly("replay", "--session", "nobody", *desk(here)).code == 2
