"""Edges under conditions, compiled to plain functions: the usual guard and the usual binding cost one look-up each."""

from collections.abc import Callable
from typing import Any, TypeAlias

from duly.values.expr import UNSET, Bind, Guard, Register, compare, holds, reach

Test: TypeAlias = Callable[[Any, dict[str, Any]], bool | None]
"""(payload, registers) to True, False, or None where it cannot be worked out."""

Go: TypeAlias = Callable[[Any, dict[str, Any]], dict[str, Any] | None]
"""(payload, registers) to the registers afterwards, or None where the edge is not enabled."""


def test_of(guard: Guard) -> Test:
    """The same answers as ``values.expr.holds``, which is its oracle."""
    if len(guard.path) != 1 or type(guard.path[0]) is not str or guard.op not in ("==", "!="):
        return lambda payload, registers: holds(guard, payload, registers)
    field, equal, op = guard.path[0], guard.op == "==", guard.op
    if isinstance(guard.operand, Register):
        name = guard.operand.name

        def test(payload: Any, registers: dict[str, Any]) -> bool | None:
            left = payload.get(field, UNSET) if type(payload) is dict else UNSET
            right = registers.get(name, UNSET)
            if type(left) is str and type(right) is str:
                return (left == right) is equal
            return None if left is UNSET or right is UNSET else compare(left, op, right)

        return test
    right = guard.operand.value
    text = type(right) is str

    def literal(payload: Any, registers: dict[str, Any]) -> bool | None:
        left = payload.get(field, UNSET) if type(payload) is dict else UNSET
        if text and type(left) is str:
            return (left == right) is equal
        return None if left is UNSET else compare(left, op, right)

    return literal


def all_of(guards: tuple[Guard, ...]) -> Test | None:
    """True where every guard is, False where one is known to be, else None; no function where there is no guard."""
    tests = tuple(test_of(guard) for guard in guards)
    if len(tests) < 2:
        return tests[0] if tests else None

    def test(payload: Any, registers: dict[str, Any]) -> bool | None:
        answer: bool | None = True
        for part in tests:
            truth = part(payload, registers)
            if truth is False:
                return False
            if truth is not True:
                answer = None
        return answer

    return test


def go_of(guards: tuple[Guard, ...], binds: tuple[Bind, ...]) -> Go:
    """Takes one edge, if its guards are True and every field that it binds is there."""
    test = all_of(guards)
    if not binds:
        if test is None:
            return lambda payload, registers: registers
        if (
            len(guards) == 1
            and len(guards[0].path) == 1
            and guards[0].op == "=="
            and isinstance(guards[0].operand, Register)
        ):
            return _equal(guards[0].path[0], guards[0].operand.name, test)
        return lambda payload, registers: registers if test(payload, registers) is True else None
    if (
        test is None
        and len(binds) == 1
        and len(binds[0].path) == 1
        and type(binds[0].path[0]) is str
        and not binds[0].maybe
    ):
        field, name = binds[0].path[0], binds[0].register

        def take(payload: Any, registers: dict[str, Any]) -> dict[str, Any] | None:
            value = payload.get(field, UNSET) if type(payload) is dict else UNSET
            return None if value is UNSET else {**registers, name: value}

        return take

    def go(payload: Any, registers: dict[str, Any]) -> dict[str, Any] | None:
        if test is not None and test(payload, registers) is not True:
            return None
        fresh = dict(registers)
        for bind in binds:
            value = reach(payload, bind.path)
            if value is not UNSET:
                fresh[bind.register] = value
            elif bind.maybe:
                fresh.pop(bind.register, None)
            else:
                return None
        return fresh

    return go


def _equal(field: str | int, name: str, test: Test) -> Go:
    """The usual guard, a field that equals a register, in one call where both are text."""

    def go(payload: Any, registers: dict[str, Any]) -> dict[str, Any] | None:
        if type(payload) is dict and name in registers:
            left = payload.get(field)
            if type(left) is str and left == registers[name]:
                return registers
        return registers if test(payload, registers) is True else None

    return go
