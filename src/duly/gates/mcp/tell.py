"""The loopback endpoint at which the host of the client says what a person said. It needs the token."""

from secrets import compare_digest
from typing import Any

from mcp.shared.exceptions import MCPError

from duly.values.plain import Malformed, read_json, write_json

from .keeper import Keeper

LONGEST = 1024 * 1024


class Tell:
    """An ASGI application: ``POST /tell {"session": …, "text": …, "label": …}`` with ``Authorization: Bearer TOKEN``.

    ``label`` may be left out, and the contract's labels name the text; so may ``session`` where there is only one.
    """

    def __init__(self, keeper: Keeper, token: str, only: str | None) -> None:
        self._keeper = keeper
        self._token = f"Bearer {token}".encode()
        self._only = only

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            status, answer = await self._answer(scope, receive)
            data = write_json(answer).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": data})

    async def _answer(self, scope: Any, receive: Any) -> tuple[int, dict[str, Any]]:
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(sent) != 1 or not compare_digest(sent[0], self._token):
            return 401, {"error": "the token is missing or wrong"}
        if scope["path"] != "/tell" or scope["method"] != "POST":
            return 404, {"error": "only `POST /tell` is answered"}
        body = b""
        while True:
            part = await receive()
            body += part.get("body", b"")
            if len(body) > LONGEST:
                return 413, {"error": f"longer than {LONGEST} bytes"}
            if not part.get("more_body"):
                break
        try:
            told = read_json(body)
        except Malformed as error:
            return 400, {"error": str(error)}
        if not isinstance(told, dict) or not isinstance(told.get("text"), str):
            return 400, {"error": "the body is an object with `text`"}
        session, label = told.get("session", self._only), told.get("label")
        if not isinstance(session, str):
            return 400, {"error": "name the `session`"}
        if self._only is not None and session != self._only:
            return 404, {"error": "there is no such session"}
        messages = self._keeper.contract.messages
        if label is not None and label not in messages:
            return 400, {"error": "the contract has no such label", "labels": sorted(messages)}
        try:
            verdict = await self._keeper.tell(session, told["text"], label)
        except MCPError as error:
            return 400, {"error": error.error.message}
        return 200, {"verdict": verdict.word, "text": verdict.text()}
