"""Orders of people: who gives them, what they freeze, what stands, what they take back."""

from typing import Any

import pytest

from duly import Approval, Gate, Ordered, Refused, Session, Stand, Tool, at_most
from steps import call, held, why, words


def desk(**terms: Any) -> Session:
    approval = Approval("write", by=("ana", "bo"), stand=Stand({"path": "/srv/**", "mode": "*"}))
    return held(approval, tools=[Tool("write"), Tool("look", effect="none"), Tool("odd")], **terms)


def write(id: str, path: str = "/srv/a", **more: Any) -> Any:
    return call("write", id, {"path": path, **more})


def stand(target: str | None, by: str = "ana", **more: Any) -> Ordered:
    return Ordered("stand", target, by, **more)


@pytest.mark.parametrize("order", ["freeze", "unfreeze", "stand", "withdraw", "settle", "mode", "accept"])
def test_who_may_not_decide_gives_no_orders(order: Any) -> None:
    session = desk()
    words(session, write("1"))
    before = session.state
    for event in (Ordered(order, "1", "eve"), Ordered(order, "1"), Ordered(order, "1", "ana", agent="ana")):
        assert why(session.step(event)) == [("people", "void")]
    assert session.state == before


def test_a_frozen_session_takes_only_what_changes_nothing_until_it_is_unfrozen() -> None:
    session = desk()
    assert words(session, Ordered("freeze", by="ana"), call("look", "1"), call("odd", "2"), write("3")) == [
        "allowed", "allowed", "violation", "violation",
    ]  # fmt: skip
    assert session.state.more.parked == {}
    assert words(session, Ordered("unfreeze", by="bo"), call("odd", "2"), write("3")) == [
        "allowed", "allowed", "needs_approval",
    ]  # fmt: skip


def test_a_scope_by_itself_needs_the_only_argument_that_may_vary() -> None:
    session = desk()
    words(session, write("1"))
    assert why(session.step(stand("1", scope="/srv/**"))) == [("people", "void")]
    assert words(session, stand("1", scope={"path": "/srv/**"}), write("2", "/srv/b/c"), write("3", "/etc/x")) == [
        "allowed", "allowed", "needs_approval",
    ]  # fmt: skip


def test_arguments_that_may_not_vary_are_equal_under_a_standing_yes() -> None:
    session = desk()
    words(session, write("1", mode="w"), stand("1", scope={"path": "/srv/**"}))
    assert words(session, write("2", "/srv/b", mode="w"), write("3", "/srv/b", mode="a"), write("4", "/srv/b")) == [
        "allowed", "needs_approval", "needs_approval",
    ]  # fmt: skip


def test_an_act_outside_of_what_is_to_stand_gets_no_standing_yes() -> None:
    session = desk()
    words(session, write("1", "/etc/x"))
    before = session.state
    assert why(session.step(stand("1", scope={"path": "/srv/**"}))) == [("people", "void")]
    assert session.state == before


def test_standing_yeses_are_taken_back_by_their_name_and_by_their_tool() -> None:
    for target in ("s2", "write"):
        session = desk()
        words(session, write("1"), stand("1"))
        assert [each.id for each in session.state.more.standing] == ["s2"]
        # the yes that came with it is for the act that waited
        assert words(session, write("1"), Ordered("withdraw", target, "bo"), write("2")) == [
            "allowed", "allowed", "needs_approval",
        ]  # fmt: skip


def test_a_withdrawal_of_nothing_is_void() -> None:
    session = desk()
    words(session, write("1"), stand("1"))
    before = session.state
    for event in (Ordered("withdraw", "t9", "ana"), Ordered("withdraw", by="ana"), Ordered("withdraw", by="ana", scope=5)):
        assert why(session.step(event)) == [("people", "void")]
    assert session.state == before


def test_of_n_people_each_gives_a_standing_yes_of_his_own() -> None:
    session = held(Approval("write", by=("ana", "bo", "cy"), need=2), tools=[Tool("write")])
    words(session, write("1"), stand("1", "ana"))
    assert words(session, write("1"), stand("1", "bo"), write("1"), write("2")) == [
        "needs_approval", "allowed", "allowed", "allowed",
    ]  # fmt: skip


def modes(session: Session) -> tuple[Any, Any]:
    return session.state.more.mode, session.state.more.modes


def test_a_mode_is_ordered_for_the_session_or_for_one_rule() -> None:
    session = held(at_most("a", 0, id="never"), at_most("b", 0))
    assert words(session, Ordered("mode", by="ana", scope="shadow"), Ordered("mode", "never", "ana", scope="shadow")) == [
        "allowed", "allowed",
    ]  # fmt: skip
    assert modes(session) == ("shadow", {"never": "shadow"})
    verdict = session.step(call("a", "1"))
    assert (verdict.word, [reason.rule for reason in verdict.noted]) == ("allowed", ["never"])
    assert words(session, call("b", "2"), Ordered("mode", "never", "ana", payload={"mode": "enforce"}), call("a", "3")) == [
        "violation", "allowed", "violation",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "mode", "said"),
    [
        ("nevr", "shadow", "finding: no rule `nevr` (did you mean `never`?)"),
        ("never", "watch", "finding: `watch` is no mode (a mode is `enforce` or `shadow`)"),
        (None, None, "finding: `None` is no mode (a mode is `enforce` or `shadow`)"),
    ],
)
def test_a_mode_that_is_none_and_a_rule_that_is_none_are_void(target: Any, mode: Any, said: str) -> None:
    session = held(at_most("a", 0, id="never"))
    assert session.step(Ordered("mode", target, "ana", scope=mode)).text() == said
    assert modes(session) == (None, {})


def test_the_mode_of_a_rule_outlives_a_snapshot_and_no_other_rule_takes_it() -> None:
    session = held(at_most("a", 0, id="never"))
    session.step(Ordered("mode", "never", "ana", scope="shadow"))
    data = session.to_dict()
    assert Session.from_dict(session.contract, data).step(call("a", "1")).word == "allowed"
    assert data["more"]["modes"] == {"never": "shadow"}


def test_each_entry_says_which_mode_was_in_force() -> None:
    session = held(at_most("a", 0), mode="shadow")
    gate = Gate(session)
    gate.begin("a", {})
    gate.step(Ordered("mode", by="ana", scope="enforce"))
    with pytest.raises(Refused):
        gate.begin("a", {})
    assert [entry.mode for entry in session.journal] == ["shadow", "shadow", "enforce"]
