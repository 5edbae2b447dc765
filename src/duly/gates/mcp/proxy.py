"""The proxy: one server for any client, which carries every message to the server behind it, through the gate if there
is one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    SERVER_INFO_META_KEY,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from . import era
from .flight import Context
from .key import Keys
from .link import Link, is_ours
from .raw import connection_of
from .upstream import Target, Upstream

DEADLINE: Final = 300.0
"""Seconds for which a request waits for its answer, unless it is told otherwise; progress starts them anew."""
CONNECT: Final = 60.0
"""Seconds that a server has to start."""
SESSIONS: Final = 256
"""Sessions that are open at once; each may have a server process of its own."""
IDLE: Final = 1800.0
"""Seconds after which a session without requests lets go of its server."""


class Gatekeeper(Protocol):
    """What the contract has to say of the requests that the proxy carries."""

    async def tools(self, link: Link, upstream: Upstream, context: Context) -> dict[str, Any]: ...

    async def call(
        self, link: Link, upstream: Upstream, context: Context, params: dict[str, Any]
    ) -> dict[str, Any]: ...  # fmt: skip

    def abilities(self, capabilities: dict[str, Any]) -> dict[str, Any]: ...

    async def closed(self, link: Link) -> None: ...


class Proxy:
    """``gate`` None carries everything as it is."""

    def __init__(
        self,
        target: Target,
        *,
        keys: Keys,
        gate: Gatekeeper | None = None,
        deadline: float = DEADLINE,
        connect: float = CONNECT,
        shared: bool = False,
    ) -> None:
        self.target = target
        self.keys = keys
        self.gate = gate
        self.deadline = deadline
        self.connect = connect
        self.tasks: TaskGroup
        self._shared = shared
        self._links: dict[str | None, Link] = {}
        self._running: set[tuple[int, Any]] = set()
        self.server: Server[Any] = Server(
            "duly", lifespan=self._life, on_subscriptions_listen=self._listen, get_tool_input_schema=self._no_schema
        )
        self.server.middleware.append(self._handle)

    @staticmethod
    def _no_schema(name: str) -> None:
        """Headers that repeat arguments are the server's to check: the proxy writes its own from the body."""

    @asynccontextmanager
    async def _life(self, _: Any) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self.tasks:
            self.tasks.start_soon(self._sweep)
            try:
                yield None
            finally:
                with anyio.CancelScope(shield=True), anyio.move_on_after(10):
                    for link in list(self._links.values()):
                        await self._end(link)
                self.tasks.cancel_scope.cancel()

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(IDLE / 10)
            for link in list(self._links.values()):
                idle = anyio.current_time() - link.used > IDLE
                if idle and not link.flights and not link.sessions and self.keys.fixed is None:
                    self._links.pop(link.key, None)
                    link.close()

    async def _end(self, link: Link) -> None:
        """The session's last client has gone."""
        self._links.pop(link.key, None)
        link.close()
        while link.flights:
            await anyio.sleep(0.005)
        if self.gate is not None:
            await self.gate.closed(link)

    def link(self, key: str | None) -> Link:
        known = self._links.get(key)
        if known is None:
            if len(self._links) >= SESSIONS:
                raise MCPError(code=INTERNAL_ERROR, message=f"more than {SESSIONS} sessions are open; try again later")
            known = self._links[key] = Link(self, key)
        return known

    def client(self, context: Context) -> Any:
        """Which client a request comes from, as far as one can tell."""
        if self._shared and era.is_modern(context.protocol_version):
            return id(context)
        return id(connection_of(context)) if not era.is_modern(context.protocol_version) else 0

    async def _handle(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        # the names of the arguments are the SDK's
        context, onward = ctx, call_next
        method = context.method
        if context.request_id is None:
            await self._notice(context, onward)
            return None
        if method in ("ping", "subscriptions/listen"):
            return await onward(context)
        connection = connection_of(context)
        modern = era.is_modern(context.protocol_version)
        link = self.link(self.keys.of(context, connection.session_id))
        if method == "initialize":
            result = await onward(context)
            params = context.params or {}
            connection.state["duly"] = (dict(params.get("clientInfo") or {}), dict(params.get("capabilities") or {}))
            upstream = await link.upstream(*connection.state["duly"])
            self._join(link, context, connection)
            return self._greeting(result, upstream, modern=False)
        who = era.client_of(context.params) if modern else connection.state.get("duly")
        if who is None:
            raise MCPError(code=INVALID_PARAMS, message="the connection has not been initialized")
        upstream = await link.upstream(*who)
        if method == "server/discover":
            return self._greeting(await onward(context), upstream, modern=True)
        if not modern:
            self._join(link, context, connection)
        ticket = (id(connection), context.request_id)
        if ticket in self._running:
            message = f"a request with the id `{str(context.request_id)[:80]}` is still running"
            raise MCPError(code=INVALID_REQUEST, message=message)
        self._running.add(ticket)
        try:
            found = await self._request(link, upstream, context, dict(context.params or {}))
        finally:
            self._running.discard(ticket)
        return era.result(method, found, modern=modern)

    async def _request(
        self, link: Link, upstream: Upstream, context: Context, params: dict[str, Any]
    ) -> dict[str, Any]:  # fmt: skip
        method = context.method
        state = params.get("requestState")
        if is_ours(state):
            return await link.resume(context, str(state), params, upstream)
        if self.gate is not None and method == "tools/list":
            return await self.gate.tools(link, upstream, context)
        if self.gate is not None and method == "tools/call":
            return await self.gate.call(link, upstream, context, params)
        if method == "logging/setLevel":
            upstream.level = params.get("level")
            if upstream.modern:
                return {}
        elif upstream.modern and method in ("resources/subscribe", "resources/unsubscribe"):
            uris = [str(params.get("uri"))]
            await (upstream.watch(uris) if method == "resources/subscribe" else upstream.unwatch(uris))
            return {}
        wanted = era.level_of(params)
        logs = not upstream.modern and "logging" in upstream.capabilities
        if logs and wanted is not None and upstream.level != wanted:
            upstream.level = wanted
            await upstream.request("logging/setLevel", {"level": wanted}, timeout=self.deadline)
        return await link.carry(upstream, context, params)

    async def _notice(self, context: Context, onward: CallNext) -> None:
        await onward(context)
        connection = connection_of(context)
        if context.method in ("notifications/roots/list_changed",) and "duly" in connection.state:
            link = self.link(self.keys.of(context, connection.session_id))
            if link.live is not None and not link.live.modern:
                await link.live.notify(context.method, None)

    async def _listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        link = self.link(self.keys.of(context, connection_of(context).session_id))
        upstream = await link.upstream(*era.client_of(context.params))
        return await link.listen(upstream, context, params)

    def _join(self, link: Link, context: Context, connection: Connection) -> None:
        """From now on this client is told what the session's server announces."""
        if id(connection) in link.sessions:
            return
        link.sessions[id(connection)] = context.session

        async def leave() -> None:
            link.sessions.pop(id(connection), None)
            mine = self.keys.fixed is None and self.keys.header is None and self.keys.field is None
            if mine and link.key is not None and not link.sessions:
                await self._end(link)

        connection.exit_stack.push_async_callback(leave)

    def _greeting(self, found: Any, upstream: Upstream, *, modern: bool) -> dict[str, Any]:
        """The server's own introduction, as far as the client's era has a place for it."""
        out = found if isinstance(found, dict) else found.model_dump(by_alias=True, mode="json", exclude_none=True)
        out = dict(out)
        abilities = dict(upstream.capabilities)
        out["capabilities"] = abilities if self.gate is None else self.gate.abilities(abilities)
        out.pop("instructions", None)
        if upstream.instructions is not None:
            out["instructions"] = upstream.instructions
        if modern:
            if upstream.info:
                out["_meta"] = {**era.meta_of(out), SERVER_INFO_META_KEY: upstream.info}
            return era.result("server/discover", {**out, "ttlMs": 0, "cacheScope": "private"}, modern=True)
        out["serverInfo"] = upstream.info or {"name": "server", "version": ""}
        return out
