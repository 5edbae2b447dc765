"""Puts a proxy together from what the command line says, and runs it."""

import sys
from functools import partial
from secrets import token_hex, token_urlsafe
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from duly.journal.journal import Level, open_journal
from duly.machine.contract import Contract

from ..program import Program
from .held import left
from .keeper import Keeper
from .key import Keys
from .proxy import CONNECT, DEADLINE, Proxy
from .serve import listen, serve_http, serve_stdio
from .tell import Tell
from .upstream import Target


class Options(Struct, frozen=True):
    """``http`` None serves standard input and output. ``contract`` None carries everything as it is."""

    target: Target
    contract: Contract | None = None
    shadow: bool = False
    session: str | None = None
    session_header: str | None = None
    session_field: str | None = None
    server: str = ""
    http: tuple[str, int] | None = None
    store: str | None = None
    level: Level = "normal"
    tell_port: int | None = None
    tell_token: str | None = None
    user: str = "user"
    deciders: dict[str, Program] = {}
    patience: float = 0.0
    deadline: float = DEADLINE
    connect: float = CONNECT


def run(options: Options) -> None:
    """Until the client goes, or the process is told to stop."""
    anyio.run(_run, options)


async def _run(options: Options) -> None:
    fixed = options.session
    if fixed is None and options.http is None:
        # one client, one process, one session
        fixed = f"mcp-{token_hex(6)}"
    keys = Keys(fixed, options.session_header, options.session_field)
    keeper = None
    journal = open_journal(options.store, level=options.level) if options.store is not None else None
    if options.contract is not None:
        keeper = Keeper(
            options.contract, keys, shadow=options.shadow, named=options.session is not None, server=options.server,
            journal=journal, alone=options.http is None, user=options.user, patience=options.patience,
            deciders=options.deciders,
        )  # fmt: skip
    proxy = Proxy(
        options.target, keys=keys, gate=keeper, deadline=options.deadline, connect=options.connect,
        shared=options.http is not None,
    )  # fmt: skip
    if keeper is not None and fixed is not None:
        say(f"session {fixed}")
        try:
            await keeper.held(fixed)
        except MCPError as error:
            # there is no client yet to be told, but somebody who has started this
            raise error.__cause__ or error from None
    async with anyio.create_task_group() as tasks:
        if keeper is not None:
            tasks.start_soon(keeper.announce)
            if journal is not None:
                tasks.start_soon(keeper.watch)
                look = partial(left, keeper.contract, journal, fixed)
                tasks.start_soon(partial(anyio.to_thread.run_sync, look, abandon_on_cancel=True))
            if options.tell_port is not None:
                await _tell(tasks, keeper, options, fixed)
        if options.http is None:
            await serve_stdio(proxy)
        else:
            await serve_http(proxy, *options.http)
        tasks.cancel_scope.cancel()
    if journal is not None:
        journal.close()


async def _tell(tasks: Any, keeper: Keeper, options: Options, only: str | None) -> None:
    token = options.tell_token or token_urlsafe(24)
    port = await tasks.start(listen, Tell(keeper, token, only), "127.0.0.1", options.tell_port)
    shown = "" if options.tell_token else f" with the token {token}"
    say(f"listens for what people say at http://127.0.0.1:{port}/tell{shown}")


def say(text: str) -> None:
    print(f"duly: {text}", file=sys.stderr, flush=True)
