"""Shortcuts for what conditions usually are: one field beside literals, and ``&&``, ``||``, ``!`` over such.

A shortcut answers True or False, or None where the value is not of the usual kind: then the condition is worked out in
full. It looks at every field that it speaks of, also where the answer is known before, since a value that CEL cannot
read leaves the whole condition open.
"""

from collections.abc import Callable
from typing import Any, Final

from .operation import COMPARE, INT64

Shortcut = Callable[[Any], bool | None]
_TURNED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def turned(sign: str) -> str:
    """The comparison with its sides exchanged."""
    return _TURNED[sign]


def compares(root: str, field: str, sign: str, literal: Any) -> Shortcut | None:
    compare = COMPARE[sign]
    if type(literal) is int and -INT64 <= literal < INT64:

        def number(roots: Any) -> bool | None:
            held = roots.get(root)
            if type(held) is dict:
                value = held.get(field)
                if type(value) is int and -INT64 <= value < INT64:
                    return compare(value, literal)  # type: ignore[no-any-return]
            return None

        return number
    if type(literal) is str:

        def text(roots: Any) -> bool | None:
            held = roots.get(root)
            if type(held) is dict:
                value = held.get(field)
                if type(value) is str and value.isascii() and "\0" not in value:
                    return compare(value, literal)  # type: ignore[no-any-return]
            return None

        return text
    if type(literal) is bool and sign in ("==", "!="):

        def truth(roots: Any) -> bool | None:
            held = roots.get(root)
            value = held.get(field) if type(held) is dict else None
            return compare(value, literal) if value is True or value is False else None

        return truth
    return None


def listed(root: str, field: str, options: tuple[Any, ...]) -> Shortcut | None:
    known = frozenset(options)
    if options and all(type(option) is str for option in options):
        return tests(root, field, lambda found: found in known)
    if not options or not all(type(option) is int and -INT64 <= option < INT64 for option in options):
        return None

    def member(roots: Any) -> bool | None:
        held = roots.get(root)
        if type(held) is dict:
            value = held.get(field)
            if type(value) is int and -INT64 <= value < INT64:
                return value in known
        return None

    return member


def flag(root: str, field: str) -> Shortcut:
    def truth(roots: Any) -> bool | None:
        held = roots.get(root)
        value = held.get(field) if type(held) is dict else None
        return value if value is True or value is False else None

    return truth


def has(root: str, field: str) -> Shortcut:
    def there(roots: Any) -> bool | None:
        held = roots.get(root)
        if type(held) is dict:
            if field not in held:
                return False
            value = held[field]
            if type(value) is str:
                return True if value.isascii() and "\0" not in value else None
            if value is None or value is True or value is False or (type(value) is int and -INT64 <= value < INT64):
                return True
        return None

    return there


def tests(root: str, field: str, check: Callable[[str], bool]) -> Shortcut:
    def test(roots: Any) -> bool | None:
        held = roots.get(root)
        if type(held) is dict:
            value = held.get(field)
            if type(value) is str and value.isascii() and "\0" not in value:
                return check(value)
        return None

    return test


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
