"""TOML as nodes: no positions but paths, since the reader of the standard library gives none."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from duly.values.errors import fault
from duly.values.plain import DEPTH
from duly.values.source import Source, Span

from .node import NODES, Entry, Node, decimal, deep, many

_PLACE: Final = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_DOTTED: Final = re.compile(rf"""(?<![\w"'.-])(?:["']?[\w-]++["']?[ \t]*+\.[ \t]*+){{{DEPTH + 1}}}""")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(source: Source) -> Node:
    """The document of a TOML text."""
    import tomllib

    long = _DOTTED.search(source.text)
    if long is not None:
        # the library takes quadratic time for them
        raise deep(Span(source, long.start(), long.start()))
    try:
        value = tomllib.loads(source.text, parse_float=decimal)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        at = _offset(source.text, place)
        problem = _PLACE.sub("", message)
        problem = problem[:1].lower() + problem[1:]
        raise fault("syntax", f"not TOML: {problem}", span=Span(source, at, at)) from None
    except RecursionError:
        raise deep(Span(source, 0, 0)) from None
    except ValueError:
        # the interpreter's own bound for reading integers; the reader does not say where it was met
        raise fault("number", "an integer has more than 4,300 digits", path=source.name) from None
    if not value:
        raise fault("empty", "the document is empty", span=Span(source, 0, 0))
    root = _node(value, "", 0)
    if root.size > NODES:
        raise many(None)
    return root


def step(path: str, key: str) -> str:
    """The path of a key under a path, quoted where TOML would quote it."""
    name = key if _BARE.fullmatch(key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{path}.{name}" if path else name


def _node(value: Any, path: str, depth: int) -> Node:
    kind = type(value)
    if kind is bool:
        return Node("truth", value, path=path)
    if kind is int or kind is Decimal:
        return Node("number", value, path=path)
    if kind is str:
        return Node("text", value, path=path)
    if kind is not list and not isinstance(value, Mapping):
        raise fault(
            "date", f"`{value}` is a date or a time, which a contract does not know", path=path,
            help="write it as a text, in quotes",
        )  # fmt: skip
    if depth >= DEPTH:
        raise deep(None, path)
    if kind is list:
        items = tuple(_node(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value))
        return Node("list", items, path=path, size=1 + sum(item.size for item in items))
    entries = tuple(
        Entry(key, None, _node(item, step(path, key), depth + 1)) for key, item in value.items()
    )
    return Node("object", entries, path=path, size=1 + sum(entry.node.size for entry in entries))


def _offset(text: str, place: re.Match[str] | None) -> int:
    if place is None or place[1] is None:
        return len(text) if place is not None else 0
    at = 0
    for _ in range(int(place[1]) - 1):
        at = text.find("\n", at) + 1
    return min(at + int(place[2]) - 1, len(text))
