"""What a condition in plain Python is made of: paths, comparisons, memberships and tests, each as CEL answers it.

An operation is a function from the roots (``args``, ``result``, …) to a value, UNSET where CEL has an error; it raises
Other where CEL may see something else. Every field that the condition names has been found ``fit`` before.
"""

import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from duly.values.expr import UNSET


class Other(Exception):
    """This is left to CEL."""


Value = Callable[[Any], Any]
Path = tuple[str | int, ...]

INT64: Final = 1 << 63
_EXACT: Final = 1 << 53
_LITERAL: Final = 200
"""Characters up to which a pattern without operators is looked for as it stands; RE2 has bounds on its programs."""
COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def fit(value: Any) -> None:
    """Raises Other unless CEL takes all of a value for what it is."""
    kind = type(value)
    if kind is str:
        if "\0" in value:
            raise Other
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise Other from None
    elif kind is int:
        if not -INT64 <= value < INT64:
            raise Other
    elif kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise Other
            fit(key)
            fit(item)
    elif kind is list:
        for item in value:
            fit(item)
    elif kind is not bool and value is not None and kind is not float and kind is not Decimal:
        raise Other


def reached(steps: Path) -> Value:
    root, first, *rest = steps
    if not rest and isinstance(first, str):

        def field(roots: Any) -> Any:
            held = roots.get(root)
            return _plain(held[first]) if type(held) is dict and first in held else UNSET

        return field

    def reach(roots: Any) -> Any:
        value: Any = roots.get(root)
        for step in steps[1:]:
            if type(step) is int:
                if type(value) is not list:
                    raise Other
                if step >= len(value):
                    return UNSET
            elif type(value) is not dict or step not in value:
                return UNSET
            value = value[step]
        return _plain(value)

    return reach


def _plain(value: Any) -> Any:
    """Decimals are doubles to CEL."""
    return float(value) if type(value) is Decimal else value


def negated(part: Value) -> Value:
    def negate(roots: Any) -> Any:
        value = part(roots)
        return not value if value is True or value is False else UNSET

    return negate


def joined(parts: list[Value], decides: bool) -> Value:
    """``||`` with ``decides`` True, ``&&`` with False: what decides absorbs errors on either side."""

    def join(roots: Any) -> Any:
        unsure = False
        for part in parts:
            answer = part(roots)
            if answer is decides:
                return decides
            unsure = unsure or answer is not (not decides)
        return UNSET if unsure else not decides

    return join


def _equal(left: Any, right: Any) -> Any:
    """Whether two values are equal; UNSET where they are of different kinds, of which null is none."""
    mine, theirs = type(left), type(right)
    if mine is theirs and mine in (str, bool, type(None), int):
        return bool(left == right)
    if mine in (dict, list) or theirs in (dict, list):
        raise Other
    if mine in (int, float) and theirs in (int, float):
        return _number(left, right, operator.eq)
    return False if left is None or right is None else UNSET


def _number(left: Any, right: Any, compare: Callable[[Any, Any], Any]) -> bool:
    if type(left) is not type(right) and (abs(left) > _EXACT or abs(right) > _EXACT):
        raise Other  # how CEL compares these is its own affair
    return bool(compare(left, right))


def compared(sign: str, left: Value, right: Value) -> Value:
    compare = COMPARE[sign]
    if sign in ("==", "!="):
        wanted = sign == "=="

        def equal(roots: Any) -> Any:
            first, second = left(roots), right(roots)
            answer = UNSET if first is UNSET or second is UNSET else _equal(first, second)
            return UNSET if answer is UNSET else answer is wanted

        return equal

    def ordered(roots: Any) -> Any:
        first, second = left(roots), right(roots)
        if first is UNSET or second is UNSET:
            return UNSET
        mine, theirs = type(first), type(second)
        if mine is str and theirs is str:
            return compare(first, second)
        if mine in (int, float) and theirs in (int, float):
            return _number(first, second, compare)
        if mine is bool and theirs is bool:
            raise Other
        return UNSET

    return ordered


def among(left: Value, options: tuple[Any, ...]) -> Value:
    def member(roots: Any) -> Any:
        value = left(roots)
        return UNSET if value is UNSET else _among(value, options)

    return member


def _among(value: Any, options: Sequence[Any]) -> Any:
    """Whether one of these equals the value; UNSET where it is of another kind than all of them, null left out."""
    kinds = False
    for option in options:
        answer = _equal(value, option)
        if answer is True:
            return True
        kinds = kinds or (answer is False and option is not None)
    return UNSET if not kinds and value is not None and any(each is not None for each in options) else False


def inside(left: Value, right: Value) -> Value:
    def member(roots: Any) -> Any:
        value, held = left(roots), right(roots)
        if value is UNSET or held is UNSET:
            return UNSET
        if type(held) is list:
            return _among(value, [_plain(each) for each in held])
        if type(held) is dict and type(value) is str:
            return value in held
        raise Other

    return member


def present(steps: Path) -> Value:
    name, holder = steps[-1], steps[:-1]
    reach = reached(holder) if len(holder) > 1 else None

    def has(roots: Any) -> Any:
        held = roots.get(holder[0]) if reach is None else reach(roots)
        if held is UNSET:
            return UNSET
        if type(held) is not dict:
            raise Other
        return name in held

    return has


def sized(value: Value) -> Value:
    def size(roots: Any) -> Any:
        found = value(roots)
        if found is UNSET:
            return UNSET
        if type(found) not in (str, list, dict):
            raise Other
        return len(found)

    return size


def tested(value: Value, check: Callable[[str], bool]) -> Value:
    def test(roots: Any) -> Any:
        found = value(roots)
        if type(found) is str:
            return check(found)
        if found is UNSET:
            return UNSET
        raise Other

    return test


def test_of(name: str, text: str) -> Callable[[str], bool]:
    """The test of a text by ``startsWith``, ``endsWith``, ``contains`` or ``matches``; raises Other."""
    match name:
        case "startsWith":
            return lambda found: found.startswith(text)
        case "endsWith":
            return lambda found: found.endswith(text)
        case "contains":
            return lambda found: text in found
    return _pattern(text)


def _pattern(pattern: str) -> Callable[[str], bool]:
    """RE2 finds a pattern without operators where the text stands, and ``^`` and ``$`` are its two ends."""
    begins, ends = pattern.startswith("^"), pattern.endswith("$")
    body = pattern[begins : len(pattern) - ends]
    if len(body) <= _LITERAL and not _OPERATORS.intersection(body):
        if begins and ends:
            return lambda found: found == body
        if begins:
            return lambda found: found.startswith(body)
        return (lambda found: found.endswith(body)) if ends else (lambda found: body in found)
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    try:
        search = re2.compile(pattern, options).search
    except Exception:
        raise Other from None
    return lambda found: search(found) is not None


_OPERATORS: Final = frozenset("\\.+*?()|[]{}^$")
