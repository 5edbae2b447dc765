"""The same desk as an MCP server on standard input and output: `python -m duly.demo.server DATABASE`."""

import sys
from functools import wraps
from typing import Any

from .desk import READS, Desk, DeskError, Tool


def serve(database: str) -> None:
    """Until standard input ends. The database is a file, so that whoever started the server can look into it."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations

    def told(tool: Tool) -> Tool:
        @wraps(tool)
        def answered(*args: Any, **kwargs: Any) -> Any:
            try:
                return tool(*args, **kwargs)
            except DeskError as error:
                raise ToolError(str(error)) from None

        return answered

    desk = Desk(database)
    server = MCPServer("box-office", log_level="CRITICAL")
    for name, tool in desk.tools().items():
        server.add_tool(told(tool), name=name, annotations=ToolAnnotations(read_only_hint=name in READS))
    server.run("stdio")


if __name__ == "__main__":
    serve(sys.argv[1])
