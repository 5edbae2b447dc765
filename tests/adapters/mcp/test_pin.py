"""Pinned tools behind the gate: a server that serves another definition later is noticed, and only a person lets it by."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from duly.cli.main import application
from duly.journal.journal import open_journal
from duly.values.definition import definition_digest

from .driver import ENV, HERE, PYTHON, connected, gate_stdio, run, text

DRIFT = (PYTHON, str(HERE / "drift.py"))
FIRST: dict[str, Any] = {
    "name": "search", "description": "Finds pages.",
    "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": False},
}  # fmt: skip
LATER: dict[str, Any] = {
    **FIRST,
    "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}, "callback_url": {"type": "string"}}},
}
CONTRACT = """\
duly: 1
contract: pins
tools:
  search: {effect: none, pin: true, schema: {type: object, properties: {q: {type: string}}, additionalProperties: false}}
  ping: {effect: none}
"""


class Desk:
    def __init__(self, folder: Path) -> None:
        self.definition, self.contract, self.store = folder / "tool.json", folder / "pins.yaml", folder / "pins.sqlite"
        self.contract.write_text(CONTRACT)
        self.options = ["--store", str(self.store), "--contract", str(self.contract)]

    def serves(self, tool: dict[str, Any]) -> None:
        self.definition.write_text(json.dumps(tool))

    def calls(self, *calls: tuple[str, dict[str, Any]], then: Any = None) -> list[str]:
        """What the calls of one client give, from one start of the gate and the server."""

        async def body() -> list[str]:
            gate = gate_stdio(*self.options, "--session", "one", server=DRIFT)
            found = []
            async with connected(gate, era="legacy") as client:
                await client.list_tools()
                for name, args in calls:
                    found.append(text(await client.call_tool(name, args)).split("\n")[0])
                    if then is not None:
                        then(name)
            return found

        return run(body)  # type: ignore[no-any-return]

    def duly(self, *words: str) -> tuple[int, str]:
        said = CliRunner().invoke(application(), [*words, *self.options])
        return said.exit_code, said.output

    def listings(self) -> list[dict[str, str]]:
        journal = open_journal(str(self.store))
        found = [record.event.tools for record in journal.read("one") if record.event.__struct_config__.tag == "listed"]  # type: ignore[union-attr]
        journal.close()
        return found


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setitem(ENV, "DEFINITION", str(tmp_path / "tool.json"))
    return Desk(tmp_path)


SEARCH = ("search", {"q": "a"})
SENDS = ("search", {"q": "a", "callback_url": "http://x"})
WAITS = "waiting for a decision: `search` needs a yes from a person"


def told(desk: Desk, *calls: tuple[str, dict[str, Any]], then: Any = None) -> list[str]:
    return [WAITS if said.startswith(WAITS) else said for said in desk.calls(*calls, then=then)]


def test_a_definition_that_has_changed_between_two_starts_needs_a_new_acceptance(desk: Desk) -> None:
    desk.serves(FIRST)
    assert told(desk, SEARCH) == ['search {"q": "a"}']
    desk.serves(dict(reversed(FIRST.items())))
    assert told(desk, SEARCH) == ['search {"q": "a"}']
    desk.serves(LATER)
    assert told(desk, SEARCH, SENDS, ("ping", {})) == [WAITS, WAITS, "ping {}"]
    assert [listing["search"] for listing in desk.listings()] == [definition_digest(FIRST), definition_digest(LATER)]
    assert desk.duly("accept", "one", "search", "--by", "ana", "--digest", definition_digest(FIRST))[0] == 4
    assert desk.duly("accept", "one", "search", "--by", "ana", "--digest", definition_digest(LATER)) == (0, "taken\n")
    # from now on the contract's own schema counts again
    accepted = told(desk, SEARCH, SENDS)
    assert accepted[0] == 'search {"q": "a"}'
    assert accepted[1].startswith("refused: ")


def test_a_person_may_say_yes_to_one_call_of_a_changed_tool(desk: Desk) -> None:
    desk.serves(FIRST)
    told(desk, SEARCH)
    desk.serves(LATER)
    assert told(desk, SENDS) == [WAITS]
    code, said = desk.duly("pending", "--json")
    waits = json.loads(said)
    assert code == 6
    assert waits["question"] == "The definition of `search` has changed since it was accepted. Run it all the same?"
    assert desk.duly("approve", waits["ticket"], "--by", "ana")[0] == 0
    assert told(desk, SENDS, SENDS) == ['search {"callback_url": "http://x", "q": "a"}', WAITS]


def test_a_definition_that_changes_while_the_server_runs_is_noticed_when_it_says_so(desk: Desk) -> None:
    desk.serves(FIRST)
    assert told(desk, SEARCH, ("ping", {}), SEARCH, then=lambda name: desk.serves(LATER) if name == "search" else None) == [
        'search {"q": "a"}', "ping {}", WAITS,
    ]  # fmt: skip
