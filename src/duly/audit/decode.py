"""Strict JSON for whole recorded files: values one after the other in a text, several times as fast as one by one.

The same rules as ``values/plain.py`` (no repeated key, no NaN, exact decimals); depth is judged where a payload
is taken.
"""

import json
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from duly.values.plain import Malformed, plain

SPACE: Final = " \t\r\n"


def decode(data: bytes) -> Any:
    """The one JSON value of a line or a file; raises Malformed."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 at byte {error.start}") from None
    value, end = _raw(text, skip(text, 0))
    if text[end:].strip(SPACE):
        raise Malformed(f"more text after the JSON value, at character {end}")
    return plain(value) if b"\\ud" in data or b"\\uD" in data else value


def decode_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at ``start``, and where it ends; raises Malformed.

    ``text`` may hold lone surrogates (bytes that were not UTF-8): a value with one is malformed.
    """
    value, end = _raw(text, start)
    return (plain(value) if _suspect(text, start, end) else value), end


def _raw(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except Malformed:
        raise
    except RecursionError:
        raise Malformed("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error.msg.lower()} at character {error.pos - start}") from None
    except ValueError as error:
        raise Malformed(f"not JSON: {str(error).lower()}") from None


def end_of(text: str, start: int) -> int | None:
    """Where a value ends that is not strict JSON but whose end can still be told."""
    try:
        end: int = _LOOSE.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None
    return end


def skip(text: str, at: int) -> int:
    """The next place that is not JSON's white space."""
    length = len(text)
    while at < length and text[at] in SPACE:
        at += 1
    return at


def _suspect(text: str, start: int, end: int) -> bool:
    # only these can put a lone surrogate into a value; the full walk costs more than the parse
    if text.find("\\ud", start, end) >= 0 or text.find("\\uD", start, end) >= 0:
        return True
    if text.isascii():
        return False
    try:
        (text if (start, end) == (0, len(text)) else text[start:end]).encode()
    except UnicodeEncodeError:
        return True
    return False


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Malformed(f"the key `{key[:80]}` is repeated")
            seen.add(key)
    return found


def _constant(name: str) -> Any:
    raise Malformed(f"`{name}` is not JSON")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise Malformed(f"`{text[:40]}` is beyond the range of decimals") from None


def _integer(text: str) -> int | Decimal:
    # int() takes quadratic time for long digits, and refuses more than 4,300
    return int(text) if len(text) <= 400 else _decimal(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_decimal, parse_int=_integer
)
_LOOSE: Final = json.JSONDecoder(strict=False, parse_int=lambda _: 0, parse_float=lambda _: 0)
