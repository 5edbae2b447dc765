"""Several contracts as one."""

import pytest

from duly import (
    Approval,
    Breaker,
    Contract,
    Decided,
    DulyError,
    LabelRule,
    OutsideGuard,
    Session,
    Tool,
    at_most,
    history,
    merge,
    must_precede,
    protocol,
)  # fmt: skip
from steps import back, call, hear, held, words

A, B, C = Tool("a", effect="write"), Tool("b", effect="write"), Tool("c", effect="none")


def faults(*contracts: Contract) -> list[str]:
    with pytest.raises(DulyError) as caught:
        merge(contracts)
    return [fault.message for fault in caught.value.diagnostics]


def test_one_contract_is_itself() -> None:
    contract = Contract(at_most("a", 1))
    assert merge([contract]) is contract


def test_rules_are_joined_and_equal_ones_are_one() -> None:
    merged = merge([Contract(at_most("a", 1), must_precede("a", "b")), Contract(at_most("a", 1), at_most("b", 2))])
    assert list(merged.rules) == ["at_most(a, 1)", "must_precede(a, b)", "at_most(b, 2)"]


def test_protocols_stand_side_by_side_over_their_own_names() -> None:
    session = Session(Contract(protocol("!a.!b"), tools=[A, B]), Contract(protocol("!c"), tools=[C]))
    assert words(session, call("b", "1"), call("c", "2"), call("a", "3"), call("c", "4"), call("b", "5")) == [
        "violation", "allowed", "allowed", "violation", "allowed",
    ]  # fmt: skip


def test_a_tool_of_a_contract_without_protocol_is_free_of_the_others_protocol() -> None:
    session = Session(Contract(protocol("!a"), tools=[A]), Contract(at_most("b", 1), tools=[B]))
    assert words(session, call("b", "1"), call("b", "2"), call("zzz", "3"), call("a", "4")) == [
        "allowed", "violation", "violation", "allowed",
    ]  # fmt: skip


def test_a_tool_that_one_contract_closes_out_stays_closed_out() -> None:
    closing = Contract(protocol("!a"), tools=[A, B])
    assert words(Session(closing, Contract(tools=[B])), call("b", "1")) == ["violation"]
    assert words(Session(closing, Contract(protocol("!a"), tools=[A, B], outside=["b"])), call("b", "1")) == [
        "violation"
    ]
    assert faults(closing, Contract(protocol("!b"), tools=[B])) == [
        "`b` has a place in one contract, and another closes it out"
    ]


def test_groups_and_globs_mean_the_tools_of_their_own_contract() -> None:
    def group(*tools: Tool) -> Contract:
        return Contract(at_most("@change", 1), tools=list(tools), groups={"change": {"effect": "write"}})

    session = Session(group(A, C), group(B, C))
    assert words(session, call("a", "1"), call("b", "2"), call("a", "3"), call("b", "4")) == [
        "allowed", "allowed", "violation", "violation",
    ]  # fmt: skip
    assert list(session.contract.rules) == ["at_most(@change, 1)", "at_most(@change, 1)~2"]
    globs = Session(
        Contract(at_most("x_*", 0), tools=[Tool("x_1")]), Contract(at_most("x_2", 1), tools=[Tool("x_2")])
    )  # fmt: skip
    assert words(globs, call("x_1", "1"), call("x_2", "2")) == ["violation", "allowed"]


def test_a_choice_over_a_group_keeps_its_own_members() -> None:
    first = Contract(protocol("!@some.!c"), tools=[A, C], groups={"some": ["a"]})
    second = Contract(protocol("!@some"), tools=[B], groups={"some": ["b"]})
    session = Session(first, second)
    assert words(session, call("b", "1"), call("c", "2"), call("a", "3"), call("c", "4")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_registers_of_one_name_are_kept_apart() -> None:
    session = Session(Contract(protocol("!a(n as r).!c(n == r)")), Contract(protocol("!b(n as r).!d(n == r)")))
    words(session, call("a", "1", {"n": 1}), call("b", "2", {"n": 2}))
    assert session.registers == {"r": 1, "r~2": 2}
    assert words(session, call("c", "3", {"n": 1}), call("d", "4", {"n": 2})) == ["allowed", "allowed"]


def test_what_a_client_receives_stays_what_its_agent_asks_for() -> None:
    session = Session(Contract(protocol("?a.!a"), view="client"), Contract(at_most("b", 1)))
    assert words(session, call("a", "1")) == ["allowed"]


def test_only_the_protocol_that_is_meant_to_runs_for_ever() -> None:
    merged = Session(Contract(protocol("rec L.!a.L"), forever=True), Contract(protocol("!b")))
    assert [reason.rule for reason in merged.owed()] == ["protocol 2"]


def test_the_stricter_of_modes_halts_and_shown_parts_holds() -> None:
    first = Contract(at_most("a", 1), mode="shadow", show=("reasons", "legal"), name="x", version="1")
    second = Contract(at_most("b", 1), on_violation="halt", show=("reasons",), name="y", version="2")
    terms = merge([first, second]).terms
    assert (terms.mode, terms.on_violation, terms.show, terms.name, terms.version) == (
        "enforce", "halt", ("reasons",), "x + y", "1 + 2",
    )  # fmt: skip


def test_conflicting_declarations_are_all_named() -> None:
    first = Contract(tools=[A], labels=[LabelRule("Yes")], facts={"n": 1}, aliases={"x": "a"}, breaker=Breaker(1))
    second = Contract(
        tools=[Tool("a")], labels=[LabelRule("Yes", "agent")], facts={"n": 2}, aliases={"x": "b"}, breaker=Breaker(2)
    )
    assert faults(first, second) == [
        "the tool `a` is declared in two ways", "the alias `x` is declared in two ways",
        "the label `Yes` is declared in two ways", "the fact `n` is declared in two ways",
        "two contracts set different breakers",
    ]  # fmt: skip


def test_two_rules_of_one_id_are_an_error() -> None:
    assert faults(Contract(at_most("a", 1, id="cap")), Contract(at_most("a", 2, id="cap"))) == [
        "two rules are called `cap`"
    ]


def test_a_name_that_is_a_tool_here_and_a_message_there_is_an_error() -> None:
    assert faults(Contract(tools=[Tool("Yes")]), Contract(labels=[LabelRule("Yes")])) == [
        "`Yes` is declared as a tool and as a message"
    ]


def test_an_open_contract_beside_one_with_declared_tools_is_closed_over_them() -> None:
    session = Session(held(at_most("a", 1)).contract, Contract(tools=[A]))
    assert words(session, call("a", "1"), call("a", "2"), call("zzz", "3"), hear("Hi")) == [
        "allowed", "violation", "violation", "allowed",
    ]  # fmt: skip


def test_approvals_and_guards_of_all_hold_and_equal_ones_are_one() -> None:
    one = Contract(Approval("a", by=("ana",)), OutsideGuard("a", "m:f"), tools=[A, B])
    two = Contract(Approval("a", by=("ana",)), Approval("b", id="second"), OutsideGuard("a", "m:f"), OutsideGuard("b", "m:f"),
                   tools=[A, B])  # fmt: skip
    merged = merge([one, two])
    assert list(merged.askers) == ["approval(a)", "second"]
    assert [guard.of for guard in merged.terms.guards] == ["a", "b"]
    assert (merged.acts["a"].guards, merged.acts["b"].guards) == (("m:f",), ("m:f",))


def test_an_act_waits_for_the_people_of_every_contract() -> None:
    session = Session(
        Contract(Approval("a", by=("ana",), id="one"), tools=[A]), Contract(Approval("a", by=("bo",), id="two"), tools=[A])
    )
    words(session, call("a", "1"), Decided("approve", "1", by="ana"))
    assert words(session, call("a", "1"), Decided("approve", "1", by="bo"), call("a", "1")) == [
        "needs_approval", "allowed", "allowed",
    ]  # fmt: skip


def test_an_approval_over_a_glob_means_the_tools_of_its_own_contract() -> None:
    session = Session(
        Contract(Approval("*"), tools=[A, B]), Contract(Approval("*", excepting=("c",)), tools=[C, Tool("d")])
    )
    assert words(session, *(call(label, label) for label in "abcd")) == [
        "needs_approval", "needs_approval", "allowed", "needs_approval",
    ]  # fmt: skip


def test_two_approvals_of_one_name_that_differ_are_an_error() -> None:
    contracts = [Contract(Approval("a", need=need), tools=[A]) for need in (1, 2)]
    assert faults(*contracts) == ["two of the contract's rules and approvals are called `approval(a)`"]


def test_a_message_withdraws_what_waits_where_one_contract_says_so() -> None:
    session = Session(Contract(Approval("a"), tools=[A]), Contract(tools=[A], withdraw_on="message"))
    words(session, call("a", "1"), hear("Hello"))
    assert session.state.more.parked == {}


def test_groups_in_histories_keep_the_members_that_they_have_in_their_own_contract() -> None:
    one = Contract(history("c", "count(@change) >= 2", id="h"), tools=[A, C], groups={"change": {"effect": "write"}})
    two = Contract(tools=[B])
    session = Session(merge([one, two]))
    steps = [call("b", "1"), back("b", "1"), call("a", "2"), back("a", "2"), call("c", "3"), call("a", "4"), back("a", "4"), call("c", "5")]
    assert words(session, *steps)[-4:] == ["violation", "allowed", "allowed", "allowed"]
