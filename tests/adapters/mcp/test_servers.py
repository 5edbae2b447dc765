"""Public servers, each behind a contract, with the real client in both eras."""

import subprocess
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from .driver import ERAS, EXAMPLES, connected, free_port, gate_stdio, names, run, say, text
from .foreign import program


def everything() -> tuple[str, ...]:
    return (program("everything"), "stdio")


@pytest.mark.parametrize("era", ERAS)
def test_every_capability_of_server_everything_works_through_the_gate(era: str) -> None:
    heard: list[str] = []
    logged: list[Any] = []
    progressed: list[Any] = []

    async def on_message(message: Any) -> None:
        heard.append(type(message).__name__)

    async def on_log(params: Any) -> None:
        logged.append(params.level)

    async def on_progress(*told: Any) -> None:
        progressed.append(told)

    async def on_question(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"name": "Ana", "check": True})

    async def on_sample(context: Any, params: Any) -> Any:
        content = types.TextContent(type="text", text="a sample")
        return types.CreateMessageResult(role="assistant", content=content, model="m")

    async def on_roots(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/x", name="x")])  # type: ignore[arg-type]

    async def body() -> None:
        place = gate_stdio("-c", str(EXAMPLES / "everything.yaml"), server=everything())
        async with connected(
            place, era=era, message_handler=on_message, logging_callback=on_log, elicitation_callback=on_question,
            sampling_callback=on_sample, list_roots_callback=on_roots,
        ) as client:  # fmt: skip
            shown = await names(client)
            assert "echo" in shown
            assert "get-sum" not in shown
            assert (await client.call_tool("get-sum", {"a": 1, "b": 2})).is_error
            assert text(await client.call_tool("echo", {"message": "hi"})) == "Echo: hi"
            assert "get-sum" in await names(client)
            assert text(await client.call_tool("get-sum", {"a": 1, "b": 2})) == "The sum of 1 and 2 is 3."
            assert (await client.call_tool("get-sum", {"a": 1, "b": 2})).is_error
            found = await client.call_tool("get-structured-content", {"location": "Chicago"})
            assert set(found.structured_content or {}) == {"temperature", "conditions", "humidity"}
            image = await client.call_tool("get-tiny-image", {})
            assert [block.type for block in image.content] == ["text", "image", "text"]
            links = await client.call_tool("get-resource-links", {"count": 2})
            assert [block.type for block in links.content] == ["text", "resource_link", "resource_link"]
            embedded = await client.call_tool("get-resource-reference", {"resourceType": "Text", "resourceId": 1})
            assert embedded.content[1].type == "resource"
            noted = await client.call_tool("get-annotated-message", {"messageType": "success"})
            assert noted.content[0].annotations is not None
            long = {"duration": 0.3, "steps": 3}
            await client.call_tool("trigger-long-running-operation", long, progress_callback=on_progress)
            assert len(progressed) == 3
            assert "a sample" in text(await client.call_tool("trigger-sampling-request", {"prompt": "p"}))
            asked = await client.call_tool("trigger-elicitation-request", {})
            assert "Ana" in "".join(getattr(block, "text", "") for block in asked.content)
            assert "file:///tmp/x" in text(await client.call_tool("get-roots-list", {}))
            resources = (await client.list_resources()).resources
            assert len(resources) >= 7
            assert len((await client.list_resource_templates()).resource_templates) == 2
            assert (await client.read_resource("demo://resource/dynamic/text/1")).contents
            assert len((await client.list_prompts()).prompts) == 4
            assert (await client.get_prompt("args-prompt", {"city": "Bern"})).messages
            about = types.PromptReference(type="ref/prompt", name="completable-prompt")
            completed = await client.complete(about, {"name": "department", "value": "E"})
            assert completed.completion.values == ["Engineering"]
            await updates(client, era, str(resources[0].uri), heard)
            if era == "legacy":
                await client.session.set_logging_level("debug")
                await client.call_tool("toggle-simulated-logging", {})
                with anyio.fail_after(20):
                    while not logged:
                        await anyio.sleep(0.05)

    run(body, within=120)


async def updates(client: Any, era: str, uri: str, heard: list[str]) -> None:
    """The server says every five seconds that what is subscribed to has changed."""
    if era == "legacy":
        await client.session.subscribe_resource(uri)
        await client.call_tool("toggle-subscriber-updates", {})
        with anyio.fail_after(20):
            while "ResourceUpdatedNotification" not in heard:
                await anyio.sleep(0.05)
        return
    got = anyio.Event()
    ready = anyio.Event()

    async def listen() -> None:
        async with client.listen(resource_subscriptions=[uri]) as stream:
            ready.set()
            async for _ in stream:
                got.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await ready.wait()
        await client.call_tool("toggle-subscriber-updates", {})
        with anyio.fail_after(20):
            await got.wait()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("era", ERAS)
def test_the_filesystem_server_looks_first_and_moves_with_a_yes(era: str, tmp_path: Path) -> None:
    server = (program("filesystem"), str(tmp_path))
    port = free_port()
    note, other = tmp_path / "note.txt", tmp_path / "other.txt"

    async def body() -> None:
        given = ("-c", str(EXAMPLES / "filesystem.yaml"), "--tell-port", str(port), "--session", "one")
        async with connected(gate_stdio(*given, server=server), era=era) as client:
            assert "write_file" not in await names(client)
            assert (await client.call_tool("write_file", {"path": str(note), "content": "x"})).is_error
            assert not note.exists()
            assert not (await client.call_tool("list_directory", {"path": str(tmp_path)})).is_error
            assert not (await client.call_tool("write_file", {"path": str(note), "content": "x"})).is_error
            assert note.read_text() == "x"
            move = {"source": str(note), "destination": str(other)}
            assert (await client.call_tool("move_file", move)).is_error
            assert note.exists()
            await say(port, session="one", text="yes, please do")
            assert not (await client.call_tool("move_file", move)).is_error
            assert other.exists()

    run(body)


@pytest.mark.parametrize("era", ERAS)
def test_the_git_server_commits_what_was_looked_at(era: str, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "config", "user.name", "a"], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "config", "user.email", "a@b.example"], check=True)
    (tmp_path / "a.txt").write_text("a")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    (tmp_path / "a.txt").write_text("b")
    server = (program("git"), "--repository", str(tmp_path))
    repo = {"repo_path": str(tmp_path)}

    def commits() -> int:
        log = subprocess.run([*git, "log", "--oneline"], check=True, capture_output=True, text=True)
        return len(log.stdout.splitlines())

    async def body() -> None:
        place = gate_stdio("-c", str(EXAMPLES / "git.yaml"), server=server)
        async with connected(place, era=era) as client:
            assert not (await client.call_tool("git_add", {**repo, "files": ["a.txt"]})).is_error
            assert (await client.call_tool("git_commit", {**repo, "message": "second"})).is_error
            assert commits() == 1
            assert not (await client.call_tool("git_diff_staged", repo)).is_error
            assert not (await client.call_tool("git_commit", {**repo, "message": "second"})).is_error
            assert commits() == 2
            assert (await client.call_tool("git_reset", repo)).is_error

    run(body)
