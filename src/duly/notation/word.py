"""Names, quoted texts and numbers of the notations: how they are read, and how they are written so that they read back.

No pattern here can backtrack: every repetition is possessive, since the text may come from anyone.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final, NoReturn

from msgspec import Struct

from duly.values.errors import Diagnostic, DulyError, fault
from duly.values.source import Source, Span

SPACE: Final = re.compile(r"(?:\s++|#[^\n]*+)*+")
IDENT: Final = re.compile(r"[\w\-:]++")
NUMBER: Final = re.compile(r"(-?[0-9]++)(\.[0-9]*+)?+([eE][+-]?[0-9]++)?+")
# Anything beyond these is no amount, and Python itself refuses integers of more than 4,300 digits.
MOST_DIGITS: Final = 1000
MOST_EXPONENT: Final = 10_000
# Each fault shows its line; a hundred are more than anyone reads, and hostile text could make a million.
MOST_FAULTS: Final = 100
UNRECOGNIZED: Final = "Unrecognized"

_DOUBLE: Final = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_SINGLE: Final = re.compile(r"'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES: Final = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "f": "\f",
    "0": "\0",
    "\\": "\\",
    "/": "/",
    "'": "'",
    '"': '"',
}
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


class Word(Struct, gc=False):
    """One token: its type in the grammar, what it says, and where it stands."""

    type: str
    value: Any
    start: int
    end: int


def raise_faults(found: Iterable[Diagnostic]) -> NoReturn:
    """Raises DulyError with these faults in the order of the text; of more than a hundred the rest is counted."""
    ordered = sorted(found, key=lambda fault: fault.span.start if fault.span else 0)
    if len(ordered) > MOST_FAULTS:
        count = len(ordered) - MOST_FAULTS
        more = Diagnostic(code="more", message=f"{count} further faults", help="mend those above first")
        ordered = [*ordered[:MOST_FAULTS], more]
    raise DulyError(ordered)


def word_end(text: str, at: int) -> int:
    """Where the name that begins at `at` ends: letters, marks, numbers of any script, `_`, `-`, `:`."""
    while True:
        start = at
        found = IDENT.match(text, at)
        at = mark_end(text, found.end() if found else at)
        if at == start:
            return at


def mark_end(text: str, at: int) -> int:
    """Where the combining marks end that stand at `at`; to `re` they are no part of a word."""
    while at < len(text) and text[at] > "\x7f" and unicodedata.category(text[at])[0] == "M":
        at += 1
    return at


def check_writable(source: Source) -> None:
    """Raises DulyError if the text is no text, or cannot be written as UTF-8."""
    if not isinstance(source.text, str):
        raise fault("type", "a protocol must be text", path=source.name, help="pass a str")
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        # The span's text must itself be printable, so it points into a copy with `?` for the bad halves.
        text = source.text.encode("utf-8", "replace").decode()
        shown = Source(source.name, text, source.line, source.column, source.indent)
        span = Span(shown, error.start, error.start + 1)
        message = "half of a surrogate pair cannot be written as UTF-8"
        raise fault("utf8", message, span=span, help="remove the character") from None


def is_word(text: str) -> bool:
    """Whether the text is a name that needs no quotes."""
    return IDENT.fullmatch(text) is not None or (text != "" and word_end(text, 0) == len(text))


def read_quoted(source: Source, at: int, found: list[Diagnostic]) -> tuple[str, int]:
    """What the quoted text that begins at `at` says, and where it ends; faults go to `found`."""
    text = source.text
    body = (_DOUBLE if text[at] == '"' else _SINGLE).match(text, at)
    if body is None:
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline
        message, help = "a quoted text that is never closed", f"close it with `{text[at]}`"
        found.append(Diagnostic(code="quote", message=message, span=Span(source, at, end), help=help))
        return text[at + 1 : end] or "?", end
    said, wrong = unquoted(body[1])
    if wrong:
        help = r"known are \\ \' \" \/ \n \r \t \b \f \0 \uXXXX \u{XXXXX}"
        found.append(Diagnostic(code="escape", message=wrong, span=Span(source, at, body.end()), help=help))
    return said, body.end()


def unquoted(body: str) -> tuple[str, str]:
    """What a quoted text says, and what is wrong with it (empty where nothing is)."""
    if "\\" not in body:
        return body, ""
    wrong: list[str] = []

    def meant(found: re.Match[str]) -> str:
        code = found[1]
        if len(code) > 1:
            point = int(code.strip("u{}"), 16)
            if point > 0x10FFFF:
                wrong.append(f"`{found[0]}` is no character")
                return ""
            return chr(point)
        if code not in _ESCAPES:
            wrong.append(f"unknown escape `{found[0]}`")
            return code
        return _ESCAPES[code]

    said = _ESCAPE.sub(meant, body)
    if not writable(said):
        try:  # two halves of a pair, as JSON writes characters beyond the first plane
            said = said.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            wrong.append("half of a surrogate pair cannot be written as UTF-8")
    return said, "; ".join(wrong)


def writable(text: str) -> bool:
    """Whether the text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def number(text: str) -> int | Decimal | None:
    """The exact value of a number: an int, or a Decimal if it has a point or an exponent; None if too large."""
    found = NUMBER.match(text)
    assert found is not None
    whole, point, exponent = found.groups()
    if len(whole) + len(point or "") > MOST_DIGITS or (exponent and len(exponent) > 8):
        return None
    if point is None and exponent is None:
        return int(whole)
    if exponent and abs(int(exponent[1:])) > MOST_EXPONENT:
        return None
    return Decimal(text)


def quoted(text: str, quote: str = '"') -> str:
    """The text in quotes, with escapes for what would not survive or not be seen."""
    if not writable(text):
        raise fault("utf8", "a text with half a surrogate pair cannot be written as UTF-8", help="remove the character")
    out = []
    for character in text:
        if character in _NAMED:
            out.append(_NAMED[character])
        elif character == quote:
            out.append("\\" + character)
        elif character.isprintable():
            out.append(character)
        else:
            point = ord(character)
            out.append(f"\\u{point:04x}" if point <= 0xFFFF else f"\\u{{{point:x}}}")
    return quote + "".join(out) + quote


def name_text(name: str) -> str:
    """A name as it is written: bare where that reads back, else in double quotes."""
    if not name:
        raise fault("empty_label", "a label cannot be empty", help="give it a name")
    return name if is_word(name) and name != UNRECOGNIZED else quoted(name)


def literal_text(value: Any) -> str:
    """A literal as it is written; raises DulyError for a value that the notation cannot say."""
    kind = type(value)
    if kind is str:
        return quoted(value, '"' if "'" in value and '"' not in value else "'")
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if kind in (list, tuple):
        if any(type(item) in (list, tuple, dict) for item in value):
            raise fault("literal", "a list in a clause cannot hold lists", help="compare with plain values")
        return "[" + ", ".join(map(literal_text, value)) + "]"
    if kind is float:
        value, kind = Decimal(repr(value)), Decimal
    if kind is Decimal and value.is_finite():
        # An integral Decimal keeps its point, for `5.` and `5` are two values of Python.
        text = str(value)
        text = text if not text.lstrip("-").isdigit() else text + "."
    elif kind is int and value.bit_length() < 4 * MOST_DIGITS:
        text = str(value)
    else:
        text = ""
    if not text or number(text) is None:
        raise fault(
            "literal", "a value that cannot be written in a clause", help="use text, numbers, true, false, null"
        )
    return text
