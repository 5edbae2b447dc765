"""The one equality in conditions: of another kind is neither equal nor unequal, wherever a comparison stands."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly import Called, Contract, Rule, Session
from duly.machine.condition import Condition
from duly.machine.expression import Expression

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 1.0, Decimal("1.00"), 2**60, "", "1", "a", [], ["a"], [1, None], {}, {"a": 1}, {"a": [1]},
)  # fmt: skip
Answer = bool | None


def kind(value: Any) -> str:
    names = {bool: "truth", str: "text", list: "list", dict: "object", type(None): "null"}
    return names.get(type(value), "number")


def equal(left: Any, right: Any) -> Answer:
    """MEANING G1, read naively: numbers by value, never across kinds; whether a value is there can always be asked."""
    if kind(left) != kind(right):
        return False if None in (left, right) else None
    return plainly(left) == plainly(right)


def plainly(value: Any) -> Any:
    """So that Python's own equality is the one that is meant."""
    if isinstance(value, list):
        return [plainly(item) for item in value]
    if isinstance(value, dict):
        return {key: plainly(item) for key, item in value.items()}
    return (kind(value), value)


def inside(value: Any, items: Any) -> Answer:
    if value is not None and any(item is not None for item in items) and not any(kind(i) == kind(value) for i in items):
        return None
    return any(equal(value, item) is True for item in items)


def opposite(answer: Answer) -> Answer:
    return None if answer is None else not answer


def some(answers: list[Answer]) -> Answer:
    return True if True in answers else None if None in answers else False


def every(answers: list[Answer]) -> Answer:
    return opposite(some([opposite(answer) for answer in answers]))


Naive = Callable[[Any, Any, list[Any]], Answer]
FORMS: dict[str, Naive] = {
    "args.a == args.b": lambda a, b, _: equal(a, b),
    "args.a != args.b": lambda a, b, _: opposite(equal(a, b)),
    "(args.a) != facts.b": lambda a, b, _: opposite(equal(a, b)),
    "!(args.a == (facts.b))": lambda a, b, _: opposite(equal(a, b)),
    "args.l[0] == registers.b": lambda a, b, items: equal(items[0], b),
    "args.a in args.l": lambda a, _, items: inside(a, items),
    "!(args.a in facts.l)": lambda a, _, items: opposite(inside(a, items)),
    "!(args.a in [facts.b, args.l[0]])": lambda a, b, items: opposite(inside(a, [b, items[0]])),
    "args.l.all(x, x != args.a)": lambda a, _, items: every([opposite(equal(x, a)) for x in items]),
    "!args.l.exists(x, x == args.a)": lambda a, _, items: opposite(some([equal(x, a) for x in items])),
    "[args.a].all(x, !(x in args.l))": lambda a, _, items: opposite(inside(a, items)),
    "args.a == args.b || args.yes": lambda a, b, _: True,
    "args.a != args.b && args.yes": lambda a, b, _: opposite(equal(a, b)),
    "args.yes ? args.a != args.b : true": lambda a, b, _: opposite(equal(a, b)),
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
@given(st.sampled_from(VALUES), st.sampled_from(VALUES), st.lists(st.sampled_from(VALUES), min_size=1, max_size=3))
def test_a_comparison_says_what_the_one_equality_says(text: str, a: Any, b: Any, items: list[Any]) -> None:
    values = {
        "args": {"a": a, "b": b, "l": items, "yes": True}, "facts": {"b": b, "l": items}, "registers": {"b": b},
        "result": None,
    }  # fmt: skip
    assert _condition(text)(values) is FORMS[text](a, b, items)


_KNOWN: dict[str, Condition] = {}


def _condition(text: str) -> Condition:
    if text not in _KNOWN:
        _KNOWN[text] = Condition(text)
    return _KNOWN[text]


@pytest.mark.parametrize(
    "text",
    [
        "args.x != 'b'", "(args.x) != 'b'", "args.x != ('b')", "'b' != (args.x)", "args.x != r'b'", "dyn(args.x) != 'b'",
        "args.x != '''b'''", "!(args.x in ['b', facts.none])", "!['b'].exists(each, each == args.x)",
        "args.l[args.i] != 'b'", "args.l.all(each, each != 'b')", "!('b' in args.l)",
    ],
)  # fmt: skip
def test_what_is_barred_is_not_let_by_in_another_kind(text: str) -> None:
    args = {"x": ["b"], "l": [["b"]], "i": 0}
    assert Condition(text)({"args": args, "facts": {"none": "c"}, "registers": {}, "result": None}) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("type(args.n) == int && int == type(args.n)", True), ("type(args.n) in [string, list]", False),
        ("args.l.filter(x, type(x) == string && x != 'b').size() == 1", True), ("args.s == '_==_'", True),
        ("args.s in ['@in', '_==_']", True), ("timestamp(args.t) == timestamp('2024-01-01T00:00:00Z')", True),
        ("uint(args.n) == 5u", True), ("args.n in {5: true}", True), ("args.s in {5: true}", None),
        ("args.o == {'k': [1, {'m': null}]}", True),
    ],
)  # fmt: skip
def test_what_compares_types_times_and_objects_is_left_as_it_is(text: str, answer: bool | None) -> None:
    args = {
        "n": 5, "l": ["a", 5, "b"], "s": "_==_", "t": "2024-01-01T00:00:00Z", "o": {"k": [1.0, {"m": None}]},
    }  # fmt: skip
    assert Condition(text)({"args": args, "facts": {}, "registers": {}, "result": None}) is answer


def test_what_is_learnt_is_compared_by_the_same_equality() -> None:
    value = Expression("args.l.filter(x, x != 'b')")
    assert value({"args": {"l": ["a", "b"]}}) == ["a"]
    assert value({"args": {"l": ["a", ["b"]]}}) is None


@pytest.mark.parametrize("text", ["result.rows.map(r, r.id)", "result.a + 1", "1 / result.zero", "result.rows[7]"])
def test_what_cannot_be_worked_out_is_no_value_and_not_the_text_of_an_error(text: str) -> None:
    assert Expression(text)({"args": {}, "result": {"rows": [{"id": 1}, {}], "a": "x", "zero": 0}}) is None


def test_a_call_of_somebody_barred_is_refused_whatever_kind_his_name_has() -> None:
    session = Session(
        Contract(Rule("requires", {"of": "pay", "that": "!(args.to in facts.barred)"}), facts={"barred": ["eve"]})
    )
    words = [session.step(Called("pay", {"to": to})).word for to in ("ana", "eve", ["eve"], {"eve": 1}, 5, True)]
    assert words == ["allowed", "violation", "violation", "violation", "violation", "violation"]
