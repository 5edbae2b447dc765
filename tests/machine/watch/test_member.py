"""Members: which acts a rule is about, and what cannot be worked out."""

from decimal import Decimal

import pytest

from duly import Tool, at_most, forbid
from duly.machine.condition import Condition
from duly.machine.watch.member import Act, Member, field_of, key_of, union
from duly.values.expr import UNSET
from steps import call, held, words


def test_one_condition_of_several_must_hold_and_doubt_is_no_answer() -> None:
    conditions = tuple(Condition(text, names=("args",)) for text in ("args.n > 1", "args.m > 1"))
    member = Member({"a": conditions}, "a")
    answers = [member.takes(Act("a", args)) for args in ({"n": 2}, {"n": 0, "m": 2}, {"n": 0, "m": 0}, {"n": 0}, {"m": 2})]
    assert answers == [True, True, False, None, True]
    assert member.takes(Act("b", {"n": 2})) is False


def test_a_name_that_is_taken_whatever_its_arguments_stays_so_in_a_union() -> None:
    condition = (Condition("args.n > 1", names=("args",)),)
    whole = union((Member({"a": condition, "b": condition}, "x"), Member({"a": ()}, "y")), "x or y")
    assert whole.labels == {"a": (), "b": condition}


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [("n", ("n",), False), ("args.n", ("n",), False), ("result.a.b", ("a", "b"), True), ("result", ("result",), False),
     ("args", ("args",), False), ("order.id", ("order", "id"), False)],
)  # fmt: skip
def test_a_field_stands_in_the_arguments_or_in_the_result(text: str, path: tuple[str, ...], result: bool) -> None:
    field = field_of(text)
    assert (field.path, field.result, field.text) == (path, result, text)


def test_equal_values_share_a_key_and_what_is_missing_has_none() -> None:
    assert key_of(1) == key_of(1.0) == key_of(Decimal("1.00")) != key_of("1")
    assert key_of(None) is key_of(UNSET) is None


def test_names_groups_globs_and_lists_with_conditions_and_exceptions() -> None:
    tools = [Tool("db_read", effect="none"), Tool("db_write", effect="write"), Tool("db_drop", effect="write"), Tool("sh")]
    session = held(
        forbid(["db_*", {"of": "sh", "where": "args.c == 'x'"}], except_=["db_read"]), at_most("@change", 9), tools=tools,
        groups={"change": {"effect": "write"}},
    )
    calls = (call("db_read", "1"), call("db_write", "2"), call("db_drop", "3"), call("sh", "4", {"c": "x"}),
             call("sh", "5", {"c": "y"}))  # fmt: skip
    assert words(session, *calls) == ["allowed", "violation", "violation", "violation", "allowed"]
