"""The protocols of a document: which notation a text is in, and where its faults stand in the document."""

import re
from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct, structs

from duly.machine.graph import Graph
from duly.values.errors import Diagnostic, DulyError
from duly.values.source import Source, Span

from .blocks import parse_blocks
from .compile import compile_text
from .examine import Found, examine, note, noted
from .keys import TABLE
from .node import Entry, Node, plain
from .transitions import Parting, from_transitions

_PLACE: Final = re.compile(r"transitions\[(\d+)\](?:\.(\w+))?")
_BLOCKS: Final = re.compile(r"(?:\s|#[^\n]*)*protocol\s+(?:\"[^\"\n]*\"|[^\s:!?.{}\"]+)\s*:")


class Reading(Struct, frozen=True):
    """What a document says of all its protocols."""

    view: Literal["agent", "client"]
    undeclared: Literal["error", "terminal"]
    forever: bool


def is_blocks(text: str) -> bool:
    """Whether a protocol text is written as state blocks: it begins with `protocol NAME:`."""
    return _BLOCKS.match(text) is not None


def read_protocols(root: Node, document: Source, found: Found, reading: Reading) -> tuple[Graph, ...]:
    """The graphs under `protocol` and `protocols`; what is wrong with them is appended to ``found``."""
    graphs: list[Graph] = []
    for entry in root.value:
        if entry.key == "protocol":
            graphs += _read(entry, "", document, found, reading)
        elif entry.key == "protocols" and entry.node.kind == "object":
            for named in entry.node.value:
                graphs += _read(named, named.key, document, found, reading)
    seen: set[str] = set()
    for graph in graphs:
        if graph.name in seen:
            message = f"two protocols are called `{graph.name}`"
            found.append(Diagnostic("name", message, span=Span(graph.source, 0, 0), help="rename one"))
        seen.add(graph.name)
    return tuple(structs.replace(graph, view=reading.view) for graph in graphs)


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


def _read(entry: Entry, name: str, document: Source, found: Found, reading: Reading) -> list[Graph]:
    node = entry.node
    if node.kind == "object":
        return _table(entry, name, document, found, reading)
    if node.kind != "text":
        return []
    source, exact = embedded(document, node)

    def placed(faults: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        return tuple(fault if exact else structs.replace(fault, span=node.span) for fault in faults)

    try:
        if is_blocks(node.value):
            graphs = parse_blocks(node.value, name=document.name, undeclared=reading.undeclared, source=source)
            if name and list(graphs) != [name]:
                called = ", ".join(f"`{each}`" for each in graphs)
                message = f"{called} stands under the name `{name}`"
                noted(found, "name", message, entry, "put state blocks under `protocol`, which takes their names")
        else:
            graphs = {name: compile_text(node.value, name=document.name, source=source)}
    except DulyError as error:
        found += placed(error.diagnostics)
        return []
    return [structs.replace(graph, name=each, notes=placed(graph.notes)) for each, graph in graphs.items()]


def _table(entry: Entry, name: str, document: Source, found: Found, reading: Reading) -> list[Graph]:
    """Transitions as data; a fault points at the row, or at the part of it, that it speaks of."""
    node = entry.node
    if not examine(TABLE, node, []):
        return []
    said = plain(node)
    partings = [Parting(row["source"], tuple(row["starts"]), row["join"]) for row in said.get("partings", ())]
    try:
        graph = from_transitions(
            said["transitions"], initial=said["initial"], terminal=said.get("terminal", ()),
            name=f"{document.name}:{name or entry.key}", partings=partings, payloads=said.get("payloads"),
            forever=reading.forever,
        )  # fmt: skip
    except DulyError as error:
        for fault in error.diagnostics:
            note(found, fault.code, fault.message, _part(node, fault.path), fault.help)
        return []
    return [structs.replace(graph, name=name)]


def _part(table: Node, path: str) -> Node:
    place = _PLACE.match(path)
    rows = table.get("transitions")
    if place is None or rows is None or int(place[1]) >= len(rows.value):
        return table
    row: Node = rows.value[int(place[1])]
    return (row.get(place[2]) if place[2] else None) or row


def _indent(raw: str, text: str) -> int:
    """How far a block scalar is indented: what its first line with content has more than the text."""
    for written, kept in zip(raw.split("\n"), text.split("\n"), strict=False):
        if kept.strip():
            return len(written.rstrip("\r")) - len(kept)
    return 0
