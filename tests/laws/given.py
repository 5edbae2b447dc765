"""What laws are tried over: plain values, events, contracts, and runs that make sense now and then."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from duly import (
    Breaker,
    Called,
    Charged,
    Closed,
    Contract,
    Decided,
    Elapsed,
    Failed,
    LabelRule,
    Listed,
    Opened,
    Ordered,
    Received,
    Returned,
    Sent,
    Tool,
    at_most,
    must_precede,
    protocol,
)  # fmt: skip
from duly.values.event import Event

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.sampled_from([0, 1, 1.0, Decimal("1.00"), -0.0, 10**25, Decimal("1E+30"), 0.1, Decimal("0.1")]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS, st.sampled_from(["1", "true", ""])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
READ = VALUES.filter(lambda value: not _holds_float(value))
"""Values as they come from paper, where numbers are exact."""


def _holds_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_float, value.values()))
    return isinstance(value, float) or (isinstance(value, list) and any(map(_holds_float, value)))


IDS = st.sampled_from(["c1", "c2", "c3", "#1", None])
ARGS = st.sampled_from([{}, {"n": 1}, {"n": 1.0}, {"n": 2}, {"n": "1"}, {"n": None}, {"n": [1]}])
ACTS = ("a", "b", "c", "w", "zzz")
TIMES = st.sampled_from([None, None, None, 1.0, 5, 3.5, "2024-05-01T12:00:00Z", "2024-05-01T12:00:09+00:00", "noon"])

CALLS = st.builds(
    Called,
    st.sampled_from(ACTS),
    ARGS,
    id=IDS,
    at=TIMES,
    batch=st.sampled_from([None, None, "b1", "b2"]),
    key=st.sampled_from([None, None, None, "k1"]),
    turn=st.sampled_from([None, None, None, "t1", "t2"]),
    run=st.sampled_from([None, None, None, "r1", "r2"]),
    parent=st.sampled_from([None, None, None, "c1"]),
)
RESULTS = st.builds(
    Returned,
    st.sampled_from(ACTS),
    st.sampled_from([None, {"n": 1}, {"n": 2}, {"n": 1, "ok": False}, {"ok": True, "n": 1}, "text"]),
    id=IDS,
    outcome=st.sampled_from([None, None, "error", "odd"]),
)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    CALLS,
    CALLS,
    RESULTS,
    RESULTS,
    st.builds(Sent, st.sampled_from(["a", "Tell", "Yes", None]), ARGS, batch=st.sampled_from([None, "b1"])),
    st.builds(Received, st.sampled_from(["Yes", "No", "a", None]), ARGS),
    st.builds(Failed, st.sampled_from(["c1", "c2", "c3", "#1"]), st.sampled_from(["none", "unknown"])),
    st.builds(
        Ordered,
        st.sampled_from(["settle", "settle", "settle", "freeze", "unfreeze", "mode"]),
        st.sampled_from(["c1", "c2", "#1"]),
        by=st.sampled_from(["ana", None]),
        payload=st.sampled_from(
            [{"as": "done", "result": {"n": 1}}, {"as": "failed"}, {"as": "retry"}, {"mode": "shadow"}]
        ),
    ),
    st.builds(Decided, st.sampled_from(["approve", "deny", "edit"]), st.sampled_from(["c1", None]), by=st.just("ana")),
    st.builds(Elapsed, st.sampled_from([1.0, 9, "2024-05-01T12:00:00Z"])),
    st.just(Charged({"tokens": 1})),
    st.just(Closed()),
)
RUNS = st.lists(EVENTS, max_size=14)

PAPER: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Called, TEXTS, READ, id=st.none() | TEXTS, at=st.none() | st.floats(0, 1e9) | TEXTS, run=st.none() | TEXTS,
        batch=st.none() | TEXTS, key=st.none() | TEXTS, parent=st.none() | TEXTS, server=st.none() | TEXTS,
        answers=st.none() | st.dictionaries(TEXTS, READ, max_size=2), raw=st.none() | TEXTS,
    ),
    st.builds(Sent, st.none() | TEXTS, READ),
    st.builds(Returned, TEXTS, READ, st.none() | TEXTS, st.none() | TEXTS, executed_by=st.none() | TEXTS),
    st.builds(Failed, TEXTS, st.sampled_from(["none", "unknown"]), st.none() | TEXTS),
    st.builds(Received, st.none() | TEXTS, READ, turn=st.none() | TEXTS, agent=st.none() | TEXTS),
    st.builds(Decided, st.sampled_from(["approve", "deny", "edit"]), st.none() | TEXTS, st.none() | TEXTS, payload=READ),
    st.builds(Ordered, st.sampled_from(["freeze", "settle", "mode"]), st.none() | TEXTS, st.none() | TEXTS, scope=READ),
    st.builds(Charged, st.dictionaries(TEXTS, READ, max_size=2), st.none() | TEXTS),
    st.builds(Opened, TEXTS, st.none() | TEXTS, st.none() | st.dictionaries(TEXTS, READ, max_size=2)),
    st.builds(Listed, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2)),
    st.builds(Elapsed, st.floats(0, 1e9)),
    st.builds(Closed, session=st.none() | TEXTS),
)  # fmt: skip

TOOLS = [
    Tool("a", error="has(result.ok) && result.ok == false"),
    Tool("b", outcomes={"odd": "result.n == 2"}, on_error="unknown"),
    Tool("c", effect="none"),
    Tool("w", effect="write"),
]
LABELS = [LabelRule("Yes"), LabelRule("No"), LabelRule("Tell", source="agent")]
CONTRACTS = [
    Contract(at_most("a", 2), must_precede("a", "b"), at_most("w", 1, scope="turn")),
    Contract(
        protocol("rec L.{!a(n as maybe r).?a(n as maybe s).L, !b(n == r).?{b=odd.L, b.L, b=error.L}, ?Yes.!w.?w.L, ?No.L}"),
        at_most("a", 3), must_precede("Yes", "w"), tools=TOOLS, labels=LABELS, outside=["c"], breaker=Breaker(3, per="turn"),
    ),
    Contract(
        protocol("(rec A.{!a.?a.A, !Tell} || rec B.{!b(n as maybe q).?b.B, !w.?w})"), must_precede("a", "w", scope="run"),
        tools=TOOLS, labels=LABELS, outside=["c"], breaker=Breaker(2, "equal"),
    ),
    Contract(protocol("!a.!b.!c.?a.?b.?c.!w"), protocol("rec L.!{a.L, w.L}"), at_most("c", 1), tools=TOOLS),
    Contract(
        protocol("rec L.{!a.L, ?a(n as x).L, !b(n == x).L, ?b.L, !w.L}"), at_most("b", 2, scope="turn"),
        must_precede("a", "b"), on_violation="halt",
    ),
    Contract(protocol("!{a(n <= 1).!b, a(else).!c}.!w"), must_precede("Yes", "w")),
    Contract(tools=TOOLS, labels=LABELS),
]  # fmt: skip
HELD = st.sampled_from(CONTRACTS)
