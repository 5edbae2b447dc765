"""Real processes and the real client: gates on standard input or HTTP, people's words, and servers to put behind."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLES = ROOT / "examples" / "mcp"
PYTHON = sys.executable
ERAS = ("legacy", "auto")
"""How the client connects: by the handshake of 2025-11-25, or as 2026-07-28 says."""
TOKEN = "a-token-of-the-tests"
ENV = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "DULY_TELL_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
LAUNCH = (PYTHON, "-m", "duly", "mcp")
SERVER = (PYTHON, str(HERE / "server.py"))
"""A small server of our own; see there."""


def run(work: Callable[[], Awaitable[Any]], *, within: float = 60) -> Any:
    """Runs a test's body; nothing may hang."""

    async def bounded() -> Any:
        with anyio.fail_after(within):
            return await work()

    return anyio.run(bounded)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def await_port(port: int, process: "subprocess.Popen[Any]") -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if process.poll() is not None:
            raise AssertionError(f"the process ended with {process.returncode}")
        with socket.socket() as found:
            if found.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("nobody listens")


@contextmanager
def process(*command: str, port: int) -> Iterator["subprocess.Popen[Any]"]:
    """A process that serves a port."""
    started = subprocess.Popen(command, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        await_port(port, started)
        yield started
    finally:
        started.terminate()
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


@contextmanager
def gate_http(*arguments: str, server: tuple[str, ...]) -> Iterator[str]:
    """`duly mcp --http` before a server; gives its address."""
    port = free_port()
    with process(*LAUNCH, *arguments, "--http", f"127.0.0.1:{port}", "--", *server, port=port):
        yield f"http://127.0.0.1:{port}/mcp"


def gate_stdio(*arguments: str, server: tuple[str, ...]) -> StdioServerParameters:
    return StdioServerParameters(command=LAUNCH[0], args=[*LAUNCH[1:], *arguments, "--", *server], env=ENV)


@asynccontextmanager
async def connected(
    place: Any, *, era: str, headers: dict[str, str] | None = None, errors: Any = None, **options: Any
) -> AsyncIterator[Client]:
    """The real client, on an address or a process."""
    if isinstance(place, StdioServerParameters):
        if errors is not None:
            place = stdio_client(place, errlog=errors)
        async with Client(place, mode=era, cache=None, **options) as client:
            yield client
        return
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(place, http_client=http), mode=era, cache=None, **options) as client,
    ):
        yield client


def tell(port: int, **said: Any) -> tuple[int, dict[str, Any]]:
    """What the host of the client does when a person has said something."""
    token = said.pop("token", TOKEN)
    headers = {"authorization": f"Bearer {token}"}
    request = Request(f"http://127.0.0.1:{port}/tell", json.dumps(said).encode(), headers, method="POST")
    try:
        with urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


async def say(port: int, **said: Any) -> tuple[int, dict[str, Any]]:
    return await anyio.to_thread.run_sync(lambda: tell(port, **said))


def text(result: Any) -> str:
    found: str = result.content[0].text
    return found


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]
