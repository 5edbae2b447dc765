"""Laws of values: the one equality, plain values, paper, and the join of verdicts."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from duly import Allowed, Blocked, Legal, NeedsApproval, Reason, Repair, Unrecognized, Violation
from duly.values.event import Event
from duly.values.expr import compare, kind, normal, same
from duly.values.paper import read_event, write_event
from duly.values.plain import plain, read_json, write_json, write_sorted
from duly.values.verdict import ALLOWED, Verdict, join

from .given import PAPER, READ, VALUES
from .settings import tried

REASONS = st.builds(
    Reason, st.sampled_from(["r1", "r2", "protocol"]), st.sampled_from(["count", "order"]), st.sampled_from(["m", "n"])
)
PARTS: Any = {
    "given": st.lists(REASONS, max_size=3).map(tuple),
    "halted": st.booleans(),
    "finding": st.booleans(),
    "ticket": st.sampled_from([None, "t1", "t2"]),
    "instead": st.lists(st.builds(Legal, st.sampled_from(["a", "b"])), max_size=2).map(tuple),
    "mend": st.sampled_from([None, Repair("none"), Repair("steps", ("call `a`",))]),
}
VERDICTS = st.one_of(
    st.just(ALLOWED),
    st.builds(Allowed, st.sampled_from([None, 1]), id=st.sampled_from([None, "c1"])).filter(lambda v: v == ALLOWED),
    *(st.builds(word, **PARTS) for word in (NeedsApproval, Violation, Unrecognized, Blocked)),
)


@tried(200, 5000)
@given(VERDICTS, VERDICTS, VERDICTS)
def test_the_join_is_associative_commutative_and_idempotent(a: Verdict, b: Verdict, c: Verdict) -> None:
    assert join([a, b]) == join([b, a])
    assert join([join([a, b]), c]) == join([a, join([b, c])]) == join([a, b, c])
    assert join([a, a]) == join([a])
    assert join([join([a])]) == join([a])
    assert join([a, ALLOWED]) == join([a])


@tried(200, 5000)
@given(VALUES, VALUES, VALUES)
def test_equality_is_an_equivalence_and_agrees_with_the_normal_form(a: Any, b: Any, c: Any) -> None:
    assert same(a, a)
    assert same(a, b) == same(b, a)
    if same(a, b) and same(b, c):
        assert same(a, c)
    assert same(a, b) == (write_sorted(normal(a)) == write_sorted(normal(b)))


@tried(200, 5000)
@given(VALUES, VALUES)
def test_equality_never_crosses_kinds_and_comparisons_agree_with_it(a: Any, b: Any) -> None:
    if kind(a) != kind(b):
        assert not same(a, b)
    equal, unequal = compare(a, "==", b), compare(a, "!=", b)
    assert (equal is None) == (unequal is None)
    if equal is not None:
        assert equal is same(a, b) is not unequal
    less, more = compare(a, "<", b), compare(a, ">=", b)
    assert (less is None) == (more is None)
    if less is not None:
        assert less is not more
    if kind(b) == "list" and compare(a, "in", b) is True:
        assert any(same(a, item) for item in b)


@tried(200, 5000)
@given(VALUES)
def test_a_plain_value_is_plain_already_and_equal_to_what_it_was_made_of(value: Any) -> None:
    once = plain({"value": value})
    assert plain(once) == once
    assert same(once, {"value": value})


@tried(200, 5000)
@given(VALUES)
def test_what_is_written_is_read_back_equal(value: Any) -> None:
    assert same(read_json(write_json(plain(value))), value)
    assert write_sorted(normal(read_json(write_json(plain(value))))) == write_sorted(normal(value))


@tried(200, 5000)
@given(READ)
def test_what_was_read_is_read_back_as_it_was(value: Any) -> None:
    assert read_json(write_json(plain(value))) == value


@tried(300, 5000)
@given(PAPER)
def test_an_event_on_paper_is_the_event(event: Event) -> None:
    line = write_event(event)
    assert "\n" not in line
    assert read_event(line) == event
    assert write_event(read_event(line)) == line
