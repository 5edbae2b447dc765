"""Which format a file has: the table of readers, and how files and folders are read. Names of files say nothing."""

from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from duly.values.errors import fault, suggest

from .document import Document, open_document
from .readers.chat import Blocks, Chat
from .readers.native import Native
from .readers.reader import Reader
from .readers.steps import Steps
from .readers.tau import FewShot, Tau
from .readers.tau2 import Tau2
from .trajectory import Trajectory

READERS: Final[tuple[Reader, ...]] = (Native(), Tau(), Tau2(), FewShot(), Steps(), Blocks(), Chat())
"""Asked in this order: what is recognised by more comes first."""

ENDINGS: Final = (".json", ".jsonl", ".ndjson", ".traj")
"""What a folder is searched for; a file that is named is read whatever its ending."""


def read(path: str | Path, *, format: str | None = None) -> Iterator[Trajectory]:
    """The runs of a file. Raises DulyError if the format is unknown or nothing can be read."""
    document = open_document(path)
    return reader_of(document, format=format).read(document)


def reader_of(document: Document, *, format: str | None = None) -> Reader:
    """The reader of this name, or the first that knows the format."""
    where = str(document.path)
    if format is not None:
        found = next((reader for reader in readers() if reader.name == format), None)
        if found is None:
            names = [reader.name for reader in readers()]
            near = suggest(format, names) or f"known formats: {', '.join(names)}"
            raise fault("unknown_format", f"unknown format `{format}`", help=near)
        return found
    for reader in READERS:
        if reader.fits(document):
            return reader
    for reader in _registered():
        if reader.fits(document):
            return reader
    if not document.head:
        raise fault("empty", "holds no record that can be read", path=where)
    known = ", ".join(reader.name for reader in readers())
    raise fault("unknown_format", "the format of this file is unknown", path=where, help=f"known formats: {known}")


def readers() -> tuple[Reader, ...]:
    """All readers: duly's own, then those that other packages register under ``duly.readers``."""
    return (*READERS, *_registered())


def files(paths: Iterable[str | Path]) -> list[Path]:
    """The files named, and those in the folders named, in the order of their names."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(item for item in path.rglob("*") if item.suffix in ENDINGS and item.is_file())
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _registered() -> tuple[Reader, ...]:
    found: list[Reader] = []
    for entry in entry_points(group="duly.readers"):
        try:
            reader = entry.load()
            found.append(reader() if isinstance(reader, type) else reader)
        except Exception as error:
            # a broken package must not pass for a format that nobody knows
            raise fault("reader", f"the reader `{entry.name}` cannot be loaded: {str(error)[:200].lower()}") from error
    return tuple(found)
