"""The desk as an MCP server, used by the real client: bare, or behind `duly mcp`.

What is said at the counter is told to the session by the host, on the gate's own store: nothing that travels through a
call can be a word of the customer.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from duly.gates.gate import Gate as Session
from duly.journal.journal import Journal, open_journal

from .desk import Desk
from .gate import Outcome, Place, contract, contract_path

ERAS = {"2026": ("2026-07-28", "modern"), "2025": ("legacy", "legacy")}
"""How client and gate connect: as of 2026-07-28, or by the handshake of 2025-11-25. Named, since who probes for the era
takes a server that is slow to start for one of the older era."""
LOG = "mcp.log"


class NoDesk(Exception):
    """The server, or the gate before it, did not answer."""


class Stage:
    """Sets up a place for each run; the sessions of all guarded ones lie in one store."""

    def __init__(self, folder: Path, era: str) -> None:
        self.store = folder / "sessions.sqlite"
        self.log = folder / LOG
        self.era = era
        self.seen: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
        self._stack = ExitStack()
        folder.mkdir(parents=True, exist_ok=True)
        self.store.unlink(missing_ok=True)

    def __enter__(self) -> "Stage":
        import logging

        # the client's own log would stand between the figures
        logging.getLogger("client").setLevel(logging.CRITICAL)
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        from anyio.from_thread import start_blocking_portal

        self._portal = self._stack.enter_context(start_blocking_portal())
        self._errors = self._stack.enter_context(open(self.log, "w"))
        self._room = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._journal = open_journal(str(self.store))
        self._stack.callback(self._journal.close)
        return self

    def __exit__(self, *raised: Any) -> None:
        # told what was raised, the portal gives up what still runs in it; else it would wait for that for ever
        self._stack.__exit__(*raised)

    def place(self, task: str, guarded: bool) -> Place:
        """A fresh desk with its server, its client, and with ``guarded`` a gate between them."""
        database = self._room / f"{task}-{'with' if guarded else 'without'}.sqlite"
        command = [sys.executable, "-m", "duly.demo.server", str(database)]
        client, server = ERAS[self.era]
        if guarded:
            gate = ["mcp", "--contract", str(contract_path()), "--store", str(self.store), "--session", task]
            gate += ["--era", server]
            command = [sys.executable, "-m", "duly", *gate, "--", *command]
        served = Served(self._portal, command, client, self._errors, self.seen)
        if guarded:
            served.listen(self._journal, task)
        return Place(served, lambda: Desk(str(database)), served.close)


class Served:
    """One client of one server. ``seen`` gets the tools before and after something that the customer said."""

    def __init__(self, portal: Any, command: list[str], mode: str, errors: Any, seen: list[Any]) -> None:
        from mcp.client.client import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client

        parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        client: Any = Client(stdio_client(parameters, errlog=errors), mode=mode, cache=None)
        self._portal = portal
        self._opened = portal.wrap_async_context_manager(client)
        try:
            self._client = self._opened.__enter__()
        except Exception as error:
            raise NoDesk(_first(error)) from None
        self._session: Session | None = None
        self._seen = seen

    def listen(self, journal: Journal, session: str) -> None:
        """What is said from now on is told to this session."""
        self._session = Session.open(contract(), journal, session)

    def say(self, text: str) -> None:
        if self._session is not None:
            self._session.say(text)

    def hear(self, text: str) -> None:
        if self._session is None:
            return
        watch = not any(before != after for _, before, after in self._seen)
        before = self.offered() if watch else ()
        self._session.hear(text)
        if watch:
            self._seen.append((text, before, self.offered()))

    def call(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        found = self._asked(self._client.call_tool, tool, arguments)
        text = "".join(block.text for block in found.content if block.type == "text")
        refused = "duly/verdict" in (found.meta or {})
        if found.is_error:
            return Outcome(f"Error: {text}", not refused, False, text if refused else "")
        return Outcome(text, True, True)

    def offered(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self._asked(self._client.list_tools).tools)

    def close(self) -> None:
        if self._session is not None:
            self._session.leave()
        self._opened.__exit__(None, None, None)

    def _asked(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return self._portal.call(method, *arguments)
        except Exception as error:
            raise NoDesk(_first(error)) from None


def _first(error: BaseException) -> str:
    """What the tasks of a loop raise comes in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)
