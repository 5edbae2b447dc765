"""Hostile arguments under conditions, sums and counts: refused, or judged, with a reason that says which; never an error
of duly's own, and in bounded time."""

from decimal import Decimal
from time import process_time
from typing import Any

import pytest

from duly import Called, Contract, Session
from duly.machine.terms import Rule
from duly.values.event import Returned
from duly.values.verdict import Verdict

RULES = {
    "condition": Rule("requires", {"of": "pay", "that": "args.x != 'b' && args.x != 'c'"}),
    "left to the evaluator": Rule("requires", {"of": "pay", "that": "size(args.x + 'b') > 3"}),
    "pattern": Rule("requires", {"of": "pay", "that": "args.x.matches('(a|aa)+$')"}),
    "where": Rule("at_most", {"of": {"of": "pay", "where": "args.x == 1"}, "n": 5}),
    "sum": Rule("at_most_total", {"of": "pay", "field": "x", "limit": 5}),
    "units": Rule("at_most_total", {"of": "pay", "field": "n", "limit": {"eur": 5}, "units": "x"}),
    "count": Rule("at_most", {"of": "pay", "n": 5, "weigh": {"pay": "x"}}),
    "same": Rule("at_most", {"of": "pay", "n": 5}, same="x"),
    "no repeat": Rule("no_repeat", {"of": "pay", "n": 1}),
}


def nested(depth: int, item: Any = 1) -> Any:
    for level in range(depth):
        item = {"k": item} if level % 2 else [item]
    return item


HOSTILE: dict[str, Any] = {
    "100,000 lists and objects in each other": nested(100_000),
    "60 lists and objects in each other": nested(60),
    "an integer of 400 digits": 10**400 - 1,
    "an integer of 5,000 digits": 10**5000,
    "a decimal with a huge exponent": Decimal("1e999999"),
    "a tiny decimal": Decimal("1e-999999"),
    "a text of 10 MB": "a" * 10_000_000,
    "a text of 10 MB of digits": "1" * 10_000_000,
    "a lone surrogate": "x\ud800y",
    "a surrogate in a key": {"\udfff": 1},
    "a NUL": "b\0",
    "a list of 100,000": [1] * 100_000,
    "no number": float("nan"),
    "infinity": float("inf"),
    "a set": {1, 2},
    "bytes": b"x",
}


def step(rule: Rule, value: Any) -> tuple[Verdict, float]:
    session = Session(Contract(rule))
    begun = process_time()
    verdict = session.step(Called("pay", {"x": value, "n": 1}, id="c"))
    taken = process_time() - begun
    assert session.step(Returned("pay", {"ok": value if verdict.word == "allowed" else 1}, id="c")) is not None
    return verdict, taken


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_hostile_arguments_are_judged_or_refused_with_a_reason_in_bounded_time(rule: Rule, value: Any) -> None:
    verdict, taken = step(rule, value)
    assert verdict.word in ("allowed", "violation", "unrecognized")
    assert taken < 5  # of the processor's own time; most take microseconds, and a text of 10 MB a tenth of a second
    if verdict.word != "allowed":
        assert all(reason.message and reason.kind != "internal" for reason in verdict.reasons)
        assert len(verdict.text()) < 5_000


@pytest.mark.parametrize(
    ("rule", "value", "reason"),
    [
        ("condition", "100,000 lists and objects in each other", "`payload.x"),
        ("condition", "an integer of 400 digits", "cannot be worked out"),
        ("condition", "a lone surrogate", "`payload.x` holds text that cannot be written as UTF-8"),
        ("condition", "a NUL", "cannot be worked out"),
        ("pattern", "a NUL", "cannot be worked out"),
        ("where", "an integer of 400 digits", "cannot be worked out"),
        ("sum", "an integer of 400 digits", "asks for 9999"),
        ("sum", "an integer of 5,000 digits", "`x` of `pay` is no finite number"),
        ("sum", "a decimal with a huge exponent", "`x` of `pay` is no finite number"),
        ("sum", "a tiny decimal", "`x` of `pay` is no finite number"),
        ("sum", "a text of 10 MB of digits", "`x` of `pay` is no finite number"),
        ("units", "a text of 10 MB", "`x` of `pay` names no unit that has a limit"),
        ("count", "a decimal with a huge exponent", "is neither a list nor a whole number from 0"),
        ("count", "a list of 100,000", "counts 100000, and 5 of 5 are left"),
    ],
)
def test_the_reason_says_what_is_wrong_with_a_hostile_argument(rule: str, value: str, reason: str) -> None:
    verdict, _ = step(RULES[rule], HOSTILE[value])
    assert verdict.word != "allowed"
    assert reason in verdict.text()
