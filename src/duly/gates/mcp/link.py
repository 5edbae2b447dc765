"""One session's way through the proxy: its connection to the server, its clients, and what travels between them."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    REQUEST_TIMEOUT,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from msgspec import Struct

from . import era
from .flight import MARK, ROUNDS, Context, Flight, bare, fresh_state, is_question
from .raw import ask, tell
from .upstream import Upstream

if TYPE_CHECKING:
    from .proxy import Proxy

LATE: Final = 600.0
"""Seconds for which an answer that is late is still listened for."""
HELD: Final = 3600.0
"""Seconds for which a question to a person keeps its request open."""
QUIET: Final = frozenset(
    {"notifications/progress", "notifications/cancelled", "notifications/subscriptions/acknowledged"}
)
_EVENTS: Final[dict[str, ServerEvent]] = {
    "notifications/tools/list_changed": ToolsListChanged(),
    "notifications/prompts/list_changed": PromptsListChanged(),
    "notifications/resources/list_changed": ResourcesListChanged(),
}


class Course(Protocol):
    """What a request means beyond being carried; the gate has one for each call that it lets through."""

    async def returned(self, found: dict[str, Any]) -> dict[str, Any]: ...

    async def broke(self, error: MCPError, *, sent: bool) -> dict[str, Any]: ...

    async def gone(self, *, sent: bool, why: str) -> None: ...

    async def late(self, seconds: float) -> dict[str, Any]: ...


class Plain:
    """The course of a request that is only carried."""

    async def returned(self, found: dict[str, Any]) -> dict[str, Any]:
        return found

    async def broke(self, error: MCPError, *, sent: bool) -> dict[str, Any]:
        raise error

    async def gone(self, *, sent: bool, why: str) -> None:
        return None

    async def late(self, seconds: float) -> dict[str, Any]:
        raise MCPError(code=REQUEST_TIMEOUT, message=f"the server has not answered within {seconds:g} seconds")


class Parked(Struct):
    """An interim result that waits for the client's answers: the flight that still runs, or the course to go on with
    and the server's own state. ``params`` are what the client asked for, ``sent`` what the server got for them."""

    method: str
    params: dict[str, Any]
    sent: dict[str, Any]
    course: Course
    flight: Flight | None = None
    state: str | None = None


PLAIN: Final = Plain()


class Link:
    """Carries requests of one session to one server, and back what the server sends on its own."""

    def __init__(self, proxy: "Proxy", key: str | None) -> None:
        self.proxy = proxy
        self.key = key
        self.used = anyio.current_time()
        self.sessions: dict[int, ServerSession] = {}
        self.flights: list[Flight] = []
        self.parked: dict[str, Parked] = {}
        self.bus = InMemorySubscriptionBus()
        self.stale = True
        self._listen = ListenHandler(self.bus)
        self._starting = anyio.Lock()
        self._upstream: Upstream | None = None

    async def upstream(self, info: dict[str, Any], capabilities: dict[str, Any]) -> Upstream:
        """The connection to the server, made at first use; raises MCPError where there is none."""
        self.used = anyio.current_time()
        known = self._upstream
        if known is not None and (known.dead is None or not (known.modern and known.target.url)):
            return known
        async with self._starting:
            if self._upstream is not known and self._upstream is not None:
                return self._upstream
            fresh = Upstream(
                self.proxy.target, info=info, capabilities=capabilities, asked=self.asked, noticed=self.noticed,
                connect=self.proxy.connect,
            )  # fmt: skip
            try:
                await fresh.start(self.proxy.tasks)
            except ConnectionError as error:
                raise MCPError(code=CONNECTION_CLOSED, message=str(error)) from None
            self._upstream = fresh
            self.stale = True
            return fresh

    @property
    def live(self) -> Upstream | None:
        return self._upstream

    def close(self) -> None:
        for flight in list(self.flights):
            flight.scope.cancel()
        if self._upstream is not None:
            self._upstream.close()

    async def carry(
        self,
        upstream: Upstream,
        context: Context,
        params: dict[str, Any],
        *,
        course: Course = PLAIN,
        schema: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Sends a request on and waits for its result, for a question, or for the deadline; raises MCPError."""
        flight = Flight(context, context.method, params)
        self.flights.append(flight)
        self.proxy.tasks.start_soon(self._fly, upstream, flight, course, schema)
        return await self._land(flight, course)

    async def _land(self, flight: Flight, course: Course) -> dict[str, Any]:
        if await flight.wait(self.proxy.deadline):
            if flight.done:
                return flight.result()
            state = fresh_state()
            self.parked[state] = Parked(flight.method, flight.wanted, flight.params, course, flight)
            flight.scope.deadline = anyio.current_time() + HELD
            return flight.asked(state)
        flight.left = True
        if course is PLAIN:
            flight.scope.cancel()
        else:
            flight.scope.deadline = anyio.current_time() + LATE
        return await course.late(self.proxy.deadline)

    async def resume(self, context: Context, state: str, params: dict[str, Any], upstream: Upstream) -> dict[str, Any]:
        """Goes on with a request that had a question; raises MCPError where there is no such request."""
        found = self.parked.pop(state, None)
        if found is None:
            raise MCPError(code=INVALID_PARAMS, message="the request state is unknown, spent, or of another session")
        if bare(found.params) != bare(params) or found.method != context.method:
            self.parked[state] = found
            raise MCPError(code=INVALID_PARAMS, message="the request differs from the one whose question it answers")
        answers = params.get("inputResponses")
        answers = answers if isinstance(answers, dict) else {}
        if found.flight is not None:
            found.flight.scope.deadline = float("inf")
            found.flight.resume(context, answers)
            return await self._land(found.flight, found.course)
        sent = {**found.sent, "inputResponses": answers}
        sent.pop("requestState", None)
        if found.state is not None:
            sent["requestState"] = found.state
        return await self.carry(upstream, context, sent, course=found.course)

    async def _fly(self, upstream: Upstream, flight: Flight, course: Course, schema: dict[str, Any] | None) -> None:
        sent = False
        with flight.scope:
            try:
                progress = flight.progress if "progressToken" in era.meta_of(flight.params) else None
                sent = upstream.dead is None
                found = await upstream.request(flight.method, flight.params, progress=progress, schema=schema)
                rounds = 0
                while era.asks(found) and not flight.modern:
                    rounds += 1
                    if rounds > ROUNDS:
                        raise MCPError(code=INTERNAL_ERROR, message=f"the server asked more than {ROUNDS} times")
                    again = {**flight.params, "inputResponses": await self._answers(flight, found)}
                    if "requestState" in found:
                        again["requestState"] = found["requestState"]
                    found = await upstream.request(flight.method, again, progress=progress, schema=schema)
                if era.asks(found) and course is not PLAIN:
                    # the answered leg belongs to this call and to no other
                    state = fresh_state()
                    self.parked[state] = Parked(
                        flight.method, flight.wanted, flight.params, course, state=found.get("requestState")
                    )  # fmt: skip
                    flight.end({**found, "requestState": state})
                else:
                    flight.end(await course.returned(found))
            except MCPError as error:
                try:
                    flight.end(await course.broke(error, sent=sent))
                except MCPError as told:
                    flight.fail(told)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await course.gone(sent=sent, why="the client gave it up" if flight.left else "the session ended")
                flight.fail(MCPError(code=CONNECTION_CLOSED, message="the request was given up"))
                raise
            except Exception as error:
                print(f"duly failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                flight.fail(MCPError(code=INTERNAL_ERROR, message="duly itself failed; nothing is known of the call"))
            finally:
                self.flights.remove(flight)

    async def _answers(self, flight: Flight, found: dict[str, Any]) -> dict[str, Any]:
        """The client's answers to the questions of a modern server, from a client that is asked by requests."""
        answers = {}
        for key, wanted in (found.get("inputRequests") or {}).items():
            answers[key] = await flight.ask(str(wanted.get("method")), dict(wanted.get("params") or {}))
        if not answers:
            await anyio.sleep(0.1)
        return answers

    async def asked(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """What a legacy server asks of the client goes to the client whose request it works on."""
        params.pop("_meta", None)
        open = [flight for flight in self.flights if not flight.done and not flight.left]
        if not open:
            if not self.sessions:
                raise MCPError(code=INTERNAL_ERROR, message="no client is there to be asked")
            return await ask(list(self.sessions.values())[-1], method, params, None)
        if len({self.proxy.client(flight.context) for flight in open}) > 1:
            raise MCPError(code=INTERNAL_ERROR, message="several clients wait; nobody can tell which is to be asked")
        return await open[-1].ask(method, params)

    async def noticed(self, method: str, params: dict[str, Any]) -> None:
        """What a server announces, told in the client's era."""
        if method in QUIET:
            return
        if method in era.CHANGES:
            if method == "notifications/tools/list_changed":
                self.stale = True
            await self.changed(method)
        elif method == "notifications/resources/updated":
            uri = params.get("uri")
            for session in list(self.sessions.values()):
                await tell(session, method, {"uri": uri})
            await self.bus.publish(ResourceUpdated(str(uri)))
        elif method == "notifications/message":
            await self._logged(params)
        else:
            for session in list(self.sessions.values()):
                await tell(session, method, params)

    async def changed(self, method: str) -> None:
        for session in list(self.sessions.values()):
            await tell(session, method, None)
        await self.bus.publish(_EVENTS[method])

    async def _logged(self, params: dict[str, Any]) -> None:
        """A line of the server's log: to legacy clients always, to modern ones within a request that wants it."""
        open = [flight for flight in self.flights if not flight.done and not flight.left]
        told: set[Any] = set()
        for flight in reversed(open):
            who = self.proxy.client(flight.context)
            wanted = era.level_of(flight.context.params)
            if who not in told and (not flight.modern or _above(params.get("level"), wanted)):
                told.add(who)
                await tell(flight.context.session, "notifications/message", params, flight.context.request_id)
        if not told:
            for session in list(self.sessions.values()):
                await tell(session, "notifications/message", params)

    async def listen(
        self, upstream: Upstream, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serves the stream of changes of a modern client."""
        uris = list(params.notifications.resource_subscriptions or ())
        if uris:
            # a server that takes no subscriptions may tell of changes all the same
            with suppress(MCPError):
                await upstream.watch(uris)
        try:
            return await self._listen(context, params)
        finally:
            if uris:
                with anyio.CancelScope(shield=True), anyio.move_on_after(5), suppress(MCPError):
                    await upstream.unwatch(uris)


def _above(level: Any, wanted: str | None) -> bool:
    return wanted is not None and level in era.LEVELS and era.LEVELS.index(level) >= era.LEVELS.index(wanted)


def is_ours(state: Any) -> bool:
    """Whether a request state belongs to a question that a server has put."""
    return isinstance(state, str) and state.startswith(MARK) and not is_question(state)
