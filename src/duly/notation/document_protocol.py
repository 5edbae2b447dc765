"""The protocols of a document: which notation a text is in, and where its faults stand in the document."""

import re
from typing import Final, Literal

from msgspec import structs

from duly.machine.graph import Graph
from duly.values.errors import Diagnostic, DulyError
from duly.values.source import Source, Span

from .compile import compile_text
from .examine import Found
from .node import Entry, Node

View = Literal["agent", "client"]

_BLOCKS: Final = re.compile(r"(?:\s|#[^\n]*)*protocol\s+[^\s:!?.{}]+\s*:")


def is_blocks(text: str) -> bool:
    """Whether a protocol text is written as state blocks: it begins with `protocol NAME:`."""
    return _BLOCKS.match(text) is not None


def read_protocols(root: Node, document: Source, found: Found, *, view: View) -> tuple[Graph, ...]:
    """The graphs under `protocol` and `protocols`; what is wrong with their texts is appended to ``found``."""
    graphs: list[Graph] = []
    for entry in root.value:
        if entry.key == "protocol":
            graphs += _read(entry, "", document, found)
        elif entry.key == "protocols" and entry.node.kind == "object":
            for named in entry.node.value:
                graphs += _read(named, named.key, document, found)
    seen: set[str] = set()
    for graph in graphs:
        if graph.name in seen:
            note = f"two protocols are called `{graph.name}`"
            found.append(Diagnostic("name", note, span=Span(graph.source, 0, 0), help="rename one"))
        seen.add(graph.name)
    return tuple(structs.replace(graph, view=view) for graph in graphs)


def embedded(document: Source, node: Node) -> tuple[Source, bool]:
    """The text of a scalar as a source of its own, and whether its positions are exact.

    Exact are block scalars and one-line scalars that stand in the document as they are; others point at their start.
    """
    text: str = node.value
    if node.span is None:
        return Source(f"{document.name}:{node.path}", text), True
    start, end = node.span.start, node.span.end
    if node.style == "|":
        at = document.text.find("\n", start) + 1
        line, _ = document.position(at)
        indent = _indent(document.text[at:end], text)
        return Source(document.name, text, line=line, column=indent + 1, indent=indent), True
    quote = 0 if node.style == "plain" else 1
    line, column = document.position(start + quote)
    exact = document.text[start + quote : start + quote + len(text)] == text and "\n" not in text
    return Source(document.name, text, line=line, column=column, indent=column - 1), exact


def _read(entry: Entry, name: str, document: Source, found: Found) -> list[Graph]:
    node = entry.node
    if node.kind != "text":
        return []
    source, exact = embedded(document, node)
    try:
        return [structs.replace(compile_text(node.value, name=document.name, source=source), name=name)]
    except DulyError as error:
        for fault in error.diagnostics:
            found.append(fault if exact else structs.replace(fault, span=node.span))
    return []


def _indent(raw: str, text: str) -> int:
    """How far a block scalar is indented: what its first line with content has more than the text."""
    for written, kept in zip(raw.split("\n"), text.split("\n"), strict=False):
        if kept.strip():
            return len(written.rstrip("\r")) - len(kept)
    return 0
