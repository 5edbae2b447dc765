"""What the record says of earlier calls."""

from collections import deque

from duly import Called, Returned, Tool
from duly.session.record import looked_up
from duly.values.event import Found
from steps import back, broke, call, held, settle, words


def found(session: object, event: Called | Returned) -> Found | None:
    return looked_up(session.contract, session.state, session.journal, event).found  # type: ignore[attr-defined, union-attr, no-any-return]


AGAIN = Called("a", {}, key="k")


def test_the_record_says_how_a_call_ended() -> None:
    ends = {
        "open": [],
        "uncertain": [broke("1", "unknown")],
        "failed": [broke("1")],
        "finished": [back("a", "1", 5)],
    }
    for status, events in ends.items():
        session = held(tools=["a"])
        words(session, call("a", "1", {}, key="k"), *events)
        known = found(session, AGAIN)
        assert known is not None
        assert (known.status, known.id, known.payload) == (status, "1", {})


def test_a_result_or_a_settlement_outdoes_a_timeout() -> None:
    for end, status, result in [
        (back("a", "1", 5), "finished", 5),
        (back("a", "1", 5, "error"), "failed", 5),
        (settle("1", "done", result=7), "finished", 7),
        (settle("1", "failed"), "failed", None),
        (settle("1", "retry"), "failed", None),
    ]:
        session = held(tools=["a"])
        words(session, call("a", "1", {}, key="k"), broke("1", "unknown"), end)
        known = found(session, AGAIN)
        assert known is not None
        assert (known.status, known.result) == (status, result)


def test_a_refused_settlement_or_a_malformed_result_ends_nothing() -> None:
    session = held(tools=["a", "b"])
    words(session, call("a", "1", {}, key="k"), settle("1", "done"), back("b", "1", 5))
    assert found(session, AGAIN) == Found("open", "a", {}, id="1")


def test_the_first_result_stands() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1", {}, key="k"), back("a", "1", 5), back("a", "1", 6))
    assert found(session, AGAIN) == Found("finished", "a", {}, 5, "ok", "1")


def test_an_id_that_is_used_again_means_the_last_call() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1", {"n": 1}), back("a", "1", 1), call("a", "1", {"n": 2}), back("a", "1", 2))
    assert found(session, Returned("a", 2, id="1")) == Found("finished", "a", {"n": 2}, 2, "ok", "1")


def test_a_refused_call_is_no_earlier_call() -> None:
    session = held("!b", tools=["a", "b"])
    words(session, call("a", "1", {}, key="k"))
    assert found(session, AGAIN) is None
    assert found(session, back("a", "1", 5)) is None


def test_a_call_that_ran_under_watch_is_one() -> None:
    session = held("!b", tools=["a", "b"])
    for event in (call("a", "1", {}, key="k"), back("a", "1", 5)):
        session.observe(event)
    assert found(session, AGAIN) == Found("finished", "a", {}, 5, "ok", "1")


def test_nothing_is_found_behind_a_reset() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1", {}, key="k"), back("a", "1", 5))
    session.reset()
    assert found(session, AGAIN) is None


def test_a_result_without_an_id_is_recorded_with_the_call_that_it_answers() -> None:
    session = held(tools=[Tool("a", pairs=("n",))])
    words(session, call("a", "1", {"n": 1}), call("a", "2", {"n": 2}), Returned("a", {"n": 2}))
    assert [entry.event.id for entry in session.journal] == ["1", "2", "2"]  # type: ignore[union-attr]


def test_an_end_that_the_record_has_lost_is_not_taken_for_none() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1", {}, key="k"), back("a", "1", 5))
    session.journal = deque(list(session.journal)[:1])
    assert found(session, AGAIN) == Found("uncertain", "a", {}, id="1")
