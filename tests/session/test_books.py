"""Books in a session: shadow, halts, caps that ask, and what goes on as if an act had not happened."""

from duly import Closed, Decided, Elapsed, at_most, at_most_total, must_follow, must_happen, must_precede, never_after
from duly.values.verdict import Allowed
from steps import back, call, held, ran, why, words


def test_a_rule_in_shadow_lets_by_notes_and_marks_what_follows() -> None:
    session = held(must_precede("a", "b", mode="shadow"), never_after("a", "b"))
    first, second = session.step(call("b", "1")), session.step(call("b", "2"))
    assert isinstance(first, Allowed)
    assert [(reason.kind, reason.follow_on) for reason in (*first.noted, *second.noted)] == [
        ("order", False), ("order", True),
    ]  # fmt: skip
    # every other rule has seen it
    assert words(session, call("a", "3")) == ["violation"]


def test_a_machine_in_shadow_that_said_no_goes_on_as_if_it_had_not_happened_and_counts_take_in_what_ran() -> None:
    first, second, cap = never_after("a", "b", mode="shadow"), never_after("b", "a", mode="shadow"), at_most("a", 1, mode="shadow")
    session = held(first, second, cap)
    calls = (call("b", "1"), call("a", "2"), call("b", "3"), call("a", "4"))
    assert [[reason.rule for reason in verdict.noted] for verdict in map(session.step, calls)] == [
        [], ["never_after(a, b)"], ["never_after(b, a)"], ["never_after(a, b)", "at_most(a, 1)"],
    ]  # fmt: skip


def test_a_duty_in_shadow_is_noted_where_one_in_force_is_found() -> None:
    shadow = held(must_follow("a", "b", 5, mode="shadow"), must_happen("c", mode="shadow"))
    force = held(must_follow("a", "b", 5), must_happen("c"))
    for session in (shadow, force):
        words(session, call("a", "1", at=0), back("a", "1"))
    late, end = shadow.step(Elapsed(6)), shadow.step(Closed())
    assert [(v.word, [r.kind for r in v.noted]) for v in (late, end)] == [("allowed", ["late"]), ("allowed", ["owed"])]
    assert [why(force.step(event))[0][1] for event in (Elapsed(6), Closed())] == ["late", "owed"]


def test_what_is_only_owed_in_shadow_keeps_nobody_from_ending() -> None:
    assert held(must_happen("c", mode="shadow")).owed() == ()
    assert [reason.rule for reason in held(must_happen("c")).owed()] == ["must_happen(c)"]


def test_a_rule_may_end_the_session_by_its_refusal() -> None:
    session = held(never_after("a", "b", on_violation="halt"), must_precede("c", "d"))
    assert words(session, call("d", "0"), call("b", "1"), call("a", "2"), call("x", "3"), back("b", "1")) == [
        "violation", "allowed", "violation", "blocked", "allowed",
    ]  # fmt: skip


def test_a_yes_lets_by_what_exceeds_and_counts_it() -> None:
    session = held(at_most_total("pay", "amount", 10, on_excess="ask", by=["ana"]), tools=["pay"])
    pay = call("pay", "1", {"amount": 25})
    assert words(session, pay, Decided("approve", "1", by="bo"), pay, Decided("approve", "1", by="ana"), pay) == [
        "needs_approval", "violation", "needs_approval", "allowed", "allowed",
    ]  # fmt: skip
    assert words(session, call("pay", "2", {"amount": 0})) == ["needs_approval"]
    assert str(session.state.books[0]["total"][""]) == "25"


def test_what_another_rule_refuses_is_not_asked() -> None:
    session = held(at_most("pay", 0, on_excess="ask"), must_precede("look", "pay"))
    assert words(session, call("pay", "1")) == ["violation"]
    ran(session, "look", "2")
    assert words(session, call("pay", "1")) == ["needs_approval"]


def test_in_a_recorded_run_the_machine_that_said_no_stays_and_the_others_go_on() -> None:
    session = held(must_precede("a", "b"), never_after("c", "b"), at_most("b", 1))
    found = [session.observe(call("b", str(n))) for n in range(2)]
    assert [[(r.rule, r.follow_on) for r in verdict.reasons] for verdict in found] == [
        [("must_precede(a, b)", False)], [("must_precede(a, b)", True), ("at_most(b, 1)", False)],
    ]  # fmt: skip
    assert words(session, call("c", "9")) == ["violation"]


def test_all_rules_that_say_no_are_named() -> None:
    session = held(must_precede("a", "b"), at_most("b", 0, id="none"), must_happen("c", before="b", id="first"))
    assert {reason.rule for reason in session.step(call("b", "1")).reasons} == {"must_precede(a, b)", "none", "first"}


def test_the_state_of_a_rule_can_be_asked() -> None:
    session = held(must_happen("a"), must_precede("a", "b"))
    assert session.status("must_happen(a)") == "open"
    ran(session, "a", "1")
    assert session.status("must_happen(a)") == "satisfied"
    session.observe(call("x", "2"))
    assert session.status("must_precede(a, b)") == "satisfied"
