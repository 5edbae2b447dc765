"""The door: foreign values become plain JSON values of bounded depth, and JSON text is read strictly.

A plain value is text, int, float, Decimal, bool, None, a list, or an object with text keys; no NaN, no infinity, no
text that cannot be written as UTF-8. Decimals come from text; floats only from Python.
"""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from math import isfinite
from typing import Any, Final

import msgspec

DEPTH: Final = 64
"""Nesting that is accepted; deeper payloads crash evaluators further in."""
LONG: Final = 400
"""Digits up to which a whole number is kept as an integer; longer ones are decimals."""


class Malformed(ValueError):
    """A value or a text that is no plain JSON; the message says where and why."""


def plain(value: Any) -> Any:
    """A copy of a value as a plain value; raises Malformed with the path of what does not fit."""
    if type(value) is dict:
        # flat objects of ordinary values, which is nearly all of them, are checked in one pass and copied whole
        for key, item in value.items():
            if type(item) is str:
                if item.isascii() and type(key) is str and key.isascii():
                    continue
            elif type(key) is str and key.isascii():
                if type(item) is int:
                    if _LEAST < item < _BIG:
                        continue
                elif type(item) is bool or item is None:
                    continue
            return _copy(value, 0, "payload")
        return value.copy()
    return _copy(value, 0, "payload")


def own(value: Any) -> Any:
    """A copy of a plain value that shares nothing with it that could be changed."""
    kind = type(value)
    if kind is dict:
        return {key: own(item) for key, item in value.items()}
    return [own(item) for item in value] if kind is list else value


def _copy(value: Any, depth: int, path: str) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value, path)
    if value is None or kind is bool:
        return value
    if kind is int:
        # what is written must be readable: Python reads no longer integers than 4,300 digits, and those slowly
        return value if _LEAST < value < _BIG else Decimal(value)
    if kind is float:
        if not isfinite(value):
            raise Malformed(f"`{path}` is not a finite number")
        return value
    if kind is Decimal:
        if not value.is_finite():
            raise Malformed(f"`{path}` is not a finite number")
        return value
    if depth >= DEPTH:
        raise Malformed(f"`{path[:80]}` is nested deeper than {DEPTH} levels")
    if kind is dict or isinstance(value, Mapping):
        fresh: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise Malformed(f"`{path}` has a key that is not text: `{str(key)[:40]}`")
            name = _text(str.__str__(key), path)
            fresh[name] = _copy(item, depth + 1, f"{path}.{name}")
        return fresh
    if kind is list or kind is tuple:
        return [_copy(item, depth + 1, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(str.__str__(value), path)
    if isinstance(value, int):
        return _copy(int(value), depth, path)
    if isinstance(value, float):
        return _copy(float(value), depth, path)
    if isinstance(value, Decimal):
        return _copy(Decimal(value), depth, path)
    raise Malformed(f"`{path}` is a `{kind.__name__}`, which is no JSON value")


def _text(value: str, path: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Malformed(f"`{path}` holds text that cannot be written as UTF-8") from None
    return value


def read_json(text: str | bytes, *, limit: int = 64 * 1024 * 1024) -> Any:
    """One JSON value, read strictly: no repeated keys, no NaN or Infinity, exact decimals, bounded depth and size.

    Raises Malformed; the message says what is wrong and where.
    """
    if len(text) > limit:
        raise Malformed(f"longer than {limit} bytes")
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise Malformed(f"not UTF-8 at byte {error.start}") from None
    import json

    try:
        value = _decoder().decode(text)
    except Malformed:
        raise
    except RecursionError:
        raise Malformed(f"nested deeper than {DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error.msg.lower()} at line {error.lineno} column {error.colno}") from None
    except ValueError as error:
        raise Malformed(f"not JSON: {str(error).lower()}") from None
    return _copy(value, 0, "value") if isinstance(value, (dict, list, str)) else value


def as_data(result: Any) -> Any:
    """A result as conditions and bindings see it: text that is one JSON object or array is read as that, since most
    transports hand results on as text. Anything else stays what it is."""
    if type(result) is str and result.lstrip()[:1] in ("{", "["):
        try:
            return read_json(result)
        except Malformed:
            return result
    return result


def write_json(value: Any) -> str:
    """A plain value as JSON text in one line, keys in the order they have, decimals as numbers."""
    return _ENCODER.encode(value).decode()


def seen(text: str) -> str:
    """A text in one line that shows what it holds: it moves no cursor, hides nothing and runs in no other direction."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def write_sorted(value: Any) -> bytes:
    """A plain value as JSON bytes with sorted keys: what snapshots and digests are made of."""
    return _SORTED.encode(value)


@cache
def _decoder() -> Any:
    import json

    return json.JSONDecoder(
        object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_decimal, parse_int=_integer
    )


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


def _integer(text: str) -> int | Decimal:
    # int() refuses more than 4,300 digits, and takes quadratic time before that; a Decimal has neither fault
    return int(text) if len(text) <= LONG else _decimal(text)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise Malformed(f"`{text[:40]}` is beyond the range of decimals") from None


_BIG: Final = 10**LONG
_LEAST: Final = -_BIG
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_SORTED: Final = msgspec.json.Encoder(decimal_format="number", order="deterministic")
