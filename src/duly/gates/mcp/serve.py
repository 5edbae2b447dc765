"""Runs a proxy over standard input and output, or over HTTP."""

import json
import socket
from contextlib import nullcontext
from typing import Any

from anyio.abc import TaskStatus
from mcp.server.lowlevel.server import NotificationOptions

from . import wire
from .proxy import Proxy


async def serve_stdio(proxy: Proxy) -> None:
    """Until the client closes standard input."""
    options = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    async with wire.stdio() as (incoming, outgoing):
        await proxy.server.run(incoming, outgoing, proxy.server.create_initialization_options(options))


async def serve_http(proxy: Proxy, host: str, port: int) -> None:
    """Until the process is told to stop."""
    import uvicorn

    app: Any = proxy.server.streamable_http_app(host=host)
    config = uvicorn.Config(Strict(app), host=host, port=port, log_level="warning", lifespan="on")
    config.timeout_graceful_shutdown = 2
    await uvicorn.Server(config).serve()


async def listen(app: Any, host: str, port: int, *, task_status: TaskStatus[int]) -> None:
    """Serves a small application beside the proxy; says the port, which may be given as 0."""
    import uvicorn

    class Beside(uvicorn.Server):
        # the process has one handler for each signal, and it is not this one's
        def capture_signals(self) -> Any:
            return nullcontext()

    with socket.create_server((host, port)) as bound:
        task_status.started(bound.getsockname()[1])
        await Beside(uvicorn.Config(app, log_level="error", lifespan="off")).serve([bound])


class Strict:
    """An ASGI application that turns away bodies which are no well formed message."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = b""
        while True:
            part = await receive()
            if part["type"] != "http.request":
                return
            body += part.get("body", b"")
            if len(body) > LONGEST or not part.get("more_body"):
                break
        if len(body) <= LONGEST:
            try:
                wire.message(body)
            except wire.Faulty as fault:
                await _refuse(send, fault)
                return
        given = False

        async def again() -> Any:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)


async def _refuse(send: Any, fault: wire.Faulty) -> None:
    data = json.dumps(fault.answer().model_dump(by_alias=True, mode="json", exclude_unset=True)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": data})


LONGEST = 4 * 1024 * 1024
"""Bytes of a body; the SDK answers longer ones itself."""
