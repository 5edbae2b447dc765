"""The server's list of tools, all pages of it, and what the arguments of each must look like."""

from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from duly.machine.prepare import Preparer
from duly.machine.terms import Tool
from duly.values.definition import UNREADABLE, definition_digest
from duly.values.errors import DulyError
from duly.values.plain import Malformed

from .upstream import Upstream

PAGES: Final = 200
"""Pages of a list that are read."""


class Listing:
    """Tools by name, as the server describes them; ``doubled`` are names that it gives to more than one tool."""

    def __init__(self, tools: list[dict[str, Any]], rest: dict[str, Any]) -> None:
        self.tools: dict[str, dict[str, Any]] = {}
        self.doubled: set[str] = set()
        self.rest = rest
        for tool in tools:
            name = tool["name"]
            if name in self.tools:
                self.doubled.add(name)
            self.tools[name] = tool
        self._preparers: dict[str, Preparer] = {}

    def preparer(self, name: str) -> Preparer:
        """What prepares the arguments of a tool by the server's own schema; raises DulyError where that is none."""
        known = self._preparers.get(name)
        if known is None:
            schema = self.tools[name].get("inputSchema")
            try:
                known = Preparer(Tool(name, schema=schema if isinstance(schema, dict) else {}))
            except DulyError:
                raise
            except Exception as error:
                from duly.values.errors import fault

                raise fault("schema", f"the schema of `{name[:80]}` is no JSON Schema: {str(error)[:160]}") from None
            self._preparers[name] = known
        return known

    def digests(self) -> dict[str, str]:
        """The digest of each definition that can be read; a name that stands for two tools has none."""
        found = {}
        for name, tool in self.tools.items():
            try:
                found[name] = definition_digest(tool)
            except Malformed:
                found[name] = UNREADABLE
        return {name: digest for name, digest in found.items() if name not in self.doubled}

    def structured(self, name: str) -> bool:
        """Whether an answer in the tool's place may hold structured content of its own."""
        tool = self.tools.get(name)
        return tool is not None and tool.get("outputSchema") is None


async def fetch(upstream: Upstream, timeout: float) -> Listing:
    """Reads the whole list; raises MCPError."""
    tools: list[dict[str, Any]] = []
    rest: dict[str, Any] = {}
    seen: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(PAGES):
        found = await upstream.request("tools/list", params, timeout=timeout)
        page = found.get("tools")
        tools += [tool for tool in page or () if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        rest = rest or {key: value for key, value in found.items() if key not in ("tools", "nextCursor")}
        cursor = found.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return Listing(tools, rest)
        if cursor in seen:
            break
        seen.add(cursor)
        params = {"cursor": cursor}
    raise MCPError(code=INTERNAL_ERROR, message="the server's list of tools has no end")
