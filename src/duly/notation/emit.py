"""Plain values as YAML in one form only: short collections in one line, long ones below each other.

What is written here reads back, under the 1.2 core schema, as exactly what was given.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from .yaml import core

WIDTH: Final = 110

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.+*/-]*|(?:[0-9]+[dhms])+")
_UNSEEN: Final = re.compile(r"[^\x20-\x7e\xa1-\u1fff\u2010-\u2027\u2030-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe\uff00-\uffef]")
_SHORT: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class Block(str):
    """A text that is written over several lines, as it stands."""

    __slots__ = ()


def emit(document: Mapping[str, Any]) -> str:
    """A whole document, one key after the other."""
    lines: list[str] = []
    for key, value in document.items():
        _entry(f"{scalar(key)}:", value, 0, lines)
    return "\n".join(lines) + "\n"


def scalar(value: Any) -> str:
    """One scalar in flow style."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and core(text)[0] == "text":
        return text
    return '"' + _UNSEEN.sub(_escape, text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def flow(value: Any) -> str:
    """Any value in one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def _entry(head: str, value: Any, indent: int, lines: list[str]) -> None:
    """``head`` with its value behind it or below it."""
    pad = " " * indent
    if isinstance(value, Block) and _is_block(value):
        lines.append(f"{pad}{head} |")
        lines.extend(f"{pad}  {line}" if line else "" for line in value.rstrip("\n").split("\n"))
        return
    if not value or not isinstance(value, Mapping | list | tuple) or _short(head, value, indent):
        lines.append(f"{pad}{head} {flow(value)}")
        return
    lines.append(f"{pad}{head}")
    _below(value, indent + 2, lines)


def _below(value: Any, indent: int, lines: list[str]) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _entry(f"{scalar(key)}:", item, indent, lines)
        return
    for item in value:
        if isinstance(item, Mapping) and item and (len(item) == 1 or not _short("-", item, indent)):
            begin = len(lines)
            _below(item, indent + 2, lines)
            lines[begin] = f"{' ' * indent}- {lines[begin][indent + 2 :]}"
        elif isinstance(item, list | tuple) and item and not _short("-", item, indent):
            lines.append(f"{' ' * indent}-")
            _below(item, indent + 2, lines)
        else:
            lines.append(f"{' ' * indent}- {flow(item)}")


def _short(head: str, value: Any, indent: int) -> bool:
    """Whether a collection goes in one line: it is short, and no section of named declarations."""
    items = value.values() if isinstance(value, Mapping) else value
    if indent == 0 and any(isinstance(item, Mapping) for item in items):
        return False
    return not _has_block(value) and indent + len(head) + 1 + len(flow(value)) <= WIDTH


def _has_block(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_block(item) for item in value.values())
    return (isinstance(value, list | tuple) and any(map(_has_block, value))) or isinstance(value, Block)


def _is_block(text: str) -> bool:
    """Whether a text comes back as it is from a block scalar, but for the line end behind it."""
    lines = text.rstrip("\n").split("\n")
    return (
        bool(lines[0].strip())
        and not lines[0].startswith(" ")
        and not any(_UNSEEN.search(line) for line in lines)
    )


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in _SHORT:
        return _SHORT[found[0]]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
