"""The two eras of the protocol, and what a message of one looks like in the other.

``2025-11-25`` and before shake hands and push; ``2026-07-28`` says who it is in every request, asks people by
returning a question, and announces changes only to those who listen.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

LEGACY: Final = LATEST_HANDSHAKE_VERSION
MODERN: Final = LATEST_MODERN_VERSION

CACHED: Final = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"}
)
"""Methods whose modern results must say how long they may be kept."""
CHANGES: Final = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
ASKS: Final = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""What a server may ask of a client, and the capability that it needs."""
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

_ENVELOPE: Final = (PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY)


def is_modern(version: str | None) -> bool:
    return version in MODERN_PROTOCOL_VERSIONS


def meta_of(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """The ``_meta`` of a request, or an empty object."""
    meta = (params or {}).get("_meta")
    return dict(meta) if isinstance(meta, Mapping) else {}


def client_of(params: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Who asks, and what it can do, as a modern request says; two empty objects where it does not."""
    meta = meta_of(params)
    info, capabilities = meta.get(CLIENT_INFO_META_KEY), meta.get(CLIENT_CAPABILITIES_META_KEY)
    return (
        dict(info) if isinstance(info, Mapping) else {},
        dict(capabilities) if isinstance(capabilities, Mapping) else {},
    )


def level_of(params: Mapping[str, Any] | None) -> str | None:
    """The log level that a modern request asks for."""
    level = meta_of(params).get(LOG_LEVEL_META_KEY)
    return level if level in LEVELS else None


def request(
    params: Mapping[str, Any] | None,
    *,
    modern: bool,
    info: Mapping[str, Any],
    capabilities: Mapping[str, Any],
    level: str | None = None,
) -> dict[str, Any]:
    """The parameters of a request as the server's era wants them; ``info`` and ``capabilities`` are the client's."""
    out = dict(params or {})
    meta = meta_of(params)
    # whoever forwards a request gives it a token of his own
    meta.pop("progressToken", None)
    if modern:
        if PROTOCOL_VERSION_META_KEY not in meta:
            meta[CLIENT_INFO_META_KEY] = dict(info)
            meta[CLIENT_CAPABILITIES_META_KEY] = dict(capabilities)
            if level is not None:
                meta.setdefault(LOG_LEVEL_META_KEY, level)
        meta[PROTOCOL_VERSION_META_KEY] = MODERN
    else:
        for key in _ENVELOPE:
            meta.pop(key, None)
    if meta:
        out["_meta"] = meta
    else:
        out.pop("_meta", None)
    return out


def result(method: str, found: Mapping[str, Any], *, modern: bool) -> dict[str, Any]:
    """A server's result as the client's era wants it."""
    out = dict(found)
    if modern:
        out.setdefault("resultType", "complete")
        if method in CACHED:
            out.setdefault("ttlMs", 0)
            out.setdefault("cacheScope", "private")
        return out
    for key in ("resultType", "ttlMs", "cacheScope"):
        out.pop(key, None)
    meta = out.get("_meta")
    if isinstance(meta, Mapping) and SERVER_INFO_META_KEY in meta:
        rest = {key: value for key, value in meta.items() if key != SERVER_INFO_META_KEY}
        if rest:
            out["_meta"] = rest
        else:
            del out["_meta"]
    return out


def asks(found: Mapping[str, Any]) -> bool:
    """Whether a result is no answer but a question to the client."""
    return found.get("resultType") == "input_required"
