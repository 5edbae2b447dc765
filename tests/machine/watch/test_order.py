"""Rules about order: what counts from success, what from admission, and what comes back."""

from duly import LabelRule, Received, between, ensures, exclusive, immediately_before, must_precede, never_after
from steps import back, broke, call, hear, held, ran, settle, why, words


def test_must_precede_waits_for_a_success() -> None:
    session = held(must_precede("a", "b", same="n"))
    assert words(session, call("a", "1", {"n": 1}), call("b", "2", {"n": 1})) == ["allowed", "violation"]
    assert words(session, back("a", "1"), call("b", "2", {"n": 1})) == ["allowed", "allowed"]


def test_must_precede_takes_no_error_no_failure_and_no_broken_result_for_a_success() -> None:
    session = held(must_precede("a", "b", where="true"), ensures("a", "result.ok == true"))
    for number, end in enumerate((back("a", "0", outcome="error"), broke("1"), broke("2", "unknown"))):
        assert words(session, call("a", str(number)), end, call("b", "b")) == ["allowed", "allowed", "violation"]
    assert words(session, call("a", "3"), back("a", "3", {"ok": False}), call("b", "b")) == [
        "allowed", "violation", "violation",
    ]  # fmt: skip
    # the uncertain one is settled as done
    assert words(session, settle("2", "done", result={"ok": True}), call("b", "b")) == ["allowed", "allowed"]


def test_a_sibling_of_the_batch_never_permits_even_if_its_result_comes_first() -> None:
    session = held(must_precede("a", "b", where="true"))
    assert words(session, call("a", "1", batch="x"), back("a", "1"), call("b", "2", batch="x")) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, call("b", "2", batch="y"), call("b", "3")) == ["allowed", "allowed"]


def test_on_called_an_admission_permits_until_it_is_given_back() -> None:
    session = held(must_precede("a", "b", on="called"))
    assert words(session, call("a", "1"), call("b", "2"), broke("1"), call("b", "3")) == [
        "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_on_called_a_broken_result_has_been_called_all_the_same() -> None:
    session = held(must_precede("a", "b", on="called"), ensures("a", "result.ok == true"))
    assert words(session, call("a", "1"), back("a", "1", {"ok": False}), call("b", "2")) == [
        "allowed", "violation", "allowed",
    ]  # fmt: skip


def test_where_nobody_can_say_what_the_rule_means_the_act_is_refused() -> None:
    session = held(must_precede("a", "b", where="args.n > 1"))
    assert why(session.step(call("b", "1", {}))) == [("must_precede(a, b, where=args.n > 1)", "unknown")]
    assert words(session, call("b", "2", {"n": 1}), call("b", "3", {"n": 2})) == ["allowed", "violation"]


def test_never_after_counts_from_admission_and_comes_back_with_the_call() -> None:
    session = held(never_after("a", "b"))
    assert words(session, call("a", "1"), call("b", "2"), call("a", "3")) == ["allowed", "allowed", "violation"]
    assert words(session, broke("2"), call("a", "3"), call("b", "4"), broke("4", "unknown"), call("a", "5")) == [
        "allowed", "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_never_after_on_returned_counts_successes_only() -> None:
    session = held(never_after("a", "b", on="returned"), ensures("b", "result.ok == true"))
    assert words(session, call("b", "1"), call("a", "2"), back("b", "1", {"ok": False}), call("a", "3")) == [
        "allowed", "allowed", "violation", "allowed",
    ]  # fmt: skip
    ran(session, "b", "4", result={"ok": True})
    assert words(session, call("a", "5")) == ["violation"]


def test_never_after_hears_messages() -> None:
    session = held(never_after("a", "Stop"), labels=[LabelRule("Stop")])
    assert words(session, call("a", "1"), hear("Stop"), call("a", "2")) == ["allowed", "allowed", "violation"]


def test_a_call_of_an_earlier_turn_forbids_nothing_in_this_one() -> None:
    session = held(never_after("a", "b", scope="turn"), exclusive("c", "d", scope="turn"), labels=[LabelRule("Go")])
    assert words(session, call("b", "1"), call("c", "2"), Received("Go"), back("b", "1"), back("c", "2")) == [
        "allowed"
    ] * 5
    assert words(session, call("a", "3"), call("d", "4")) == ["allowed", "allowed"]


def test_of_exclusive_members_one_may_occur() -> None:
    session = held(exclusive("a", "b", "c"))
    assert words(session, call("a", "1"), call("b", "2"), call("a", "3")) == ["allowed", "violation", "allowed"]
    assert words(session, broke("1"), call("b", "2"), broke("3"), call("b", "2")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_a_call_that_is_two_members_is_refused() -> None:
    members = [{"of": "pay", "where": "args.n > 1"}, {"of": "pay", "where": "args.n > 5"}]
    session = held(exclusive(*members))
    assert words(session, call("pay", "1", {"n": 6}), call("pay", "2", {"n": 2})) == ["violation", "allowed"]
    assert why(session.step(call("pay", "3", {"n": "2"})))[0][1] == "unknown"


def test_immediately_before_looks_at_the_last_admitted_act_whatever_it_is() -> None:
    session = held(immediately_before("a", "b"))
    ran(session, "a", "1")
    assert words(session, call("x", "2"), call("b", "3")) == ["allowed", "violation"]
    # what has not happened stands between nothing
    assert words(session, broke("2"), call("b", "3")) == ["allowed", "allowed"]


def test_immediately_before_needs_the_success_unless_on_called() -> None:
    first, second = held(immediately_before("a", "b")), held(immediately_before("a", "b", on="called"))
    assert words(first, call("a", "1"), call("b", "2")) == ["allowed", "violation"]
    assert words(second, call("a", "1"), call("b", "2")) == ["allowed", "allowed"]


def test_immediately_before_by_value_leaves_alone_what_belongs_to_no_value() -> None:
    session = held(immediately_before("a", "b", same="n"))
    ran(session, "a", "1", {"n": 1})
    assert words(session, call("x", "2"), call("x", "3", {"n": 2}), call("b", "4", {"n": 1})) == ["allowed"] * 3
    ran(session, "a", "5", {"n": 1})
    assert words(session, call("x", "6", {"n": 1}), call("b", "7", {"n": 1})) == ["allowed", "violation"]


def test_between_opens_with_a_success_and_shuts_with_an_admission() -> None:
    session = held(between("work", "open", "close"))
    assert words(session, call("work", "1"), call("open", "2"), call("work", "3")) == [
        "violation", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, back("open", "2"), call("work", "4"), call("close", "5"), call("work", "6")) == [
        "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, broke("5"), call("work", "6"), call("close", "7"), back("close", "7"), call("work", "8")) == [
        "allowed", "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_between_on_called_opens_with_the_admission() -> None:
    session = held(between("work", "open", "close", on="called"))
    assert words(session, call("open", "1"), call("work", "2"), broke("1"), call("work", "3")) == [
        "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_an_end_within_a_batch_that_is_given_back_leaves_what_was_open_before() -> None:
    session = held(between("work", "open", "close"))
    ran(session, "open", "1")
    assert words(session, call("close", "2"), call("open", "3", batch="x"), back("open", "3"), broke("2")) == [
        "allowed"
    ] * 4
    # the first opening is no sibling
    assert words(session, call("work", "4", batch="x")) == ["allowed"]
