"""Lengths of time in documents: seconds as a number, or days, hours, minutes and seconds as text."""

import re
from decimal import Decimal
from itertools import combinations
from typing import Any, Final

from duly.machine.approvals import LONGEST

EXAMPLES: Final = "`90s`, `5m`, `1h30m` or `2d`"
PATTERN: Final = "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"

_UNITS: Final = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_TEXT: Final = re.compile("".join(rf"(?:([0-9]{{1,16}}){unit})?" for unit, _ in _UNITS))


def seconds(value: Any) -> float | None:
    """The seconds of a duration as it is written; None where it is none."""
    if isinstance(value, str):
        found = _TEXT.fullmatch(value)
        if found is None:
            return None
        value = sum(int(digits or 0) * size for digits, (_, size) in zip(found.groups(), _UNITS, strict=True))
    # compared before it is rounded, so that no size overflows
    if not 0 < value <= LONGEST:
        return None
    return float(value) or None


def duration(length: float) -> str | Decimal:
    """The shortest text of a duration; a number where it is no whole number of seconds."""
    length = float(length)
    if not length.is_integer():
        return Decimal(repr(length))
    texts = []
    for count in range(1, len(_UNITS) + 1):
        for units in combinations(_UNITS, count):
            rest, text = int(length), ""
            for unit, size in units:
                number, rest = divmod(rest, size)
                text += f"{number}{unit}" if number else ""
            texts += [text] if not rest else []
    return min(texts, key=len)
