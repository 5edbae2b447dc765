"""Where reasons stand in the contract: what refuses points at its own line, also from the record of a journal."""

import pytest

from duly import Called, Closed, Contract, Decided, Gate, Ordered, Received, Returned, Session, forbid
from duly.journal.memory import MemoryJournal
from duly.notation.document import parse_terms
from duly.values.event import Event
from duly.values.verdict import Verdict

TEXT = """\
duly: 1
contract: desk
version: "1"
tools:
  look: {effect: none}
  pay: {effect: write, schema: {type: object, properties: {n: {type: integer}}}}
  hint: {}
  ship: {outcomes: {denied: "result.no == true"}}
labels:
  Yes: {from: user}
protocol: |
  rec Desk.{
    ?Yes . !pay(n <= 5) . Desk,
    !ship . ?ship=denied . Desk
  }
outside: [look, hint]
rules:
  - must_precede: [look, ship]
  - at_most: {of: hint, n: 2}
  - at_most: {of: hint, n: 1}
    where: args.x == 1
  - must_happen: {of: look}
  - ensures: {of: hint, that: "result.ok == true"}
approvals:
  - {of: look, when: "args.deep == true", by: [ana]}
guards:
  - {of: ship, run: "desk:guard"}
"""


def read(text: str) -> Contract:
    return Contract.of(parse_terms(text, name="desk.yaml"))


CONTRACT = read(TEXT)
SURE = {"deep": False}


def places(verdict: Verdict) -> list[tuple[str, str]]:
    return [(reason.kind, reason.where) for reason in verdict.reasons]


def call(label: str, id: str, payload: object = None, **more: object) -> Called:
    return Called(label, payload or {}, id=id, **more)  # type: ignore[arg-type]


LOOKED = [call("look", "l", SURE), Returned("look", None, id="l")]
SAID_YES = {"desk:guard": True}


@pytest.mark.parametrize(
    ("before", "event", "said"),
    [
        ([], call("pay", "1", {"n": 1}), [("protocol", "desk.yaml:13:5")]),
        ([Received("Yes")], call("pay", "1", {"n": 9}), [("guard", "desk.yaml:13:12")]),
        ([Received("Yes")], call("pay", "1", {"n": "x"}), [("schema", "desk.yaml:6:3"), ("guard", "desk.yaml:13:12")]),
        ([], call("ship", "1", answers=SAID_YES), [("order", "desk.yaml:18:5")]),
        ([], call("ship", "1", answers={"desk:guard": False}), [("guard", "desk.yaml:27:6")]),
        ([call("hint", "1", {"x": 2}), call("hint", "2", {"x": 2})], call("hint", "3", {"x": 2}), [("count", "desk.yaml:19:5")]),
        ([call("hint", "1", {"x": 1})], call("hint", "2", {"x": 1}), [("count", "desk.yaml:20:5")]),
        ([], call("look", "1", {"deep": True}), [("approval", "desk.yaml:25:6")]),
        ([], call("look", "1"), [("unknown", "desk.yaml:25:6")]),
        ([call("hint", "1", {"x": 2})], Returned("hint", {"ok": False}, id="1"), [("ensures", "desk.yaml:23:5")]),
        (
            [*LOOKED, call("ship", "1", answers=SAID_YES)], Returned("ship", {"no": False}, id="1"),
            [("outcome", "desk.yaml:14:13")],
        ),
        ([Received("Yes")], Received("Yes"), [("protocol", "desk.yaml:13:12")]),
        ([*LOOKED, call("ship", "1", answers=SAID_YES)], Closed(), [("unfinished", "desk.yaml:14:13")]),
        ([], Closed(), [("owed", "desk.yaml:22:5"), ("unfinished", "desk.yaml:13:5")]),
    ],
)  # fmt: skip
def test_a_reason_stands_where_the_contract_says_so(
    before: list[Event], event: Event, said: list[tuple[str, str]]
) -> None:
    session = Session(CONTRACT)
    for each in before:
        assert session.step(each)
    verdict = session.step(event)
    assert places(verdict) == said
    assert not any("desk.yaml" in text for text in (verdict.text(), *(reason.text() for reason in verdict.reasons)))


def test_a_no_of_a_person_stands_where_the_approval_does() -> None:
    session = Session(CONTRACT)
    session.step(call("look", "1", {"deep": True}))
    session.step(Decided("deny", "1", by="ana"))
    verdict = session.step(call("look", "2", {"deep": True}))
    assert places(verdict) == [("denied", "desk.yaml:25:6")]


def test_what_no_text_says_has_no_place() -> None:
    session = Session(Contract(forbid("a")))
    assert [places(session.step(event)) for event in (call("a", "1"), call("a", "2"))] == [[("forbidden", "")]] * 2


def test_a_journal_keeps_every_reason_with_its_place_whatever_the_model_sees() -> None:
    journal = MemoryJournal()
    hidden = read(TEXT + "show: []\n")
    session = Gate.open(hidden, journal, "s", guards=None).session
    verdict = session.step(call("pay", "1", {"n": "x", "m": 1}))
    (record,) = journal.read("s", 0)
    assert verdict.text() == "refused"
    assert [(reason.rule, reason.kind, reason.where) for reason in record.reasons] == [
        ("schema", "schema", "desk.yaml:6:3"), ("protocol", "protocol", "desk.yaml:13:5"),
    ]  # fmt: skip
    assert [reason.message for reason in record.reasons] == [reason.message for reason in verdict.reasons]


def test_a_frozen_session_says_what_is_legal_and_what_has_to_come_first() -> None:
    session = Session(CONTRACT)
    session.step(Received("Yes"))
    session.step(Ordered("freeze", by="ana"))
    assert session.step(call("pay", "1", {"n": 1})).text() == (
        "refused: `pay` may change something, and the session is frozen (wait until a person unfreezes it)\n"
        "to make it legal: first a person unfreezes the session\n"
        "legal now: look (needs a yes from ana where args.deep == true)"
    )


def test_a_guard_that_says_no_is_named_in_what_would_help_and_in_what_is_legal() -> None:
    session = Session(CONTRACT)
    for event in LOOKED:
        session.step(event)
    verdict = session.step(call("ship", "1", answers={"desk:guard": False}))
    assert verdict.text() == (
        "refused: the guard `desk:guard` said no (ask again once the guard would say yes)\n"
        "to make it legal: first a yes of the guard `desk:guard`\n"
        "legal now: hint, look (needs a yes from ana where args.deep == true), ship (the guard `desk:guard` says yes)"
    )
