"""`duly mcp`: any MCP server behind a contract."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from duly.gates.mcp.run import Options
    from duly.gates.mcp.upstream import Era
    from duly.gates.program import Program
    from duly.journal.journal import Level


def mcp(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The server's command with its arguments, after `--`.", show_default=False),
    ] = None,
    contract: Annotated[
        str | None, typer.Option("--contract", "-c", help="The contract document.", show_default=False)
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="The server's address, in place of a command.", show_default=False)
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", help="A header for the server, `NAME: VALUE`; may be repeated.", show_default=False),
    ] = None,
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Let every call run, and say what would be refused.")
    ] = False,
    http: Annotated[
        str | None,
        typer.Option("--http", help="Serve HTTP at HOST:PORT, path /mcp, in place of standard input and output."),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="One session for every client, by this name.", show_default=False)
    ] = None,
    session_header: Annotated[
        str | None, typer.Option("--session-header", help="The HTTP header that names the session.", show_default=False)
    ] = None,
    session_field: Annotated[
        str | None,
        typer.Option("--session-field", help="The field of a request's `_meta` that names it.", show_default=False),
    ] = None,
    server: Annotated[
        str, typer.Option("--server", help="The server's name, where the contract writes `server/tool`.")
    ] = "",
    store: Annotated[
        str | None, typer.Option("--store", help="The journal that keeps the sessions; else they end with the process.")
    ] = None,
    level: Annotated[
        str, typer.Option("--level", help="What the journal survives: full, normal or memory.")
    ] = "normal",
    tell_port: Annotated[
        int | None,
        typer.Option("--tell-port", min=0, max=65535, help="Take what people say at this loopback port; 0 picks one."),
    ] = None,
    tell_token: Annotated[
        str | None,
        typer.Option("--tell-token", envvar="DULY_TELL_TOKEN", help="The token for it, else one is made and printed."),
    ] = None,
    user: Annotated[
        str,
        typer.Option(
            "--user", help="Who sits at the client and decides there what waits for a person; empty: nobody is asked."
        ),
    ] = "user",
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="Seconds that a call waits for a decision made elsewhere.")
    ] = 0,
    decider: Annotated[
        list[str] | None,
        typer.Option(
            "--decider", help="A program that decides what waits, `NAME=COMMAND`; may be repeated.", show_default=False
        ),
    ] = None,
    decider_within: Annotated[
        float, typer.Option("--decider-within", min=0.1, help="Seconds that such a program has; then it is a no.")
    ] = 30,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds that a call may stay silent.")] = 300,
    era: Annotated[str, typer.Option("--era", help="The server's era: auto, legacy or modern.")] = "auto",
    bare: Annotated[bool, typer.Option("--bare", hidden=True)] = False,
) -> None:
    """Puts a contract between an MCP client and an MCP server.

    Clients see the tools that are legal now, and every call is held to the contract; a refused call is answered with
    the reason and with what would make it legal. Both eras of the protocol are spoken on either side. What a person
    says never comes through a call: the host tells it at the loopback port.

    \b
    Examples:
      duly mcp --contract desk.yaml -- npx -y @modelcontextprotocol/server-filesystem .
      duly mcp --contract desk.yaml --shadow -- python server.py
      duly mcp --contract desk.yaml --url http://127.0.0.1:9000/mcp --http 127.0.0.1:8000 --session-header X-Session

    Exits with 2 for a faulty command line, with 3 for a faulty contract, and with 0 when the client has gone.
    """
    from .output import say, usage

    if (not command) == (url is None):
        raise usage("give the server's command after `--`, or its address with `--url`")
    if (contract is None) != bare:
        raise usage("a contract is needed", "`duly init` writes a first one")
    if sum(given is not None for given in (session, session_header, session_field)) > 1:
        raise usage("`--session`, `--session-header` and `--session-field` exclude one another")
    if session_header is not None and http is None:
        raise usage("`--session-header` needs `--http`: standard input has no headers")
    if era not in ("auto", "legacy", "modern"):
        raise usage(f"unknown era `{era}`", "eras are auto, legacy and modern")
    if level not in ("full", "normal", "memory"):
        raise usage(f"unknown level `{level}`", "levels are full, normal and memory")
    _sdk()
    options = _options(
        command or [], contract, url, header or [], shadow, http, session, session_header, session_field, server, store,
        level, tell_port, tell_token, user, wait, timeout, era, _programs(decider or [], decider_within),
    )  # fmt: skip
    _quiet()
    from duly.gates.mcp.run import run

    try:
        run(options)
    except KeyboardInterrupt:
        say("stopped")
    except Exception as error:
        # what the tasks of a loop raise comes in groups
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def _options(
    command: list[str],
    contract: str | None,
    url: str | None,
    header: list[str],
    shadow: bool,
    http: str | None,
    session: str | None,
    session_header: str | None,
    session_field: str | None,
    server: str,
    store: str | None,
    level: str,
    tell_port: int | None,
    tell_token: str | None,
    user: str,
    wait: float,
    timeout: float,
    era: str,
    deciders: "dict[str, Program]",
) -> "Options":
    from duly.gates.mcp.run import Options
    from duly.gates.mcp.upstream import Target

    from .output import contract_of, usage

    headers = {}
    for line in header:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise usage(f"`{line}` is no header", "write `NAME: VALUE`")
        headers[name.strip()] = value.strip()
    place = None
    if http is not None:
        host, colon, port = http.rpartition(":")
        if not colon or not port.isdigit() or int(port) > 65535:
            raise usage(f"`{http}` is no HOST:PORT", "for example `127.0.0.1:8000`")
        place = (host.strip("[]") or "127.0.0.1", int(port))
    return Options(
        Target(tuple(command), url or "", headers, cast("Era", era)),
        contract=contract_of(contract) if contract is not None else None,
        shadow=shadow, session=session, session_header=session_header, session_field=session_field, server=server,
        http=place, store=store, level=cast("Level", level), tell_port=tell_port,
        tell_token=tell_token, user=user.strip(), patience=wait, deadline=timeout, deciders=deciders,
    )  # fmt: skip


def _programs(said: list[str], within: float) -> "dict[str, Program]":
    import shlex

    from duly.gates.program import Program

    from .output import usage

    found: dict[str, Program] = {}
    for text in said:
        name, equals, command = text.partition("=")
        name = name.strip()
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise usage(f"`{text}` is no decider: {str(error).lower()}") from None
        if not name or not equals or not words:
            raise usage(f"`{text}` is no decider", "write `NAME=COMMAND`")
        if name in found:
            raise usage(f"two deciders are called `{name}`")
        found[name] = Program(tuple(words), within)
    return found


def contract_of_server(command: str, name: str = "") -> str:
    """The text of a first contract for the server that a command line starts, or that has this address.

    What `duly init --mcp` writes.
    """
    import shlex

    from .output import usage

    is_address = command.startswith(("http://", "https://"))
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise usage(f"`{command}` is no command: {str(error).lower()}") from None
    if not words:
        raise usage("the server's command is empty", "for example `duly init --mcp 'python server.py'`")
    _sdk()
    _quiet()
    from duly.gates.mcp.init import contract_from_server
    from duly.gates.mcp.upstream import Target

    return contract_from_server(Target(url=command) if is_address else Target(tuple(words)), name)


def _sdk() -> None:
    from importlib.util import find_spec

    from .output import usage

    if find_spec("mcp") is None:
        raise usage("the MCP SDK is not installed", "in a clone of duly: pip install '.[mcp]'")


def _quiet() -> None:
    """Standard error is the host's log: the SDK's own lines there would hide what duly has to say."""
    import logging

    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    logging.getLogger("client").setLevel(logging.CRITICAL)
