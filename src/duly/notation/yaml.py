"""YAML under the 1.2 core schema, with a place for every value: `yes` is text, `1:30` is text, numbers are exact.

pyyaml cuts the text into events; what a scalar means, and what is refused, is decided here. Refused are tags, merge
keys, several documents, repeated keys, and aliases that blow the document up.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from duly.values.errors import fault
from duly.values.plain import DEPTH
from duly.values.source import Source, Span

from .node import NODES, Entry, Node, decimal, deep, integer, many, repeated

_NULL: Final = frozenset(("", "~", "null", "Null", "NULL"))
_TRUTH: Final = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INT: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_ENDLESS: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def read_yaml(source: Source) -> Node:
    """The one document of a YAML text."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Composer(source).compose(yaml.parse(source.text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = min(mark.index, len(source.text)) if mark is not None else 0
        problem = " ".join((error.problem or error.context or "not YAML").split()).lower()
        raise fault(
            "syntax", f"not YAML: {problem}", span=Span(source, at, at), help=_hint(source, at, problem)
        ) from None
    except yaml.reader.ReaderError as error:
        at = _control(source.text)
        raise fault(
            "character", f"the character U+{ord(source.text[at]):04X} may not stand in YAML"
            if at < len(source.text) else f"not YAML: {str(error.reason).lower()}",
            span=Span(source, min(at, len(source.text)), min(at + 1, len(source.text))),
            help="write it as an escape in double quotes",
        ) from None


def core(text: str, span: Span | None = None) -> tuple[str, Any]:
    """Kind and value of a plain scalar under the core schema."""
    if text in _NULL:
        return "null", None
    if text in _TRUTH:
        return "truth", _TRUTH[text]
    if _INT.fullmatch(text):
        return "number", integer(text)
    if _BASED.fullmatch(text):
        return "number", integer(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        return "number", decimal(text, span)
    if _ENDLESS.fullmatch(text):
        raise fault("number", f"`{text}` is not a finite number", span=span)
    return "text", text


class _Open:
    """A collection that is being read: its items so far, and the key that waits for its value."""

    def __init__(self, event: Any, mapping: bool) -> None:
        self.event = event
        self.mapping = mapping
        self.items: list[Any] = []
        self.seen: dict[str, Span] = {}
        self.key: tuple[str, Span] | None = None
        self.size = 1


class _Composer:
    """Turns events into nodes on a list of its own, so that depth is bounded by us and not by the interpreter."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.anchors: dict[str, Node] = {}
        self.open: list[_Open] = []

    def compose(self, events: Iterable[Any]) -> Node:
        import yaml

        root: Node | None = None
        documents = 0
        for event in events:
            kind = type(event)
            if kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    raise fault(
                        "several", "a second document begins here", span=self._span(event),
                        help="write one contract a file, and name others under `include`",
                    )  # fmt: skip
            elif kind is yaml.ScalarEvent:
                root = self._place(event, self._scalar(event)) or root
            elif kind is yaml.AliasEvent:
                root = self._place(event, self._alias(event)) or root
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._untagged(event)
                if len(self.open) >= DEPTH:
                    raise deep(self._span(event))
                if self.open and self.open[-1].mapping and self.open[-1].key is None:
                    raise fault("key", "a key must be one word or a quoted text", span=self._span(event))
                self.open.append(_Open(event, kind is yaml.MappingStartEvent))
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                root = self._closed(event) or root
        if root is None:
            raise fault("empty", "the document is empty", span=Span(self.source, 0, 0))
        return root

    def _closed(self, event: Any) -> Node | None:
        done = self.open.pop()
        span = Span(self.source, done.event.start_mark.index, event.end_mark.index)
        node = Node("object" if done.mapping else "list", tuple(done.items), span, size=done.size)
        return self._place(done.event, node)

    def _place(self, event: Any, node: Node) -> Node | None:
        """Put a finished node where it belongs; answers the node if it is the root."""
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if not self.open:
            return node
        top = self.open[-1]
        if not top.mapping:
            top.items.append(node)
        elif top.key is None:
            top.key = self._key(node, event)
        else:
            name, span = top.key
            top.items.append(Entry(name, span, node))
            top.key = None
        top.size += node.size
        if top.size > NODES:
            raise many(self._span(event), "an alias counts as often as it is used")
        return None

    def _key(self, node: Node, event: Any) -> tuple[str, Span]:
        span = self._span(event)
        if node.kind != "text":
            written = span.text()[:40]
            raise fault(
                "key", f"the key `{written}` is not a text", span=span, help=f'write it in quotes: "{written}"'
            )
        if node.value == "<<" and node.style == "plain":
            raise fault(
                "merge", "merge keys are not part of YAML 1.2", span=span, help="write the keys out, or use `include`"
            )
        seen = self.open[-1].seen
        if node.value in seen:
            raise repeated(node.value, span, seen[node.value])
        seen[node.value] = span
        return node.value, span

    def _scalar(self, event: Any) -> Node:
        self._untagged(event)
        span = self._span(event)
        if event.style is None or event.style == "":
            kind, value = core(event.value, span)
            return Node(kind, value, span, style="plain")  # type: ignore[arg-type]
        return Node("text", event.value, span, style=event.style)

    def _alias(self, event: Any) -> Node:
        found = self.anchors.get(event.anchor)
        if found is None:
            inside = any(each.event.anchor == event.anchor for each in self.open)
            message = "the alias `{}` stands inside what it names" if inside else "no anchor `{}` stands above"
            raise fault("alias", message.format(event.anchor), span=self._span(event))
        return found

    def _untagged(self, event: Any) -> None:
        if event.tag is None:
            return
        # `q: !a . ?b` is a tagged text to YAML, and a protocol to whoever wrote it
        act = event.tag.startswith("!")
        help = "a text that begins with `!` stands in quotes, or under `|`" if act else "leave it out"
        raise fault(
            "tag", f"the tag `{event.tag[:60]}` has no meaning in a contract", span=self._span(event), help=help
        )

    def _span(self, event: Any) -> Span:
        return Span(self.source, event.start_mark.index, event.end_mark.index)


def _control(text: str) -> int:
    """Where the first character stands that YAML does not allow."""
    for at, character in enumerate(text):
        code = ord(character)
        if (code < 32 and character not in "\t\n\r") or (0x7F <= code < 0xA0 and code != 0x85):
            return at
        if 0xD800 <= code < 0xE000 or code in (0xFFFE, 0xFFFF):
            return at
    return len(text)


def _hint(source: Source, at: int, problem: str) -> str:
    line, column = source.line_of(at)
    if "\t" in line[: column + 1]:
        return "indent with spaces; YAML does not allow tabs there"
    if "mapping values" in problem:
        return "a text that holds `: ` is written in quotes"
    if source.text[at : at + 1] in ("@", "`", "%", "!"):
        return f"a text that begins with `{source.text[at]}` is written in quotes"
    return ""
