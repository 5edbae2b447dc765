"""The common part of CEL as plain functions, since each evaluation there costs as much as a whole decision.

Paths, literals, comparisons, ``in``, ``&&``, ``||``, ``!``, ``has`` and tests of texts, with CEL's own answers: what is
an error there cannot be worked out here, and is absorbed by the other side of ``&&`` and ``||`` as there. Whatever is
not plainly one of these, and any value that CEL may see otherwise, is left to CEL.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from duly.values.expr import UNSET


class Other(Exception):
    """This is left to CEL."""


Value = Callable[[dict[str, Any]], Any]
"""From the roots to a value; UNSET where it cannot be worked out. Raises Other."""

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>'[^'\\\n]*'|"[^"\\\n]*")|(?P<number>\d+(?:\.\d+)?)(?![\w.])|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<op>&&|\|\||[=!<>]=|[<>!()\[\],.-]))"""
)
_TESTS: Final = ("startsWith", "endsWith", "contains", "matches")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_INT64: Final = 1 << 63
_EXACT: Final = 1 << 53


def native(text: str, names: tuple[str, ...]) -> Value | None:
    """The function of a condition; None where it is left to CEL."""
    try:
        tokens = _tokens(text)
        parser = _Parser(tokens, names)
        found = parser.either()
        return found if parser.at == len(tokens) else None
    except (Other, RecursionError):
        return None


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or not match.lastgroup:
            raise Other
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]], names: tuple[str, ...]) -> None:
        self.tokens, self.names, self.at = tokens, names, 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) and self.tokens[self.at][0] != "text" else ""

    def take(self, token: str) -> bool:
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def need(self, token: str) -> None:
        if not self.take(token):
            raise Other

    def either(self) -> Value:
        parts = [self.both()]
        while self.take("||"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else _joined(parts, True)

    def both(self) -> Value:
        parts = [self.compared()]
        while self.take("&&"):
            parts.append(self.compared())
        return parts[0] if len(parts) == 1 else _joined(parts, False)

    def compared(self) -> Value:
        left = self.unary()
        operator = self.peek()
        if operator in _COMPARE:
            self.at += 1
            return _comparison(operator, left, self.unary())
        if operator == "in":
            self.at += 1
            if self.peek() == "[":
                return _member(left, self.listed())
            return _inside(left, self.unary())
        return left

    def unary(self) -> Value:
        if self.take("!"):
            inner = self.unary()
            return lambda roots: _not(inner(roots))
        return self.primary()

    def primary(self) -> Value:
        if self.take("("):
            inner = self.either()
            self.need(")")
            if self.peek() in (".", "["):
                raise Other
            return inner
        constant = self.literal()
        if constant is not UNSET:
            return lambda roots: constant
        kind, name = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind != "name":
            raise Other
        self.at += 1
        if name == "has" and self.take("("):
            steps = self.path(self.word())
            self.need(")")
            if len(steps) < 2 or not isinstance(steps[-1], str) or self.tokens[self.at - 2][0] != "name":
                raise Other
            return _has(steps)
        return self.tested(name)

    def tested(self, root: str) -> Value:
        """A path, or a test of the text that stands there."""
        start = self.at
        steps = self.path(root)
        if not (self.peek() == "(" and steps[-1] in _TESTS and self.tokens[self.at - 1][0] == "name"):
            if self.peek() == "(":
                raise Other
            return _reached(steps)
        if self.at - start < 2:
            raise Other
        self.at += 1
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind != "text":
            raise Other
        self.at += 1
        self.need(")")
        return _test(_reached(steps[:-1]), str(steps[-1]), text[1:-1])

    def word(self) -> str:
        kind, name = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind != "name":
            raise Other
        self.at += 1
        return name

    def path(self, root: str) -> tuple[str | int, ...]:
        if root not in self.names:
            raise Other
        steps: list[str | int] = [root]
        while True:
            if self.take("."):
                steps.append(self.word())
            elif self.take("["):
                kind, token = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
                self.at += 1
                if kind == "text":
                    steps.append(token[1:-1])
                elif kind == "number" and token.isdecimal():
                    steps.append(int(token))
                else:
                    raise Other
                self.need("]")
            else:
                # of a root as a whole CEL sees more than we hand over
                if len(steps) == 1:
                    raise Other
                return tuple(steps)

    def literal(self) -> Any:
        minus = self.peek() == "-"
        at = self.at + minus
        kind, token = self.tokens[at] if at < len(self.tokens) else ("", "")
        if kind == "number":
            value: Any = float(token) if "." in token else int(token)
            if type(value) is int and value >= _INT64:
                raise Other
            self.at = at + 1
            return -value if minus else value
        if minus:
            raise Other
        if kind == "text":
            self.at += 1
            if self.peek() == ".":
                raise Other
            return token[1:-1]
        if kind == "name" and token in _WORDS:
            self.at += 1
            return _WORDS[token]
        return UNSET

    def listed(self) -> tuple[Any, ...]:
        self.need("[")
        found: list[Any] = []
        while not self.take("]"):
            if found:
                self.need(",")
            value = self.literal()
            if value is UNSET:
                raise Other
            found.append(value)
        return tuple(found)


def _reached(steps: tuple[str | int, ...]) -> Value:
    root, first, *rest = steps
    if not rest and isinstance(first, str):

        def field(roots: dict[str, Any]) -> Any:
            held = roots.get(root)  # type: ignore[arg-type]
            return _plain(_fit(held[first])) if type(held) is dict and first in held else UNSET

        return field

    def reached(roots: dict[str, Any]) -> Any:
        value: Any = roots.get(root)  # type: ignore[arg-type]
        for place, step in enumerate(steps[1:]):
            if type(step) is int:
                if type(value) is not list:
                    raise Other
                if step >= len(value):
                    return UNSET
            elif type(value) is not dict or step not in value:
                return UNSET
            value = value[step]
            if not place:
                _fit(value)
        return _plain(value)

    return reached


def _plain(value: Any) -> Any:
    """Decimals are doubles to CEL."""
    return float(value) if type(value) is Decimal else value


def _fit(value: Any) -> Any:
    """The value, if CEL takes all of it for what it is."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        if -_INT64 <= value < _INT64:
            return value
        raise Other
    if kind is float or kind is Decimal:
        return value
    if kind is dict:
        for item in value.values():
            _fit(item)
        return value
    if kind is list:
        for item in value:
            _fit(item)
        return value
    raise Other


def _truth(value: Any) -> Any:
    return value if value is True or value is False else UNSET


def _not(value: Any) -> Any:
    return not value if value is True or value is False else UNSET


def _joined(parts: list[Value], decides: bool) -> Value:
    """``||`` with ``decides`` True, ``&&`` with False: what decides absorbs errors on either side."""

    def joined(roots: dict[str, Any]) -> Any:
        unsure = False
        for part in parts:
            answer = _truth(part(roots))
            if answer is decides:
                return decides
            unsure = unsure or answer is UNSET
        return UNSET if unsure else not decides

    return joined


def _equal(left: Any, right: Any) -> bool:
    mine, theirs = type(left), type(right)
    if mine is theirs and mine in (str, bool, type(None), int):
        return bool(left == right)
    if mine in (dict, list) or theirs in (dict, list):
        raise Other
    if mine in (int, float) and theirs in (int, float):
        return _number(left, right, "==")
    return False


def _number(left: Any, right: Any, operator: str) -> bool:
    if type(left) is not type(right) and (abs(left) > _EXACT or abs(right) > _EXACT):
        raise Other  # how CEL compares these is its own affair
    return _COMPARE[operator](left, right)


_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


def _comparison(operator: str, left: Value, right: Value) -> Value:
    if operator in ("==", "!="):
        wanted = operator == "=="

        def equal(roots: dict[str, Any]) -> Any:
            first, second = left(roots), right(roots)
            return UNSET if first is UNSET or second is UNSET else _equal(first, second) is wanted

        return equal

    def ordered(roots: dict[str, Any]) -> Any:
        first, second = left(roots), right(roots)
        if first is UNSET or second is UNSET:
            return UNSET
        mine, theirs = type(first), type(second)
        if mine is str and theirs is str:
            return _COMPARE[operator](first, second)
        if mine in (int, float) and theirs in (int, float):
            return _number(first, second, operator)
        if mine is bool and theirs is bool:
            raise Other
        return UNSET

    return ordered


def _member(left: Value, options: tuple[Any, ...]) -> Value:
    def member(roots: dict[str, Any]) -> Any:
        value = left(roots)
        return UNSET if value is UNSET else any(_equal(value, option) for option in options)

    return member


def _inside(left: Value, right: Value) -> Value:
    def inside(roots: dict[str, Any]) -> Any:
        value, held = left(roots), right(roots)
        if value is UNSET or held is UNSET:
            return UNSET
        if type(held) is list:
            return any(_equal(value, _plain(each)) for each in held)
        if type(held) is dict and type(value) is str:
            return value in held
        raise Other

    return inside


def _has(steps: tuple[str | int, ...]) -> Value:
    name, holder = steps[-1], steps[:-1]
    whole = len(holder) == 1
    reached = _reached(holder) if not whole else None

    def has(roots: dict[str, Any]) -> Any:
        held = roots.get(holder[0]) if whole else reached(roots)  # type: ignore[arg-type,misc]
        if held is UNSET:
            return UNSET
        if type(held) is not dict:
            raise Other
        return name in held

    return has


def _test(value: Value, test: str, text: str) -> Value:
    if test == "matches":
        import re2  # type: ignore[import-untyped]

        try:
            search = re2.compile(text).search
        except Exception:
            raise Other from None
        return lambda roots: (search(found) is not None) if type(found := value(roots)) is str else _untested(found)
    if test == "contains":
        return lambda roots: (text in found) if type(found := value(roots)) is str else _untested(found)
    ask = str.startswith if test == "startsWith" else str.endswith
    return lambda roots: ask(found, text) if type(found := value(roots)) is str else _untested(found)


def _untested(found: Any) -> Any:
    if found is UNSET:
        return UNSET
    raise Other
