"""Hostile arguments at every door: functions, journals, recorded runs. Refused with a reason or run, and always on record."""

from pathlib import Path
from typing import Any

import pytest

from duly import Called, Contract, Gate, Refused, Session, Tool, at_most, at_most_total, guard, requires
from duly.journal.journal import open_journal
from duly.journal.replay import again
from duly.session.snapshot import save

CONTRACT = Contract(
    at_most("pay", 3), at_most_total("pay", "x", 5), requires("pay", "args.x != 3"), name="hostile",
    tools=[Tool("pay"), Tool("look")],
)  # fmt: skip


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


VALUES: dict[str, tuple[Any, str]] = {
    "a number as text": ("2", "violation"),
    "words": ("two", "violation"),
    "an integer of 400 digits": (10**400, "violation"),
    "100,000 lists in each other": (nested(100_000), "unrecognized"),
    "a text of 10 MB": ("a" * 10_000_000, "violation"),
    "a lone surrogate": ("x\ud800", "unrecognized"),
    "no number": (float("nan"), "unrecognized"),
    "an infinity": (float("inf"), "unrecognized"),
    "nothing": (None, "violation"),
}


@pytest.mark.parametrize("store", ["none", "memory", "sqlite"])
@pytest.mark.parametrize("name", VALUES)
def test_a_guarded_function_runs_or_is_refused_with_a_reason_and_the_record_stays_whole(
    name: str, store: str, tmp_path: Path
) -> None:
    value, expected = VALUES[name]
    ran: list[Any] = []
    journal = open_journal("memory:" if store == "memory" else str(tmp_path / "j.sqlite"))
    gate = Gate(Session(CONTRACT)) if store == "none" else Gate.open(CONTRACT, journal, "s")
    pay = guard(gate, lambda x: ran.append(x), name="pay")
    refused = None
    try:
        pay(x=value)
        said = "ran"
    except Refused as error:
        refused, said = error, error.verdict.word
    if refused is not None:
        assert all(reason.message and reason.kind != "internal" for reason in refused.verdict.reasons)
        assert len(str(refused).encode()) <= 2000
    assert (said, ran) == (expected, [value] if expected == "ran" else [])
    guard(gate, lambda x: ran.append(x), name="pay")(x=1)  # the session lives on
    if store != "none":
        gate.leave()
        steps = list(again(CONTRACT, journal.read("s", 0)))
        assert all(step.agrees for step in steps)
        assert save(CONTRACT, steps[-1].state) == save(CONTRACT, gate.session.state)
    journal.close()


RAW: dict[str, str] = {
    "a list": "[1]", "a text": '"x"', "a number": "7", "nothing": "null", "no JSON": "{x: 1}", "a cut": '{"x": ',
    "a repeated key": '{"x": 1, "x": 2}', "NaN": '{"x": NaN}', "Infinity": '{"x": -Infinity}',
    "100,000 lists": '{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "a lone surrogate": '{"x": "\\ud800"}',
    "two objects": '{"x": 1} {"x": 2}', "blanks": "  ",
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_undecoded_arguments_that_are_no_one_object_are_malformed_and_counted_nowhere(name: str) -> None:
    session = Session(Contract(at_most("pay", 3), tools=[Tool("pay", schema={"required": ["x"]})]))
    verdict = session.step(Called("pay", id="1", raw=RAW[name]))
    assert (verdict.word, [reason.kind for reason in verdict.reasons]) == ("unrecognized", ["malformed"])
    assert (session.state.open, session.state.data) == ({}, (0,))
