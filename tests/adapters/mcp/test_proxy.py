"""The proxy alone: every way of connecting it, in every pair of eras, carries what an ordinary server has."""

from typing import Any

import anyio
import mcp_types as types
import pytest

from .driver import ERAS, LAUNCH, PYTHON, SERVER, connected, free_port, gate_stdio, names, process, run, text

MODERN = ERAS[1]
TOOLS = ["search", "lookup", "pay", "fails", "slow", "grow", "confirm", "touch", "narrate"]


@pytest.fixture(scope="module")
def upstream_port() -> Any:
    port = free_port()
    with process(*SERVER, str(port), port=port):
        yield port


@pytest.fixture(params=["stdio", "http"])
def up(request: Any) -> str:
    return str(request.param)


@pytest.fixture(params=["legacy", "modern"])
def server_era(request: Any) -> str:
    return str(request.param)


@pytest.fixture(params=["stdio", "http"])
def place(request: Any, up: str, server_era: str, upstream_port: int) -> Any:
    """A bare proxy, connected in one of the four ways."""
    given = ["--bare", "--era", server_era]
    if request.param == "stdio" and up == "stdio":
        yield gate_stdio(*given, server=SERVER)
        return
    behind = ["--", *SERVER] if up == "stdio" else ["--url", f"http://127.0.0.1:{upstream_port}/mcp"]
    if request.param == "stdio":
        found = gate_stdio(*given, server=())
        found.args = [*found.args[:-1], *behind]
        yield found
        return
    port = free_port()
    with process(*LAUNCH, *given, "--http", f"127.0.0.1:{port}", *behind, port=port):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize("era", ERAS)
def test_everything_an_ordinary_server_has_passes(place: Any, era: str) -> None:
    heard: list[str] = []
    logged: list[Any] = []
    progressed: list[Any] = []

    async def on_message(message: Any) -> None:
        heard.append(type(message).__name__)

    async def on_log(params: Any) -> None:
        logged.append((params.level, params.data))

    async def on_progress(*told: Any) -> None:
        progressed.append(told)

    async def yes(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"approve": True})

    async def body() -> None:
        async with connected(
            place, era=era, message_handler=on_message, logging_callback=on_log, elicitation_callback=yes,
            log_level="info" if era == MODERN else None,
        ) as client:  # fmt: skip
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == ("ordinary", "3.1")
            assert client.instructions == "Be kind."
            assert client.protocol_version == ("2026-07-28" if era == MODERN else "2025-11-25")
            assert (await names(client))[: len(TOOLS)] == TOOLS
            assert text(await client.call_tool("search", {"q": "x"})) == "found x up to 5"
            paid = await client.call_tool("pay", {"amount": 3}, progress_callback=on_progress)
            assert paid.structured_content == {"paid": 3} or '"paid": 3' in text(paid)
            failed = await client.call_tool("fails", {"why": "no luck"})
            assert failed.is_error
            assert "no luck" in text(failed)
            assert text(await client.call_tool("confirm", {})) == "accept"
            assert [str(each.uri) for each in (await client.list_resources()).resources] == ["note://one"]
            templates = (await client.list_resource_templates()).resource_templates
            assert [each.uri_template for each in templates] == ["note://{name}/copy"]
            assert (await client.read_resource("note://two/copy")).contents[0].text == "a copy of two"  # type: ignore
            assert [each.name for each in (await client.list_prompts()).prompts] == ["greet"]
            prompt = await client.get_prompt("greet", {"name": "Ana"})
            assert prompt.messages[0].content.text == "Greet Ana."  # type: ignore[union-attr]
            about = types.PromptReference(type="ref/prompt", name="greet")
            completed = await client.complete(about, {"name": "name", "value": "A"})
            assert completed.completion.values == ["Ana"]
            await client.call_tool("narrate", {})
            with anyio.move_on_after(0.3):
                await client.call_tool("slow", {"seconds": 30})
            await changes(client, era, heard)
            assert "extra" in await names(client)
            assert progressed == [(1, 2, "half way")]

    run(body)
    assert logged == [("warning", "mind the gap")]


async def changes(client: Any, era: str, heard: list[str]) -> None:
    """A new tool is announced, to those who listen or to everyone."""
    if era != MODERN:
        await client.call_tool("grow", {})
        with anyio.fail_after(5):
            while "ToolListChangedNotification" not in heard:
                await anyio.sleep(0.02)
        return
    got: list[str] = []
    ready = anyio.Event()

    async def listen() -> None:
        async with client.listen(tools_list_changed=True, resource_subscriptions=["note://one"]) as stream:
            ready.set()
            async for event in stream:
                got.append(type(event).__name__)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await ready.wait()
        # the proxy's own stream of changes may have to be opened anew first
        await anyio.sleep(0.5)
        await client.call_tool("grow", {})
        await client.call_tool("touch", {})
        with anyio.fail_after(5):
            while not {"ToolsListChanged", "ResourceUpdated"} <= {*got}:
                await anyio.sleep(0.02)
        tasks.cancel_scope.cancel()


def test_a_server_that_cannot_be_started_is_an_error_and_no_hang() -> None:
    async def body() -> None:
        with pytest.raises(BaseException) as raised:
            async with connected(gate_stdio("--bare", server=(PYTHON, "-c", "raise SystemExit(7)")), era="legacy"):
                pass
        error = raised.value
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        assert str(error).startswith(f"the server `{PYTHON} -c raise SystemExit(7)` cannot be used")

    run(body)
