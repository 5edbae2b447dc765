"""Many lines of duly's own trace at once, where one quick reading proves itself to be the strict one.

What is not proved here is read line by line, strictly: this room says only yes or nothing, and never what is wrong.
"""

from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any, Final

import msgspec

from duly.values.event import KINDS, Event
from duly.values.plain import DEPTH, LONG

_ALL: Final = bytes(range(256))
_OPENINGS: Final = bytes.maketrans(b"[", b"{")
_NO_OPENING: Final = bytes(set(_ALL) - set(b"[{\n"))
_DIGITS: Final = bytes(ord("0") if chr(byte) in "0123456789" else ord(".") for byte in _ALL)
_DEEP: Final = b"{" * (DEPTH + 2)
_LONG: Final = b"0" * (LONG + 1)


def events_of(block: bytes) -> list[Event] | None:
    """The events of a block of whole lines, one of each; None unless the strict reading is sure to say the same.

    msgspec takes the last of repeated keys, and passes over keys that no event has. Both are noticed by writing down
    what was read: each key that was lost takes a colon with it, colons within texts are the same in both, and
    nothing adds one, as no colon stands in the block as an escape.
    """
    lines = block.count(b"\n")
    # between `}` and `{` no value goes on, so each line is one value, and each value one line
    if not block.startswith(b"{") or not block.endswith(b"}\n") or block.count(b"}\n{") != lines - 1:
        return None
    if b"\\" in block and b"\\u003" in block:
        return None
    if _LONG in block.translate(_DIGITS) or _DEEP in block.translate(_OPENINGS, _NO_OPENING):
        return None
    try:
        events: list[Event] = _DECODER.decode_lines(block)
        written = _ENCODER.encode_lines(events)
    except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError):
        return None
    # what a gate looked up is never written, so that as a key it is one too many
    if len(events) != lines or written.count(b":") != block.count(b":") or b'"found":{' in written:
        return None
    return events


_KIND: Final[Any] = reduce(or_, KINDS.values())
_DECODER: Final = msgspec.json.Decoder(_KIND, float_hook=Decimal)
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
