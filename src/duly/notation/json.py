"""JSON with a place for every value, read strictly: no repeated keys, no NaN, nothing after the value.

The decoder of the standard library gives no positions, and YAML differs from JSON in tabs, escapes and numbers.
"""

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

from duly.values.errors import DulyError, fault
from duly.values.plain import DEPTH
from duly.values.source import Source, Span

from .node import NODES, Entry, Node, decimal, deep, integer, many, repeated

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD: Final = re.compile(r"[-+]?[A-Za-z0-9_.+-]+")
_STRINGS: Final = JSONDecoder()
_WORDS: Final[dict[str, tuple[Any, Any]]] = {"true": ("truth", True), "false": ("truth", False), "null": ("null", None)}


def read_json_nodes(source: Source) -> Node:
    """The one value of a JSON text."""
    reader = _Reader(source)
    node = reader.value(0, 0)
    end = reader.skip(node.span.end if node.span is not None else 0)
    if end < len(source.text):
        raise reader.fault(end, "something follows the document")
    if node.size > NODES:
        raise many(node.span)
    return node


class _Reader:
    """Descends by the grammar; depth is bounded, so that it cannot exhaust the stack."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found is not None else at

    def fault(self, at: int, problem: str, help: str = "") -> DulyError:
        end = min(at + 1, len(self.text))
        return fault("syntax", f"not JSON: {problem}", span=Span(self.source, at, end), help=help)

    def value(self, at: int, depth: int) -> Node:
        """value = object | array | string | number | "true" | "false" | "null" """
        at = self.skip(at)
        first = self.text[at : at + 1]
        if first in ("{", "["):
            if depth >= DEPTH:
                raise deep(Span(self.source, at, at + 1))
            return self._object(at, depth) if first == "{" else self._array(at, depth)
        if first == '"':
            text, end = self._string(at)
            return Node("text", text, Span(self.source, at, end), style='"')
        return self._word(at)

    def _object(self, start: int, depth: int) -> Node:
        """object = "{" [ string ":" value { "," string ":" value } ] "}" """
        entries: list[Entry] = []
        seen: dict[str, Span] = {}
        at = self.skip(start + 1)
        size = 1
        while self.text[at : at + 1] != "}" or entries:
            if self.text[at : at + 1] != '"':
                raise self.fault(at, "expected a key in double quotes")
            key, end = self._string(at)
            span = Span(self.source, at, end)
            if key in seen:
                raise repeated(key, span, seen[key])
            seen[key] = span
            at = self.skip(end)
            if self.text[at : at + 1] != ":":
                raise self.fault(at, f"expected `:` after the key `{key[:40]}`")
            node = self.value(at + 1, depth + 1)
            entries.append(Entry(key, span, node))
            size += node.size
            at, ended = self._next(node, "}")
            if ended:
                break
        return Node("object", tuple(entries), Span(self.source, start, at + 1), size=size)

    def _array(self, start: int, depth: int) -> Node:
        """array = "[" [ value { "," value } ] "]" """
        items: list[Node] = []
        at = self.skip(start + 1)
        size = 1
        while self.text[at : at + 1] != "]" or items:
            node = self.value(at, depth + 1)
            items.append(node)
            size += node.size
            at, ended = self._next(node, "]")
            if ended:
                break
        return Node("list", tuple(items), Span(self.source, start, at + 1), size=size)

    def _next(self, node: Node, closing: str) -> tuple[int, bool]:
        """Where the next item begins, or where the collection closes."""
        at = self.skip(node.span.end if node.span is not None else 0)
        mark = self.text[at : at + 1]
        if mark == closing:
            return at, True
        if mark != ",":
            raise self.fault(at, f"expected `,` or `{closing}`")
        after = self.skip(at + 1)
        if self.text[after : after + 1] == closing:
            raise self.fault(at, f"a comma stands before `{closing}`", "remove the comma")
        return after, False

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = _STRINGS.raw_decode(self.text, at)
        except JSONDecodeError as error:
            raise self.fault(min(error.pos, len(self.text)), error.msg.lower().removesuffix(" at")) from None
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.fault(at, "the text holds half of a surrogate pair") from None
        return text, end

    def _word(self, at: int) -> Node:
        found = _WORD.match(self.text, at)
        word = found[0] if found is not None else ""
        span = Span(self.source, at, at + len(word))
        if word in _WORDS:
            kind, value = _WORDS[word]
            return Node(kind, value, span)
        number = _NUMBER.fullmatch(word)
        if number is not None:
            exact = integer(word) if number[1] is None and number[2] is None else decimal(word, span)
            return Node("number", exact, span)
        if at >= len(self.text):
            raise self.fault(at, "the text ends where a value is expected")
        raise self.fault(at, f"`{word[:40] or self.text[at]}` is no value", "texts stand in double quotes")
