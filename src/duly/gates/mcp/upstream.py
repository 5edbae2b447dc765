"""The server's side: one connection to it, over standard input and output or HTTP, in whichever era it speaks."""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import CONNECTION_CLOSED, SERVER_INFO_META_KEY, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from msgspec import Struct

from . import era

Era = Literal["auto", "legacy", "modern"]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]
Asked = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
Noticed = Callable[[str, dict[str, Any]], Awaitable[None]]

QUIETEST: Final = "info"
"""From which level on a modern server tells its log to a client of the other era that has set none."""
PROBE: Final = 10.0
"""Seconds that a server has to say that it speaks the modern era; one that is silent is asked to shake hands."""


class Target(Struct, frozen=True):
    """Where the server is: a command with its arguments, or an address."""

    command: tuple[str, ...] = ()
    url: str = ""
    headers: dict[str, str] = {}
    era: Era = "auto"

    def text(self) -> str:
        return self.url or " ".join(self.command)


class Upstream:
    """A live connection. ``start`` raises where the server cannot be reached; afterwards ``dead`` says why it ended."""

    def __init__(
        self,
        target: Target,
        *,
        info: Mapping[str, Any],
        capabilities: Mapping[str, Any],
        asked: Asked,
        noticed: Noticed,
        connect: float,
    ) -> None:
        self.target = target
        self.modern = False
        self.dead: str | None = None
        self.capabilities: dict[str, Any] = {}
        self.info: dict[str, Any] = {}
        self.instructions: str | None = None
        self.strays = 0
        self.level: str | None = None
        self._client = dict(info) or {"name": "duly", "version": "0"}
        self._abilities = dict(capabilities)
        self._asked = asked
        self._noticed = noticed
        self._connect = connect
        self._version = era.MODERN
        self._scope = anyio.CancelScope()
        self._wire: Any = None
        self._tasks: TaskGroup | None = None
        self._listening: anyio.CancelScope | None = None
        self._watched: dict[str, int] = {}

    async def start(self, tasks: TaskGroup) -> None:
        await tasks.start(self._run)

    def close(self) -> None:
        self.dead = self.dead or "the session has ended"
        self._scope.cancel()

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        started = False
        try:
            with self._scope:
                async with self._streams() as (incoming, outgoing), anyio.create_task_group() as tasks:
                    self._tasks = tasks
                    self._wire = wire = JSONRPCDispatcher(incoming, outgoing, on_stream_exception=self._stray)
                    over = anyio.Event()

                    async def drive(*, task_status: TaskStatus[None]) -> None:
                        await wire.run(self._on_request, self._on_notice, task_status=task_status)
                        over.set()

                    await tasks.start(drive)
                    with anyio.fail_after(self._connect):
                        await self._meet()
                    self._listen()
                    started = True
                    task_status.started()
                    await over.wait()
                    self.dead = self.dead or "the server has ended the connection"
                    tasks.cancel_scope.cancel()
        except Exception as error:
            self.dead = self.dead or said(error)
            if not started:
                raise ConnectionError(f"the server `{self.target.text()[:200]}` cannot be used: {self.dead}") from None
        finally:
            self.dead = self.dead or "the connection to the server was closed"

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[tuple[Any, Any]]:
        target = self.target
        if target.url:
            async with (
                create_mcp_http_client(headers=target.headers or None) as client,
                streamable_http_client(target.url, http_client=client) as streams,
            ):
                yield streams
        else:
            # the server was meant to be started by the client, so it gets what the client gave
            parameters = StdioServerParameters(
                command=target.command[0], args=list(target.command[1:]), env=dict(os.environ)
            )
            async with stdio_client(parameters, errlog=sys.stderr) as streams:
                yield streams

    async def _meet(self) -> None:
        """Finds the server's era: asks for the modern one first, and shakes hands with whoever does not know it."""
        if self.target.era != "legacy":
            try:
                params = self._stamped({})
                headers = {MCP_PROTOCOL_VERSION_HEADER: era.MODERN, MCP_METHOD_HEADER: "server/discover"}
                found = await self._wire.send_raw_request(
                    "server/discover", params, {"timeout": PROBE, "cancel_on_abandon": False, "headers": headers}
                )
                if any(era.is_modern(version) for version in found.get("supportedVersions") or ()):
                    return self._met(found, modern=True)
            except MCPError as error:
                if self.target.era == "modern" or error.code == CONNECTION_CLOSED:
                    raise
            if self.target.era == "modern":
                raise ConnectionError("the server does not speak the modern era")
        params = {"protocolVersion": era.LEGACY, "capabilities": self._abilities, "clientInfo": self._client}
        try:
            found = await self._wire.send_raw_request("initialize", params, {"cancel_on_abandon": False})
        except MCPError as error:
            if error.code != UNSUPPORTED_PROTOCOL_VERSION or self.target.era == "legacy":
                raise
            # it was slow to start: the question for its era, given up meanwhile, has settled that
            params = self._stamped({})
            headers = {MCP_PROTOCOL_VERSION_HEADER: era.MODERN, MCP_METHOD_HEADER: "server/discover"}
            found = await self._wire.send_raw_request("server/discover", params, {"headers": headers})
            return self._met(found, modern=True)
        if found.get("protocolVersion") not in HANDSHAKE_PROTOCOL_VERSIONS:
            raise ConnectionError(f"the server speaks `{str(found.get('protocolVersion'))[:40]}`, which nobody knows")
        self._met(found, modern=False)
        await self.notify("notifications/initialized", None)

    def _met(self, found: Mapping[str, Any], *, modern: bool) -> None:
        self.modern = modern
        self._version = era.MODERN if modern else found["protocolVersion"]
        self.capabilities = dict(found.get("capabilities") or {})
        self.instructions = found.get("instructions")
        self.info = dict((era.meta_of(found).get(SERVER_INFO_META_KEY) if modern else found.get("serverInfo")) or {})

    def _stamped(self, params: Mapping[str, Any] | None) -> dict[str, Any]:
        return era.request(
            params, modern=True, info=self._client, capabilities=self._abilities, level=self.level or QUIETEST
        )  # fmt: skip

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        progress: Progress | None = None,
        timeout: float | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """A request in the server's era; raises MCPError. ``schema`` is that of the tool that is called."""
        if self.dead is not None:
            raise MCPError(code=CONNECTION_CLOSED, message=self.dead)
        sent = era.request(
            params, modern=self.modern, info=self._client, capabilities=self._abilities, level=self.level or QUIETEST
        )  # fmt: skip
        options: dict[str, Any] = {}
        if progress is not None:
            options["on_progress"] = progress
        if timeout is not None:
            options["timeout"] = timeout
        if self.target.url:
            options["headers"] = self._headers(method, sent, schema)
        found: dict[str, Any] = await self._wire.send_raw_request(method, sent, options)
        return found

    def _headers(self, method: str, params: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, str]:
        headers = {MCP_PROTOCOL_VERSION_HEADER: self._version}
        if self.modern:
            headers[MCP_METHOD_HEADER] = method
            key = NAME_BEARING_METHODS.get(method)
            if key is not None and isinstance(name := params.get(key), str):
                headers[MCP_NAME_HEADER] = encode_header_value(name)
            if method == "tools/call" and schema is not None:
                headers.update(mcp_param_headers(x_mcp_header_map(dict(schema)), params.get("arguments") or {}))
        return headers

    async def notify(self, method: str, params: Mapping[str, Any] | None) -> None:
        if self.dead is None:
            headers = {MCP_PROTOCOL_VERSION_HEADER: self._version}
            await self._wire.notify(method, params, {"headers": headers} if self.target.url else None)

    async def watch(self, uris: list[str]) -> None:
        """Asks to be told when these resources change."""
        fresh = [uri for uri in uris if uri not in self._watched]
        for uri in uris:
            self._watched[uri] = self._watched.get(uri, 0) + 1
        if self.modern:
            self._listen()
        else:
            for uri in fresh:
                await self.request("resources/subscribe", {"uri": uri})

    async def unwatch(self, uris: list[str]) -> None:
        for uri in uris:
            left = self._watched.get(uri, 0) - 1
            if left > 0:
                self._watched[uri] = left
                continue
            self._watched.pop(uri, None)
            if not self.modern and self.dead is None:
                await self.request("resources/unsubscribe", {"uri": uri})
        if self.modern:
            self._listen()

    def _listen(self) -> None:
        """Opens the stream of changes of a modern server, anew where something else is to be watched."""
        if not self.modern or self._tasks is None or self.dead is not None:
            return
        if self._listening is not None:
            self._listening.cancel()
        self._listening = anyio.CancelScope()
        wanted: dict[str, Any] = {}
        for part, key in (("tools", "tools"), ("prompts", "prompts"), ("resources", "resources")):
            if (self.capabilities.get(part) or {}).get("listChanged"):
                wanted[f"{key}ListChanged"] = True
        if self._watched:
            wanted["resourceSubscriptions"] = list(self._watched)
        if wanted:
            self._tasks.start_soon(self._hearing, self._listening, wanted)

    async def _hearing(self, scope: anyio.CancelScope, wanted: dict[str, Any]) -> None:
        with scope:
            try:
                await self.request("subscriptions/listen", {"notifications": wanted})
            except MCPError:
                return  # a server that cannot be listened to announces nothing

    async def _stray(self, error: Exception) -> None:
        self.strays += 1
        if self.strays <= 3:
            print("duly: the server printed a line that is no message; it is passed over", file=sys.stderr, flush=True)

    async def _on_request(self, context: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        if method == "ping":
            return {}
        return await self._asked(method, dict(params or {}))

    async def _on_notice(self, context: Any, method: str, params: Mapping[str, Any] | None) -> None:
        await self._noticed(method, dict(params or {}))


def said(error: BaseException) -> str:
    """An error in one line; of a group, its first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "it does not answer"
    text = " ".join(str(error).split())[:300]
    return text or type(error).__name__
