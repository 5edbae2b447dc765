"""A first contract from what a server says of itself."""

from pathlib import Path

import pytest

from duly import load
from duly.cli.mcp import contract_of_server
from duly.gates.mcp.init import contract_from_server, contract_text
from duly.gates.mcp.listing import Listing
from duly.gates.mcp.upstream import Target
from duly.values.errors import DulyError

from .driver import HERE, PYTHON, SERVER
from .foreign import program


def loaded(text: str, place: Path) -> object:
    place.write_text(text)
    return load(str(place))


def test_effects_are_taken_from_the_annotations_and_are_writes_where_there_are_none(tmp_path: Path) -> None:
    text = contract_of_server(f"{program('filesystem')} {tmp_path}", "files")
    contract = loaded(text, tmp_path / "contract.yaml")
    effects = {name: tool.effect for name, tool in contract.tools.items()}  # type: ignore[attr-defined]
    assert (effects["read_file"], effects["write_file"], effects["move_file"]) == ("none", "write", "write")
    assert contract.tools["write_file"].idempotent  # type: ignore[attr-defined]
    assert contract.terms.mode == "shadow"  # type: ignore[attr-defined]
    assert "  move_file: {effect: write}  # destructive\n" in text


def test_a_server_that_says_nothing_of_its_tools_changes_something_with_all_of_them(tmp_path: Path) -> None:
    text = contract_from_server(Target(SERVER))
    contract = loaded(text, tmp_path / "contract.yaml")
    assert {tool.effect for tool in contract.tools.values()} == {"write"}  # type: ignore[attr-defined]
    assert "  pay: {effect: write}  # nothing is said of what it changes\n" in text


@pytest.mark.parametrize("name", ["a b", 'quo"te', "new\nline: x", "yes", "1", "#x", "a/b", "@change", "é", "*"])
def test_tools_of_any_name_are_declared_and_nothing_else_is(name: str, tmp_path: Path) -> None:
    text = contract_text("s", Listing([{"name": name, "inputSchema": {}}], {}), Target(("x",)))
    contract = loaded(text, tmp_path / "contract.yaml")
    assert list(contract.tools) == [name]  # type: ignore[attr-defined]


def test_a_server_that_cannot_be_started_is_an_error() -> None:
    with pytest.raises(DulyError, match="cannot be used"):
        contract_from_server(Target((PYTHON, "-c", "pass")))
    with pytest.raises(DulyError, match="cannot be used"):
        contract_from_server(Target((str(HERE / "there-is-no-such-program"),)))
