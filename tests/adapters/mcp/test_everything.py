"""What server-everything answers to each thing it can be asked is the same behind the gate, in both eras, as without."""

import json
import re
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from .driver import ENV, ERAS, connected, gate_stdio, run
from .foreign import program

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("echo", {"message": "hi"}),
    ("get-sum", {"a": 1, "b": 2}),
    ("get-env", {}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-resource-links", {}),
    ("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}),
    ("get-structured-content", {"location": "New York"}),
    ("get-tiny-image", {}),
    ("gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,hi", "outputType": "resource"}),
    ("gzip-file-as-resource", {"name": "b.gz", "data": "data:text/plain,hi"}),
    ("trigger-sampling-request", {"prompt": "p"}),
    ("trigger-elicitation-request", {}),
    ("get-roots-list", {}),
    ("trigger-url-elicitation", {"url": "https://a.example/", "elicitationId": "e"}),
    ("trigger-url-elicitation", {"url": "https://a.example/", "errorPath": True}),
    ("simulate-research-query", {"topic": "x"}),
]
RESOURCES = ("dynamic/text/1", "dynamic/blob/2", "session/b.gz", "static/document/features.md", "none")
PROMPTS: list[tuple[str, dict[str, str] | None]] = [
    ("simple-prompt", None),
    ("args-prompt", {"city": "Bern", "state": "BE"}),
    ("args-prompt", {}),
    ("completable-prompt", {"department": "Sales", "name": "David"}),
    ("resource-prompt", {"resourceType": "Text", "resourceId": "1"}),
]
OF_AN_ERA = ("resultType", "ttlMs", "cacheScope", "_meta")
"""Fields that the later era adds to every result."""
VARIES = (r"\d+:\d\d:\d\d( [AP]M)?", r'(?<="blob": ")[^"]+', r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The time of day, plain and within a blob, and random ids."""


async def on_question(context: Any, params: Any) -> Any:
    form = getattr(params, "mode", "form") != "url"
    return types.ElicitResult(action="accept", content={"name": "Ana", "check": True} if form else None)


async def on_sample(context: Any, params: Any) -> Any:
    content = types.TextContent(type="text", text="a sample")
    return types.CreateMessageResult(role="assistant", content=content, model="m")


async def on_roots(context: Any) -> Any:
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/x", name="x")])  # type: ignore[arg-type]


async def answer(question: Awaitable[Any]) -> str:
    try:
        found = await question
    except MCPError as error:
        said = json.dumps([error.error.code, error.error.message, error.error.data])
    else:
        fields = found.model_dump(mode="json", by_alias=True, exclude_none=True)
        said = json.dumps({key: value for key, value in fields.items() if key not in OF_AN_ERA}, sort_keys=True)
    for pattern in VARIES:
        said = re.sub(pattern, "~", said)
    return said


async def answers(place: StdioServerParameters, era: str) -> dict[str, str]:
    async with connected(
        place, era=era, elicitation_callback=on_question, sampling_callback=on_sample, list_roots_callback=on_roots
    ) as client:
        found = {"tools": await answer(client.list_tools())}
        for name, given in CALLS:
            found[f"{name} {given}"] = await answer(client.call_tool(name, given))
        found["resources"] = await answer(client.list_resources())
        found["templates"] = await answer(client.list_resource_templates())
        found["prompts"] = await answer(client.list_prompts())
        for name in RESOURCES:
            found[name] = await answer(client.read_resource(f"demo://resource/{name}"))
        for name, said in PROMPTS:
            found[f"{name} {said}"] = await answer(client.get_prompt(name, said))
        template = types.ResourceTemplateReference(type="ref/resource", uri="demo://resource/dynamic/text/{resourceId}")
        found["completed template"] = await answer(client.complete(template, {"name": "resourceId", "value": "1"}))
        prompt = types.PromptReference(type="ref/prompt", name="completable-prompt")
        word = {"name": "name", "value": ""}
        found["completed prompt"] = await answer(client.complete(prompt, word, {"department": "Sales"}))
    return found


def test_every_answer_of_server_everything_is_the_same_behind_the_gate(tmp_path: Path) -> None:
    contract = tmp_path / "open.yaml"
    contract.write_text('duly: 1\ncontract: open\nversion: "1"\n')
    command = (program("everything"), "stdio")

    async def body() -> None:
        bare = await answers(StdioServerParameters(command=command[0], args=[command[1]], env=ENV), "legacy")
        assert len(bare) == 32
        for era in ERAS:
            assert await answers(gate_stdio("-c", str(contract), server=command), era) == bare

    run(body, within=180)
