"""Messages to the client in the form of the wire, where the SDK would take models of its own."""

from typing import Any

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.message import ServerMessageMetadata
from msgspec import Struct


class Raw(Struct, frozen=True):
    """A request or a notification as it stands on the wire; what the SDK asks of a model is here."""

    method: str
    params: dict[str, Any] | None = None

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return {"method": self.method, "params": self.params}


class _Plain:
    """A result as it came."""

    @staticmethod
    def model_validate(value: Any, **_: Any) -> Any:
        return value


async def ask(session: ServerSession, method: str, params: dict[str, Any], related: Any) -> dict[str, Any]:
    """A request to the client, on the stream of the request that it belongs to; raises MCPError."""
    message: Any = Raw(method, params)
    kind: Any = _Plain
    metadata = ServerMessageMetadata(related_request_id=related) if related is not None else None
    answer: Any = await session.send_request(message, kind, metadata=metadata)
    found: dict[str, Any] = answer
    return found


async def tell(session: ServerSession, method: str, params: dict[str, Any] | None, related: Any = None) -> None:
    """A notification to the client; one that cannot be delivered is dropped."""
    message: Any = Raw(method, params)
    try:
        await session.send_notification(message, related_request_id=related)
    except Exception:
        return  # nobody waits for a notification, and a client that has gone needs none

def connection_of(context: ServerRequestContext[Any, Any]) -> Connection:
    """The client's connection, which the SDK gives a request no public way to."""
    found: Connection = context.session._connection
    return found
