from pathlib import Path

import pytest

import duly as library
from duly.cli.init import reads

from .conftest import Duly


def test_the_first_contract_is_well_formed_and_in_shadow(duly: Duly, here: Path) -> None:
    said = duly("init", "first.yaml")
    assert said.code == 0
    assert duly("check", "first.yaml", "--strict").out == "0 errors, 0 warnings\n"
    assert library.load("first.yaml").terms.mode == "shadow"


def test_recorded_runs_give_the_tools_and_their_effect_is_guessed(duly: Duly, here: Path) -> None:
    (here / "runs" / "more.jsonl").write_text('{"event": "called", "label": "get it", "payload": {}, "id": "c"}\n')
    said = duly("init", "first.yaml", "--from", "runs")
    assert said.out == "first.yaml: 2 tools, 1 of them taken to change something; please check that\n"
    contract = library.load("first.yaml")
    assert {name: tool.effect for name, tool in contract.tools.items()} == {"get it": "none", "refund_order": "write"}
    assert list(contract.rules) == ["must_precede(Yes, @change)"]
    assert duly("check", "first.yaml", "--strict").code == 0
    assert duly("audit", "runs/good.jsonl", "-c", "first.yaml").code == 0
    assert duly("audit", "bad.jsonl", "-c", "first.yaml").code == 4


def test_tools_that_only_read_need_no_rule(duly: Duly, here: Path) -> None:
    (here / "reads.jsonl").write_text('{"event": "called", "label": "search", "payload": {}, "id": "c"}\n')
    assert duly("init", "first.yaml", "--from", "reads.jsonl").code == 0
    assert library.load("first.yaml").rules == {}
    assert duly("check", "first.yaml", "--strict").code == 0


@pytest.mark.parametrize("name", ["a: b", "- x", "yes", "null", "1", "#", "@x", "é", "a\nb", "*", "!t", "{", '"'])
def test_odd_names_of_tools_are_written_so_that_they_read_back(name: str, duly: Duly, here: Path) -> None:
    from duly.values.event import Called
    from duly.values.paper import write_event

    (here / "odd.jsonl").write_text(write_event(Called(name, {}, id="c")) + "\n")
    assert duly("init", "first.yaml", "--from", "odd.jsonl").code == 0
    assert list(library.load("first.yaml").tools) == [name]


def test_a_file_is_never_overwritten_unless_forced(duly: Duly, here: Path) -> None:
    before = (here / "contract.yaml").read_text()
    said = duly("init")
    assert (said.code, said.err) == (2, "error: `contract.yaml` exists\n  help: `--force` overwrites it\n")
    assert (here / "contract.yaml").read_text() == before
    assert duly("init", "--force").code == 0
    assert (here / "contract.yaml").read_text() != before


def test_runs_that_cannot_be_read_give_no_contract(duly: Duly, here: Path) -> None:
    (here / "zeros.jsonl").write_bytes(b"\0" * 100)
    said = duly("init", "first.yaml", "--from", "zeros.jsonl")
    assert (said.code, said.err.splitlines()[-1]) == (6, "error: no run could be read, so nothing is written")
    assert duly("init", "first.yaml", "--from", "nowhere").code == 6
    assert not (here / "first.yaml").exists()


def test_wrong_usage_exits_with_2(duly: Duly, here: Path) -> None:
    assert duly("init", "runs").code == 2
    assert duly("init", "contract.json").code == 2
    assert duly("init", "no/such/folder.yaml").code == 2


def test_what_a_tool_does_is_guessed_by_the_first_word_of_its_name() -> None:
    reading = ["get_order", "getOrder", "List-Files", "fs/read_file", "search", "lookup"]
    changing = ["refund", "delete_list", "reset", "getter_of", "set_read", "", "readable"]
    assert [reads(name) for name in reading] == [True] * len(reading)
    assert [reads(name) for name in changing] == [False] * len(changing)


def test_runs_and_a_server_are_not_asked_at_once_and_a_missing_sdk_is_named(
    duly: Duly, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert duly("init", "a.yaml", "--from", ".", "--mcp", "server").code == 2
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = duly("init", "a.yaml", "--mcp", "server")
    assert (said.code, said.err) == (2, "error: the MCP SDK is not installed\n  help: pip install 'duly[mcp]'\n")
    assert not (here / "a.yaml").exists()
