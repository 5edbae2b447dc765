"""The common part of CEL as plain functions, since each evaluation there costs as much as a whole decision.

Paths, literals, comparisons, ``in``, ``&&``, ``||``, ``!``, ``has``, ``size`` and tests of texts, with CEL's own
answers: what is an error there cannot be worked out here, and is absorbed by the other side of ``&&`` and ``||`` as
there. Whatever is not plainly one of these, and any value that CEL may see otherwise, is left to CEL.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from duly.values.expr import UNSET

from . import operation, shortcut
from .operation import COMPARE, INT64, Other, Path, Value
from .shortcut import Shortcut, Simple

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<raw>[rR](?:'[^'\n]*'|"[^"\n]*"))|(?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<number>\d+(?:\.\d+)?)(?![\w.])|(?P<name>[A-Za-z_]\w*)|(?P<op>&&|\|\||[=!<>]=|[<>!()\[\],.-]))"""
)
_ESCAPES: Final = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_TESTS: Final = ("startsWith", "endsWith", "contains", "matches")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}

Fields = Mapping[str, frozenset[str] | None]


class Native(Struct, frozen=True):
    """A condition in plain Python: ``run`` raises Other where it is left to CEL, and answers anything but True and
    False where it cannot be worked out; ``quick`` answers True, False, or None where ``run`` is to be asked. ``simple``
    is the same where it is about one field."""

    run: Value
    quick: Shortcut | None
    simple: Simple | None


def native(text: str, names: tuple[str, ...], fields: Fields) -> Native | None:
    """The functions of a condition that names these ``fields`` of each root; None where it is left to CEL."""
    try:
        parser = _Parser(_tokens(text), names)
        found = parser.either()
    except (Other, RecursionError):
        return None
    if parser.at < len(parser.tokens):
        return None
    named = {(root, field) for root, held in fields.items() for field in held or ()}
    whole = any(held is None for held in fields.values())
    if whole or found.reads != named:
        return Native(_checked(found.run, fields), None, None)
    return Native(_checked(found.run, fields), found.quick, found.simple)


def _checked(run: Value, fields: Fields) -> Value:
    """The same once all that CEL would be handed is fit for it: it answers nothing where a part of that is not."""
    roots = [(root, held) for root, held in fields.items() if held is None or held]

    def check(values: Any) -> Any:
        for root, named in roots:
            held = values.get(root)
            if type(held) is not dict:
                if root != "result":
                    raise Other
                operation.fit(held)
            elif named is None:
                operation.fit(held)
            else:
                for field in named:
                    if field in held:
                        operation.fit(held[field])
        return run(values)

    return check


def _tokens(text: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or not match.lastgroup:
            raise Other
        kind, token = match.lastgroup, match[match.lastgroup]
        if kind == "raw":
            kind, token = "text", token[2:-1]
        elif kind == "text":
            token = re.sub(r"\\(.)", _escape, token[1:-1])
        found.append((kind, token))
        at = match.end()
    return found


def _escape(match: re.Match[str]) -> str:
    if match[1] not in _ESCAPES:
        raise Other
    return _ESCAPES[match[1]]


class _Part(Struct, frozen=True):
    """A part of a condition, with the fields that its shortcut reads; ``steps`` of a path, ``literal`` of a value."""

    run: Value
    quick: Shortcut | None = None
    reads: frozenset[tuple[str, str]] = frozenset()
    simple: Simple | None = None
    steps: Path = ()
    literal: Any = UNSET

    @property
    def field(self) -> tuple[str, str] | None:
        """The root and the field where it is a path that short."""
        if len(self.steps) == 2 and isinstance(self.steps[1], str):
            return str(self.steps[0]), self.steps[1]
        return None


def _short(run: Value, simple: Simple | None, steps: Path = ()) -> _Part:
    if simple is None:
        return _Part(run, steps=steps)
    return _Part(run, shortcut.quick(simple), frozenset([(simple.root, simple.field)]), simple, steps)


class _Parser:
    def __init__(self, tokens: list[tuple[str, Any]], names: tuple[str, ...]) -> None:
        self.tokens, self.names, self.at = tokens, names, 0

    def look(self, ahead: int = 0) -> tuple[str, Any]:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ("", "")

    def peek(self) -> str:
        kind, token = self.look()
        return token if kind in ("op", "name") else ""

    def take(self, token: str) -> bool:
        if self.look() == ("op", token):
            self.at += 1
            return True
        return False

    def need(self, token: str) -> None:
        if not self.take(token):
            raise Other

    def either(self) -> _Part:
        parts = [self.both()]
        while self.take("||"):
            parts.append(self.both())
        return _joined(parts, True)

    def both(self) -> _Part:
        parts = [self.compared()]
        while self.take("&&"):
            parts.append(self.compared())
        return _joined(parts, False)

    def compared(self) -> _Part:
        left = self.unary()
        sign = self.peek()
        if sign in COMPARE:
            self.at += 1
            right = self.unary()
            run = operation.compared(sign, left.run, right.run)
            if left.literal is not UNSET:
                left, right, sign = right, left, shortcut.turned(sign)
            if left.field is None or right.literal is UNSET:
                return _Part(run)
            return _short(run, shortcut.compares(*left.field, sign, right.literal))
        if sign == "in":
            self.at += 1
            if self.peek() != "[":
                return _Part(operation.inside(left.run, self.unary().run))
            options = self.listed()
            run = operation.among(left.run, options)
            return _Part(run) if left.field is None else _short(run, shortcut.listed(*left.field, options))
        return left

    def unary(self) -> _Part:
        if self.take("!"):
            inner = self.unary()
            run = operation.negated(inner.run)
            if inner.simple is not None:
                return _short(run, shortcut.opposite(inner.simple))
            return _Part(run, None if inner.quick is None else shortcut.neither(inner.quick), inner.reads)
        return self.primary()

    def primary(self) -> _Part:
        if self.take("("):
            inner = self.either()
            self.need(")")
            if self.peek() in (".", "["):
                raise Other
            return inner
        literal = self.literal()
        if literal is not UNSET:
            return _Part(lambda roots: literal, literal=literal)
        name = self.word()
        if name == "has" and self.take("("):
            steps = self.path(self.word())
            if not isinstance(steps[-1], str) or self.look(-1)[0] != "name":
                raise Other
            self.need(")")
            run = operation.present(steps)
            if len(steps) > 2:
                return _Part(run)
            field = (str(steps[0]), steps[-1])
            return _Part(run, shortcut.has(*field), frozenset([field]))
        if name == "size" and self.take("("):
            steps = self.path(self.word())
            self.need(")")
            return _Part(operation.sized(operation.reached(steps)))
        if name == "string" and self.take("("):
            # of a text it is that text; whatever else stands there is left to CEL
            steps = self.path(self.word())
            self.need(")")
            self.need(".")
            steps = (*steps, self.word())
            if self.peek() != "(":
                raise Other
            return self.tested(steps)
        return self.tested(self.path(name))

    def tested(self, steps: Path) -> _Part:
        """A path, or a test of the text that stands there."""
        if self.peek() != "(":
            part = _Part(operation.reached(steps), steps=steps)
            return part if part.field is None else _short(part.run, shortcut.flag(*part.field), steps)
        if steps[-1] not in _TESTS or self.look(-1)[0] != "name" or len(steps) < 3:
            raise Other
        self.at += 1
        kind, text = self.look()
        if kind != "text":
            raise Other
        self.at += 1
        self.need(")")
        check = operation.test_of(str(steps[-1]), text)
        run, part = operation.tested(operation.reached(steps[:-1]), check), _Part(_nothing, steps=steps[:-1])
        return _Part(run) if part.field is None else _short(run, shortcut.tests(*part.field, check))

    def word(self) -> str:
        kind, name = self.look()
        if kind != "name":
            raise Other
        self.at += 1
        return str(name)

    def path(self, root: str) -> Path:
        if root not in self.names:
            raise Other
        steps: list[str | int] = [root]
        while True:
            if self.take("."):
                steps.append(self.word())
            elif self.take("["):
                kind, token = self.look()
                self.at += 1
                if kind == "text":
                    steps.append(token)
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
        minus = self.look() == ("op", "-")
        kind, token = self.look(minus)
        if kind == "number":
            value: Any = float(token) if "." in token else int(token)
            if type(value) is int and value >= INT64:
                raise Other
            self.at += 1 + minus
            return -value if minus else value
        if minus:
            raise Other
        if kind == "text" or (kind == "name" and token in _WORDS):
            self.at += 1
            if self.peek() in (".", "["):
                raise Other
            return token if kind == "text" else _WORDS[token]
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


def _nothing(roots: Any) -> Any:
    return UNSET


def _joined(parts: list[_Part], decides: bool) -> _Part:
    if len(parts) == 1:
        return parts[0]
    quick = [part.quick for part in parts if part.quick is not None]
    return _Part(
        operation.joined([part.run for part in parts], decides),
        shortcut.joins(quick, decides) if len(quick) == len(parts) else None,
        frozenset().union(*(part.reads for part in parts)),
    )
