"""Contract documents: one YAML, JSON or TOML text becomes `Terms`, with every fault reported at once.

The disk is not touched: whoever has one hands over a `Fetch`, which finds the documents named under `include`.
"""

import re
from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from duly.machine.terms import Terms
from duly.values.errors import Diagnostic, DulyError, fault
from duly.values.source import Source, Span

from .acel import is_rule_file, read_rule_file
from .document_build import build, check_examples
from .document_merge import merge
from .examine import Found, examine, note
from .json import read_json_nodes
from .keys import DOCUMENT
from .node import Node, Reader
from .pack import is_pack, read_pack
from .toml import read_toml
from .yaml import read_yaml

Format = Literal["yaml", "json", "toml"]

LIMIT: Final = 4 * 1024 * 1024
"""The longest document that is read, in bytes."""

FORMATS: Final[dict[str, Format]] = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml"}
"""Formats by the extension of a file's name."""

_NESTING: Final = 16

_READERS: Final[dict[Format, Reader]] = {"yaml": read_yaml, "json": read_json_nodes, "toml": read_toml}
# a table's head on a line of its own, or a key before `=`
_TOML: Final = re.compile(
    r"""(?:\s|\#[^\n]*)*(?:\[{1,2}\s*[\w"'][^\n,:{}]*\]{1,2}\s*(?:\#[^\n]*)?$|[\w."'-]+\s*=)""", re.MULTILINE
)
_SPLIT: Final = "a contract of that size is split with `include`"


class Fetched(Struct, frozen=True):
    """A document that another one includes: the name to show, and its text."""

    name: str
    text: str


Fetch = Callable[[str, str], Fetched]
"""Finds an included document from the path as written and the name of the including one; raises DulyError."""


class Page(Struct, frozen=True):
    """One document by itself: its own terms, and what it includes without having been looked at."""

    terms: Terms
    include: tuple[str, ...]


def parse_terms(text: str, *, name: str, format: Format | None = None, fetch: Fetch | None = None) -> Terms:
    """What a contract document says, the documents that it includes merged in; raises DulyError with every fault."""
    loading = _Loading(fetch)
    terms = loading.load(text, name, format, ())
    if loading.found:
        raise DulyError(loading.found)
    return terms


def parse_page(text: str, *, name: str, format: Format | None = None) -> Page:
    """One document without what it includes: what a formatter needs."""
    found: Found = []
    root, source = _read(text, name, format, found)
    terms = build(root, source, found)
    if found:
        raise DulyError(_in_order(found))
    return Page(terms, tuple(node.value for node in _includes(root)))


def decode(data: bytes, *, name: str) -> str:
    """The text of a file; raises DulyError where it is too long or no UTF-8."""
    if len(data) > LIMIT:
        raise fault("size", f"longer than {LIMIT} bytes", path=name, help=_SPLIT)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise fault("utf8", "the file is UTF-16", path=name, help="save it as UTF-8")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault(
            "utf8", f"byte {error.start} (line {line}) is not UTF-8", path=name, help="save the file as UTF-8"
        ) from None


def format_of(name: str, text: str) -> Format:
    """The format by the extension of the name, else by how the text begins."""
    for extension, format in FORMATS.items():
        if name.lower().endswith(extension):
            return format
    begin = text.lstrip("\ufeff \t\r\n")[:1]
    if begin == "{":
        return "json"
    return "toml" if _TOML.match(text) is not None else "yaml"


class _Loading:
    """A document and all that it includes, each read once; ``found`` collects the faults of all of them."""

    def __init__(self, fetch: Fetch | None) -> None:
        self.fetch = fetch
        self.found: Found = []
        self.read: dict[str, Terms] = {}

    def load(self, text: str, name: str, format: Format | None, above: tuple[str, ...]) -> Terms:
        """The terms of one document with its includes; ``above`` are the documents that lead to it."""
        here: Found = []
        try:
            root, source = _read(text, name, format, here)
        except DulyError as error:
            self.found += error.diagnostics
            return Terms()
        terms = build(root, source, here)
        before = len(self.found)
        parts = [(part, node) for node in _includes(root) for part in self._include(node, (*above, name), here)]
        merged = merge(terms, parts, here)
        if len(self.found) == before and not any(each.code == "include" for each in here):
            check_examples(root, merged.labels, here)
        self.found[before:before] = _in_order(here)
        return merged

    def _include(self, node: Node, trail: tuple[str, ...], here: Found) -> tuple[Terms, ...]:
        if self.fetch is None:
            note(here, "include", f"`{node.value}` cannot be read here: a text by itself includes nothing", node,
                 "load the contract from its file")  # fmt: skip
            return ()
        try:
            fetched = self.fetch(node.value, trail[-1])
        except DulyError as error:
            for each in error.diagnostics:
                note(here, each.code, each.message, node, each.help)
            return ()
        if fetched.name in trail:
            circle = " → ".join(f"`{each}`" for each in (*trail[trail.index(fetched.name) :], fetched.name))
            note(here, "include", f"the documents include each other: {circle}", node)
        elif len(trail) > _NESTING:
            note(here, "include", f"includes are nested deeper than {_NESTING} documents", node)
        else:
            if fetched.name not in self.read:
                self.read[fetched.name] = self.load(fetched.text, fetched.name, None, trail)
            return (self.read[fetched.name],)
        return ()


def _read(text: str, name: str, format: Format | None, found: Found) -> tuple[Node, Source]:
    """The tree of a document, its shape looked at; raises DulyError where there is no tree."""
    if len(text) > LIMIT:
        raise fault("size", f"longer than {LIMIT} characters", path=name, help=_SPLIT)
    text = text.removeprefix("\ufeff")
    source = Source(name, text)
    at = text.find("\0")
    if at >= 0:
        raise fault("character", "the text holds the character NUL", span=Span(source, at, at + 1))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        # the text itself cannot be shown, so only the line is named
        line = text.count("\n", 0, error.start) + 1
        raise fault(
            "utf8", f"line {line} holds half of a surrogate pair", path=name, help="remove the character"
        ) from None
    if not text.strip():
        help = "write `duly: 1` and what the contract says"
        raise fault("empty", "the document is empty", span=Span(source, 0, 0), help=help)
    root = _READERS[format or format_of(name, text)](source)
    for foreign, reading in ((is_pack, read_pack), (is_rule_file, read_rule_file)):
        if foreign(root):
            root = reading(root, found)
            if not found:
                examine(DOCUMENT, root, found)
            return root, source
    if examine(DOCUMENT, root, found) or root.kind == "object":
        return root, source
    raise DulyError(found)


def _includes(root: Node) -> tuple[Node, ...]:
    section = root.get("include")
    if section is None or section.kind != "list":
        return ()
    return tuple(item for item in section.value if item.kind == "text")


def _in_order(found: Found) -> list[Diagnostic]:
    """By place where all have one, else as found."""
    if any(each.span is None for each in found):
        return found
    return sorted(found, key=lambda each: each.span.source.position(each.span.start) if each.span else (0, 0))
