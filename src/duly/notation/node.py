"""A read document as a tree of nodes that know where they stand, and the way from a node to a plain value.

The readers of YAML, JSON and TOML all make this tree; what the keys mean is not known here.
"""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal

from msgspec import Struct

from duly.values.errors import DulyError, fault
from duly.values.plain import DEPTH
from duly.values.source import Source, Span

NODES: Final = 200_000
"""Nodes that one document may have, aliases counted as often as they are used."""

KINDS: Final = {
    "text": "a text",
    "number": "a number",
    "truth": "`true` or `false`",
    "null": "nothing",
    "list": "a list",
    "object": "a mapping",
}

# Longer integers become decimals, as at the door for payloads: int() takes quadratic time on them.
_DIGITS: Final = 400


class Entry(Struct, frozen=True):
    """One key of a mapping and what stands under it."""

    key: str
    span: Span | None
    node: "Node"


class Node(Struct, frozen=True):
    """A value of a document.

    ``value`` is the text, number, truth value or None, a tuple of nodes, or a tuple of entries. ``span`` is None
    and ``path`` filled where the format gives no positions. ``style`` says how a text was written: ``plain``,
    ``'``, ``"``, ``|`` or ``>``. ``size`` counts the nodes below and this one.
    """

    kind: Literal["text", "number", "truth", "null", "list", "object"]
    value: Any
    span: Span | None = None
    path: str = ""
    style: str = ""
    size: int = 1

    def get(self, key: str) -> "Node | None":
        """What stands under a key of a mapping."""
        if self.kind == "object":
            for entry in self.value:
                if entry.key == key:
                    return entry.node  # type: ignore[no-any-return]
        return None


def plain(node: Node) -> Any:
    """The node as a plain JSON value; numbers are exact."""
    if node.kind == "list":
        return [plain(item) for item in node.value]
    if node.kind == "object":
        return {entry.key: plain(entry.node) for entry in node.value}
    return node.value


def shown(node: Node) -> str:
    """What a message calls the node: a short value in backticks, or its kind."""
    if node.kind in ("list", "object", "null"):
        return KINDS[node.kind]
    text = str(node.value).lower() if node.kind == "truth" else str(node.value)
    line = text.split("\n", 1)[0]
    return f"`{line[:40]}…`" if len(text) > 40 or line != text else f"`{line}`"


def integer(digits: str, base: int = 10) -> int | Decimal:
    """An integer as written, however long."""
    return int(digits, base) if len(digits) <= _DIGITS else Decimal(digits if base == 10 else int(digits, base))


def decimal(text: str, span: Span | None = None, path: str = "") -> Decimal:
    """A decimal as written; one that is out of range or no number is an error."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise fault("number", f"`{text[:40]}` is not a finite number", span=span, path=path)
    return value


def deep(span: Span | None, path: str = "") -> DulyError:
    """The error for nesting beyond the bound that also holds for payloads."""
    return fault("depth", f"nested deeper than {DEPTH} levels", span=span, path=path)


def many(span: Span | None, help: str = "") -> DulyError:
    """The error for a document that holds too much."""
    return fault("size", f"more than {NODES} values", span=span, help=help)


def repeated(key: str, span: Span | None, first: Span | None) -> DulyError:
    """The error for a key that a mapping has twice."""
    line = f"it stands first in line {first.source.position(first.start)[0]}" if first is not None else ""
    return fault("repeated", f"the key `{key[:80]}` is repeated", span=span, help=line)


Reader = Callable[[Source], Node]
"""Reads one text; raises DulyError at the first place where the text is no document of its format."""
