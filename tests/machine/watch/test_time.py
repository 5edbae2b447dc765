"""Rules about time: half-open windows, what makes room, what makes stale."""

from duly import Rule, cooldown, fresh, rate_limit, within
from steps import back, broke, call, held, why, words


def test_a_window_is_over_at_its_end() -> None:
    session = held(rate_limit("a", 2, 10))
    times = (0, 1, 9.999, 10, 10.5, 11)
    assert words(session, *(call("a", str(n), at=at) for n, at in enumerate(times))) == [
        "allowed", "allowed", "violation", "allowed", "violation", "allowed",
    ]  # fmt: skip


def test_a_refused_act_says_how_long_to_wait_and_repair_does_too() -> None:
    session = held(cooldown("a", 30))
    words(session, call("a", "1", at=5))
    verdict = session.step(call("a", "2", at=15))
    assert (verdict.reasons[0].help, verdict.repair.steps) == ("wait 20 s", ("wait 20 s",))
    assert [legal.label for legal in verdict.legal] == []


def test_room_comes_back_with_a_call_that_is_known_not_to_have_happened() -> None:
    session = held(rate_limit("a", 1, 10))
    assert words(session, call("a", "1", at=0), broke("1", "unknown"), call("a", "2", at=1)) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, broke("1"), call("a", "2", at=2), call("a", "3", at=11)) == ["allowed", "allowed", "violation"]


def test_a_rate_may_name_a_fact_and_refuses_while_nobody_has_taught_it() -> None:
    learns = Rule("learns", {"of": "ask", "fact": "n", "value": "result.n"})
    session = held(rate_limit("a", "n", 10), learns)
    assert why(session.step(call("a", "1", at=0))) == [("rate_limit(a, n, 10)", "unknown")]
    assert "a" not in {legal.label for legal in session.legal()}
    words(session, call("ask", "2", at=0), back("ask", "2", {"n": 1.0}))
    assert words(session, call("a", "3", at=0), call("a", "4", at=0)) == ["allowed", "violation"]


def test_within_judges_only_what_comes_after_a_success() -> None:
    session = held(within("pay", "quote", 10))
    assert words(session, call("pay", "1", at=0), call("quote", "2", at=0), back("quote", "2")) == ["allowed"] * 3
    assert words(session, call("pay", "3", at=9.5), call("pay", "4", at=10)) == ["allowed", "violation"]


def test_the_success_of_a_sibling_makes_nothing_young_again() -> None:
    session = held(within("pay", "quote", 10), fresh("read", "write", lasts=10))
    words(session, call("quote", "1", at=0), back("quote", "1"), call("read", "2", at=0), back("read", "2"))
    words(session, call("quote", "3", at=12, batch="x"), back("quote", "3"), call("read", "4", batch="x"), back("read", "4"))
    assert words(session, call("pay", "5", batch="x"), call("write", "6", batch="x")) == ["violation", "violation"]
    assert words(session, call("pay", "5", batch="y"), call("write", "6")) == ["allowed", "allowed"]


def test_what_was_read_is_fresh_for_so_long_and_until_it_is_edited() -> None:
    session = held(fresh("read", "write", lasts=10, until="edit"))
    words(session, call("read", "1", at=0), back("read", "1"))
    assert words(session, call("write", "2", at=9), call("edit", "3"), call("write", "4")) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, broke("3"), call("write", "4"), call("write", "5", at=10)) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_on_called_counts_from_the_admission() -> None:
    session = held(fresh("read", "write", on="called"), within("pay", "quote", 5, on="called"))
    assert words(session, call("read", "1"), call("write", "2"), broke("1"), call("write", "3")) == [
        "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, call("quote", "4", at=0), call("pay", "5", at=6), broke("4"), call("pay", "6")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip
