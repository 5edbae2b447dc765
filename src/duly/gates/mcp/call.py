"""One admitted call on its way to the server: settled once, by whatever ends it."""

from collections.abc import Callable
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, PARSE_ERROR, REQUEST_TIMEOUT

from duly.values.verdict import Refusal, Verdict

from ..gate import Pass
from .answer import payload, trouble
from .held import Held

CUT: Final = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT, PARSE_ERROR})
"""Errors after which nobody knows whether the server did what it was asked."""
BAD_STATUS: Final = "Server returned an error response"
"""What the SDK's HTTP client says of a status without a message of the server."""
WAIT: Final = "do not ask for it again before that is known"


class Call:
    """The course of a call that the contract has let through; ``ended`` is called when it has been settled."""

    def __init__(self, held: Held, passed: Pass, *, structured: bool, ended: Callable[[], None]) -> None:
        self._held = held
        self._pass = passed
        self._ended = ended
        self._structured = structured
        self._over = False

    async def returned(self, found: dict[str, Any]) -> dict[str, Any]:
        outcome = "error" if found.get("isError") is True else None
        verdict = await self._end(found, outcome)
        if not self._held.shadow and isinstance(verdict, Refusal) and any(r.kind == "ensures" for r in verdict.reasons):
            why = f": {verdict.reasons[0].text()}" if "reasons" in verdict.show else ""
            text = f"`{self._pass.label}` ran, and its result is withheld{why}"
            return trouble("ensures", text, structured=self._structured)
        return found

    async def _end(self, found: dict[str, Any], outcome: str | None) -> Verdict | None:
        if self._over:
            return None
        self._over = True
        verdict = await self._held.settle(self._pass, payload(found), outcome)
        self._ended()
        return verdict

    async def broke(self, error: MCPError, *, sent: bool) -> dict[str, Any]:
        code, text = error.error.code, error.error.message
        if sent and code not in CUT and not (code == INTERNAL_ERROR and text == BAD_STATUS):
            await self._end({"structuredContent": {"error": {"code": code, "message": text}}}, "error")
            raise error
        name = self._pass.label
        if await self._cut(text, sent=sent) == "none":
            rest = "it changes nothing, so it may be asked for again" if sent else "nothing was done"
            said = f"`{name}` has no answer: {text[:300]}; {rest}"
            return trouble("gone", said, structured=self._structured)
        said = f"`{name}` was called, and nobody knows whether it ran: {text[:300]}; {WAIT}"
        return trouble("unknown", said, structured=self._structured)

    async def gone(self, *, sent: bool, why: str) -> None:
        await self._cut(why, sent=sent)

    async def late(self, seconds: float) -> dict[str, Any]:
        effect = await self._cut(f"no answer within {seconds:g} seconds", sent=True)
        rest = "it changes nothing, so it may be asked for again"
        if effect == "unknown":
            rest = f"nobody knows whether it ran; {WAIT}"
        text = f"`{self._pass.label}` has not answered within {seconds:g} seconds: {rest}"
        return trouble("timeout", text, structured=self._structured)

    async def _cut(self, why: str, *, sent: bool) -> str:
        """The call broke off; what was never sent, and what changes nothing, had no effect."""
        tool = self._held.contract.tools.get(self._pass.label)
        harmless = not sent or (tool is not None and tool.effect == "none")
        if not self._over:
            # an answer that comes later settles what is uncertain; what is known to have had no effect is over
            self._over = harmless
            await self._held.fail(self._pass, "none" if harmless else "unknown", why)
            self._ended()
        return "none" if harmless else "unknown"
