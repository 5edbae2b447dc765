"""Odd events against a contract that holds everything: never an error of ours, and always a session that comes back."""

import os
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from duly import (
    Approval,
    Called,
    Charged,
    Closed,
    Contract,
    Decided,
    Elapsed,
    Failed,
    LabelRule,
    Opened,
    Ordered,
    Received,
    Returned,
    Rule,
    Sent,
    Session,
    Stand,
    Tool,
    protocol,
)  # fmt: skip
from duly.machine.terms import Budget

TOOLS = [
    Tool("a", effect="write"), Tool("b", effect="none"), Tool("c", error="has(result.error)", effect="write"),
    Tool("d", schema={"type": "object", "properties": {"n": {"type": "number"}}}),
]  # fmt: skip
RULES = [
    Rule("must_precede", {"first": "b", "then": "a"}, same="n", mode="shadow"),
    Rule("never_after", {"never": "c", "after": "d"}, scope="turn"),
    Rule("at_most", {"of": {"of": ["a", "c"], "where": "args.n > 1"}, "n": 3}, on_excess="ask"),
    Rule("at_most_total", {"of": "a", "field": "n", "limit": "cap"}, same="n"),
    Rule("at_most_total", {"of": "c", "field": "n", "limit": {"x": 5}, "units": "u", "back": {"of": "b", "call": "n"}}),
    Rule("rate_limit", {"of": "b", "n": 2, "per": 5}),
    Rule("no_repeat", {"of": "d", "n": 2}),
    Rule("must_follow", {"of": "c", "by": "b", "within": 4}),
    Rule("must_follow", {"of": "a", "by": "b", "within": {"acts": 3}}, mode="shadow"),
    Rule("immediately_before", {"first": "b", "then": "d"}, mode="shadow"),
    Rule("between", {"of": "d", "from": "Yes", "to": "a"}, mode="shadow"),
    Rule("fresh", {"of": "b", "for": "c", "lasts": 9, "until": "a"}, mode="shadow"),
    Rule("within", {"of": "a", "after": "b", "t": 7}),
    Rule("exclusive", {"members": [{"of": "a", "where": "args.n == 2"}, {"of": "c", "where": "args.n == 2"}]}),
    Rule("must_happen", {"of": "b"}),
    Rule("requires", {"of": "d", "that": "args.n < 100"}),
    Rule("ensures", {"of": "b", "that": "result.ok == true"}),
    Rule("learns", {"of": "b", "fact": "cap", "value": "result.cap"}),
]
CONTRACT = Contract(
    protocol("rec L.{!a.?a.L, ?Yes.L, ?No.end, !c.?{c.L, c=denied.L}}"),
    *RULES,
    Approval("c", when="args.n > 2", by=("ana", "bo"), need=2, expires=6.0, no="turn"),
    Approval("d", stand=Stand({"p": "/x/**"}, 9.0)),
    tools=TOOLS,
    labels=[LabelRule("Yes"), LabelRule("No")],
    outside=("b", "d"),
    facts={"cap": 4},
    budget=(Budget({"calls": 30, "usd": 5}), Budget({"calls": 9}, of="a", scope="turn")),
)

ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.just(10**400), st.floats(), st.just(Decimal("1e999")),
    st.sampled_from(["1", "2.5", "-1", "1e3", "x", "", "\ud800", "/x/a", "/x/../y"]), st.just([1]), st.just({"m": {}}),
)  # fmt: skip
PAYLOADS = st.one_of(
    st.fixed_dictionaries({"n": st.integers(0, 3)}, optional={"u": st.just("x"), "p": st.just("/x/a")}),
    st.dictionaries(st.sampled_from(["n", "u", "p", "q"]), ODD, max_size=4),
    ODD,
)
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "Yes"])
IDS = st.one_of(st.none(), st.sampled_from(["1", "2", "3", "4"]))
TIMES = st.one_of(st.none(), st.integers(0, 30), st.sampled_from([-1, float("nan"), "2026-01-01T00:00:00Z", "x"]))
PEOPLE = st.sampled_from([None, "ana", "bo", "bot", ""])
EVENTS: Any = st.one_of(
    st.builds(Called, NAMES, PAYLOADS, id=IDS, at=TIMES, batch=st.sampled_from([None, "x"]),
              agent=st.sampled_from([None, "bot"]), key=st.sampled_from([None, None, "k"])),
    st.builds(Returned, NAMES, PAYLOADS, id=IDS, at=TIMES, outcome=st.sampled_from([None, "ok", "error", "~", "odd"])),
    st.builds(Failed, st.sampled_from(["1", "2", "3"]), st.sampled_from(["none", "unknown"])),
    st.builds(Received, st.sampled_from([None, "Yes", "No", "a"]), PAYLOADS, turn=st.sampled_from([None, "t1", "t2"])),
    st.builds(Sent, st.sampled_from([None, "Yes", "a", "z"]), PAYLOADS),
    st.builds(Decided, st.sampled_from(["approve", "deny", "edit"]), IDS, by=PEOPLE, payload=PAYLOADS),
    st.builds(Ordered, st.sampled_from(["freeze", "unfreeze", "stand", "withdraw", "settle", "mode"]), IDS, PEOPLE,
              scope=st.one_of(st.none(), st.just({"p": "/x/**"}), ODD), payload=st.one_of(st.none(), st.just({"as": "done"}))),
    st.builds(Charged, st.dictionaries(st.sampled_from(["usd", "calls", "q"]), ODD, max_size=2), id=IDS),
    st.builds(Opened, st.sampled_from(["kid", "other"]), budget=st.one_of(st.none(), st.just({"calls": 2, "usd": 1}), ODD)),
    st.builds(Elapsed, st.integers(0, 40), run=st.sampled_from([None, "r"])),
    st.just(Closed()),
)  # fmt: skip


@settings(max_examples=3000 if os.environ.get("DULY_SOAK") else 300, deadline=None)
@given(st.lists(st.tuples(EVENTS, st.booleans()), max_size=25), st.lists(EVENTS, max_size=3))
def test_no_event_is_an_error_of_ours_and_every_session_comes_back(
    steps: list[tuple[Any, bool]], more: list[Any]
) -> None:  # fmt: skip
    session = Session(CONTRACT)
    for event, happened in steps:
        peeked = None if happened else session.peek(event)
        verdict = session.observe(event) if happened else session.step(event)
        for reason in (*verdict.reasons, *verdict.noted):
            assert reason.kind != "internal", (reason.message, event)
        assert len(verdict.text().encode()) <= 2000
        if peeked is not None:
            assert peeked.word == verdict.word
        session.legal()
    # numbers come back as the exact decimals that they were written as, and from then on they stay
    again = Session.from_dict(CONTRACT, session.to_dict())
    third = Session.from_dict(CONTRACT, again.to_dict())
    assert third.state == again.state
    assert third.to_dict() == again.to_dict()
    for event in more:
        if getattr(event, "key", None) is not None or isinstance(event, Returned):
            continue  # what has ended is known by the record, which a snapshot does not hold
        first, second = session.step(event), again.step(event)
        assert (first.word, {r.rule for r in first.reasons}) == (second.word, {r.rule for r in second.reasons})
