"""Where something stands in a text, and how to show it: sources, spans, caret pictures."""

from bisect import bisect_right

from msgspec import Struct


class Source(Struct, frozen=True, weakref=True):
    """A text with a name.

    ``line`` and ``column`` say where its first character stands in the file that holds it (1-based), and
    ``indent`` how many columns the holder adds in front of every later line, so that a protocol written inside
    a contract document is pointed at in the document.
    """

    name: str
    text: str
    line: int = 1
    column: int = 1
    indent: int = 0

    def position(self, offset: int) -> tuple[int, int]:
        """1-based (line, column) of a character offset, counted in the file that holds this text."""
        starts = _line_starts(self)
        row = bisect_right(starts, offset) - 1
        shift = self.column - 1 if row == 0 else self.indent
        return self.line + row, offset - starts[row] + 1 + shift

    def line_of(self, offset: int) -> tuple[str, int]:
        """The line of the text that holds the offset, and the offset inside that line (0-based)."""
        starts = _line_starts(self)
        row = bisect_right(starts, offset) - 1
        end = self.text.find("\n", starts[row])
        return self.text[starts[row] : len(self.text) if end < 0 else end].rstrip("\r"), offset - starts[row]


class Span(Struct, frozen=True):
    """A stretch of a source: offsets in characters, the end not included."""

    source: Source
    start: int
    end: int

    def where(self) -> str:
        """`name:line:column`, as editors read it."""
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def picture(self, *, width: int = 100) -> str:
        """The line with carets under the span; long lines are cut to a window around it."""
        line, at = self.source.line_of(self.start)
        number, _ = self.source.position(self.start)
        length = max(1, min(self.end - self.start, len(line) - at))
        left = 0
        if len(line) > width:
            left = max(0, min(at - width // 3, len(line) - width))
            line = line[left : left + width]
            length = max(1, min(length, left + width - at))
        gutter = f"{number:>4} | "
        shown = "".join(" " if character == "\t" else character for character in line)
        return f"{gutter}{shown}\n{' ' * (len(gutter) - 2)}| {' ' * (at - left)}{'^' * length}"


def _line_starts(source: Source) -> list[int]:
    known = _STARTS.get(id(source))
    if known is not None and known[0] is source.text:
        return known[1]
    starts, at = [0], source.text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = source.text.find("\n", at + 1)
    if len(_STARTS) > 32:
        _STARTS.clear()
    _STARTS[id(source)] = (source.text, starts)
    return starts


# Line tables are found again by the identity of the text; bounded, and safe to lose at any moment.
_STARTS: dict[int, tuple[str, list[int]]] = {}
