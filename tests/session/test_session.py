"""Live sessions: the short forms, the record, threads, and what a monitor must not get wrong."""

import datetime
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from duly import (
    Allowed,
    Called,
    Closed,
    Contract,
    DulyError,
    Received,
    Refused,
    Returned,
    Sent,
    Session,
    Tool,
    Violation,
    at_most,
    must_precede,
    protocol,
)  # fmt: skip
from steps import back, call, held, ran, why, words

DESK = "rec L.{?Ask.!lookup.?lookup.L, ?Yes.!refund.?refund.L, ?Bye}"


def test_the_short_forms_call_declared_tools_and_say_all_else() -> None:
    session = held(DESK, tools=["lookup", "refund"])
    assert [verdict.word for verdict in (
        session.receive("Ask"), session.send("lookup", {"n": 1}), session.receive("lookup", {"x": 1}), session.receive("Bye"),
    )] == ["allowed"] * 4  # fmt: skip
    assert [type(entry.event) for entry in session.journal] == [Received, Called, Returned, Received]
    assert (session.trace, session.is_terminal) == (["?Ask", "!lookup", "?lookup", "?Bye"], True)


def test_without_declared_tools_the_short_forms_say_and_hear() -> None:
    session = held("!a.?b")
    assert (session.send("a").word, session.receive("b").word, session.is_terminal) == ("allowed", "allowed", True)
    assert [type(entry.event) for entry in session.journal] == [Sent, Received]


def test_a_look_gives_the_verdict_of_the_step_and_moves_nothing() -> None:
    session = held(DESK, tools=["lookup", "refund"])
    before, entries = session.state, len(session.journal)
    assert session.peek_receive("Ask").word == "allowed"
    assert session.peek_send("refund").word == "violation"
    assert session.peek(call("lookup", "1")).word == "violation"
    assert (session.state is before, len(session.journal)) == (True, entries)


def test_a_step_that_must_succeed_raises_with_the_verdict() -> None:
    session = held("!a(n as r)")
    with pytest.raises(Refused) as caught:
        session.require(call("b", "1"))
    assert caught.value.verdict.word == "violation"
    assert session.require(call("a", "2", {"n": 5})) == Allowed({"n": 5}, id="2")


def test_how_a_rule_stands_can_be_asked() -> None:
    session = held("!a.?a", at_most("a", 0, id="cap"), must_precede("x", "a"))
    assert [session.status(rule) for rule in ("protocol", "cap", "must_precede(x, a)")] == [
        "open",
        "satisfied",
        "satisfied",
    ]
    session.observe(call("a", "1"))
    assert [session.status(rule) for rule in ("protocol", "cap", "must_precede(x, a)")] == [
        "open",
        "violated",
        "violated",
    ]
    with pytest.raises(DulyError, match="unknown rule `cpa`"):
        session.status("cpa")


def test_the_state_of_a_session_can_be_named() -> None:
    session = held("!a.?a")
    assert session.current_state == 0
    assert held(at_most("a", 1)).current_state is None
    assert held("!a", "!b").current_state == (0, 0)
    assert len(held("!a || !b").current_state) == 3
    assert repr(session) == "Session('unnamed', state=0)"


def test_a_session_is_held_to_a_contract() -> None:
    for parts in ((), ("!a",), (protocol("!a"),)):
        with pytest.raises(DulyError, match="a session is held to a contract"):
            Session(*parts)  # type: ignore[arg-type]


def test_numbers_are_given_once() -> None:
    session = held(tools=["a"])
    assert [session.number(), session.number()] == ["#1", "#2"]
    assert session.step(Called("a", {})).id == "#3"  # type: ignore[union-attr]


# what the monitor of llmsessioncontract gets wrong: peers, 2B


def test_one_wrong_call_does_not_end_the_session() -> None:
    session = held("?a.!a.?b.!b")
    said = [session.receive("a"), session.send("b"), session.send("a"), session.receive("b"), session.send("b")]
    assert [verdict.word for verdict in said] == ["allowed", "violation", "allowed", "allowed", "allowed"]
    assert session.is_terminal


def test_a_missing_field_is_not_bound_as_null() -> None:
    session = held("?read(path as p).!write(path == p)")
    assert [session.receive("read").word, session.send("write", {"path": None}).word] == ["violation", "violation"]


def test_a_later_message_without_the_field_does_not_wipe_a_register() -> None:
    session = held("rec L.{?read(path as p).L, !write(path == p).L}")
    session.receive("read", {"path": "a"})
    assert session.receive("read").word == "violation"
    assert (session.registers, session.send("write", {"path": "a"}).word) == ({"p": "a"}, "allowed")


def test_a_truth_value_is_no_number() -> None:
    session = held("!a(n == 1)")
    assert [session.send("a", {"n": value}).word for value in (True, "1", 1.0)] == ["violation", "violation", "allowed"]


class Hostile:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("never compare me")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("value", [Hostile(), datetime.datetime(2024, 5, 1), b"x", float("nan"), {1, 2}, "\ud800"])
def test_what_is_no_json_is_refused_at_the_door_and_leaves_no_trace_in_the_state(value: Any) -> None:
    session = held("!a(n == 1)")
    before = session.state
    verdict = session.send("a", {"n": value})
    assert (verdict.word, why(verdict), session.state) == ("unrecognized", [("event", "malformed")], before)
    assert [entry.event for entry in session.journal] == [Sent("a")]
    assert Session.from_dict(session.contract, session.to_dict()).send("a", {"n": 1}).word == "allowed"


@pytest.mark.parametrize("payload", ["text", [1], 5, True])
def test_a_payload_that_is_no_object_meets_no_guard(payload: Any) -> None:
    session = held("!a(n == 1)")
    assert session.send("a", payload).word == "violation"
    assert held("!a(n == 1)", tools=["a"]).send("a", payload).word == "unrecognized"


def test_a_payload_that_is_changed_later_changes_nothing() -> None:
    session = held("!a(items as r)", tools=["a"])
    payload: dict[str, Any] = {"items": [1, {"x": 1}]}
    session.send("a", payload)
    payload["items"].append(2)
    payload["items"][1]["x"] = 2
    session.registers["r"].append(3)
    assert session.registers == {"r": [1, {"x": 1}]}
    assert session.state.open["#1"].args == {"items": [1, {"x": 1}]}


def test_a_refusal_prints_no_payload() -> None:
    session = held("!pay(amount <= 5)")
    assert "4111" not in session.send("pay", {"amount": 9, "card": "4111-1111"}).text()


@pytest.mark.parametrize("label", [5, None, b"a", ["a"], ("a",)])
def test_a_label_that_is_no_text_moves_nothing(label: Any) -> None:
    session = held("!'None'.!'5'")
    before = session.state
    session.send(label)
    session.receive(label)
    session.step(Called(label, {}))
    assert session.state == before


def test_a_tuple_is_a_list_from_the_start() -> None:
    session = held("!a(xs as r).!b(xs == r)")
    session.send("a", {"xs": (1, 2)})
    again = Session.from_dict(session.contract, session.to_dict())
    assert (again.registers, again.send("b", {"xs": [1, 2]}).word) == ({"r": [1, 2]}, "allowed")


def test_an_act_after_the_end_is_told_apart_and_does_not_halt() -> None:
    session = held("!a")
    session.send("a")
    verdict = session.send("a")
    assert (verdict.word, why(verdict)) == ("violation", [("protocol", "ended")])
    assert verdict.reasons[0].text() == (
        "`a` comes after the end of the protocol (nothing more is to be done in this session)"
    )
    assert (session.is_terminal, session.is_halted) == (True, False)


def test_a_reset_begins_anew_and_keeps_the_record() -> None:
    session = held("!a.!b", on_violation="halt")
    session.send("b")
    session.reset()
    assert (session.is_halted, session.send("a").word) == (False, "allowed")
    assert session.trace == ["!b", "reset", "!a"]


def test_a_tool_that_is_called_unrecognized_is_a_tool_like_any_other() -> None:
    session = held("!a")
    assert [session.send("Unrecognized").word, session.receive("Unrecognized").word, session.receive(None).word] == [
        "violation", "allowed", "unrecognized",
    ]  # fmt: skip


def test_only_allowed_is_true() -> None:
    session = held("!a.!b")
    assert [bool(session.send(label)) for label in ("b", "a", "b")] == [False, True, True]
    assert not session.receive(None)


def test_a_refusal_says_state_place_and_the_way_back() -> None:
    session = held("?Ask.!lookup.?lookup.!refund", tools=["lookup", "refund"])
    assert session.send("refund").text() == (
        "refused: `refund` has no place in the protocol in state 0; expected `?Ask` (take one of the expected steps)\n"
        "to make it legal: first ask for `Ask`, then call `lookup`"
    )


def race(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What ``count`` real threads give that all begin together."""
    results: list[Any] = [None] * count
    start = threading.Barrier(count)

    def run(index: int) -> None:
        start.wait()
        results[index] = work(index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture
def eager() -> Any:
    """Threads that are switched as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_of_many_threads_exactly_one_takes_a_step_that_is_legal_once(eager: None) -> None:
    for _ in range(20):
        session = held("!pay(id == 'x')")
        verdicts = race(8, lambda index, held=session: held.send("pay", {"id": "x"}))  # type: ignore[misc]
        assert sorted(verdict.word for verdict in verdicts) == ["allowed"] + ["violation"] * 7
        assert session.trace == ["!pay"] * 8


def test_a_limit_holds_over_many_threads(eager: None) -> None:
    session = held(at_most("pay", 10))
    verdicts = race(50, lambda index: session.step(call("pay", f"p{index}")))
    assert sum(map(bool, verdicts)) == 10
    assert (session.state.data, len(session.journal)) == ((10,), 50)


def test_numbers_of_calls_from_many_threads_are_all_different(eager: None) -> None:
    session = held(tools=["a"])
    verdicts = race(20, lambda index: session.step(Called("a", {})))
    assert len({verdict.id for verdict in verdicts}) == 20


def test_what_a_session_remembers_of_its_past_is_bounded_and_decides_nothing() -> None:
    session = Session(Contract(protocol("rec L.!a.?a.L"), tools=[Tool("a")]), keep=5)
    for n in range(100):
        ran(session, "a", f"c{n}")
    assert (len(session.trace), session.send("a").word) == (5, "allowed")
    assert session.state.open.keys() == {"#1"}
    gc.collect()


def test_one_session_may_be_closed_and_another_of_the_same_contract_goes_on() -> None:
    contract = Contract(must_precede("login", "transfer"), at_most("transfer", 1))
    first, second = Session(contract), Session(contract)
    ran(first, "login", "l1")
    assert words(second, call("transfer", "t1")) == ["violation"]
    assert words(first, call("transfer", "t2"), Closed()) == ["allowed", "allowed"]
    ran(second, "login", "l2")
    assert words(second, call("transfer", "t3"), back("transfer", "t3")) == ["allowed", "allowed"]


def test_a_refusal_matches_by_its_class() -> None:
    match held("!a").send("b"):
        case Violation(reasons=(reason, *_)):
            assert reason.kind == "unknown"
        case other:
            pytest.fail(f"{other}")
