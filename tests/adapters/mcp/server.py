"""An ordinary server in both eras, with one of everything that a proxy has to carry.

`python server.py` serves standard input, `python server.py PORT` HTTP. Each run of a tool that changes something is a
line in the file that `EFFECTS` names.
"""

import json
import os
import sys
from typing import Annotated

import anyio
import mcp_types as types
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("ordinary", instructions="Be kind.", version="3.1", log_level="CRITICAL")


class Ok(BaseModel):
    approve: bool


def effect(name: str) -> None:
    place = os.environ.get("EFFECTS")
    if place:
        with open(place, "a") as file:
            file.write(name + "\n")


@server.tool()
def search(q: str, limit: int = 5) -> str:
    """Finds things."""
    return f"found {q} up to {limit}"


@server.tool(structured_output=False)
def lookup(id: int) -> str:
    """A row as JSON text."""
    return json.dumps({"id": id, "status": "open" if id < 10 else "closed"})


@server.tool()
async def pay(amount: int, ctx: Context) -> dict[str, int]:
    """Pays, once one hopes."""
    effect("pay")
    await ctx.report_progress(1, 2, "half way")
    await anyio.sleep(0.02)
    return {"paid": amount}


@server.tool()
def fails(why: str) -> str:
    """Ends in an error."""
    effect("fails")
    raise ToolError(why)


@server.tool()
async def slow(seconds: float) -> str:
    """Takes its time, and notes it where it is cancelled."""
    effect("slow began")
    try:
        await anyio.sleep(seconds)
    except BaseException:
        effect("slow cancelled")
        raise
    effect("slow ended")
    return "slept"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "new", name="extra", description="Appeared later.")
    await ctx.notify_tools_changed()
    if ctx.protocol_version != "2026-07-28":
        await ctx.session.send_tool_list_changed()
    return "grown"


async def _question(ctx: Context) -> Elicit[Ok]:
    return Elicit("really?", Ok)


@server.tool()
async def confirm(ok: Annotated[ElicitationResult[Ok], Resolve(_question)]) -> str:
    """Asks a person."""
    effect("confirm")
    return f"{ok.action}"


@server.tool()
async def touch(ctx: Context) -> str:
    """Changes the note."""
    await ctx.notify_resource_updated("note://one")
    if ctx.protocol_version != "2026-07-28":
        await ctx.session.send_resource_updated("note://one")
    return "touched"


@server.tool()
async def narrate(ctx: Context) -> str:
    """Writes to its log."""
    await ctx.session.send_log_message("warning", "mind the gap", related_request_id=ctx.request_id)
    return "told"


@server.resource("note://one")
def note() -> str:
    return "a note"


@server.resource("note://{name}/copy")
def copy(name: str) -> str:
    return f"a copy of {name}"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


@server.completion()
async def complete(ref: object, argument: types.CompletionArgument, context: object) -> types.Completion:
    return types.Completion(values=[f"{argument.value}na"])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
