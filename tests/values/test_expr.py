"""Guards of protocols: paths, comparisons with three answers, and the one equality."""

from decimal import Decimal
from typing import Any

import pytest

from duly.values.expr import UNSET, Bind, Guard, Literal, Register, compare, exact, holds, kind, normal, reach, same
from duly.values.plain import write_sorted


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("a",), {"b": [1, {"c": None}]}),
        (("a", "b", 0), 1),
        (("a", "b", 1, "c"), None),
        (("a", "b", 2), UNSET),
        (("a", "b", -1), UNSET),
        (("a", "x"), UNSET),
        (("a", "b", "c"), UNSET),
        (("x",), UNSET),
    ],
)
def test_a_path_leads_to_a_value_or_to_nothing(path: tuple[str | int, ...], value: Any) -> None:
    assert reach({"a": {"b": [1, {"c": None}]}}, path) == value


@pytest.mark.parametrize("payload", [None, "text", 5, [1, 2], ("a",)])
def test_a_payload_that_is_no_object_has_no_fields(payload: Any) -> None:
    assert reach(payload, ("a",)) is UNSET


@pytest.mark.parametrize(
    ("left", "op", "right", "answer"),
    [
        (1, "==", 1.0, True),
        (1, "==", Decimal("1.00"), True),
        (0.1, "==", Decimal("0.1"), True),
        (-0.0, "==", 0, True),
        (1, "!=", 2, True),
        (1, "==", True, None),
        (0, "==", False, None),
        (1, "==", "1", None),
        (1, "!=", "1", None),
        ("a", "==", "a", True),
        ("é", "==", "e\u0301", False),
        ("a", "!=", "A", True),
        (None, "==", "a", False),
        (None, "!=", "a", True),
        ("a", "==", None, False),
        (None, "==", None, True),
        ([1, 2], "==", [1.0, 2], True),
        ([1, 2], "==", [2, 1], False),
        ({"a": 1, "b": 2}, "==", {"b": 2, "a": 1.0}, True),
        ([1], "==", {"a": 1}, None),
        (1, "<", 2, True),
        (2, "<=", 2.0, True),
        (3, ">", Decimal("2.999"), True),
        (3, ">=", 4, False),
        ("a", "<", "b", True),
        ("10", "<", 9, None),
        (True, "<", 2, None),
        (None, "<", 2, None),
        ([1], "<", [2], None),
        (1, "in", [1.0, 2], True),
        (3, "in", [1, 2], False),
        ("1", "in", [1, 2], None),
        (True, "in", [1, 2], None),
        (None, "in", [1, 2], False),
        (None, "in", [1, None], True),
        (5, "in", [None], False),
        (5, "in", ["a", None], None),
        (5, "in", ["a", 5], True),
        (5, "in", [], False),
        (5, "in", "512", None),
        (5, "in", {"5": 1}, None),
    ],
)
def test_comparisons_answer_yes_no_or_cannot_be_worked_out(left: Any, op: str, right: Any, answer: bool | None) -> None:
    assert compare(left, op, right) is answer


def test_a_guard_over_a_missing_field_cannot_be_worked_out_however_it_is_put() -> None:
    guards = [Guard(("n",), op, Literal(1)) for op in ("==", "!=", "<", ">=")] + [Guard(("n",), "in", Literal((1, 2)))]
    assert [holds(guard, {"m": 1}, {}) for guard in guards] == [None] * 5


def test_a_guard_over_an_unbound_register_cannot_be_worked_out() -> None:
    guard = Guard(("path",), "==", Register("p"))
    assert holds(guard, {"path": None}, {}) is None
    assert holds(guard, {"path": "a"}, {"p": UNSET}) is None
    assert holds(guard, {"path": "a"}, {"p": "a"}) is True


def test_values_of_different_kinds_are_never_the_same() -> None:
    values: list[Any] = [1, "1", True, None, [1], {"1": 1}]
    assert [(a, b) for a in values for b in values if same(a, b)] == [(a, a) for a in values]


def test_depth_is_no_limit_for_equality() -> None:
    left: Any = 1
    right: Any = 1.0
    for _ in range(100_000):
        left, right = [left], [right]
    assert same(left, right)
    while isinstance(left, list):  # the interpreter frees deep lists by recursion
        left, right = left[0], right[0]


def test_an_object_with_one_field_more_is_another() -> None:
    assert not same({"a": None}, {})
    assert not same({"a": 1}, {"a": 1, "b": None})


def test_a_float_is_read_as_its_shortest_text() -> None:
    assert (exact(0.1), exact(1e-7), exact(5), exact(Decimal("2.50"))) == (
        Decimal("0.1"), Decimal("1E-7"), 5, Decimal("2.50"),
    )  # fmt: skip


def test_kinds_are_those_of_json() -> None:
    values = ["a", 1, 1.5, Decimal(1), True, None, [1], (1,), {"a": 1}, object]
    assert [kind(value) for value in values] == [
        "text", "number", "number", "number", "truth", "null", "list", "list", "object", "type",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (100, Decimal("1E+2")),
        (0, -0.0),
        (Decimal("0.10"), 0.1),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}),
        (10**600, Decimal("1E+600")),
        ((1, 2), [1, 2]),
    ],
)
def test_equal_values_have_one_normal_form(left: Any, right: Any) -> None:
    assert same(left, right)
    assert write_sorted(normal(left)) == write_sorted(normal(right))


@pytest.mark.parametrize(
    ("left", "right"), [(1, "1"), (1, True), (0, None), (1, 10), (0.1, 0.01), (-1, 1), ([1, 2], [2, 1]), ({}, [])]
)
def test_unequal_values_have_different_normal_forms(left: Any, right: Any) -> None:
    assert write_sorted(normal(left)) != write_sorted(normal(right))


def test_clauses_are_values() -> None:
    assert Guard(("a",), "==", Literal(1)) == Guard(("a",), "==", Literal(1))
    assert {Bind(("a",), "r"), Bind(("a",), "r"), Bind(("a",), "r", True)} == {
        Bind(("a",), "r"),
        Bind(("a",), "r", True),
    }
