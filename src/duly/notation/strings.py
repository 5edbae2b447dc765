"""Notation 1, session-type strings: text to flat tree, with every fault of the text in one go.

``!a`` act, ``?b`` learn, ``.`` then, ``!{x.P, y.Q}`` choose, ``{!a.P, ?b.Q}`` whoever comes first, ``rec X. … X``
loop, ``end``, ``P || Q`` side by side, ``(field as register, amount <= 100, else)`` clauses, ``#`` comment.
"""

import gc
from threading import Lock
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duly.values.errors import Diagnostic, DulyError
from duly.values.protocol import Loop, Mark, Node, Protocol, Step, kept
from duly.values.source import Source, Span

from .scan import Scanner
from .word import Word, check_writable

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
            reading = _Reading(parser, scanner.found, source, words)
            reading.read()
            writer = parser.writer
            nodes, starts, ends = writer.nodes, writer.starts, writer.ends
            writer.clear()
        nodes.append(Mark.CLOSE)
        starts.append(len(source.text))
        ends.append(len(source.text))
        scanner.found.extend(_bodiless(source, nodes, starts, ends))
        if scanner.found:
            raise DulyError(sorted(scanner.found, key=lambda d: d.span.start if d.span else 0))
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


# What stands where a step is missing, so that reading can go on behind the fault.
_MISSING = Step("!", "?")
_SAID = {
    "_DOT": "`.`",
    "COMMA": "`,`",
    "CLOSE_CHOICE": "`}`",
    "CLOSE_GROUP": "`)`",
    "BAR": "`||`",
    "$END": "the end of the text",
    "OPEN": "`(`",
    "SHUT": "`)`",
    "_SQUARE": "`[`",
    "_SQUARED": "`]`",
}


class _Reading:
    """One run of the parser over the words, and how it goes on behind a fault."""

    def __init__(self, parser: "Parser", found: list[Diagnostic], source: Source, words: list[Word]) -> None:
        self.found = found
        self.source = source
        self.words = words
        self.run = parser.begin()
        self.end = parser.end_word(len(source.text))
        self.open: list[Word] = []

    def read(self) -> None:
        from lark.exceptions import UnexpectedToken

        words, at = self.words, 0
        feed = self.run.parser_state.feed_token
        state = self.run.parser_state
        opening: tuple[int, int] = (0, 0)
        while at < len(words):
            word = words[at]
            try:
                if word.type == "OPEN":
                    opening = (len(state.state_stack), len(state.value_stack))
                feed(word)  # type: ignore[arg-type]
                at += 1
                continue
            except UnexpectedToken as error:
                expected = error.accepts if error.accepts is not None else error.expected
            at = self._recover(at, set(expected), opening)
        try:
            feed(self.end, is_end=True)  # type: ignore[arg-type]
        except UnexpectedToken as error:
            self._close(set(error.expected))

    def _recover(self, at: int, expected: set[str], opening: tuple[int, int]) -> int:
        """Report the word, and say with which word reading goes on."""
        words, word, state = self.words, self.words[at], self.run.parser_state
        shut = self._clause_end(at)
        if shut is not None:
            # Inside clauses: forget them and go on behind their closing bracket.
            self._report(word, self._clause_message(word, expected), "as in `(amount <= 100, id as order)`")
            depth, values = opening
            del state.state_stack[depth:]
            del state.value_stack[values:]
            return shut + 1
        before = words[at - 1] if at else None
        if "STEP" in expected and word.type in ("_DOT", "COMMA", "CLOSE_CHOICE", "CLOSE_GROUP", "BAR"):
            self._report(*self._missing(word, before))
            self.words[at:at] = [Word("STEP", _MISSING, word.start, word.start)]
            return at
        if word.type == "BAR" and "COMMA" in expected:
            self._report(word, "`||` inside a branch needs round brackets", "as in `!{a.(P || Q), b}`")
            self.words[at] = Word("_DOT", None, word.start, word.end)
            return at
        if word.type in ("STEP", "LOOP", "STOP", "JUMP", "OPEN_CHOICE", "OPEN_GROUP") and "_DOT" in expected:
            self._report(word, f"`.` is missing before {self._say(word)}", "steps follow each other with `.`")
            self.words[at:at] = [Word("_DOT", None, word.start, word.start)]
            return at
        if "STEP" in expected and word.type in ("STOP", "JUMP", "LOOP", "OPEN_GROUP", "OPEN_CHOICE"):
            self._report(word, "a branch must begin with a label", "name the step that picks the branch")
            self.words[at:at] = [
                Word("STEP", _MISSING, word.start, word.start),
                Word("_DOT", None, word.start, word.start),
            ]
            return at
        self._report(word, f"{self._say(word)} does not belong here", "remove it, or open its bracket before")
        return at + 1

    def _missing(self, word: Word, before: Word | None) -> tuple[Word, str, str]:
        if before is not None and before.type == "OPEN_CHOICE" and word.type == "CLOSE_CHOICE":
            return word, "a choice needs a branch", "as in `!{a, b}`"
        if before is not None and before.type == "COMMA" and word.type == "CLOSE_CHOICE":
            return before, "no branch follows the last `,`", "remove the comma"
        return word, f"a step is missing before {self._say(word)}", "write `!label`, `?label` or `end` there"

    def _close(self, expected: set[str]) -> None:
        """The text ended too early: say which brackets are open, or that a step is missing."""
        stack: list[Word] = []
        for word in self.words:
            if word.type in ("OPEN_CHOICE", "OPEN_GROUP"):
                stack.append(word)
            elif word.type in ("CLOSE_CHOICE", "CLOSE_GROUP") and stack:
                stack.pop()
        if not self.words:
            self._report(self.end, "an empty protocol", "write at least one step, or `end`")
        elif "_DOT" not in expected:
            self._report(self.words[-1], "a step is missing at the end", "write `!label`, `?label` or `end` there")
        for word in stack:
            bracket = "{" if word.type == "OPEN_CHOICE" else "("
            closing = {"{": "}", "(": ")"}[bracket]
            self._report(word, f"`{bracket}` is never closed", f"close it with `{closing}`")

    def _clause_end(self, at: int) -> int | None:
        """The place of the bracket that ends the clauses this word stands in."""
        for place in range(at, -1, -1):
            if self.words[place].type == "OPEN":
                break
            if self.words[place].type in _OUTSIDE or (self.words[place].type == "SHUT" and place != at):
                return None
        else:
            return None
        return next(place for place in range(at, len(self.words)) if self.words[place].type == "SHUT")

    def _clause_message(self, word: Word, expected: set[str]) -> str:
        if word.type == "SHUT" and "ELSE" in expected and "NAME" in expected:
            return "the brackets hold no clause"
        if "OP" in expected:
            return f"a comparison or `as` must come before {self._say(word)}"
        return f"{self._say(word)} does not belong here"

    def _say(self, word: Word) -> str:
        return _SAID.get(word.type) or f"`{self.source.text[word.start : word.end]}`"

    def _report(self, word: Word, message: str, help: str) -> None:
        start, end = word.start, max(word.end, word.start + 1)
        self.found.append(Diagnostic(code="syntax", message=message, span=Span(self.source, start, end), help=help))


_OUTSIDE: Any = frozenset(
    ("STEP", "LOOP", "STOP", "JUMP", "BAR", "OPEN_GROUP", "CLOSE_GROUP", "OPEN_CHOICE", "CLOSE_CHOICE")
)
