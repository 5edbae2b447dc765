"""Histories that may be meant otherwise, and those that other rules never let hold."""

from duly import Contract, Tool, at_least, forbid, history, never_after, protocol
from duly.check.contract import check_contract


def said(*parts: object, tools: str = "a b c") -> list[tuple[str, str]]:
    found = check_contract(Contract(*parts, tools=[Tool(name, effect="none") for name in tools.split()]))  # type: ignore[arg-type]
    return [(each.severity, each.message) for each in found]


def test_a_count_of_the_judged_act_that_allows_one_more_is_a_warning() -> None:
    assert said(history("a", "count(a) <= 3")) == [
        ("warning", "`count(a) <= 3` looks at what came before the act, so 4 are allowed")
    ]
    assert said(history("a", "count(a) < 3 and count(b) <= 3")) == []


def test_names_that_are_declared_nowhere_are_warned_of() -> None:
    rule = history("a", "did(b) or count(bb) >= 2")
    assert said(rule) == [
        ("warning", "the rule `history(a, did(b) or count(bb) >= 2)` names `bb`, which is not declared")
    ]


def test_an_act_that_waits_for_what_never_comes_is_an_error() -> None:
    assert said(history("a", "did(b) and not did(c)", id="h"), forbid("b")) == [
        ("error", "`a` is never allowed: `h` waits for `b`, which never comes first")
    ]
    assert said(history("a", "did(b) or did(c)", id="h"), forbid("b")) == []


def test_an_act_that_waits_for_what_forbids_it_is_an_error() -> None:
    assert said(history("a", "all(b, c)", id="h"), never_after("a", "c", id="n")) == [
        ("error", "`a` is never allowed: `h` waits for `c`, after which `n` refuses it")
    ]
    assert said(history("a", "did(b) and not did(b)", id="h")) == [
        ("error", "`a` is never allowed: `h` waits for `b`, after which `h` refuses it")
    ]


def test_a_duty_that_a_history_leaves_no_room_for_is_an_error() -> None:
    assert said(history("a", "count(a) < 2", id="h"), at_least("a", 3, id="d")) == [
        ("error", "the duty `d` can never be met: `h` allows 2")
    ]


def test_an_act_of_which_no_protocol_speaks_is_a_warning() -> None:
    def found(*parts: object, **terms: object) -> list[tuple[str, str]]:
        return [(each.message, each.help) for each in check_contract(Contract(*parts, **terms))]  # type: ignore[arg-type]

    desk = protocol("!kyc . !pay")
    assert found(desk, history("pya", "did(kyc)", id="h")) == [
        ("`h` is about `pya`, of which no protocol speaks", "did you mean `pay`?")
    ]
    assert found(desk, history("pay", "did(kyc)")) == []
    assert found(desk, history("mail", "did(kyc)"), outside=("mail",)) == []
    assert found(history("pya", "did(kyc)")) == []
