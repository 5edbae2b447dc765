"""Events on paper: one JSON object a line, read strictly and written canonically."""

from typing import Any, Final

import msgspec

from .errors import suggest
from .event import KINDS, Event
from .plain import Malformed, read_json, write_json

_NEVER_WRITTEN: Final = ("found",)
_FIELDS: Final = {
    tag: tuple(name for name in kind.__struct_encode_fields__ if name not in _NEVER_WRITTEN)  # type: ignore[attr-defined]
    for tag, kind in KINDS.items()
}


def read_event(line: str | bytes) -> Event:
    """The event that a line says; raises Malformed with what is wrong and what was meant."""
    return event_of(read_json(line))


def event_of(value: Any) -> Event:
    """The event that a plain JSON object says; raises Malformed."""
    if type(value) is not dict:
        raise Malformed("an event is one JSON object")
    tag = value.get("event")
    kind = KINDS.get(tag) if isinstance(tag, str) else None
    if not isinstance(tag, str) or kind is None:
        near = suggest(str(tag), KINDS)
        said = f"unknown event `{str(tag)[:40]}`" + (f"; {near}" if near else "")
        raise Malformed(said if "event" in value else "an event names its kind under `event`")
    for name in value:
        if name != "event" and name not in _FIELDS[tag]:
            near = suggest(name, _FIELDS[tag])
            raise Malformed(f"unknown key `{name[:40]}` in a `{tag}` event" + (f"; {near}" if near else ""))
    try:
        event: Event = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Malformed(f"a `{tag}` event: {str(error)[0].lower()}{str(error)[1:]}") from None
    return event


def write_event(event: Event) -> str:
    """One line of JSON, without what has its default value and without what a gate looked up."""
    return write_json(object_of(event))


def object_of(event: Event) -> dict[str, Any]:
    """The event as a plain JSON object, ``event`` first."""
    kind = type(event)
    config = kind.__struct_config__
    built: dict[str, Any] = {"event": config.tag}
    defaults = kind.__struct_defaults__
    names, keys = kind.__struct_fields__, kind.__struct_encode_fields__
    needed = len(names) - len(defaults)
    for index, (name, key) in enumerate(zip(names, keys, strict=True)):
        value = getattr(event, name)
        if name in _NEVER_WRITTEN or (index >= needed and value is defaults[index - needed]):
            continue
        built[key] = value
    return built
