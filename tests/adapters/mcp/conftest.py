"""These tests need the MCP SDK, and so an environment of their own: `make test-adapters`."""

from importlib.util import find_spec
from typing import Any

SDK = find_spec("mcp") is not None
collect_ignore_glob = [] if SDK else ["*.py"]


def pytest_configure(config: Any) -> None:
    if SDK:
        # both eras are tested, so what the later one has dropped is used on purpose
        config.addinivalue_line("filterwarnings", "ignore::mcp.shared.exceptions.MCPDeprecationWarning")
