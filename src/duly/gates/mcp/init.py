"""A first contract for a server, from what it says of its own tools."""

from collections.abc import Iterable
from typing import Any, Final

import anyio
from mcp.shared.exceptions import MCPError

from duly.notation.emit import scalar
from duly.values.errors import fault

from .listing import Listing, fetch
from .proxy import CONNECT
from .upstream import Target, Upstream

LISTING: Final = 60.0

_CHANGES: Final = """
# Names for sets of tools, written `@change` where they are used.
groups:
  change: {effect: write}

# How a yes is known: `duly:strict` takes only a plain yes, `duly:lenient` any affirmative word. A yes comes from a
# person, by `duly tell` or at `--tell-port`, and never from the model.
include: ["duly:strict"]

# What must hold, whatever the order of everything else. Nothing is changed before somebody has said yes.
rules:
  - must_precede: [Yes, "@change"]

# Or each change waits until somebody has decided about it, in the client or with `duly approve`:
# approvals:
#   - {of: "@change", ask: "May this be changed?"}

# What people write, and what it is called. `duly check` runs these.
examples:
  - {text: "Yes", label: Yes}
  - {text: "What would that cost?", label: Other}
"""


def contract_from_server(target: Target, name: str = "", *, connect: float = CONNECT) -> str:
    """The text of a commented contract, in shadow mode, for the tools that the server lists.

    What a tool changes is taken from its annotations; where it has none it changes something, as the protocol says.
    Raises DulyError where the server cannot be reached or has no tools.
    """
    info, listing = anyio.run(_described, target, connect)
    if not listing.tools:
        raise fault("mcp", f"the server `{target.text()[:200]}` lists no tools", help="a contract is about tools")
    return contract_text(name or str(info.get("name") or "server"), listing, target)


async def _described(target: Target, connect: float) -> tuple[dict[str, Any], Listing]:
    async def asked(method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise MCPError(code=-32601, message="nobody is here to be asked")

    async def noticed(method: str, params: dict[str, Any]) -> None:
        return None

    upstream = Upstream(
        target, info={"name": "duly", "version": "0"}, capabilities={}, asked=asked, noticed=noticed, connect=connect
    )  # fmt: skip
    async with anyio.create_task_group() as tasks:
        try:
            await upstream.start(tasks)
            found = upstream.info, await fetch(upstream, LISTING)
        except (ConnectionError, MCPError) as error:
            problem = error.error.message if isinstance(error, MCPError) else str(error)
        else:
            problem = ""
        upstream.close()
    if problem:
        raise fault("mcp", problem, help="try the command by itself first")
    return found


def contract_text(name: str, listing: Listing, target: Target) -> str:
    """The contract as commented YAML."""
    tools = [tool for tool_name, tool in listing.tools.items() if tool_name not in listing.doubled]
    behind = f"--url {target.url}" if target.url else f"-- {target.text()}"
    lines = [
        "# What may be done with this server. Change it, then: duly check, and mode: enforce.",
        f"#   duly mcp --contract THIS_FILE {' '.join(behind.split())[:200]}",
        "duly: 1",
        f"contract: {scalar(name)}",
        'version: "0.1"',
        "mode: shadow  # everything runs, and what would be refused is recorded; `enforce` refuses it",
        "",
        "# The tools that the server lists. There are no others: a call of another tool is refused.",
        "# `effect` is what the server says of itself, or `write` where it says nothing; check it.",
        "tools:",
        *_tools(tools),
    ]
    lines += [
        f"# `{' '.join(each.split())[:80]}` is listed twice, so calls of it are refused" for each in listing.doubled
    ]
    if not any(_effect(tool) == "write" for tool in tools) or {"Yes", "Other"} & {*listing.tools}:
        lines.append("# No tool changes anything, as far as one can see, so nothing waits for a yes yet.")
        return "\n".join(lines) + "\n"
    return "\n".join(lines) + "\n" + _CHANGES


def _tools(tools: Iterable[dict[str, Any]]) -> Iterable[str]:
    for tool in tools:
        hints = _hints(tool)
        said = "" if "readOnlyHint" in hints else "nothing is said of what it changes"
        parts = [f"effect: {_effect(tool)}"]
        if _effect(tool) == "write":
            if hints.get("idempotentHint") is True:
                parts.append("idempotent: true")
            if hints.get("destructiveHint") is True:
                said = "destructive"
        yield f"  {scalar(tool['name'])}: {{{', '.join(parts)}}}" + (f"  # {said}" if said else "")


def _effect(tool: dict[str, Any]) -> str:
    return "none" if _hints(tool).get("readOnlyHint") is True else "write"


def _hints(tool: dict[str, Any]) -> dict[str, Any]:
    hints = tool.get("annotations")
    return hints if isinstance(hints, dict) else {}
