"""Why, what is legal instead, and where the reason stands."""

from duly import Breaker, LabelRule, Legal, Tool, at_most, must_precede
from steps import broke, call, hear, held, ran, words


def labels(found: tuple[Legal, ...]) -> list[str]:
    return [act.text() for act in found]


def test_an_act_is_legal_unless_it_is_refused_for_every_payload() -> None:
    session = held(
        "rec L.{!lookup.?lookup(id as r).L, !pay(id == r, amount <= 100).L, !list(kind in ['a', 'b']).L}",
        at_most("lookup", 1), must_precede("lookup", "list"),
    )  # fmt: skip
    assert labels(session.legal()) == ["lookup"]
    words(session, call("lookup", "1"))
    session.receive("lookup", {"id": 7})
    assert labels(session.legal()) == ['list (kind in ["a","b"])', "pay (id == r and amount <= 100)"]


def test_a_group_of_edges_is_told_with_all_its_conditions() -> None:
    session = held("!{pay(n <= 10).end, pay(else).!ask}")
    assert labels(session.legal()) == ["pay (n <= 10 or anything else)"]


def test_nothing_is_legal_when_the_session_is_over() -> None:
    session = held(at_most("a", 0), breaker=Breaker(1))
    session.step(call("a", "1"))
    assert session.legal() == ()


def test_closed_out_tools_and_peoples_messages_are_not_legal() -> None:
    session = held("?Yes.!a", tools=["a", "b", "c"], labels=[LabelRule("Yes")], outside=["c"])
    assert labels(session.legal()) == ["c"]
    session.step(hear("Yes"))
    assert labels(session.legal()) == ["a", "c"]


def test_a_call_that_an_equal_uncertain_one_holds_up_is_legal_for_other_arguments() -> None:
    session = held(tools=[Tool("pay", effect="write")])
    words(session, call("pay", "1"), broke("1", "unknown"))
    assert labels(session.legal()) == ["pay"]


def test_a_refusal_shows_the_state_what_was_expected_and_where_it_is_written() -> None:
    session = held("!a.?a.!b(n <= 5)", tools=["a", "b"])
    reason = session.step(call("b", "1")).reasons[0]
    assert (
        reason.text() == "`b` has no place in the protocol in state 0; expected `!a` (take one of the expected steps)"
    )
    ran(session, "a", "2")
    verdict = session.step(call("b", "3", {"n": 9}))
    reason = verdict.reasons[0]
    assert reason.text() == "the arguments of `b` fit no edge here: n <= 5; expected `!b` (correct the arguments)"
    assert reason.span is not None
    assert reason.span.text() == "!b(n <= 5)"


def test_a_refusal_never_shows_the_arguments() -> None:
    session = held("!pay(amount <= 5)")
    verdict = session.step(call("pay", "1", {"amount": 9, "card": "4111-1111"}))
    assert "4111" not in verdict.text() + repr(verdict.reasons)


def test_a_refusal_is_explained_by_the_state_in_which_it_was_given() -> None:
    session = held("!a.?a.!b")
    verdict = session.step(call("b", "1"))
    words(session, call("a", "2"))
    session.receive("a")
    assert (verdict.reasons[0].expected, labels(verdict.legal)) == (("!a",), ["a"])  # type: ignore[union-attr]
