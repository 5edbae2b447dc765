"""Rules that cannot all hold."""

from typing import Any

import pytest

from duly import (
    Contract,
    LabelRule,
    Rule,
    Tool,
    at_least,
    at_most,
    between,
    exclusive,
    forbid,
    fresh,
    must_happen,
    must_precede,
    never_after,
    permit,
    rate_limit,
)  # fmt: skip
from duly.check.contract import check_contract


def said(*rules: Rule, **terms: Any) -> list[str]:
    return [each.message for each in check_contract(Contract(*rules, **terms)) if each.code in ("clash", "never")]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ((must_precede("a", "b"), must_precede("b", "a")),
         ["`b` is never allowed: `must_precede(a, b)` waits for `a`, which never comes first",
          "`a` is never allowed: `must_precede(b, a)` waits for `b`, which never comes first"]),
        ((must_precede("a", "b", same="k"), must_precede("b", "a", same="k")),
         ["`a` is never allowed: `must_precede(b, a, same=k)` waits for `b`, which never comes first",
          "`b` is never allowed: `must_precede(a, b, same=k)` waits for `a`, which never comes first"]),
        ((must_happen("c"), never_after("c", "start"), must_precede("start", "c")),
         ["`c` is never allowed: `must_precede(start, c)` waits for `start`, after which `never_after(c, start)` refuses it",
          "the duty `must_happen(c)` can never be met: `must_precede(start, c)` and `never_after(c, start)` never allows `c`"]),
        ((exclusive("d", "e"), must_happen("d"), must_happen("e")),
         ["`must_happen(d)` and `must_happen(e)` can never both be met: `exclusive(d, e)` allows one of them"]),
        ((at_most("f", 0), must_happen("f")), ["the duty `must_happen(f)` can never be met: `at_most(f, 0)` never allows `f`"]),
        ((forbid("f"), at_least("f", 2)), ["the duty `at_least(f, 2)` can never be met: `forbid(f)` never allows `f`"]),
        ((at_most("f", 1), at_least("f", 2)), ["the duty `at_least(f, 2)` can never be met: `at_most(f, 1)` allows 1"]),
        ((forbid("a"), must_precede("a", "b", same="k")),
         ["`b` is never allowed: `must_precede(a, b, same=k)` waits for `a`, which never comes first"]),
        ((forbid("a"), permit("a")), ["`permit(a)` means `a` to be possible, and `forbid(a)` always refuses it"]),
        ((exclusive("a", "b"), fresh("a", "b")),
         ["`b` is never allowed: `fresh(a, b)` waits for `a`, after which `exclusive(a, b)` refuses it"]),
    ],
)  # fmt: skip
def test_what_can_never_hold_together_is_said_with_the_rules_that_clash(rules: tuple[Rule, ...], message: list[str]) -> None:
    assert said(*rules) == message


@pytest.mark.parametrize(
    "rules",
    [
        (must_precede("a", "b"),),
        (must_happen("c"), never_after("c", "start")),
        (must_precede("start", "c"), never_after("c", "start", scope="turn")),
        (must_precede("start", "c"), never_after("c", "start", same="k")),
        (must_precede("start", "c"), never_after("c", "start", mode="shadow")),
        (exclusive("d", "e"), must_happen(["d", "e"])),
        (exclusive("d", "e", same="k"), must_happen("d"), must_happen("e")),
        (at_most("f", 0, on_excess="ask"), must_happen("f")),
        (at_most("f", 1, scope="turn"), at_least("f", 2)),
        (forbid({"of": "f", "where": "args.n > 1"}), must_happen("f"), permit("f")),
        (between("w", "open", "close"), never_after("open", "close")),
        (rate_limit("a", 1, 5), at_least("a", 9)),
    ],
)
def test_what_can_hold_together_is_left_alone(rules: tuple[Rule, ...]) -> None:
    assert said(*rules) == []


def test_what_people_say_is_possible_and_what_no_tool_is_called_is_not() -> None:
    rules = (must_precede("Yes", "pay", same="k"), must_precede("lookp", "pay", id="typo", same="k"))
    assert said(*rules, tools=[Tool("pay"), Tool("lookup")], labels=[LabelRule("Yes")]) == [
        "`pay` is never allowed: `typo` waits for `lookp`, which never comes first"
    ]


def test_rules_with_books_that_say_the_same_are_said() -> None:
    rules = (exclusive("a", "b", id="one"), exclusive("b", "a", id="two"), exclusive("a", "b", id="turns", scope="turn"))
    found = check_contract(Contract(*rules))
    assert [(each.message, each.severity) for each in found] == [("the rule `two` says the same as `one`", "warning")]


def test_fifty_rules_over_thirty_tools_take_no_time() -> None:
    names = [f"t{n}" for n in range(30)]
    rules = [must_precede(names[n % 30], names[(n * 7 + 1) % 30], same="k", id=f"r{n}") for n in range(50)]
    assert said(*rules) == said(*rules)
