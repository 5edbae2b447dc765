"""Facts that are gathered: sets from messages, arguments and results, and what conditions see of them."""

import json
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly import Approval, Contract, DulyError, LabelRule, Received, Rule, Sent, Session, Tool
from duly.machine.watch.collect import SIZE, VALUES, added, replaced, seen
from duly.session.books import facts
from steps import back, broke, call, ran, words

TOOLS = (Tool("look", effect="none"), Tool("click"), Tool("other"))


def gathers(*more: Rule, of: Any = "look", value: str = "result", **args: Any) -> Session:
    rules = (Rule("collects", {"of": of, "fact": "refs", "value": value, **args}, id="refs"), *more)
    return Session(Contract(*rules, tools=TOOLS, labels=[LabelRule("Say", source="agent"), LabelRule("Yes")]))


def guarded(that: str = "args.ref in facts.refs", **args: Any) -> Session:
    return gathers(Rule("requires", {"of": "click", "that": that}, id="known"), **args)


def held(session: Session, batch: str | None = None) -> Any:
    return facts(session.contract, session.state, batch).get("refs", "unknown")


def test_a_membership_guard_admits_what_a_result_has_named() -> None:
    session = guarded(pattern=r"ref=(\w+)")
    assert session.step(call("click", "c1", {"ref": "e1"})).rules == ("known",)
    ran(session, "look", "l1", result="[ref=e1] button, [ref=e2] link")
    assert words(session, call("click", "c2", {"ref": "e2"}), call("click", "c3", {"ref": "e3"})) == [
        "allowed", "violation",
    ]  # fmt: skip


def test_a_pattern_gives_its_first_group_or_the_whole_match() -> None:
    session = gathers(pattern=r"[a-z]+\d")
    ran(session, "look", "l1", result="ab1 c2 ab1 d")
    assert held(session) == ["ab1", "c2"]
    session = gathers(pattern=r"([a-z]+)(\d)")
    ran(session, "look", "l1", result="ab1 c2 ab9")
    assert held(session) == ["ab", "c"]


def test_a_pattern_is_searched_in_each_text_of_a_result_and_in_no_name_of_a_field() -> None:
    session = gathers(pattern="e[0-9]")
    ran(session, "look", "l1", result={"e9": "e1 e", "rows": ["2", {"ref": "e2"}, 3, None], "last": "e3"})
    assert held(session) == ["e1", "e2", "e3"]


def test_items_of_a_list_are_added_one_by_one_and_equal_values_once() -> None:
    session = gathers(value="result.ids")
    ran(session, "look", "l1", result={"ids": [1, "1", True, None, Decimal("1.0"), [2], [2.0]]})
    ran(session, "look", "l2", result={"ids": "x"})
    assert held(session) == [1, "1", True, [2], "x"]


def test_a_value_that_cannot_be_worked_out_adds_nothing() -> None:
    session = gathers(value="result.ids")
    ran(session, "look", "l1", result={"ids": ["a"]})
    ran(session, "look", "l2", result={"other": ["b"]})
    ran(session, "look", "l3", result="text")
    assert held(session) == ["a"]


def test_with_keep_last_a_result_replaces_what_was_gathered_before_it() -> None:
    session = guarded(keep="last", pattern="e[0-9]")
    ran(session, "look", "l1", result="e1 e2")
    ran(session, "look", "l2", result="e3")
    assert held(session) == ["e3"]
    ran(session, "look", "l3", result="nothing")
    assert held(session) == []


def test_with_keep_last_a_result_that_cannot_be_read_leaves_the_fact_unknown() -> None:
    session = gathers(
        Rule("requires", {"of": "click", "that": "!(args.ref in facts.refs)"}, id="new"), value="result.ids", keep="last"
    )
    ran(session, "look", "l1", result={"ids": ["a"]})
    ran(session, "look", "l2", result={})
    assert held(session) == "unknown"
    assert session.step(call("click", "c1", {"ref": "b"})).reasons[0].kind == "unknown"
    ran(session, "look", "l3", result={"ids": ["c"]})
    assert words(session, call("click", "c2", {"ref": "b"})) == ["allowed"]


def test_with_a_number_the_newest_values_are_kept_and_one_seen_again_is_new() -> None:
    session = gathers(value="result", keep=3)
    for number, items in enumerate((["a", "b"], ["c"], ["a"], ["d"])):
        ran(session, "look", f"l{number}", result=items)
    assert held(session) == ["c", "a", "d"]


def test_nothing_is_gathered_from_refused_failed_and_unsuccessful_calls() -> None:
    session = gathers(
        Rule("requires", {"of": "look", "that": "args.n < 5"}),
        Rule("ensures", {"of": "look", "that": "result.ok == true"}),
        value="args.n",
    )
    session.step(call("look", "l1", {"n": 9}))
    words(session, call("look", "l2", {"n": 1}), back("look", "l2", {"ok": True}, outcome="error"))
    words(session, call("look", "l3", {"n": 2}), broke("l3"))
    words(session, call("look", "l4", {"n": 3}), back("look", "l4", {"ok": False}))
    words(session, call("look", "l5", {"n": 4}))
    assert held(session) == []
    words(session, back("look", "l5", {"ok": True}))
    assert held(session) == [4]


def test_what_the_agent_says_and_what_a_person_says_can_be_gathered() -> None:
    session = gathers(of=["Say", "Yes"], value="args.text", pattern="[A-Z]+[0-9]")
    words(session, Sent("Say", {"text": "I can cancel A1 or B2"}), Received("Yes", {"text": "yes, B2 and C3"}))
    assert held(session) == ["A1", "B2", "C3"]


def test_all_updates_of_one_event_read_the_old_values() -> None:
    session = gathers(
        Rule("learns", {"of": "Yes", "fact": "named", "value": "facts.refs"}),
        of=["Say", "Yes"], value="args.text", pattern="[A-Z][0-9]",
    )  # fmt: skip
    words(session, Sent("Say", {"text": "A1"}), Received("Yes", {"text": "yes, and C3"}), Sent("Say", {"text": "B2"}))
    assert facts(session.contract, session.state) == {"refs": ["A1", "C3", "B2"], "named": ["A1"]}


def test_a_sibling_of_the_same_batch_permits_nothing() -> None:
    session = guarded(value="result")
    words(session, call("look", "l1", batch="b1"), back("look", "l1", ["e1"]))
    assert words(
        session, call("click", "c1", {"ref": "e1"}, batch="b1"), call("click", "c2", {"ref": "e1"}, batch="b2")
    ) == ["violation", "allowed"]
    # seen again elsewhere, it is no longer the sibling's word
    words(session, call("look", "l2", batch="b3"), back("look", "l2", ["e1"]))
    assert words(session, call("click", "c3", {"ref": "e1"}, batch="b1")) == ["allowed"]


def test_a_sibling_of_the_same_batch_replaces_nothing_for_its_batch() -> None:
    session = guarded(value="result", keep="last")
    words(session, call("look", "l1"), back("look", "l1", ["e1"]))
    words(session, call("look", "l2", batch="b1"), back("look", "l2", ["e2"]))
    words(session, call("look", "l3", batch="b1"), back("look", "l3", ["e3"]))
    assert (held(session), held(session, "b1"), held(session, "b2")) == (["e3"], ["e1"], ["e3"])


def test_a_fact_that_is_learnt_is_not_known_to_the_batch_that_taught_it() -> None:
    session = gathers(
        Rule("learns", {"of": "other", "fact": "cap", "value": "result"}),
        Rule("requires", {"of": "click", "that": "args.n <= facts.cap"}),
    )
    words(session, call("other", "o1", batch="b1"), back("other", "o1", 9))
    assert words(session, call("click", "c1", {"n": 5}, batch="b1"), call("click", "c2", {"n": 5})) == [
        "violation", "allowed",
    ]  # fmt: skip


def test_what_a_sibling_has_gathered_spares_no_yes() -> None:
    approval = Approval("click", when="!(args.ref in facts.refs)")
    rule = Rule("collects", {"of": "look", "fact": "refs", "value": "result"})
    session = Session(Contract(rule, approval, tools=TOOLS))
    words(session, call("look", "l1", batch="b1"), back("look", "l1", ["e1"]))
    assert words(
        session, call("click", "c1", {"ref": "e1"}, batch="b1"), call("click", "c2", {"ref": "e1"}, batch="b2")
    ) == ["needs_approval", "allowed"]


def test_with_by_there_is_one_list_for_each_text() -> None:
    session = guarded(
        "args.id in facts.refs && args.ref in facts.refs[args.id]", value="result", by="args.id", pattern="e[0-9]"
    )
    ran(session, "look", "l1", {"id": "A"}, "e1 e2")
    ran(session, "look", "l2", {"id": "B"}, "e3")
    ran(session, "look", "l3", {"id": 7}, "e4")
    ran(session, "look", "l4", {}, "e5")
    assert held(session) == {"A": ["e1", "e2"], "B": ["e3"]}
    asked = [("A", "e1"), ("B", "e1"), ("C", "e1")]
    events = [call("click", f"c{id}", {"id": id, "ref": ref}) for id, ref in asked]
    assert words(session, *events) == ["allowed", "violation", "violation"]


def test_a_declared_fact_is_what_a_set_begins_with() -> None:
    contract = Contract(
        Rule("collects", {"of": "look", "fact": "refs", "value": "result"}),
        Rule("collects", {"of": "look", "fact": "last", "value": "result", "keep": "last"}),
        Rule("collects", {"of": "look", "fact": "rows", "value": "result", "by": "args.id"}),
        tools=TOOLS, facts={"refs": ["e0"], "last": ["e0"], "rows": {"A": ["e0"], "B": ["e9"]}},
    )  # fmt: skip
    session = Session(contract)
    assert facts(contract, session.state) == contract.terms.facts
    ran(session, "look", "l1", {"id": "A"}, ["e1"])
    assert facts(contract, session.state) == {
        "refs": ["e0", "e1"], "last": ["e1"], "rows": {"A": ["e0", "e1"], "B": ["e9"]},
    }  # fmt: skip


def test_a_set_begins_anew_with_each_turn_where_its_scope_says_so() -> None:
    rule = Rule("collects", {"of": "look", "fact": "refs", "value": "result"}, scope="turn")
    session = Session(Contract(rule, tools=TOOLS, labels=[LabelRule("Yes")]))
    ran(session, "look", "l1", result=["e1"])
    session.step(Received("Yes"))
    assert held(session) == []


@pytest.mark.parametrize("that", ["args.ref in facts.refs", "!(args.ref in facts.refs)"])
@pytest.mark.parametrize("result", [list(range(VALUES + 1)), ["x" * (SIZE + 1)]])
def test_more_than_a_set_holds_makes_it_unknown_whichever_way_a_condition_asks(that: str, result: list[Any]) -> None:
    session = guarded(that, value="result")
    ran(session, "look", "l1", result=result)
    ran(session, "look", "l2", result=[1])
    assert session.step(call("click", "c1", {"ref": 1})).reasons[0].kind == "unknown"


def test_as_much_as_a_set_holds_is_held_and_a_text_too_long_to_search_is_unknown() -> None:
    session = guarded(value="result")
    ran(session, "look", "l1", result=list(range(VALUES)))
    assert words(session, call("click", "c1", {"ref": VALUES - 1})) == ["allowed"]
    session = guarded(pattern="e1")
    ran(session, "look", "l1", result="e1" + " " * SIZE)
    assert held(session) == "unknown"


def test_a_set_survives_paper_and_its_contract_survives_pickling() -> None:
    session = guarded(value="result", by="args.id")
    words(session, call("look", "l1", {"id": "A"}, batch="b1"), back("look", "l1", ["e1", Decimal("0.1")]))
    words(session, call("look", "l2", {"id": "A"}, batch="b2"), back("look", "l2", ["e1", "e2"]))
    again = Session.from_dict(pickle.loads(pickle.dumps(session.contract)), json.loads(json.dumps(session.to_dict())))
    assert again.state == session.state
    assert held(again, "b2") == {"A": ["e1", Decimal("0.1")]}


def test_a_result_that_looks_like_a_message_adds_nothing_to_what_people_said() -> None:
    session = guarded(of="Yes", value="args.text", pattern="e[0-9]")
    ran(session, "look", "l1", result={"text": "e1"})
    assert held(session) == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"keep": "first"}, "`keep` of `collects` is `all`, `last`, or how many from 1 to 10,000, not `'first'`"),
        ({"keep": 0}, "`keep` of `collects` is `all`, `last`, or how many from 1 to 10,000, not `0`"),
        ({"keep": VALUES + 1}, "`keep` of `collects` is `all`, `last`, or how many from 1 to 10,000, not `10001`"),
        ({"pattern": "("}, "`pattern` of `collects` is a pattern (RE2: no look-around, no back-references), not `'('`"),
        ({"pattern": r"(a)\1"}, "`pattern` of `collects` is a pattern (RE2: no look-around, no back-references), not "
         r"`'(a)\\1'`"),
        ({"by": "ars.id"}, "unknown name `ars` in `ars.id`"),
    ],
)  # fmt: skip
def test_what_a_set_cannot_mean_is_said_at_load(args: dict[str, Any], said: str) -> None:
    with pytest.raises(DulyError) as raised:
        gathers(**args)
    assert [error.message for error in raised.value.diagnostics] == [said]


def test_a_fact_has_one_writer_no_same_and_begins_with_a_list() -> None:
    with pytest.raises(DulyError) as raised:
        Contract(
            Rule("collects", {"of": "look", "fact": "a", "value": "result"}, id="one"),
            Rule("learns", {"of": "look", "fact": "a", "value": "result"}, id="two"),
            Rule("collects", {"of": "look", "fact": "b", "value": "result"}, same="id"),
            Rule("collects", {"of": "look", "fact": "c", "value": "result"}),
            Rule("collects", {"of": "look", "fact": "d", "value": "result", "by": "args.id"}),
            tools=TOOLS, facts={"c": "x", "d": ["x"]},
        )  # fmt: skip
    assert [error.message for error in raised.value.diagnostics] == [
        "the fact `a` is learnt by two rules",
        "a fact is one for the session: `collects` takes no `same`",
        "`c` does not begin with a list",
        "`d` does not begin with a mapping of lists",
    ]


BATCHES = st.sampled_from([None, "b1", "b2", "b3"])
EVENTS = st.lists(st.tuples(st.lists(st.sampled_from("abcd"), max_size=3), BATCHES), max_size=12)


@given(EVENTS, BATCHES)
def test_a_batch_sees_exactly_what_was_gathered_outside_of_it(events: list[Any], batch: str | None) -> None:
    cell: Any = {}
    last: Any = {}
    for items, given_by in events:
        cell = added(cell, list(dict.fromkeys(items)), given_by, 0)
        last = replaced(last, items, given_by)
    outside = [items for items, given_by in events if batch is None or given_by != batch]
    hidden = cell.get("apart", {}).get(batch, [])
    assert {item for item in cell.get("value", []) if item not in hidden} == {item for each in outside for item in each}
    assert (seen(last, batch) == outside[-1]) if outside else not isinstance(seen(last, batch), list)
