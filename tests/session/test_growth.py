"""A state is bounded by the rules and the open calls, not by what has happened."""

from typing import Any

from msgspec import Struct

import duly
from duly.machine.cells import Cells
from duly.machine.terms import Rule

RULES = (
    duly.must_precede("look", "pay"),
    duly.at_most("pay", 10**9),
    Rule("at_most_total", {"of": "pay", "field": "amount", "limit": 10**12}),
    Rule("requires", {"of": "pay", "that": "args.amount < 2"}),
    Rule("no_repeat", {"of": "pay", "n": 3}),
    Rule("rate_limit", {"of": "look", "n": 5, "per": 60}),
    Rule("fresh", {"of": "look", "for": "pay"}),
    Rule("between", {"of": "pay", "from": "look", "to": "stop"}),
    Rule("at_least", {"of": "pay", "n": 2}),
    Rule("exclusive", {"members": ["pay", "drop"]}),
)


def parts(value: Any) -> int:
    """How many values a value is made of, itself included."""
    if isinstance(value, Struct):
        return 1 + sum(parts(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, dict):
        return 1 + sum(parts(key) + parts(item) for key, item in value.items())
    if isinstance(value, tuple | list | frozenset | Cells):
        return 1 + sum(parts(item) for item in value)
    return 1


def after(pays: int, *, open: int = 0) -> duly.Session:
    session = duly.Session(duly.Contract(*RULES), keep=10)
    session.step(duly.Called("look", {}, id="l", at=1.0))
    session.step(duly.Returned("look", {}, id="l"))
    for number in range(pays):
        assert session.step(duly.Called("pay", {"amount": 1, "n": number % 7}, id=f"c{number}", at=2.0 + number))
        assert session.step(duly.Returned("pay", {"ok": number}, id=f"c{number}"))
        session.step(duly.Called("drop", {}, id=f"d{number}"))
    for number in range(open):
        assert session.step(duly.Called("pay", {"amount": 1, "n": number % 7}, id=f"o{number}"))
    return session


def test_a_state_has_as_many_parts_after_thousands_of_events_as_after_some() -> None:
    young, old = after(20), after(2000)
    assert parts(old.state) == parts(young.state)
    assert len(old.journal) == len(young.journal) == 10


def test_what_open_calls_add_to_a_state_does_not_depend_on_the_history() -> None:
    # 14 and 1400 pays leave the same row of equal acts behind
    young, old = after(14, open=5), after(1400, open=5)
    assert parts(after(14).state) < parts(young.state) == parts(old.state)
