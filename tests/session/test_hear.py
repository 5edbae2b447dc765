"""Messages: what they move, and when they begin a turn."""

from duly import LabelRule, at_most, must_precede
from steps import call, hear, held, ran, why, words


def test_a_message_moves_the_protocol_that_waits_for_it() -> None:
    session = held("rec L.{?Yes.!pay.?pay.L, ?No.L, ?Bye}")
    assert words(session, hear("No"), call("pay", "1"), hear("Yes"), call("pay", "2")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_a_message_that_a_protocol_does_not_expect_is_a_finding_and_moves_nothing() -> None:
    session = held("?Hello.?Yes.!pay")
    verdict = session.step(hear("Yes"))
    assert (verdict.word, why(verdict), verdict.finding) == ("violation", [("protocol", "protocol")], True)  # type: ignore[union-attr]
    assert verdict.reasons[0].message == "`?Yes` is not expected here"
    assert words(session, hear("Hello"), hear("Yes"), call("pay", "1")) == ["allowed"] * 3


def test_a_message_outside_the_alphabet_moves_nothing() -> None:
    session = held("?Hello.!pay")
    before = session.state
    assert words(session, hear("Weather")) == ["allowed"]
    assert session.state == before


def test_a_message_counts_as_earlier_as_soon_as_it_is_recorded() -> None:
    session = held(must_precede("Yes", "pay"))
    assert words(session, call("pay", "1"), hear("Yes"), call("pay", "2")) == ["violation", "allowed", "allowed"]


def test_a_message_binds_and_is_guarded_like_everything_else() -> None:
    session = held("rec L.{?Order(id as r).L, !ship(id == r).L}")
    assert words(session, call("ship", "1", {"id": 1}), hear("Order", id=1), call("ship", "2", {"id": 1})) == [
        "violation", "allowed", "allowed",
    ]  # fmt: skip
    assert words(session, hear("Order")) == ["violation"]
    assert session.registers == {"r": 1}


def test_a_message_that_nobody_could_name_takes_its_branch_where_there_is_one() -> None:
    session = held("rec L.{?Yes.!pay.L, ?Unrecognized.!ask.L}")
    assert words(session, hear(None), call("ask", "1"), hear("Yes"), call("pay", "2")) == ["allowed"] * 4


def test_a_message_that_nobody_could_name_is_unrecognized_without_a_branch() -> None:
    session = held("?Yes.!pay")
    before = session.state
    verdict = session.step(hear(None))
    assert (verdict.word, verdict.text()) == (
        "unrecognized",
        "not understood: nobody could name this message (ask what was meant)",
    )
    assert session.state == before


def test_a_message_called_unrecognized_is_no_unnamed_one() -> None:
    session = held("rec L.{?'Unrecognized'.!pay.L, ?Yes.L}")
    assert words(session, hear(None), hear("Unrecognized"), call("pay", "1")) == ["unrecognized", "allowed", "allowed"]


def test_several_protocols_each_take_the_message_that_they_wait_for() -> None:
    session = held("rec L.{?Yes.!pay.L, ?Bye}", "?Yes.!log")
    assert words(session, hear("Yes"), call("pay", "1"), call("log", "2")) == ["allowed"] * 3
    verdict = session.step(hear("Yes"))
    assert why(verdict) == [("protocol 2", "protocol")]
    assert words(session, call("pay", "3")) == ["allowed"]


# turns


def test_a_turn_begins_with_each_message_of_a_person() -> None:
    session = held(at_most("a", 1, scope="turn"))
    assert words(session, call("a", "1"), call("a", "2"), hear("Anything"), call("a", "3")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip
    assert words(session, hear(None), call("a", "4")) == ["unrecognized", "allowed"]


def test_a_message_from_another_source_begins_no_turn() -> None:
    session = held(
        at_most("a", 1, scope="turn"), tools=["a"], labels=[LabelRule("Tick", source="clock"), LabelRule("Hi")]
    )
    assert words(session, call("a", "1"), hear("Tick"), call("a", "2"), hear("Hi"), call("a", "3")) == [
        "allowed", "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_what_preceded_in_another_turn_permits_nothing_per_turn() -> None:
    session = held(must_precede("check", "pay", scope="turn"))
    ran(session, "check", "1")
    assert words(session, call("pay", "2"), hear("Hi"), call("pay", "3")) == ["allowed", "allowed", "violation"]


def test_another_spelling_of_a_tool_is_no_message_and_forges_no_result() -> None:
    session = held(must_precede("verify", "refund"), tools=["verify", "refund"], aliases={"check": "verify"})
    verdict = session.step(hear("check"))
    assert (verdict.word, why(verdict)) == ("violation", [("contract", "kind")])
    assert words(session, call("refund", "1")) == ["violation"]


def test_another_spelling_of_what_no_person_says_begins_no_turn() -> None:
    session = held(
        at_most("pay", 1, scope="turn"), tools=["pay"], aliases={"Memo": "Note"},
        labels=[LabelRule("Note", source="system")],
    )  # fmt: skip
    ran(session, "pay", "1")
    assert words(session, hear("Memo"), call("pay", "2"), hear("Hello"), call("pay", "3")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip
