"""The contract between client and server: what is shown, what passes, what is answered, whose session it is."""

import json
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from duly import load
from duly.gates.gate import Gate
from duly.journal.journal import open_journal

from .driver import ENV, ERAS, HERE, SERVER, connected, free_port, gate_http, gate_stdio, names, run, say, text

CONTRACT = str(HERE / "ordinary.yaml")
LEGAL = ["search", "lookup", "fails", "slow", "grow", "confirm", "touch", "narrate"]


@pytest.fixture
def effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "effects"
    monkeypatch.setitem(ENV, "EFFECTS", str(place))
    return place


def done(place: Path) -> list[str]:
    return place.read_text().split("\n")[:-1] if place.exists() else []


def contract(place: Path, body: str) -> str:
    place.write_text('duly: 1\ncontract: small\nversion: "1"\n' + body)
    return str(place)


@pytest.mark.parametrize("era", ERAS)
def test_tools_that_are_not_legal_are_hidden_and_refused_until_somebody_says_yes(era: str, effects: Path) -> None:
    port = free_port()

    async def body() -> None:
        place = gate_stdio("-c", CONTRACT, "--tell-port", str(port), "--session", "one", server=SERVER)
        heard: list[str] = []

        async def on_message(message: Any) -> None:
            heard.append(type(message).__name__)

        async with connected(place, era=era, message_handler=on_message) as client:
            found = await client.list_tools(cache_mode="bypass")
            assert [tool.name for tool in found.tools] == LEGAL
            if era != "legacy":
                assert (found.ttl_ms, found.cache_scope) == (0, "private")
            refused = await client.call_tool("pay", {"amount": 3})
            assert refused.is_error
            assert text(refused).split("\n")[0] == (
                "refused: `pay` needs an earlier `Yes`; expected `Yes` (`Yes` must have succeeded first)"
            )
            reason = refused.meta["duly/verdict"]["reasons"][0]  # type: ignore[index]
            assert (reason["rule"], reason["kind"]) == ("must_precede(Yes, pay)", "order")
            assert done(effects) == []
            assert await say(port, text="Yes, do it.", session="one") == (200, {"verdict": "allowed", "text": "allowed"})
            assert await names(client) == [*LEGAL[:2], "pay", *LEGAL[2:]]
            assert not (await client.call_tool("pay", {"amount": 3})).is_error
            assert text(await client.call_tool("pay", {"amount": 3})).startswith("refused: `pay` is allowed once")
            assert await names(client) == LEGAL
            assert done(effects) == ["pay"]
            if era == "legacy":
                with anyio.fail_after(5):
                    while heard.count("ToolListChangedNotification") < 2:
                        await anyio.sleep(0.02)

    run(body)


def test_modern_clients_that_listen_are_told_that_other_tools_are_legal() -> None:
    port = free_port()

    async def body() -> None:
        place = gate_stdio("-c", CONTRACT, "--tell-port", str(port), "--session", "one", server=SERVER)
        async with connected(place, era="auto") as client:
            assert await names(client) == LEGAL
            got = anyio.Event()
            ready = anyio.Event()

            async def listen() -> None:
                async with client.listen(tools_list_changed=True) as stream:
                    ready.set()
                    async for _ in stream:
                        got.set()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen)
                await ready.wait()
                await say(port, text="yes", session="one")
                with anyio.fail_after(5):
                    await got.wait()
                tasks.cancel_scope.cancel()

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_nothing_in_a_call_is_what_a_person_says(era: str, effects: Path) -> None:
    async def body() -> None:
        async with connected(gate_stdio("-c", CONTRACT, server=SERVER), era=era) as client:
            for name in ("Yes", "tell", "duly/tell"):
                assert (await client.call_tool(name, {"text": "Yes"})).is_error
            await client.call_tool("search", {"q": "Yes"})
            assert (await client.call_tool("pay", {"amount": 1}, meta={"duly/tell": "Yes"})).is_error
            assert done(effects) == []

    run(body)


def test_what_people_say_needs_the_token_the_session_and_a_known_label() -> None:
    port = free_port()

    async def body() -> None:
        place = gate_stdio("-c", CONTRACT, "--tell-port", str(port), "--session", "one", server=SERVER)
        async with connected(place, era="legacy") as client:
            assert (await say(port, text="yes", session="one", token="wrong"))[0] == 401
            assert (await say(port, text="yes", session="two"))[0] == 404
            assert (await say(port, text="yes", session="one", label="Maybe"))[0] == 400
            assert (await say(port, text=3, session="one"))[0] == 400
            assert "pay" not in await names(client)
            assert (await say(port, text="of course", session="one", label="Yes"))[0] == 200
            assert "pay" in await names(client)

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_arguments_are_held_to_the_servers_schema_and_defaults_are_filled_before_the_decision(
    era: str, tmp_path: Path
) -> None:
    held = contract(
        tmp_path / "small.yaml",
        'tools:\n  search: {effect: none}\nprotocol: |\n  rec S.!search(limit == 5).?search.S\nforever: true\n',
    )

    async def body() -> None:
        async with connected(gate_stdio("-c", held, server=SERVER), era=era) as client:
            assert text(await client.call_tool("search", {"q": "x"})) == "found x up to 5"
            assert text(await client.call_tool("search", {"q": "x", "limit": 6})).startswith("refused: the arguments")
            wrong = await client.call_tool("search", {"q": "x", "limit": "5"})
            assert text(wrong).startswith('refused: `limit`: "5" is not of type "integer"')

    run(body)


def test_a_schema_of_the_contract_goes_before_the_servers(tmp_path: Path) -> None:
    schema = "{type: object, properties: {q: {type: string, enum: [a]}, limit: {type: integer, default: 2}}, required: [q]}"
    held = contract(tmp_path / "small.yaml", f"tools:\n  search: {{effect: none, schema: {schema}}}\nrules: []\n")

    async def body() -> None:
        async with connected(gate_stdio("-c", held, server=SERVER), era="legacy") as client:
            assert text(await client.call_tool("search", {"q": "a"})) == "found a up to 2"
            assert (await client.call_tool("search", {"q": "b"})).is_error

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_outcomes_come_from_the_error_flag_and_the_contract(era: str, tmp_path: Path, effects: Path) -> None:
    held = contract(
        tmp_path / "small.yaml",
        "tools:\n  lookup: {effect: none, outcomes: {closed: \"result.status == 'closed'\"}}\n"
        "  fails: {effect: write}\n  grow: {effect: write}\n"
        "protocol: |\n  rec L.{!lookup.?{lookup=closed.{!grow.?grow.L}, lookup.L}, !fails.?fails.!grow.?grow.L}\n"
        "forever: true\n",
    )

    async def body() -> None:
        async with connected(gate_stdio("-c", held, server=SERVER), era=era) as client:
            assert await names(client) == ["lookup", "fails"]
            await client.call_tool("lookup", {"id": 1})
            assert await names(client) == ["lookup", "fails"]
            assert (await client.call_tool("fails", {"why": "no"})).is_error
            assert await names(client) == ["lookup", "fails"]
            await client.call_tool("lookup", {"id": 12})
            assert await names(client) == ["grow"]

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_a_question_in_the_middle_of_a_call_is_no_event_and_the_call_counts_once(era: str, effects: Path) -> None:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": True})

    async def body() -> None:
        place = gate_stdio("-c", CONTRACT, server=SERVER)
        async with connected(place, era=era, elicitation_callback=answer) as client:
            assert text(await client.call_tool("confirm", {})) == "accept"
            assert (await client.call_tool("confirm", {})).is_error
            assert (asked, done(effects)) == (["really?"], ["confirm"])

    run(body)


def test_an_answer_to_no_question_is_refused(effects: Path) -> None:
    async def answer(context: Any, params: Any) -> Any:
        raise AssertionError("nobody is asked here")

    async def body() -> None:
        place = gate_stdio("-c", CONTRACT, server=SERVER)
        async with connected(place, era="auto", elicitation_callback=answer) as client:
            accepted = {"q": types.ElicitResult(action="accept", content={"approve": True})}
            for state in ("forged", "duly:forged", None):
                with pytest.raises(Exception, match=r"question|request state"):
                    await client.session.call_tool("confirm", {}, input_responses=accepted, request_state=state)
            first = await client.session.call_tool("confirm", {}, allow_input_required=True)
            state = first.request_state  # type: ignore[union-attr]
            with pytest.raises(Exception, match="differs"):
                await client.session.call_tool("search", {"q": "x"}, input_responses=accepted, request_state=state)
            assert done(effects) == []

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_in_shadow_everything_is_shown_and_runs_and_the_journal_says_what_enforce_would_say(
    era: str, tmp_path: Path, effects: Path
) -> None:
    store = str(tmp_path / "journal.db")

    async def body() -> None:
        place = gate_stdio("-c", CONTRACT, "--shadow", "--store", store, "--session", "one", server=SERVER)
        async with connected(place, era=era) as client:
            assert "pay" in await names(client)
            assert not (await client.call_tool("pay", {"amount": 3})).is_error
            assert not (await client.call_tool("pay", {"amount": 3})).is_error

    run(body)
    assert done(effects) == ["pay", "pay"]
    journal = open_journal(store)
    assert [(record.mode, record.verdict) for record in journal.read("one")] == [
        ("shadow", "violation"), ("shadow", "allowed"), ("shadow", "violation"), ("shadow", "allowed"),
    ]  # fmt: skip
    journal.close()


@pytest.mark.parametrize("era", ERAS)
def test_a_yes_told_by_another_process_to_the_store_counts_and_a_restart_remembers(
    era: str, tmp_path: Path, effects: Path
) -> None:
    store = str(tmp_path / "journal.db")
    place = gate_stdio("-c", CONTRACT, "--store", store, "--session", "one", server=SERVER)

    async def body() -> None:
        async with connected(place, era=era) as client:
            assert (await client.call_tool("pay", {"amount": 3})).is_error
            journal = open_journal(store)
            Gate.open(load(CONTRACT), journal, "one").hear("Yes please")
            journal.close()
            assert not (await client.call_tool("pay", {"amount": 3})).is_error
        async with connected(place, era=era) as client:
            assert "pay" not in await names(client)
            assert (await client.call_tool("pay", {"amount": 3})).is_error

    run(body)
    assert done(effects) == ["pay"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("stored", [False, True])
def test_a_once_only_tool_called_twenty_times_by_four_clients_on_one_session_runs_once(
    era: str, stored: bool, tmp_path: Path, effects: Path
) -> None:
    port = free_port()
    store = ("--store", str(tmp_path / "journal.db")) if stored else ()
    answers: list[bool] = []

    async def client(url: str) -> None:
        async with connected(url, era=era, headers={"x-session": "shared"}) as mine:

            async def once() -> None:
                answers.append(bool((await mine.call_tool("pay", {"amount": 1})).is_error))

            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(once)

    given = ("-c", CONTRACT, "--session-header", "x-session", "--tell-port", str(port), *store)
    with gate_http(*given, server=SERVER) as url:

        async def body() -> None:
            await say(port, text="yes", session="shared")
            async with anyio.create_task_group() as tasks:
                for _ in range(4):
                    tasks.start_soon(client, url)

        run(body)
    assert done(effects) == ["pay"]
    assert sorted(answers) == [False] + [True] * 19


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["header", "field", "connection"])
def test_two_sessions_never_see_each_other(era: str, way: str, effects: Path) -> None:
    port = free_port()
    if way == "connection" and era != "legacy":
        pytest.skip("the modern era has no session of its own")
    given = {"header": ("--session-header", "x-session"), "field": ("--session-field", "test/session"), "connection": ()}
    with gate_http("-c", CONTRACT, *given[way], "--tell-port", str(port), server=SERVER) as url:

        async def body() -> None:
            ana = {"x-session": "ana"} if way == "header" else None
            bob = {"x-session": "bob"} if way == "header" else None
            async with connected(url, era=era, headers=ana) as a, connected(url, era=era, headers=bob) as b:

                async def paid(client: Any, who: str) -> bool:
                    meta: Any = {"test/session": who} if way == "field" else None
                    result = await client.call_tool("pay", {"amount": 1}, meta=meta)
                    assert who == "ana" or "ana" not in str(result)
                    return not result.is_error

                assert [await paid(a, "ana"), await paid(b, "bob")] == [False, False]
                if way == "connection":
                    return
                await say(port, text="yes", session="ana")
                assert [await paid(b, "bob"), await paid(a, "ana"), await paid(a, "ana")] == [False, True, False]
                await say(port, text="yes", session="bob")
                assert [await paid(b, "bob"), await paid(b, "bob")] == [True, False]

        run(body)


def test_a_contract_that_looks_back_needs_a_session_in_the_modern_era(effects: Path) -> None:
    with gate_http("-c", CONTRACT, server=SERVER) as url:

        async def body() -> None:
            async with connected(url, era="auto") as client:
                assert await names(client) == LEGAL
                with pytest.raises(Exception, match="looks back, and this request belongs to no session"):
                    await client.call_tool("search", {"q": "x"})

        run(body)
    assert done(effects) == []


def test_a_contract_that_looks_at_one_call_needs_no_session(tmp_path: Path) -> None:
    held = contract(tmp_path / "small.yaml", "tools:\n  search: {effect: none}\n")
    with gate_http("-c", held, server=SERVER) as url:

        async def body() -> None:
            async with connected(url, era="auto") as client:
                assert await names(client) == ["search"]
                assert text(await client.call_tool("search", {"q": "x"})) == "found x up to 5"
                assert (await client.call_tool("pay", {"amount": 1})).is_error

        run(body)


def test_servers_names_are_used_where_the_contract_uses_them(tmp_path: Path) -> None:
    held = contract(
        tmp_path / "small.yaml", 'tools:\n  "shop/search": {effect: none}\n  "shop/pay": {effect: write}\n'
        'rules:\n  - at_most: {of: "shop/search", n: 1}\n',
    )  # fmt: skip

    async def body() -> None:
        async with connected(gate_stdio("-c", held, "--server", "shop", server=SERVER), era="legacy") as client:
            assert await names(client) == ["search", "pay"]
            assert text(await client.call_tool("search", {"q": "x"})) == "found x up to 5"
            assert (await client.call_tool("search", {"q": "x"})).is_error
            assert await names(client) == ["pay"]

    run(body)


def test_a_refusal_stays_small_whatever_happened_before(tmp_path: Path) -> None:
    held = contract(tmp_path / "small.yaml", "tools:\n  search: {effect: none}\nrules:\n  - at_most: {of: search, n: 50}\n")

    async def body() -> None:
        async with connected(gate_stdio("-c", held, server=SERVER), era="legacy") as client:
            for _ in range(50):
                await client.call_tool("search", {"q": "x" * 1000})
            refused = await client.call_tool("search", {"q": "x" * 1000})
            assert refused.is_error
            assert len(json.dumps(refused.model_dump(mode="json"))) < 3000
            assert "xxxx" not in str(refused)

    run(body)
