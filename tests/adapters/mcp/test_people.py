"""Calls that wait for people: asked at the client in its era, decided elsewhere, kept over a restart."""

import json
import subprocess
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from duly.gates.mcp.people import question
from duly.journal.journal import open_journal
from duly.session.ticket import Ticket

from .driver import ENV, ERAS, PYTHON, SERVER, connected, gate_http, gate_stdio, run, text

BODY = """duly: 1
contract: till
tools:
  search: {effect: none}
  pay: {effect: write, idempotent: true}
approvals:
"""
ANYBODY = BODY + "  - {of: pay, when: args.amount > 10, ask: 'Pay {args.amount}?'}\n"
LEADER = BODY + "  - {of: pay, by: [ana], expires: 1h}\n"
TWICE = BODY + "  - {of: pay, by: [user, ana], need: 2}\n"


@pytest.fixture
def effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "effects"
    monkeypatch.setitem(ENV, "EFFECTS", str(place))
    return place


def done(place: Path) -> list[str]:
    return place.read_text().split("\n")[:-1] if place.exists() else []


class Till:
    """A gate over a store, and a user of the client who answers as the test says."""

    def __init__(self, folder: Path, contract: str) -> None:
        self.contract, self.store = folder / "till.yaml", folder / "till.sqlite"
        self.contract.write_text(contract)
        self.answers: list[Any] = []
        self.questions: list[Any] = []

    def place(self, *more: str) -> Any:
        named = ("-c", str(self.contract), "--store", str(self.store), "--session", "s", *more)
        return gate_stdio(*named, server=SERVER)

    async def on_question(self, context: Any, params: Any) -> Any:
        self.questions.append(params)
        answer = self.answers.pop(0)
        return types.ElicitResult(action=answer) if isinstance(answer, str) else types.ElicitResult(**answer)

    def client(self, era: str, *more: str) -> Any:
        return connected(self.place(*more), era=era, elicitation_callback=self.on_question)

    def words(self) -> list[tuple[str, str]]:
        journal = open_journal(str(self.store))
        try:
            return [(str(type(r.event).__struct_config__.tag), r.verdict) for r in journal.read("s", 0)]
        finally:
            journal.close()

    def duly(self, *command: str) -> "subprocess.CompletedProcess[str]":
        named = ("--store", str(self.store), "--contract", str(self.contract))
        return subprocess.run(
            [PYTHON, "-m", "duly", *command, *named], capture_output=True, text=True, env=ENV, check=False
        )


def accept(decision: str, **more: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"decision": decision, **more}}


@pytest.mark.parametrize("era", ERAS)
def test_the_user_of_the_client_is_asked_and_a_yes_runs_the_call_that_was_shown(
    era: str, tmp_path: Path, effects: Path
) -> None:
    till = Till(tmp_path, ANYBODY)

    async def body() -> None:
        till.answers = [accept("approve", reason="fine")]
        async with till.client(era) as client:
            assert not (await client.call_tool("pay", {"amount": 3})).is_error
            assert till.questions == []
            paid = await client.call_tool("pay", {"amount": 30})
            assert (paid.is_error, paid.structured_content) == (False, {"paid": 30})
            question = till.questions[0]
            assert question.message.startswith('Pay 30?\n\npay {"amount":30}')
            shown = question.model_dump(by_alias=True)["requestedSchema"]["properties"]["decision"]["enum"]
            assert shown == ["approve", "deny", "always"]
        assert done(effects) == ["pay", "pay"]
        assert till.words() == [
            ("called", "allowed"), ("returned", "allowed"), ("called", "needs_approval"), ("decided", "allowed"),
            ("called", "allowed"), ("returned", "allowed"),
        ]  # fmt: skip

    run(body)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [accept("deny"), "decline"])
def test_a_no_is_a_refusal_that_stays(era: str, answer: Any, tmp_path: Path, effects: Path) -> None:
    till = Till(tmp_path, ANYBODY)

    async def body() -> None:
        till.answers = [answer]
        async with till.client(era) as client:
            for _ in range(2):
                refused = await client.call_tool("pay", {"amount": 30})
                assert refused.is_error
                assert "a person has said no" in text(refused)
        assert len(till.questions) == 1
        assert done(effects) == []

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_a_question_that_is_put_away_leaves_the_call_waiting(era: str, tmp_path: Path, effects: Path) -> None:
    till = Till(tmp_path, ANYBODY)

    async def body() -> None:
        till.answers = ["cancel", accept("approve")]
        async with till.client(era) as client:
            waits = await client.call_tool("pay", {"amount": 30})
            assert waits.is_error
            assert waits.meta["duly/verdict"]["verdict"] == "needs_approval"  # type: ignore[index]
            assert done(effects) == []
            assert not (await client.call_tool("pay", {"amount": 30})).is_error
        assert done(effects) == ["pay"]

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_a_standing_yes_asks_once(era: str, tmp_path: Path, effects: Path) -> None:
    till = Till(tmp_path, ANYBODY)

    async def body() -> None:
        till.answers = [accept("always"), accept("deny")]
        async with till.client(era) as client:
            for _ in range(3):
                assert not (await client.call_tool("pay", {"amount": 30})).is_error
            assert len(till.questions) == 1
            assert (await client.call_tool("pay", {"amount": 31})).is_error
        assert done(effects) == ["pay"] * 3

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_who_may_not_decide_is_not_asked_and_others_decide_after_a_restart(
    era: str, tmp_path: Path, effects: Path
) -> None:
    till = Till(tmp_path, LEADER)

    async def asked() -> str:
        async with till.client(era) as client:
            waits = await client.call_tool("pay", {"amount": 30})
            assert waits.is_error
            return str(waits.meta["duly/verdict"]["ticket"])  # type: ignore[index]

    async def again(error: bool) -> None:
        async with till.client(era) as client:
            assert (await client.call_tool("pay", {"amount": 30})).is_error is error

    ticket = run(asked)
    assert run(asked) == ticket
    shown = till.duly("pending", "--json")
    assert json.loads(shown.stdout)["ticket"] == ticket
    assert till.duly("approve", ticket, "--by", "eve").returncode == 4
    assert till.duly("approve", ticket, "--by", "ana").returncode == 0
    run(lambda: again(False))
    run(lambda: again(True))
    assert till.questions == []
    assert done(effects) == ["pay"]


@pytest.mark.parametrize("era", ERAS)
def test_two_must_say_yes_and_the_user_is_one_of_them(era: str, tmp_path: Path, effects: Path) -> None:
    till = Till(tmp_path, TWICE)

    async def body() -> None:
        till.answers = [accept("approve")]
        async with till.client(era) as client:
            waits = await client.call_tool("pay", {"amount": 30})
            assert waits.is_error
            ticket = str(waits.meta["duly/verdict"]["ticket"])  # type: ignore[index]
            found = await anyio.to_thread.run_sync(lambda: till.duly("approve", ticket, "--by", "ana"))
            assert found.returncode == 0, found.stderr
            assert not (await client.call_tool("pay", {"amount": 30})).is_error
        assert len(till.questions) == 1
        assert done(effects) == ["pay"]

    run(body)


def test_a_call_that_waits_goes_on_as_soon_as_it_is_decided_elsewhere(tmp_path: Path, effects: Path) -> None:
    till = Till(tmp_path, LEADER)

    async def body() -> None:
        async with till.client("auto", "--wait", "50") as client, anyio.create_task_group() as tasks:

            async def decides() -> None:
                while not (found := await anyio.to_thread.run_sync(lambda: till.duly("pending", "--json"))).stdout:
                    await anyio.sleep(0.1)
                ticket = json.loads(found.stdout)["ticket"]
                await anyio.to_thread.run_sync(lambda: till.duly("approve", ticket, "--by", "ana"))

            tasks.start_soon(decides)
            assert not (await client.call_tool("pay", {"amount": 30})).is_error
        assert done(effects) == ["pay"]

    run(body)


def test_answers_that_nobody_asked_for_decide_nothing(tmp_path: Path, effects: Path) -> None:
    """A client that makes up a request state, or answers for another call, is asked as if it had said nothing."""
    till = Till(tmp_path, ANYBODY)

    async def body() -> None:
        till.answers = ["cancel", "cancel"]
        async with till.client("auto") as client:
            waits = await client.call_tool("pay", {"amount": 30})
            ticket = str(waits.meta["duly/verdict"]["ticket"])  # type: ignore[index]
            answers = {ticket: types.ElicitResult(action="accept", content={"decision": "approve"})}
            for state in ("duly:ask:made-up", "duly:ask:"):
                found = await client.session.call_tool(
                    "pay", {"amount": 30}, input_responses=answers, request_state=state, allow_input_required=True
                )
                assert isinstance(found, types.InputRequiredResult)
        assert done(effects) == []
        assert {verdict for kind, verdict in till.words() if kind == "called"} == {"needs_approval"}

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_clients_over_http_are_asked_in_their_own_session(era: str, tmp_path: Path, effects: Path) -> None:
    contract = tmp_path / "till.yaml"
    contract.write_text(ANYBODY)
    asked: dict[str, list[str]] = {"a": [], "b": []}

    async def one(url: str, name: str, decision: str) -> bool:
        async def on_question(context: Any, params: Any) -> Any:
            asked[name].append(params.message)
            return types.ElicitResult(action="accept", content={"decision": decision})

        async with connected(
            url, era=era, headers={"x-session": name}, elicitation_callback=on_question
        ) as client:  # fmt: skip
            return bool((await client.call_tool("pay", {"amount": 30})).is_error)

    async def body() -> None:
        found: dict[str, bool] = {}
        with gate_http("-c", str(contract), "--session-header", "x-session", server=SERVER) as url:
            async with anyio.create_task_group() as tasks:

                async def keep(name: str, decision: str) -> None:
                    found[name] = await one(url, name, decision)

                tasks.start_soon(keep, "a", "approve")
                tasks.start_soon(keep, "b", "deny")
        assert found == {"a": False, "b": True}
        assert [len(each) for each in asked.values()] == [1, 1]
        assert done(effects) == ["pay"]

    run(body)


def asked_about(args: dict[str, Any]) -> str:
    shown = question(Ticket("t1", "c1", "pay", args, "Pay?", (), 1, (), False, None, ()))
    return str(shown["message"])


def test_arguments_hide_nothing_of_what_would_run() -> None:
    assert asked_about({"note": "\u202e\n", "amount": 9}) == 'Pay?\n\npay {"note":"\\u202e\\n","amount":9}'
    long = asked_about({"note": "x" * 9000, "amount": 1000000})
    assert '\n"amount": 1000000\n' in long
    assert "(not all is shown: 9028 characters, 2 of 2 arguments)" in long
    many = asked_about({f"a{number}": number for number in range(10_000)} | {"amount": 1000000})
    assert len(many) < 6000
    assert "of 10001 arguments)" in many


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_that_was_not_offered_leaves_the_call_waiting(era: str, tmp_path: Path, effects: Path) -> None:
    till = Till(tmp_path, BODY + "  - {of: pay, stand: none}\n")

    async def body() -> None:
        till.answers = [accept("always")]
        async with till.client(era) as client:
            assert (await client.call_tool("pay", {"amount": 30})).is_error
        assert len(till.questions) == 1
        assert done(effects) == []

    run(body)


@pytest.mark.parametrize(
    ("order", "error"),
    [
        (("approve", "--edit", '{"amount": "much"}'), "the arguments that would run do not fit the server's schema"),
        (("withdraw",), "waiting for a decision"),
    ],
)
def test_what_is_decided_elsewhere_is_the_answer_of_a_call_that_waits(
    order: tuple[str, ...], error: str, tmp_path: Path, effects: Path
) -> None:
    """An edit that the server's schema does not admit does not run; a call whose question was withdrawn is answered."""
    till = Till(tmp_path, LEADER)

    async def body() -> None:
        async with till.client("auto", "--wait", "50") as client, anyio.create_task_group() as tasks:

            async def decides() -> None:
                while not (found := await anyio.to_thread.run_sync(lambda: till.duly("pending", "--json"))).stdout:
                    await anyio.sleep(0.1)
                ticket = json.loads(found.stdout)["ticket"]
                named = (order[0], *(("s",) if order[0] == "withdraw" else ()), ticket, *order[1:])
                ordered = await anyio.to_thread.run_sync(lambda: till.duly(*named, "--by", "ana"))
                assert ordered.returncode == 0, ordered.stderr

            tasks.start_soon(decides)
            with anyio.fail_after(40):
                found = await client.call_tool("pay", {"amount": 30})
            assert found.is_error
            assert error in text(found)
        assert done(effects) == []

    run(body)


DECIDES = """import json, sys
n = json.load(sys.stdin)["args"]["amount"]
print(json.dumps({"decision": "approve" if n < 50 else "leave" if n < 90 else "deny", "reason": "by size"}))
"""


@pytest.mark.parametrize("era", ERAS)
def test_a_program_decides_before_the_user_is_asked_and_what_it_leaves_is_asked(
    era: str, tmp_path: Path, effects: Path
) -> None:
    till = Till(tmp_path, BODY + "  - {of: pay, by: [policy, user]}\n")
    script = tmp_path / "policy.py"
    script.write_text(DECIDES)

    async def body() -> None:
        till.answers = [accept("approve")]
        async with till.client(era, "--decider", f"policy={PYTHON} {script}", "--decider-within", "120") as client:
            assert not (await client.call_tool("pay", {"amount": 30})).is_error
            assert till.questions == []
            assert not (await client.call_tool("pay", {"amount": 60})).is_error
            assert "policy said leave: by size." in till.questions[0].message
            refused = await client.call_tool("pay", {"amount": 99})
            assert "no to this `pay`: `policy` has said no: by size" in text(refused)
        assert len(till.questions) == 1
        assert done(effects) == ["pay", "pay"]

    run(body)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (("policy",), "`policy` is no decider\n  help: write `NAME=COMMAND`"),
        (("=true",), "`=true` is no decider\n  help: write `NAME=COMMAND`"),
        (("policy='",), "`policy='` is no decider: no closing quotation"),
        (("policy=true", "policy=false"), "two deciders are called `policy`"),
    ],
)
def test_a_faulty_decider_is_a_faulty_command_line(said: tuple[str, ...], message: str, tmp_path: Path) -> None:
    till = Till(tmp_path, LEADER)
    options = [part for each in said for part in ("--decider", each)]
    command = [PYTHON, "-m", "duly", "mcp", "-c", str(till.contract), *options, "--", *SERVER]
    told = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=ENV, check=False)
    assert told.returncode == 2
    assert message in told.stderr
