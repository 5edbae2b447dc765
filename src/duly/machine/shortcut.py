"""Shortcuts for what conditions usually are: one field beside literals, and ``&&``, ``||``, ``!`` over such.

A shortcut answers True or False, or None where the value is not of the usual kind: then the condition is worked out in
full. It looks at every field that it speaks of, also where the answer is known before, since a value that CEL cannot
read leaves the whole condition open.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from duly.values.expr import UNSET

from .operation import INT64

Shortcut = Callable[[Any], bool | None]
Test = Callable[[Any], bool]


def _short(value: int) -> bool:
    return -INT64 <= value < INT64


def _bare(value: str) -> bool:
    return value.isascii() and "\0" not in value


def _any(value: bool) -> bool:
    return True


USUAL: Final[dict[type, Test]] = {int: _short, str: _bare, bool: _any}
"""The kinds of values for which there are shortcuts, and which of those CEL takes for what they are."""


class Simple(Struct, frozen=True):
    """A condition on one field of one kind: where a value of that kind stands there, ``test`` says whether it holds."""

    root: str
    field: str
    kind: type
    test: Test


def quick(simple: Simple) -> Shortcut:
    root, field, kind, test, usual = simple.root, simple.field, simple.kind, simple.test, USUAL[simple.kind]

    def shortcut(roots: Any) -> bool | None:
        held = roots.get(root)
        if type(held) is dict:
            value = held.get(field)
            if type(value) is kind and usual(value):
                return test(value)
        return None

    return shortcut


_TURNED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_METHODS: Final = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


def turned(sign: str) -> str:
    """The comparison with its sides exchanged."""
    return _TURNED[sign]


def compares(root: str, field: str, sign: str, literal: Any) -> Simple | None:
    kind = type(literal)
    if kind not in USUAL or (kind is int and not _short(literal)) or (kind is bool and sign not in ("==", "!=")):
        return None
    # the literal's own method is the quickest function of one argument that there is
    return Simple(root, field, kind, getattr(literal, _METHODS[_TURNED[sign]]))


def listed(root: str, field: str, options: tuple[Any, ...]) -> Simple | None:
    known = frozenset(options)
    for kind in (str, int):
        if options and all(type(option) is kind for option in options):
            return Simple(root, field, kind, known.__contains__)
    return None


def flag(root: str, field: str) -> Simple:
    return Simple(root, field, bool, bool)


def tests(root: str, field: str, check: Test) -> Simple:
    return Simple(root, field, str, check)


def opposite(simple: Simple) -> Simple:
    test = simple.test
    return Simple(simple.root, simple.field, simple.kind, lambda value: not test(value))


def has(root: str, field: str) -> Shortcut:
    def there(roots: Any) -> bool | None:
        held = roots.get(root)
        if type(held) is dict:
            value = held.get(field, UNSET)
            if value is UNSET:
                return None if field in held else False
            usual = USUAL.get(type(value))
            return True if value is None or (usual is not None and usual(value)) else None
        return None

    return there


def neither(part: Shortcut) -> Shortcut:
    def negate(roots: Any) -> bool | None:
        answer = part(roots)
        return None if answer is None else not answer

    return negate


def joins(parts: list[Shortcut], decides: bool) -> Shortcut:
    """``||`` with ``decides`` True, ``&&`` with False."""

    def join(roots: Any) -> bool | None:
        found = not decides
        for part in parts:
            answer = part(roots)
            if answer is None:
                return None
            if answer is decides:
                found = decides
        return found

    return join
