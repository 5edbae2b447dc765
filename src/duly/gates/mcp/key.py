"""Which session a request belongs to, and which call it is.

The modern era has no session of its own, so somebody has to name it.
"""

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from msgspec import Struct

from . import era
from .flight import Context

LONGEST = 200
IDEMPOTENCY = "duly/key"
"""Where in ``_meta`` a client names a call, so that asking again is asking for the same one."""


class Keys(Struct, frozen=True):
    """Where the session's key comes from: one for the whole process, a header, or a field of ``_meta``; else the
    session id of the legacy era's HTTP."""

    fixed: str | None = None
    header: str | None = None
    field: str | None = None

    def of(self, context: Context, session_id: str | None) -> str | None:
        """The key of a request, None where it has none; raises MCPError for what is no key."""
        if self.fixed is not None:
            return self.fixed
        found: Any = session_id
        if self.header is not None:
            headers = getattr(context.request, "headers", None)
            found = headers.get(self.header) if headers is not None else None
        elif self.field is not None:
            found = era.meta_of(context.params).get(self.field)
        if found is None:
            return None
        if not isinstance(found, str) or not 0 < len(found) <= LONGEST or not found.isprintable():
            message = f"the session key is a text of 1 to {LONGEST} printable characters"
            raise MCPError(code=INVALID_PARAMS, message=message)
        return found

    def help(self) -> str:
        """How a client names its session."""
        if self.header is not None:
            return f"send the header `{self.header}`"
        if self.field is not None:
            return f"send `{self.field}` in the request's `_meta`"
        return "start duly with `--session`, `--session-header` or `--session-field`, or use the 2025-11-25 era"


def key_of(params: Mapping[str, Any]) -> str | None:
    """The idempotency key of a call, None where it has none; raises MCPError for what is no key."""
    found = era.meta_of(params).get(IDEMPOTENCY)
    if found is not None and (type(found) is not str or not 0 < len(found) <= LONGEST or not found.isprintable()):
        message = f"`{IDEMPOTENCY}` in `_meta` is a text of 1 to {LONGEST} printable characters"
        raise MCPError(code=INVALID_PARAMS, message=message)
    return found
