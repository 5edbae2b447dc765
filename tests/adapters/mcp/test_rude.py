"""Servers and clients that do what they should not: each gets a clear answer, none hangs, none is a yes."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from .driver import ENV, ERAS, HERE, LAUNCH, PYTHON, SERVER, connected, gate_http, gate_stdio, names, run, text

RUDE = (PYTHON, str(HERE / "rude.py"))
CONTRACT = str(HERE / "rude.yaml")
ORDINARY = str(HERE / "ordinary.yaml")


@pytest.fixture
def effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the server notes what it did."""
    place = tmp_path / "effects"
    monkeypatch.setitem(ENV, "EFFECTS", str(place))
    return place


def done(place: Path) -> list[str]:
    return place.read_text().split("\n")[:-1] if place.exists() else []


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_dies_leaves_its_call_unknown_and_refuses_what_comes_after(era: str) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era=era) as client:
            died = await client.call_tool("dies", {})
            assert died.is_error
            assert text(died).startswith("`dies` was called, and nobody knows whether it ran: ")
            after = await client.call_tool("plain", {})
            assert after.is_error
            assert "`plain` was not called: " in text(after)
            assert text(after).endswith("nothing was done")

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_stray_lines_of_a_server_are_passed_over(era: str) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era=era) as client:
            assert text(await client.call_tool("strays", {})) == "after strays"
            assert text(await client.call_tool("plain", {"n": 2})) == "plain 2"

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_a_late_answer_settles_the_call_that_was_given_up(era: str, effects: Path) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, "--timeout", "0.5", server=RUDE), era=era) as client:
            late = await client.call_tool("late", {"s": 1})
            assert late.is_error
            assert text(late).startswith("`late` has not answered within 0.5 seconds: nobody knows whether it ran")
            again = await client.call_tool("late", {"s": 0})
            assert again.is_error
            assert done(effects) == ["late"]

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_never_answered_ends_at_the_deadline_and_keeps_its_count(era: str, effects: Path) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, "--timeout", "0.5", server=RUDE), era=era) as client:
            never = await client.call_tool("never", {})
            assert text(never).startswith("`never` has not answered within 0.5 seconds")
            assert (await client.call_tool("never", {})).is_error
            assert text(await client.call_tool("plain", {})) == "plain 1"
            assert done(effects) == ["never", "plain"]

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_the_second_of_two_answers_is_nothing(era: str) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era=era) as client:
            assert text(await client.call_tool("twice", {})) == "first"
            assert text(await client.call_tool("plain", {})) == "plain 1"

    run(body)


def test_an_answer_that_cannot_be_read_ends_at_the_deadline() -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, "--timeout", "0.5", server=RUDE), era="legacy") as client:
            assert "has not answered within" in text(await client.call_tool("garbled", {}))
            assert text(await client.call_tool("plain", {})) == "plain 1"

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_errors_of_the_server_pass_and_give_the_place_back(era: str, effects: Path) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era=era) as client:
            for _ in range(2):
                with pytest.raises(Exception, match="no such account"):
                    await client.call_tool("rpc_error", {})
                assert text(await client.call_tool("failed", {})) == "it failed"
            assert done(effects) == ["rpc_error", "failed"] * 2

    run(body)


def test_a_result_that_is_nested_too_deeply_passes_and_ends_its_call() -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era="legacy") as client:
            assert text(await client.call_tool("deep", {})) == "deep"
            assert text(await client.call_tool("deep", {})) == "deep"

    run(body)


def test_a_schema_that_changes_in_the_middle_holds_from_then_on(effects: Path) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era="legacy") as client:
            assert text(await client.call_tool("plain", {})) == "plain 1"
            assert text(await client.call_tool("reshaped", {})) == "reshaped"
            refused = await client.call_tool("plain", {})
            assert text(refused).startswith('refused: "s" is a required property')
            assert done(effects) == ["plain", "reshaped"]

    run(body)


def test_two_tools_of_one_name_are_hidden_and_refused(monkeypatch: pytest.MonkeyPatch, effects: Path) -> None:
    monkeypatch.setitem(ENV, "LISTS", "doubled")

    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era="legacy") as client:
            assert "plain" not in await names(client)
            refused = await client.call_tool("plain", {})
            assert refused.is_error
            assert "the server has two tools of the name `plain`" in text(refused)
            assert done(effects) == []

    run(body)


def test_a_list_without_an_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENV, "LISTS", "endless")

    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=RUDE), era="legacy") as client:
            with pytest.raises(Exception, match="the server's list of tools has no end"):
                await names(client)
            assert "the server's list of tools cannot be read" in text(await client.call_tool("plain", {}))

    run(body)


class Line:
    """A gate whose client writes whatever it likes."""

    def __init__(self, *arguments: str, server: tuple[str, ...] = RUDE) -> None:
        self.process = subprocess.Popen(
            [*LAUNCH, *arguments, "--", *server], env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        while True:
            found = json.loads(self.process.stdout.readline())
            if "method" not in found:
                return found

    def greet(self) -> None:
        who = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        self.write(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": who}))
        assert self.read()["result"]["serverInfo"]["name"] in ("rude", "ordinary")
        self.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)


CALL = '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": {"name": "plain", "arguments": %s}}'


@pytest.mark.parametrize(
    ("line", "id", "message"),
    [
        ("not json", None, "not JSON: expecting value"),
        ('{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {', None, "not JSON: expecting"),
        (CALL % (5, '{"n": 1, "n": 2}'), 5, "the key `n` is repeated"),
        ('{"jsonrpc": "2.0", "id": 5, "id": 6, "method": "ping"}', None, "the key `id` is repeated"),
        (CALL % (5, '{"s": NaN}'), 5, "`NaN` is not JSON"),
        (CALL % (5, '{"s": 1e999}'), 5, "the number `1e999` is too large"),
        ("[]", None, "not a JSON-RPC message"),
        ('{"jsonrpc": "2.0", "id": 5}', 5, "not a JSON-RPC message"),
        ("[" * 100_000, None, "n"),
    ],
)
def test_a_malformed_message_is_answered_and_nothing_runs(
    line: str, id: Any, message: str, effects: Path
) -> None:  # fmt: skip
    gate = Line("-c", CONTRACT)
    gate.greet()
    gate.write(line)
    answer = gate.read()
    assert answer.get("id") == id
    assert answer["error"]["message"].startswith(message)
    gate.write(CALL % (7, '{"n": 4}'))
    assert gate.read()["result"]["content"][0]["text"] == "plain 4"
    assert gate.end() == 0
    assert done(effects) == ["plain"]


@pytest.mark.parametrize("arguments", ["[]", '"x"', "3"])
def test_arguments_that_are_no_object_are_an_error(arguments: str, effects: Path) -> None:
    gate = Line("-c", CONTRACT)
    gate.greet()
    gate.write(CALL % (5, arguments))
    assert gate.read()["error"]["code"] == -32602
    assert gate.end() == 0
    assert done(effects) == []


def test_an_id_that_is_still_running_is_not_taken_again(effects: Path) -> None:
    gate = Line("-c", CONTRACT)
    gate.greet()
    late = '{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "late", "arguments": {"s": 0.5}}}'
    gate.write(late)
    gate.write(CALL % (9, "{}"))
    assert gate.read()["error"]["message"] == "a request with the id `9` is still running"
    assert gate.read()["result"]["content"][0]["text"] == "late"
    gate.write(CALL % (9, "{}"))
    assert gate.read()["result"]["content"][0]["text"] == "plain 1"
    assert gate.end() == 0
    assert done(effects) == ["late", "plain"]


def test_a_client_that_vanishes_in_the_middle_of_a_call_leaves_it_uncertain(tmp_path: Path, effects: Path) -> None:
    store = ("--store", str(tmp_path / "journal.db"), "--session", "one")
    gate = Line("-c", CONTRACT, *store)
    gate.greet()
    gate.write('{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "never"}}')
    until = time.monotonic() + 20
    while done(effects) != ["never"] and time.monotonic() < until:
        time.sleep(0.02)
    assert gate.end() == 0

    async def body() -> None:
        errors = (tmp_path / "errors").open("w+")
        async with connected(gate_stdio("-c", CONTRACT, *store, server=RUDE), era="legacy", errors=errors) as client:
            assert (await client.call_tool("never", {})).is_error
        errors.seek(0)
        assert "nobody knows whether the call" in errors.read()
        assert done(effects) == ["never"]

    run(body)


def test_a_gate_that_is_killed_in_the_middle_of_a_call_leaves_it_uncertain(tmp_path: Path, effects: Path) -> None:
    store = ("--store", str(tmp_path / "journal.db"), "--session", "one")
    gate = Line("-c", CONTRACT, *store)
    gate.greet()
    gate.write('{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "never"}}')
    until = time.monotonic() + 20
    while done(effects) != ["never"] and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(gate.process.pid, signal.SIGKILL)
    gate.process.wait(20)

    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, *store, server=RUDE), era="legacy") as client:
            assert (await client.call_tool("never", {})).is_error
        assert done(effects) == ["never"]

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_the_client_cancels_is_cancelled_behind_the_gate(era: str, effects: Path) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", ORDINARY, server=SERVER), era=era) as client:
            with anyio.move_on_after(1):
                await client.call_tool("slow", {"seconds": 30})
            with anyio.fail_after(10):
                while done(effects) != ["slow began", "slow cancelled"]:
                    await anyio.sleep(0.02)

    run(body)


def test_a_malformed_body_is_answered_over_http() -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    with gate_http("-c", CONTRACT, "--session", "one", server=RUDE) as url:
        body = (CALL % (5, '{"n": 1, "n": 2}')).encode()
        with pytest.raises(HTTPError) as raised:
            urlopen(Request(url, body, {"content-type": "application/json"}), timeout=10)
        assert raised.value.code == 400
        assert json.load(raised.value)["error"]["message"] == "the key `n` is repeated"


def test_a_store_of_somebody_else_is_an_error_before_anything_runs(tmp_path: Path, effects: Path) -> None:
    (tmp_path / "journal.db").write_text("this is no journal " * 100)
    command = [*LAUNCH, "-c", CONTRACT, "--store", str(tmp_path / "journal.db"), "--", *RUDE]
    found = subprocess.run(command, env=ENV, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert found.returncode in (1, 3)
    assert "journal" in found.stderr
    assert "Traceback" not in found.stderr
    assert done(effects) == []
