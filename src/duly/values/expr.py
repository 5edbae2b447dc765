"""Guards and bindings of protocols: paths into payloads, operands, comparisons, and the one equality.

A guard has three answers. ``None`` (cannot be worked out: a missing field, an unbound register, another kind of
value) never counts as true, and never as false either.
"""

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from msgspec import Struct


class Unset(Enum):
    """The value of a register that nothing has bound."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=", "in")


class Register(Struct, frozen=True):
    """The value of a register, by name."""

    name: str


class Literal(Struct, frozen=True):
    """A value written in the protocol: text, int, Decimal, bool, None, or a tuple of those."""

    value: Any


class Guard(Struct, frozen=True):
    """``path op operand`` over the payload of the event: ``amount <= 100``, ``order.items[0] == first``."""

    path: tuple[str | int, ...]
    op: str
    operand: Register | Literal


class Bind(Struct, frozen=True):
    """``path as register``; a ``maybe`` register may stay unbound: a missing field then unbinds it."""

    path: tuple[str | int, ...]
    register: str
    maybe: bool = False


def reach(payload: object, path: tuple[str | int, ...]) -> Any:
    """The value at a path, or UNSET where a field or an index is missing."""
    value: Any = payload
    for step in path:
        if type(step) is str:
            if not isinstance(value, dict) or step not in value:
                return UNSET
            value = value[step]
        else:
            if not isinstance(value, list) or not 0 <= step < len(value):  # type: ignore[operator]
                return UNSET
            value = value[step]  # type: ignore[index]
    return value


def holds(guard: Guard, payload: object, registers: Mapping[str, Any]) -> bool | None:
    """True, False, or None where the guard cannot be worked out."""
    left = reach(payload, guard.path)
    operand = guard.operand
    right = registers.get(operand.name, UNSET) if type(operand) is Register else operand.value  # type: ignore[union-attr]
    if left is UNSET or right is UNSET:
        return None
    return compare(left, guard.op, right)


def compare(left: Any, op: str, right: Any) -> bool | None:
    """One comparison by the one equality; values of different kinds cannot be compared."""
    if op == "in":
        if type(right) not in (list, tuple):
            return None
        # as with ==: a value of another kind than all of them is a misfit, and null is none
        mine = kind(left)
        kinds = {kind(item) for item in right} - {"null"}
        if kinds and mine != "null" and mine not in kinds:
            return None
        return any(same(left, item) for item in right)
    mine, other = kind(left), kind(right)
    if op == "==" or op == "!=":
        # null may be compared with everything: asking whether a value is there is no misfit of kinds
        if mine != other and "null" not in (mine, other):
            return None
        return same(left, right) is (op == "==")
    if mine != other or mine not in ("number", "text"):
        return None
    a, b = (exact(left), exact(right)) if mine == "number" else (left, right)
    if op == "<":
        return bool(a < b)
    if op == "<=":
        return bool(a <= b)
    if op == ">":
        return bool(a > b)
    return bool(a >= b)


def same(left: Any, right: Any) -> bool:
    """Numbers by exact value, never across kinds, text by code points, objects without order.

    Goes over pairs on a list of its own, so that depth is no limit.
    """
    pairs = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        mine = kind(a)
        if mine != kind(b):
            return False
        if mine == "number":
            if exact(a) != exact(b):
                return False
        elif mine == "list":
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif mine == "object":
            if a.keys() != b.keys():
                return False
            pairs.extend((value, b[key]) for key, value in a.items())
        elif a != b:
            return False
    return True


def normal(value: Any) -> Any:
    """A plain value in a form that equal values share: numbers without trailing zeros, tuples as lists.

    Written with sorted keys it is the same text for equal values, and another for others.
    """
    mine = kind(value)
    if mine == "number":
        sign, digits, exponent = Decimal(exact(value)).as_tuple()
        shown = "".join(map(str, digits)).rstrip("0")
        power = int(exponent) + len(digits) - len(shown)
        return Decimal((sign, tuple(map(int, shown)), power)) if shown else 0
    if mine == "list":
        return [normal(item) for item in value]
    if mine == "object":
        return {key: normal(item) for key, item in value.items()}
    return value


def kind(value: object) -> str:
    """``text``, ``number``, ``truth``, ``null``, ``list``, ``object``, or the Python type's name for anything else."""
    return _KINDS.get(type(value)) or type(value).__name__


def exact(value: int | float | Decimal) -> int | Decimal:
    """A number as written: a float is read as its shortest decimal text, 0.1 as 0.1."""
    return Decimal(repr(value)) if type(value) is float else value  # type: ignore[return-value]


_KINDS: Final = {
    str: "text", int: "number", float: "number", Decimal: "number", bool: "truth", type(None): "null",
    list: "list", tuple: "list", dict: "object",
}  # fmt: skip
