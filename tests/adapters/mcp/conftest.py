"""These tests need the MCP SDK, and so an environment of their own: `make test-adapters`."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("mcp") else ["*.py"]
