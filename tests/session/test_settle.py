"""Results and failures: what they give back, keep, move, and find."""

from itertools import permutations

import pytest
from msgspec import structs

from duly import Called, Contract, Returned, Tool, at_most, must_precede
from duly.session.decide import decide
from duly.values.verdict import Verdict
from steps import back, broke, call, hear, held, ran, settle, why, words

VERIFY = Tool(
    "verify", error="result.ok == false", outcomes={"denied": "result.status == 'denied'", "odd": "result.n > 1"}
)


@pytest.mark.parametrize(
    ("result", "state"),
    [
        ({"ok": True, "status": "fine", "n": 1}, "bare"),
        ({"ok": True, "status": "denied", "n": 5}, "denied"),
        ({"ok": True, "status": "fine", "n": 5}, "odd"),
        ({"ok": False, "status": "denied", "n": 5}, "error"),
        ({"ok": True, "n": 1}, "error"),
        ({"status": "fine", "n": 1}, "error"),
        ({"ok": "false", "status": "fine", "n": 1}, "error"),
        ({"ok": [], "status": "fine", "n": 1}, "error"),
        ({"ok": True, "status": 5, "n": 1}, "error"),
        (None, "error"),
        ("fine", "error"),
    ],
)
def test_the_first_condition_that_is_true_names_the_outcome_and_what_cannot_be_told_is_error(
    result: object, state: str
) -> None:
    session = held(
        "!verify.?{verify=denied.!denied, verify=odd.!odd, verify=error.!error, verify.!bare}",
        tools=[VERIFY, "denied", "odd", "error", "bare"],
    )
    assert words(session, call("verify", "1"), back("verify", "1", result), call(state, "2")) == ["allowed"] * 3


def test_an_error_flag_of_the_transport_comes_before_all_conditions() -> None:
    session = held("!verify.?{verify=error.!error, verify.!bare}", tools=[VERIFY, "error", "bare"])
    good = {"ok": True, "status": "fine", "n": 1}
    assert (
        words(session, call("verify", "1"), back("verify", "1", good, "error"), call("error", "2")) == ["allowed"] * 3
    )


def test_an_outcome_that_no_edge_names_settles_its_call_and_is_a_finding() -> None:
    session = held("!v.?{v=denied.!x, v=odd.!y}", tools=["v", "x", "y"])
    session.step(call("v", "1"))
    verdict = session.step(back("v", "1", None, "strange"))
    assert (verdict.word, why(verdict), verdict.finding) == ("violation", [("protocol", "outcome")], True)  # type: ignore[union-attr]
    assert (session.state.open, words(session, call("x", "2"))) == ({}, ["violation"])


# given back


def test_an_error_gives_back_count_and_place_and_opens_no_door() -> None:
    session = held("!lookup(id as r).?lookup.!refund", at_most("lookup", 1), must_precede("lookup", "refund"))
    fresh = session.state
    assert words(session, call("lookup", "1", {"id": 5}), back("lookup", "1", {"e": 1}, "error")) == ["allowed"] * 2
    assert session.state == fresh
    assert words(session, call("refund", "2"), call("lookup", "3", {"id": 6})) == ["violation", "allowed"]
    assert session.registers == {"r": 6}


def test_a_failure_without_effect_gives_back_the_same() -> None:
    session = held("!a(n as r).?a", at_most("a", 1), tools=[Tool("a", effect="write")])
    fresh = session.state
    assert words(session, call("a", "1", {"n": 5}), broke("1", "none")) == ["allowed"] * 2
    assert session.state == fresh


def test_a_failure_with_unknown_effect_keeps_everything_until_it_is_settled() -> None:
    session = held("!a.?a.!b", at_most("a", 1), must_precede("a", "b"), tools=["a", "b"])
    assert words(session, call("a", "1"), broke("1", "unknown"), call("a", "2"), call("b", "3")) == [
        "allowed", "allowed", "violation", "violation",
    ]  # fmt: skip
    assert session.state.open["1"].uncertain
    assert words(session, settle("1", "done"), call("b", "4")) == ["allowed", "allowed"]


def test_an_uncertain_call_settled_as_not_done_is_given_back() -> None:
    session = held("!a.?a", at_most("a", 1))
    fresh = session.state
    words(session, call("a", "1"), broke("1", "unknown"), settle("1", "failed"))
    assert session.state == fresh


def test_an_uncertain_call_stays_open_for_its_own_result() -> None:
    session = held("!a.?a(n as r)", tools=["a"])
    assert words(session, call("a", "1"), broke("1", "unknown"), back("a", "1", {"n": 5})) == ["allowed"] * 3
    assert (session.is_terminal, session.registers) == (True, {"r": 5})


def test_a_result_that_the_tool_calls_uncertain_keeps_what_the_call_holds() -> None:
    tool = Tool("a", uncertain="result.state == 'queued'")
    session = held(at_most("a", 1), tools=[tool])
    assert words(session, call("a", "1"), back("a", "1", {"state": "queued"}), call("a", "2")) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert session.state.open["1"].uncertain


def test_an_error_of_a_tool_that_says_so_is_uncertain() -> None:
    session = held(at_most("a", 1), tools=[Tool("a", error="result.e == 1", on_error="unknown")])
    words(session, call("a", "1"), back("a", "1", {"e": 1}))
    assert (session.state.open["1"].uncertain, session.state.data) == (True, (1,))


def test_an_edge_that_names_error_is_taken() -> None:
    session = held("!a.?{a=error.!repair, a.!go}", tools=["a", "repair", "go"])
    assert words(session, call("a", "1"), back("a", "1", None, "error"), call("repair", "2")) == ["allowed"] * 3
    failed = held("!a.?{a=error.!repair, a.!go}", tools=["a", "repair", "go"])
    assert words(failed, call("a", "1"), broke("1", "none"), call("repair", "2")) == ["allowed"] * 3


def test_an_error_after_the_protocol_has_moved_on_stays_and_is_reported() -> None:
    session = held("!a.!b.?a.?b", tools=["a", "b"])
    words(session, call("a", "1"), call("b", "2"))
    verdict = session.step(back("a", "1", None, "error"))
    assert why(verdict) == [("protocol", "outcome")]
    assert verdict.reasons[0].message == "`a` failed after the protocol had moved on"


def test_failures_in_the_reverse_order_of_the_calls_go_back_to_the_start() -> None:
    session = held("!a.!b.!c.?a.?b.?c")
    fresh = session.state
    assert words(session, call("a", "1"), call("b", "2"), call("c", "3"), broke("3"), broke("2"), broke("1")) == [
        "allowed",
    ] * 6  # fmt: skip
    assert session.state == fresh


def test_a_binding_that_a_later_call_has_overwritten_stays() -> None:
    session = held("rec L.{!a(n as r).L, !b}")
    words(session, call("a", "1", {"n": 1}), call("a", "2", {"n": 2}), broke("1"))
    assert session.registers == {"r": 2}


def test_a_place_that_was_taken_in_an_earlier_turn_is_not_given_back_to_a_later_one() -> None:
    session = held(at_most("a", 2, scope="turn"), tools=["a"])
    words(session, call("a", "1", {}, turn="t1"), call("a", "2", {}, turn="t2"), broke("1"))
    assert session.state.data == (1,)


# order of results


@pytest.mark.parametrize("order", list(permutations(("a", "b", "c"))))
def test_any_order_of_results_leads_to_the_same_state(order: tuple[str, ...]) -> None:
    session = held("!a.!b.!c.?a(v as x).?b(v as y).?c(v as z).!end")
    words(session, *(call(name, name) for name in "abc"))
    assert words(session, *(back(name, name, {"v": name}) for name in order)) == ["allowed"] * 3
    assert session.registers == {"x": "a", "y": "b", "z": "c"}
    assert (session.state.more.waiting, words(session, call("end", "e"))) == ((), ["allowed"])


def test_a_result_that_arrives_early_permits_nothing_yet() -> None:
    session = held("!a.!b.?a.{?b.!pay}")
    words(session, call("a", "1"), call("b", "2"), back("b", "2"))
    assert words(session, call("pay", "3"), back("a", "1"), call("pay", "4")) == ["violation", "allowed", "allowed"]


def test_a_result_that_still_waits_at_the_end_is_a_finding() -> None:
    session = held("!a.!b.?a.?b")
    words(session, call("a", "1"), call("b", "2"), back("b", "2"))
    assert why(session.close()) == [("call", "waiting"), ("protocol", "unfinished")]


# pairing


def test_a_result_without_an_id_answers_the_only_open_call_of_its_tool() -> None:
    session = held("!a.?a.!b", tools=["a", "b"])
    assert words(session, call("a", "1"), Returned("a", {"x": 1}), call("b", "2")) == ["allowed"] * 3


def test_a_result_without_an_id_and_several_open_calls_is_malformed() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1"), call("a", "2"))
    before = session.state
    assert words(session, Returned("a", {"x": 1})) == ["unrecognized"]
    assert session.state == before


def test_a_result_without_an_id_is_paired_by_the_fields_that_the_tool_names() -> None:
    session = held(tools=[Tool("a", pairs=("order",))])
    words(session, call("a", "1", {"order": 1}), call("a", "2", {"order": 2}), call("a", "3", {"order": 2}))
    assert words(session, Returned("a", {"order": 1.0})) == ["allowed"]
    assert list(session.state.open) == ["2", "3"]
    assert (
        words(session, Returned("a", {"order": 2}), Returned("a", {"order": 9}), Returned("a", {}))
        == ["unrecognized"] * 3
    )


def test_a_result_of_another_tool_is_malformed() -> None:
    session = held(tools=["a", "b"])
    session.step(call("a", "1"))
    assert words(session, back("b", "1")) == ["unrecognized"]
    assert list(session.state.open) == ["1"]


# past the gate


def finding(verdict: Verdict) -> tuple[str, bool, list[tuple[str, str]]]:
    return verdict.word, bool(getattr(verdict, "finding", False)), why(verdict)


def test_a_result_without_admission_is_ungated() -> None:
    session = held("!a.?a", must_precede("shell", "a"), tools=["a", "shell"], outside=["shell"])
    before = session.state
    assert finding(session.step(Returned("shell", {"out": 1}, id="x9", executed_by="provider"))) == (
        "violation", True, [("call", "ungated")],
    )  # fmt: skip
    assert session.state == before


def test_the_result_of_a_refused_call_is_ungated() -> None:
    session = held(at_most("a", 0), tools=["a"])
    assert words(session, call("a", "1")) == ["violation"]
    assert finding(session.step(back("a", "1"))) == ("violation", True, [("call", "ungated")])


def test_a_further_equal_result_is_allowed_and_moves_nothing() -> None:
    session = held("!a.?a.!b.?a", tools=["a", "b"])
    ran(session, "a", "1", {}, {"n": 1})
    before = session.state
    assert words(session, back("a", "1", {"n": 1.0})) == ["allowed"]
    assert session.state == before


def test_a_further_result_that_differs_is_a_contradiction() -> None:
    session = held(tools=["a"])
    ran(session, "a", "1", {}, {"n": 1})
    assert finding(session.step(back("a", "1", {"n": 2}))) == ("violation", True, [("call", "contradiction")])


def test_a_further_result_of_a_call_that_ended_in_error_is_held_against_that() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1"), back("a", "1", {"e": 1}, "error"))
    assert words(session, back("a", "1", {"e": 1})) == ["allowed"]
    assert finding(session.step(back("a", "1", {"e": 2}))) == ("violation", True, [("call", "contradiction")])


def test_a_result_after_a_failure_without_effect_is_a_contradiction() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1"), broke("1"))
    assert finding(session.step(back("a", "1", {"n": 1}))) == ("violation", True, [("call", "contradiction")])


def test_a_result_after_an_uncertain_call_was_settled_otherwise_is_a_contradiction() -> None:
    session = held(tools=["a"])
    words(session, call("a", "1"), broke("1", "unknown"), settle("1", "failed"))
    assert finding(session.step(back("a", "1", {"n": 1}))) == ("violation", True, [("call", "contradiction")])


def test_a_failure_of_no_open_call_is_a_finding() -> None:
    assert finding(held(tools=["a"]).step(broke("x"))) == ("violation", True, [("call", "ungated")])


# results under conditions


def test_a_result_that_fits_no_guard_is_a_finding_and_the_protocol_stays() -> None:
    session = held("!a.?a(ok == true).!b", tools=["a", "b"])
    session.step(call("a", "1"))
    assert finding(session.step(back("a", "1", {"ok": False}))) == ("violation", True, [("protocol", "guard")])
    assert words(session, call("b", "2")) == ["violation"]


def test_a_result_that_lacks_a_bound_field_is_a_finding_and_binds_nothing() -> None:
    session = held("rec L.{!a.?a(id as r).L, !b}", tools=["a", "b"])
    ran(session, "a", "1", {}, {"id": 5})
    session.step(call("a", "2"))
    assert finding(session.step(back("a", "2", {}))) == ("violation", True, [("protocol", "guard")])
    assert session.registers == {"r": 5}


def test_results_take_the_branch_that_their_guard_opens() -> None:
    session = held("!a.?{a(n <= 10).!low, a(else).!high}", tools=["a", "low", "high"])
    assert words(session, call("a", "1"), back("a", "1", {"n": 11}), call("high", "2")) == ["allowed"] * 3


def test_a_tool_that_the_protocol_only_hears_may_be_called_at_any_time() -> None:
    session = held("?scan.!pay", tools=["scan", "pay"])
    assert words(session, call("pay", "0"), call("scan", "1"), back("scan", "1"), call("pay", "2")) == [
        "violation", "allowed", "allowed", "allowed",
    ]  # fmt: skip


def test_a_message_between_call_and_result_keeps_them_apart() -> None:
    session = held("!a.{?Stop.?a, ?a.?Stop}", tools=["a"])
    assert words(session, call("a", "1"), hear("Stop"), back("a", "1")) == ["allowed"] * 3
    assert session.is_terminal


@pytest.mark.parametrize("outcome", [None, "ok", "error", "denied"])
@pytest.mark.parametrize("batch", [None, "b"])
def test_a_success_that_nothing_listens_to_is_settled_like_any_other(outcome: str | None, batch: str | None) -> None:
    def contract() -> Contract:
        return Contract(must_precede("look", "pay"), at_most("look", 3))

    quick, slow = contract(), contract()
    slow.acts = {label: structs.replace(plan, still=False) for label, plan in slow.acts.items()}
    assert [plan.still for plan in quick.acts.values()] == [True, True]
    ends = []
    for each in (quick, slow):
        state = each.start
        for id in ("c1", "c2"):
            state = decide(each, state, Called("look", {"n": 1}, id=id, batch=batch))[1]
        ends.append(decide(each, state, Returned("look", {"ok": True}, id="c1", outcome=outcome)))
    assert ends[0] == ends[1]
