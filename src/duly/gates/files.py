"""Contracts on the disk: a file and the documents that it includes, read within one folder."""

from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Final

from duly.machine.contract import Contract
from duly.machine.terms import Terms
from duly.notation.document import FORMATS, LIMIT, Fetched, decode, parse_terms
from duly.values.errors import DulyError, fault

PACKAGED: Final = "duly:"
"""What an include begins with that names a document that comes with duly."""


def load(path: str | Path, *, root: str | Path | None = None) -> Contract:
    """The contract in the document at ``path``; raises DulyError with every fault. ``root`` as in `load_terms`."""
    return Contract.of(load_terms(path, root=root))


def load_terms(path: str | Path, *, root: str | Path | None = None) -> Terms:
    """What the contract document at ``path`` says, its includes merged in; raises DulyError with every fault.

    Includes are relative to the document that names them and stay within ``root`` (default: the folder of the
    outermost document), links followed.
    """
    start = Path(path)
    text = read_text(start)
    fence = Path(root) if root is not None else start.parent
    try:
        within = fence.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise fault("file", f"`{fence}` is no folder", path=str(fence)) from None

    def fetch(written: str, holder: str) -> Fetched:
        return _packaged(written) if written.startswith(PACKAGED) else _beside(written, holder, within)

    return parse_terms(text, name=_shown(start), fetch=fetch)


def read_text(path: str | Path) -> str:
    """The text of a document file; raises DulyError where it cannot be read, is too long, or is no UTF-8."""
    file, name = Path(path), str(path)
    try:
        if file.is_dir():
            raise fault("file", f"`{name}` is a folder", path=name, help="name a document in it")
        if not file.exists():
            raise fault("file", f"`{name}` does not exist", path=name)
        if not file.is_file():
            # a pipe or a device has no end that we could rely on
            raise fault("file", f"`{name}` is no regular file", path=name)
        with file.open("rb") as stream:
            data = stream.read(LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise fault("file", f"`{name}` cannot be read: {reason.lower()}", path=name) from None
    return decode(data, name=name)


def packaged_names() -> tuple[str, ...]:
    """What can be included as `duly:NAME`."""
    folder = resources.files("duly.labels")
    return tuple(sorted(f"{PACKAGED}{each.name[:-5]}" for each in folder.iterdir() if each.name.endswith(".yaml")))


def packaged(written: str, holder: str) -> Fetched:
    """What comes with duly, for a text that stands in no file; raises DulyError for any other include of ``holder``."""
    if not written.startswith(PACKAGED):
        raise fault("include", f"`{written}` cannot be read for `{holder}`", help="name what comes with duly")
    return _packaged(written)


def _packaged(written: str) -> Fetched:
    known = packaged_names()
    if written not in known:
        raise fault("include", f"`{written}` does not come with duly", help=f"known: {', '.join(known)}")
    file = resources.files("duly.labels") / f"{written.removeprefix(PACKAGED)}.yaml"
    return Fetched(f"{written}.yaml", file.read_text("utf-8"))


def _beside(written: str, holder: str, within: Path) -> Fetched:
    pure = PurePosixPath(written)
    if holder.startswith(PACKAGED) or pure.is_absolute() or "\\" in written or "\0" in written or ":" in written:
        raise fault(
            "include", f"`{written}` is not a relative path", help="write it from this file's folder, with `/`"
        )
    if pure.suffix.lower() not in FORMATS:
        raise fault("include", f"`{written}` is no document", help=f"documents end in {', '.join(FORMATS)}")
    file = Path(holder).parent / Path(*pure.parts)
    try:
        inside = file.resolve().is_relative_to(within)
    except (OSError, RuntimeError, ValueError):
        inside = False
    if not inside:
        help = "keep what is included below that folder"
        raise fault("include", f"`{written}` leads out of `{within.name}`", help=help)
    try:
        return Fetched(_shown(file), read_text(file))
    except DulyError as error:
        raise fault("include", error.diagnostics[0].message, help=error.diagnostics[0].help) from None


def _shown(path: Path) -> str:
    """One name for one file, so that circles are seen (`a/../b.yaml` is `b.yaml`); relative ones stay relative."""
    try:
        resolved, here = path.resolve(), Path.cwd()
    except (OSError, RuntimeError):
        return str(path)
    return str(resolved.relative_to(here) if not path.is_absolute() and resolved.is_relative_to(here) else resolved)
