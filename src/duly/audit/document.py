"""A recorded file as records: one JSON value, an array, or one value a line; what cannot be read is named by its line.

Lines end at the newline byte and nowhere else. JSON Lines are read as a stream; other JSON is held in memory.
"""

from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from msgspec import Struct

from duly.values.errors import fault
from duly.values.plain import Malformed

from .decode import decode, decode_at, end_of, skip
from .trajectory import Problem

LIMIT: Final = 512 * 1024 * 1024
"""The largest file that is read as one JSON value; JSON Lines may have any size."""
LINE_LIMIT: Final = 64 * 1024 * 1024
"""The longest line of JSON Lines that is read."""
HEAD: Final = 64
"""How many records a format is recognised by."""
LONG: Final = 16 * 1024 * 1024
"""From this size on a run in JSON Lines is handed on while it is read, and not collected first."""
BLOCK: Final = 64 * 1024
"""How many bytes of JSON Lines are read at once, where lines need not be taken one by one."""
SMALL: Final = 1024
"""A block of this size is no longer halved where something in it must be read strictly."""

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
_EMPTY: Final = b"\x00 \t\r\n"
_OTHER: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


class Record(Struct, frozen=True):
    """One value of a file and the line on which it begins; ``problem`` stands in place of an unreadable value."""

    value: Any
    line: int
    problem: Problem | None = None


class Batch(Struct, frozen=True):
    """The values of as many lines, from ``line`` on."""

    values: list[Any]
    line: int


Quick = Callable[[bytes], list[Any] | None]
"""Reads whole lines at once, one value each; None where they must be read one by one."""


class Document:
    """A file whose records are read, from the start, each time they are asked for.

    ``form`` is ``object`` (one JSON value), ``array`` (its elements are the records) or ``lines``. ``head`` holds the
    first readable values.
    """

    __slots__ = ("_records", "form", "head", "long", "path")

    def __init__(
        self, path: Path, form: Literal["object", "array", "lines"], *, records: list[Record] | None = None
    ) -> None:
        self.path = path
        self.form = form
        self.long = form == "lines" and path.stat().st_size > LONG
        self._records = records
        self.head: list[Any] = []
        for record in self.records():
            if record.problem is None:
                self.head.append(record.value)
            if len(self.head) >= HEAD:
                break

    @property
    def stem(self) -> str:
        """The file's name without its endings, for naming runs."""
        return self.path.name.split(".")[0] or self.path.name

    def records(self) -> Iterator[Record]:
        return _lines(self.path) if self._records is None else iter(self._records)

    def batches(self, quick: Quick) -> Iterator[Batch | Record]:
        """The records, those of JSON Lines many at a time where ``quick`` reads them."""
        return _batches(self.path, quick) if self._records is None else iter(self._records)


def open_document(path: str | Path) -> Document:
    """The file as records; raises DulyError if nothing in it can be read."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise fault("unreadable", "is not a regular file", path=str(path), help="name a file, or a folder of files")
    try:
        with path.open("rb") as file:
            return _open(path, file)
    except OSError as error:
        raise fault("unreadable", f"cannot be read: {(error.strerror or 'unknown').lower()}", path=str(path)) from None
    except MemoryError:
        raise fault("unreadable", "does not fit into memory", path=str(path)) from None


def _open(path: Path, file: BinaryIO) -> Document:
    start = file.read(4096)
    if start.startswith(_OTHER) or (len(start) > 3 and not any(start[1:64:2]) and any(start[0:64:2])):
        raise fault(
            "encoding", "is not UTF-8: it looks like UTF-16 or UTF-32", path=str(path), help="convert it to UTF-8 first"
        )
    file.seek(0)
    first, zeros = _first_line(file)
    if first is None:
        word = "holds nothing but zero bytes" if zeros else "is empty"
        raise fault("empty", word, path=str(path), help="an empty record proves nothing: look for the original")
    try:
        value = decode(first)
    except Malformed:
        value = None
    if isinstance(value, (dict, list)):
        if _rest_is_blank(file):
            return _single(path, value)
        return Document(path, "lines")
    return _whole(path, zeros)


def _first_line(file: BinaryIO) -> tuple[bytes | None, bool]:
    """The first line that holds anything, and whether zero bytes came before it."""
    zeros, first = False, True
    while line := file.readline(LINE_LIMIT):
        if first and line.startswith(_BOM):
            line = line[3:]
        first = False
        if line.strip(_EMPTY):
            return line, zeros
        zeros = zeros or b"\x00" in line
    return None, zeros


def _rest_is_blank(file: BinaryIO) -> bool:
    while part := file.read(1 << 16):
        if part.strip(_BLANK):
            return False
    return True


def _single(path: Path, value: Any) -> Document:
    if isinstance(value, list):
        return Document(path, "array", records=[Record(item, 1) for item in value])
    return Document(path, "object", records=[Record(value, 1)])


def _whole(path: Path, zeros: bool) -> Document:
    """A file whose first line is no value by itself: one value over many lines, or lines with a broken first one."""
    if path.stat().st_size > LIMIT:
        if _some_line_reads(path):
            return Document(path, "lines")
        raise fault(
            "large", f"is larger than {LIMIT // 2**20} MB and not one record a line", path=str(path),
            help="split it, or convert it to JSON Lines",
        )  # fmt: skip
    data = path.read_bytes().removeprefix(_BOM)
    # bytes that are not UTF-8 become lone surrogates, so that only the value that holds them is lost
    text = data.decode("utf-8", "surrogateescape")
    at = skip(text, 0)
    why = Malformed("not JSON")
    if text[at] == "{":
        try:
            value, end = decode_at(text, at)
            rest = skip(text, end)
            if rest >= len(text):
                return Document(path, "object", records=[Record(value, 1 + text.count("\n", 0, at))])
            why = Malformed(f"more text after the JSON value, at line {1 + text.count(chr(10), 0, rest)}")
            if not text[rest:].strip("\x00 \t\r\n"):
                line = 1 + text.count("\n", 0, rest)
                zero = Record(None, line, Problem("zeros", "zero bytes after the last record", line))
                return Document(path, "object", records=[Record(value, 1), zero])
        except Malformed as error:
            why = error
    elif text[at] == "[":
        records = list(_elements(text))
        if all(record.problem is None for record in records):
            return Document(path, "array", records=records)
        if any(record.problem is None for record in records):
            return Document(path, "array", records=records)
        why = Malformed(next(record.problem.message for record in records if record.problem is not None))
    if _some_line_reads(path):
        return Document(path, "lines")
    message = f"cannot be read: {why}" if text[at] in "{[" else "is neither JSON nor JSON Lines"
    raise fault("zeros" if zeros else "malformed", message, path=str(path))


def _some_line_reads(path: Path) -> bool:
    """Whether one of the next lines is an object or an array with something in it, by itself."""
    return any(
        record.value and isinstance(record.value, (dict, list))
        for record, _ in zip(_lines(path), range(HEAD), strict=False)
    )


def _elements(text: str) -> Iterator[Record]:
    """The elements of a JSON array; after a broken one, what follows is not guessed at."""
    at = skip(text, 0) + 1
    line, counted = 1, 0
    while True:
        at = skip(text, at)
        line += text.count("\n", counted, at)
        counted = at
        if at >= len(text):
            yield Record(None, line, Problem("torn", "the file ends inside the array", line))
            return
        if text[at] == "]":
            break
        try:
            value, end = decode_at(text, at)
        except Malformed as error:
            ends = end_of(text, at)
            torn = ends is None and not text.rstrip("\x00 \t\r\n").endswith("]")
            message = "the file ends inside this record" if torn else str(error)
            yield Record(None, line, Problem("torn" if torn else "malformed", message, line))
            if ends is None:
                return
            end = ends
        else:
            yield Record(value, line)
        at = skip(text, end)
        if at < len(text) and text[at] == ",":
            at += 1
        elif at < len(text) and text[at] != "]":
            line += text.count("\n", counted, at)
            yield Record(None, line, Problem("malformed", "a comma or the end of the array is missing", line))
            return
    rest = skip(text, at + 1)
    if rest < len(text):
        line += text.count("\n", counted, rest)
        zero = not text[rest:].strip("\x00 \t\r\n")
        message = "zero bytes after the last record" if zero else "more text after the end of the array"
        yield Record(None, line, Problem("zeros" if zero else "malformed", message, line))


def _lines(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        yield from _one_by_one(file, 1)


def _batches(path: Path, quick: Quick) -> Iterator[Batch | Record]:
    size = min(BLOCK, LINE_LIMIT)
    with path.open("rb") as file:
        number = 1
        while block := file.read(size):
            whole = block.rfind(b"\n") + 1
            file.seek(whole - len(block), 1)
            if whole:
                block = block[:whole]
                yield from _halves(block, number, quick)
                number += block.count(b"\n")
            else:
                # one line that is longer than a block, or the last one, torn
                yield from _one_by_one(file, number, lines=1)
                number += 1


def _halves(block: bytes, number: int, quick: Quick) -> Iterator[Batch | Record]:
    """The lines of a block: all at once, or half of them, or one by one."""
    values = quick(block)
    middle = block.find(b"\n", len(block) // 2) + 1
    if values is not None:
        yield Batch(values, number)
    elif len(block) > SMALL and middle < len(block):
        yield from _halves(block[:middle], number, quick)
        yield from _halves(block[middle:], number + block.count(b"\n", 0, middle), quick)
    else:
        yield from _one_by_one(BytesIO(block), number)


def _one_by_one(file: BinaryIO, first: int, *, lines: int | None = None) -> Iterator[Record]:
    """The records from here on, or of so many lines; ``first`` is the number of the first."""
    for number, line in enumerate(islice(iter(lambda: file.readline(LINE_LIMIT + 1), b""), lines), first):
        if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
            while (more := file.readline(LINE_LIMIT)) and not more.endswith(b"\n"):
                pass
            message = f"the line is longer than {LINE_LIMIT // 2**20} MB"
            yield Record(None, number, Problem("large", message, number))
            continue
        if number == 1 and line.startswith(_BOM):
            line = line[3:]
        if b"\x00" in line:
            body = line.strip(_EMPTY)
            message = "zero bytes before or after the record" if body else "nothing but zero bytes"
            yield Record(None, number, Problem("zeros", message, number))
            line = body
        if not line or line.isspace():
            continue
        try:
            yield Record(decode(line), number)
        except Malformed as error:
            if line.endswith(b"\n"):
                yield Record(None, number, Problem("malformed", str(error), number))
            else:
                yield Record(None, number, Problem("torn", "the file ends inside this record", number))
