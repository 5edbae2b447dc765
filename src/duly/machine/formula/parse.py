"""Text to formula, with its faults: ``parse("G(!refund -> O ?lookup)")``.

Atoms are labels with their sides; ``did(x)``, ``count(x) >= 2``, ``all(a, b)``, ``any_of``, ``at_least(k, a, b)`` and
``at_most`` speak of what has occurred, and take names without a side, too.
"""

from threading import Lock
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from duly.values.errors import Diagnostic, DulyError, fault
from duly.values.source import Source, Span

from .node import Formula
from .scan import Scanner, Word

if TYPE_CHECKING:
    from .grammar import Parser

LONGEST: Final = 100_000
"""Characters of a text that is read."""


class Written(Struct, frozen=True):
    """A formula and where each of its nodes stands in the text."""

    formula: Formula
    source: Source
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, at: int) -> Span:
        return Span(self.source, self.starts[at], self.ends[at])


def parse(text: str, *, name: str = "<formula>", source: Source | None = None) -> Written:
    """The formula of a text; raises DulyError with every lexical fault, or else with the first fault of syntax.

    ``source`` says where the text stands in a file that holds it, so that faults are pointed at there.
    """
    if type(text) is not str:
        raise fault("type", "a formula must be text", path=name, help="pass a str")
    source = source if source is not None else Source(name, text)
    if len(text) > LONGEST:
        message = f"a formula of {len(text)} characters; at most {LONGEST} are read"
        raise fault("size", message, path=name, help="say it in several rules")
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "half of a surrogate pair cannot be written as UTF-8"
        raise fault("utf8", message, path=name, help="remove the character") from None
    scanner = Scanner(source)
    words = scanner.scan()
    if not scanner.found:
        scanner.found.extend(_unclosed(source, words))
    if scanner.found:
        raise DulyError(sorted(scanner.found, key=lambda each: each.span.start if each.span else 0))
    from lark.exceptions import UnexpectedToken

    with _LOCK:
        parser = _parser()
        run = parser.begin()
        end = Word("$END", None, len(text), len(text))
        for at, word in enumerate((*words, end)):
            try:
                run.parser_state.feed_token(word, is_end=word is end)  # type: ignore[arg-type]
            except UnexpectedToken as error:
                raise DulyError([_unexpected(source, words, at, word, set(error.expected))]) from None
        writer = parser.writer
        written = Written(Formula(tuple(writer.nodes)), source, tuple(writer.starts), tuple(writer.ends))
        writer.clear()
    return written


def _unclosed(source: Source, words: list[Word]) -> list[Diagnostic]:
    """Brackets without their other half."""
    stack: list[Word] = []
    found = []
    for word in words:
        if word.type in ("OPEN", "OPEN_TERM"):
            stack.append(word)
        elif word.type == "SHUT":
            if not stack:
                span = Span(source, word.start, word.end)
                found.append(Diagnostic("syntax", "`)` closes nothing", span=span, help="remove it"))
            else:
                stack.pop()
    return found + [
        Diagnostic(
            "syntax", "`(` is never closed", span=Span(source, word.start, word.end), help="close it with `)`"
        )
        for word in stack
    ]


def _unexpected(source: Source, words: list[Word], at: int, word: Word, expected: set[str]) -> Diagnostic:
    """What is wrong with a word that cannot stand where it does: what was expected there, and what to write."""
    said = f"`{source.text[word.start : word.end][:80]}`"
    place = f"before {said}" if word.type != "$END" else "at the end"
    before = words[at - 1].type if at else ""
    if not words:
        message, help = "an empty formula", "as in `G(!refund -> O ?lookup)`"
    elif "UNARY" in expected:
        message, help = f"a formula is missing {place}", "write an atom such as `!refund`, or `(…)`"
    elif "COMPARE" in expected:
        message, help = f"a comparison is missing {place}", "a count is compared: `count(refund) >= 2`"
    elif "NUMBER" in expected:
        message = f"a number is missing {place}"
        help = "as in `count(refund) >= 2`" if before == "COMPARE" else "as in `at_least(2, a, b)`"
    elif "ATOM" in expected:
        message, help = f"a name is missing {place}", "as in `did(lookup)`"
    elif "COMMA" in expected:
        message, help = f"`,` is missing {place}", "names are listed with commas, as in `all(a, b)`"
    elif before == "ATOM" and "BINARY" not in expected:
        message, help = f"`)` is expected {place}", "`did` and `count` take one name"
    elif word.type == "COMPARE":
        message, help = f"{said} compares nothing", "only a count is compared: `count(refund) >= 2`"
    else:
        message, help = f"an operator is missing {place}", "join two formulas by `and`, `or`, `->` or `U`"
    start = word.start if word.type != "$END" or not words else words[-1].start
    return Diagnostic(
        "syntax", message, span=Span(source, start, max(word.end, start + 1)), help=help
    )


_LOCK: Final = Lock()
_PARSERS: "list[Parser]" = []


def _parser() -> "Parser":
    if not _PARSERS:
        from .grammar import Parser

        _PARSERS.append(Parser())
    return _PARSERS[0]
