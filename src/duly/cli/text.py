"""Protocol texts from files and from standard input, in whichever textual notation they are written."""

import sys
from pathlib import Path

from duly.machine.graph import Graph
from duly.notation.document import FORMATS, LIMIT, decode
from duly.values.errors import fault

STDIN = "-"


def is_document(path: str) -> bool:
    """Whether the name is one of a contract document."""
    return Path(path).suffix.lower() in FORMATS


def text_of(path: str) -> str:
    """The text of a file, or of standard input for `-`; raises DulyError."""
    if path == STDIN:
        return decode(sys.stdin.buffer.read(LIMIT + 1), name="<stdin>").removeprefix("\ufeff")
    from duly.gates.files import read_text

    return read_text(path).removeprefix("\ufeff")


def shown(path: str) -> str:
    return "<stdin>" if path == STDIN else path


def graphs_of(text: str, *, name: str) -> list[Graph]:
    """The protocols of a text: state blocks where it begins with `protocol NAME:`, else one session-type string."""
    from duly.notation.document_protocol import is_blocks

    if not text.strip():
        raise fault("empty", "the text is empty", path=name, help="write at least one step, or `end`")
    if is_blocks(text):
        from duly.notation.blocks import parse_blocks

        return list(parse_blocks(text, name=name).values())
    from duly.notation.compile import compile_text

    return [compile_text(text, name=name)]
