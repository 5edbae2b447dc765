"""Rules by value: one book each, told apart by the one equality, and dropped where nothing is left in it."""

from decimal import Decimal
from typing import Any

import pytest

from duly import Contract, DulyError, Rule, at_most, must_follow, must_precede, never_after, rate_limit
from duly.machine.watch import same
from steps import back, broke, call, held, ran, why, words


def test_each_value_has_a_book_of_its_own() -> None:
    session = held(at_most("a", 1, same="n"))
    assert words(session, call("a", "1", {"n": 1}), call("a", "2", {"n": 2}), call("a", "3", {"n": 1})) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [(1, 1.0, True), (1, Decimal("1.00"), True), (0.0, -0.0, True), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
     ([1, 2], [1.0, 2.0], True), (1, "1", False), (1, True, False), ("true", True, False), ([1, 2], [2, 1], False),
     ("é", "e\u0301", False), ("", 0, False), (10**400, 10**400 + 1, False), ("a", "A", False)],
)  # fmt: skip
def test_values_are_equal_as_everywhere(one: Any, other: Any, equal: bool) -> None:
    session = held(at_most("a", 1, same="n"))
    assert words(session, call("a", "1", {"n": one}), call("a", "2", {"n": other})) == [
        "allowed", "violation" if equal else "allowed",
    ]  # fmt: skip


def test_a_missing_key_refuses() -> None:
    session = held(must_precede("a", "b", same="order.id"))
    for args in ({}, {"order": 1}, {"order": {"id": None}}):
        assert why(session.step(call("a", "1", args)))[0][1] == "same"


def test_a_path_for_each_name_and_a_result_for_what_has_to_succeed() -> None:
    session = held(must_precede("create", "delete", same={"create": "result.id", "delete": "args.item"}))
    assert words(session, call("create", "1"), call("delete", "2", {"item": 7})) == ["allowed", "violation"]
    assert words(session, back("create", "1", {"id": 7}), call("delete", "2", {"item": 7.0}), call("delete", "3", {"item": 8})) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip
    ran(session, "create", "4", result={"name": "none"})
    assert words(session, call("delete", "5", {"item": 9})) == ["violation"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (must_precede("a", "b", same={"a": "n"}), "`same` says no path for `b`"),
        (at_most("a", 1, same="result.id"), "`same` takes the value of `a` from its result, and is asked before there is one"),
        (must_precede("a", "b", on="called", same={"a": "result.id", "b": "id"}),
         "`same` takes the value of `a` from its result, and is asked before there is one"),
        (never_after("a", "b", same={"a": "id", "b": "result.id"}),
         "`same` takes the value of `b` from its result, and is asked before there is one"),
    ],
)  # fmt: skip
def test_what_could_never_be_told_apart_is_no_rule(rule: Rule, said: str) -> None:
    with pytest.raises(DulyError) as caught:
        Contract(rule)
    assert [fault.message for fault in caught.value.diagnostics] == [said]


def test_a_result_may_name_the_value_of_what_forbids_once_it_has_succeeded() -> None:
    session = held(never_after("use", "drop", on="returned", same={"use": "id", "drop": "result.id"}))
    ran(session, "drop", "1", result={"id": 1})
    assert words(session, call("use", "2", {"id": 1}), call("use", "3", {"id": 2})) == ["violation", "allowed"]


def test_a_book_with_nothing_left_in_it_is_dropped() -> None:
    session = held(at_most("a", 1, same="n"), Rule("at_most_total", {"of": "a", "field": "n", "limit": 9}, same="n"),
                   never_after("b", "a", same="n"), must_precede("a", "b", on="called", same="n"),
                   rate_limit("a", 1, 10, same="n"), must_follow("a", "b", 10, same="n"))  # fmt: skip
    for n in range(50):
        assert words(session, call("a", str(n), {"n": 1 + n / 100}, at=0), broke(str(n))) == ["allowed", "allowed"]
    assert session.state.books == Contract(*session.contract.rules.values()).start.books


def test_a_rule_keeps_so_many_books_and_refuses_further_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same, "KEYS", 2)
    session = held(at_most("a", 2, same="n"))
    assert words(session, *(call("a", str(n), {"n": n % 3}) for n in range(5))) == [
        "allowed", "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_acts_of_other_values_take_no_room_from_a_duty() -> None:
    session = held(must_follow("lock", "unlock", {"acts": 1}, same="n"))
    assert words(session, call("lock", "1", {"n": 1}), call("x", "2"), call("x", "3", {"n": 2}), call("x", "4", {"n": 1})) == [
        "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip
