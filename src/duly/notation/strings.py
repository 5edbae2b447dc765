"""Notation 1, session-type strings: text to flat tree, with every fault of the text in one go.

``!a`` act, ``?b`` learn, ``.`` then, ``!{x.P, y.Q}`` choose, ``{!a.P, ?b.Q}`` whoever comes first, ``rec X. … X``
loop, ``end``, ``P || Q`` side by side, ``(field as register, amount <= 100, else)`` clauses, ``#`` comment.
"""

import gc
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct

from duly.values.errors import Diagnostic
from duly.values.protocol import Loop, Mark, Node, Protocol, kept
from duly.values.source import Source, Span

from .reading import Reading
from .scan import Scanner
from .word import check_writable, raise_faults

if TYPE_CHECKING:
    from .grammar import Parser


class Written(Struct, frozen=True):
    """A tree and where each of its nodes stands in the text."""

    protocol: Protocol
    source: Source
    starts: list[int]
    ends: list[int]

    def span(self, at: int) -> Span:
        return Span(self.source, self.starts[at], self.ends[at])


def parse(text: str, *, name: str = "<protocol>", source: Source | None = None) -> Written:
    """The tree of a session-type string, in normal form; raises DulyError with every lexical and syntax fault."""
    source = source if source is not None else Source(name, text)
    check_writable(source)
    scanner = Scanner(source)
    collecting = gc.isenabled()
    # A large parse allocates millions of small objects that all stay: sweeping them again and again only costs time.
    gc.disable()
    try:
        words = scanner.scan()
        with _LOCK:
            parser = _parser()
            Reading(parser, scanner.found, source, words).read()
            writer = parser.writer
            nodes, starts, ends = writer.nodes, writer.starts, writer.ends
            writer.clear()
        nodes.append(Mark.CLOSE)
        starts.append(len(source.text))
        ends.append(len(source.text))
        scanner.found.extend(_bodiless(source, nodes, starts, ends))
        if scanner.found:
            raise_faults(scanner.found)
        places = kept(nodes)
        return Written(
            protocol=Protocol(tuple(map(nodes.__getitem__, places))),
            source=source,
            starts=list(map(starts.__getitem__, places)),
            ends=list(map(ends.__getitem__, places)),
        )
    finally:
        if collecting:
            gc.enable()


def _bodiless(source: Source, nodes: list[Node], starts: list[int], ends: list[int]) -> list[Diagnostic]:
    """`rec X` with nothing behind it."""
    return [
        Diagnostic(
            code="syntax",
            message=f"nothing follows `rec {node.name}`",
            span=Span(source, starts[at], ends[at]),
            help=f"write the loop's body: `rec {node.name} . !step . {node.name}`",
        )
        for at, node in enumerate(nodes)
        if type(node) is Loop and nodes[at + 1] in (Mark.NEXT, Mark.CLOSE)
    ]


_LOCK = Lock()
_PARSERS: "list[Parser]" = []


def _parser() -> "Parser":
    if not _PARSERS:
        from .grammar import Parser

        _PARSERS.append(Parser())
    return _PARSERS[0]
