"""Time, turns and runs as data."""

import pytest

from duly import Called, Elapsed, at_most
from steps import back, call, hear, held, words


def test_elapsed_time_never_falls() -> None:
    session = held(tools=["a"])
    words(session, Elapsed(5.0), Elapsed(3.0), call("a", "1", {}, at=4))
    assert session.state.at == 5.0
    words(session, Elapsed(7))
    assert session.state.at == 7.0


def test_time_passes_for_refused_acts_too() -> None:
    session = held(at_most("a", 0))
    words(session, call("a", "1", {}, at=9.0))
    assert session.state.at == 9.0


def test_an_instant_with_a_zone_sets_the_wall_time() -> None:
    session = held(tools=["a"])
    words(session, Elapsed("2024-05-01T12:00:00+02:00"), Elapsed("2024-05-01T10:00:30Z"))
    assert session.state.at == 30.0
    words(session, Elapsed("2024-05-01T09:00:00Z"))
    assert session.state.at == 30.0


@pytest.mark.parametrize(
    "at", ["2024-05-01T12:00:00", "noon", "", True, float("nan"), float("inf"), 10**400, -(10**400)]
)
def test_what_is_no_time_is_malformed_and_admits_nothing(at: object) -> None:
    session = held(at_most("a", 1))
    before = session.state
    assert words(session, Called("a", {}, id="1", at=at)) == ["unrecognized"]  # type: ignore[arg-type]
    assert session.state == before


def test_a_turn_begins_with_another_turn_on_an_event() -> None:
    session = held(at_most("a", 1, scope="turn"))
    acts = [call("a", str(n), {}, turn=turn) for n, turn in enumerate(["t1", "t1", "t2", "t2", "t1"])]
    assert words(session, *acts) == ["allowed", "violation", "allowed", "violation", "allowed"]


def test_counts_per_run_and_per_session_are_kept_apart_and_named() -> None:
    session = held(at_most("s", 2, scope="run"), at_most("s", 3))
    acts = [call("s", str(n), {}, run=run) for n, run in enumerate(["r1", "r1", "r1", "r2", "r2"])]
    assert words(session, *acts[:4]) == ["allowed", "allowed", "violation", "allowed"]
    verdict = session.step(acts[4])
    assert [reason.rule for reason in verdict.reasons] == ["at_most(s, 3)"]
    assert verdict.reasons[0].message == "`s` is allowed 3 times, and was admitted 3 times"


def test_a_count_per_run_survives_a_message_and_a_snapshot() -> None:
    session = held(at_most("s", 1, scope="run"))
    words(session, call("s", "1", {}, run="r1"), hear("Hi"))
    again = type(session).from_dict(session.contract, session.to_dict())
    assert words(again, call("s", "2", {}, run="r1"), call("s", "3", {}, run="r2")) == ["violation", "allowed"]


def test_a_refusal_names_the_scope_of_its_count() -> None:
    session = held(at_most("s", 1, scope="turn"))
    session.step(call("s", "1"))
    assert session.step(call("s", "2")).reasons[0].text() == (
        "`s` is allowed once, and was admitted 1 time in this turn (do not ask for it again before the next turn)"
    )


def test_without_turns_the_session_is_one_turn() -> None:
    session = held(at_most("s", 1, scope="turn"))
    assert words(session, call("s", "1"), back("s", "1"), call("s", "2")) == ["allowed", "allowed", "violation"]
