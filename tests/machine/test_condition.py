"""Conditions in CEL: three answers, names checked, kinds kept apart."""

import pickle
from decimal import Decimal
from typing import Any

import pytest

from duly import DulyError
from duly.machine.condition import Condition


def fault(text: str, names: tuple[str, ...] = ("args", "result", "facts")) -> str:
    with pytest.raises(DulyError) as caught:
        Condition(text, names=names)
    return caught.value.diagnostics[0].message + "; " + caught.value.diagnostics[0].help


@pytest.mark.parametrize(
    ("text", "result", "answer"),
    [
        ("result.ok == false", {"ok": False}, True),
        ("result.ok == false", {"ok": True}, False),
        ("result.ok == false", {}, None),
        ("result.ok == false", None, None),
        ("result.ok == false", "text", None),
        ("result.ok == false", {"ok": "false"}, None),
        ("result.ok == false", {"ok": 0}, None),
        ("result.ok == false", {"ok": None}, False),
        ("result.ok == false", {"ok": []}, None),
        ("has(result.e) && result.e == 'x'", {}, False),
        ("result.status == 'denied'", {"status": 5}, None),
        ("!(result.status == 'denied')", {"status": 5}, None),
        ("result.status != 'denied'", {"status": 5}, None),
        ("'denied' == result.status", {"status": 5}, None),
        ("result.status in ['a', 'b']", {"status": 5}, None),
        ("result.status in ['a', 'b']", {"status": ["a"]}, None),
        ("result.status in ['a', 'b']", {"status": None}, False),
        ("result.status in ['a', 'b']", {"status": "b"}, True),
        ("result.n == 5", {"n": 5.0}, True),
        ("result.n == 5", {"n": Decimal("5.0")}, True),
        ("result.n == -5", {"n": "-5"}, None),
        ("result.xs[0] == 'a'", {"xs": [1]}, None),
        ("result['k'] == 'a'", {"k": 1}, None),
        ("result.a.b == 'x'", {"a": {"b": 1}}, None),
        ("result.a == null", {"a": 1}, False),
        ("result.a == 'x' || result.a == 1", {"a": 1}, True),
        ("result.a == 'x' || result.a == 1", {"a": True}, None),
        ("size(result.xs) == 2", {"xs": ["a", "b"]}, True),
        ("result.name.startsWith('a') == true", {"name": "ab"}, True),
        ("result.note == 'result.ok == 5'", {"note": "result.ok == 5", "ok": "x"}, True),
        ("result.n > 1", {"n": "2"}, None),
        ("result.n > 1", {"n": 10**30}, None),
        ("result.n", {"n": 5}, None),
        ("result.n", {"n": True}, True),
    ],
)
def test_a_condition_answers_yes_no_or_cannot_be_worked_out(text: str, result: Any, answer: bool | None) -> None:
    assert Condition(text, names=("args", "result", "facts"))({"result": result, "args": {}, "facts": {}}) is answer


def test_conditions_see_arguments_and_facts() -> None:
    condition = Condition("args.amount <= facts.cap", names=("args", "facts"))
    assert [condition({"args": {"amount": n}, "facts": {"cap": 5}}) for n in (5, 6)] == [True, False]
    assert condition({"args": {"amount": 1}, "facts": {}}) is None


def test_only_the_fields_that_are_named_are_handed_over() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    condition = Condition("args.n == 1", names=("args",))
    assert condition({"args": {"n": 1, "big": 10**400, "odd": object(), "deep": deep}}) is True


def test_a_hostile_value_is_no_yes() -> None:
    class Hostile:
        def __iter__(self) -> Any:
            raise RuntimeError("no")

    assert Condition("args.x == 1", names=("args",))({"args": {"x": Hostile()}}) is None


def test_what_is_no_condition_is_refused_with_the_reason() -> None:
    assert fault("reslt.ok == false") == "unknown name `reslt` in `reslt.ok == false`; did you mean `result`?"
    assert fault("registers.r == 1") == (
        "unknown name `registers` in `registers.r == 1`; a condition here sees args, result, facts"
    )
    assert fault("result.ok ==").startswith("`result.ok ==` is no condition: ")
    assert fault("1 + 1") == "the condition `1 + 1` is a int, not a yes or no; compare it with something"


def test_a_condition_travels_as_its_text() -> None:
    condition = pickle.loads(pickle.dumps(Condition("result.ok == false", names=("result",))))
    assert (condition.text, condition({"result": {"ok": False}})) == ("result.ok == false", True)


def test_a_condition_with_a_huge_cost_is_no_yes() -> None:
    text = "args.xs.all(a, args.xs.all(b, args.xs.all(c, a + b + c >= 0)))"
    assert Condition(text, names=("args",))({"args": {"xs": list(range(200))}}) is not True


def test_a_text_with_a_nul_cannot_be_worked_out() -> None:
    # the evaluator reads a text up to its first NUL: what stands behind it would be judged by nobody
    values = {"args": {"path": "/tmp/a\0/../etc", "n": 1}}
    for text in ("args.path == '/tmp/a'", "args.path.endsWith('a')", "args.path.size() == 6", "args.path + 'b' == '/tmp/ab'"):
        assert Condition(text, names=("args",))(values) is None
    assert Condition("args.n == 1", names=("args",))(values) is True
