"""The door of a session: what is no event, or holds what is no plain value, never gets to a decision."""

from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from duly.values.event import Called, Event, Failed, Received, Returned, Sent
from duly.values.plain import Malformed, plain


def admit(event: Any) -> Any:
    """The event with plain values of its own; raises Malformed for what is no event."""
    kind = type(event)
    # calls, results and messages that say little more than who and what are checked field by field: that is quicker
    bare = False
    if kind is Called:
        bare = (
            type(event.label) is str
            and (event.id is None or type(event.id) is str)
            and event.run is None
            and event.turn is None
            and event.server is None
            and event.batch is None
            and event.key is None
            and event.parent is None
            and event.raw is None
            and event.answers is None
            and event.context is None
        )
    elif kind is Returned:
        bare = (
            type(event.label) is str
            and (event.id is None or type(event.id) is str)
            and event.run is None
            and event.turn is None
            and event.server is None
            and event.outcome is None
        )
    elif kind is Sent or kind is Received:
        bare = (
            type(event.label) is str
            and event.run is None
            and event.turn is None
            and (kind is Received or event.batch is None)
        )
    if bare:
        return event if event.payload is None else replace(event, payload=plain(event.payload))
    door = DOORS.get(kind)
    if door is None:
        raise Malformed(f"`{type(event).__name__}` is no event")
    texts, needed, words, objects = door
    if not _TEXT.issuperset(map(type, texts(event))):
        name, value = next((n, v) for n in _NAMES if type(v := getattr(event, n, None)) not in _TEXT)
        raise Malformed(f"`{name}` is text, not `{type(value).__name__}`")
    if needed is not None and getattr(event, needed) is None:
        raise Malformed(f"a `{event.__struct_config__.tag}` event names its `{needed}`")
    if words is not None and getattr(event, words[0]) not in words[1]:
        raise Malformed(f"`{words[0]}` is one of {', '.join(words[1])}")
    for name in objects:
        if getattr(event, name) is not None:
            return replace(event, **{n: plain(v) for n in objects if (v := getattr(event, n)) is not None})
    return event


def _door(kind: Any) -> Any:
    fields = kind.__struct_fields__
    texts = attrgetter(*(name for name in _NAMES if name in fields))
    needed = "label" if kind in (Called, Returned) else "id" if kind is Failed else None
    words = next(((name, choices) for name, choices in _WORDS.items() if name in fields), None)
    return texts, needed, words, tuple(name for name in _VALUES if name in fields)


_TEXT = frozenset((str, type(None)))
_NAMES = (
    "label", "id", "run", "turn", "batch", "key", "parent", "server", "target", "ticket", "by", "outcome", "raw",
    "recommendation", "channel", "fault",
)  # fmt: skip
_VALUES = ("payload", "scope", "usage", "budget", "tools", "answers", "context")
_WORDS = {
    "effect": ("none", "unknown"),
    "decision": ("approve", "deny", "edit", "leave"),
    "order": ("freeze", "unfreeze", "stand", "withdraw", "settle", "mode", "accept"),
}
DOORS = {kind: _door(kind) for kind in Event.__args__}
