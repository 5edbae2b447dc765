"""Sessions on paper: whole, bound to their contract, and checked when they come back."""

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import pytest

from duly import Approval, Called, Contract, DulyError, Ordered, Session, Tool, at_most, must_precede, protocol
from duly.values.plain import read_json, write_json
from steps import back, broke, call, hear, held, words

CONTRACT = Contract(
    protocol("rec L.{!a(n as r).L, ?a.L, !b(n == r).L, ?b.L, ?Yes(t as maybe t).L, !end}"),
    at_most("a", 9), must_precede("a", "b"), at_most("b", 2, scope="turn"), name="desk",
)  # fmt: skip


def busy() -> Session:
    """A session in which everything that a state can hold is there."""
    session = Session(CONTRACT)
    words(
        session,
        call("a", "1", {"n": Decimal("1.50")}, at=12.5),
        back("a", "1", {"x": 0.1}),
        call("a", "2", {"n": 0.25}, batch="b1", key="k"),
        back("a", "2"),
        call("a", "3", {"n": [1, {"m": None}]}, turn="t1", run="r1"),
        broke("3", "unknown"),
        hear("Yes", t="é"),
        call("zzz", "4"),
        Called("a", {"n": 5}),
    )
    return session


def test_a_session_comes_back_from_plain_json_as_it_was() -> None:
    session = busy()
    paper = json.dumps(session.to_dict())
    again = Session.from_dict(CONTRACT, json.loads(paper))
    assert again.to_dict() == session.to_dict()
    assert (again.current_state, again.registers, again.is_terminal) == (
        session.current_state, session.registers, session.is_terminal,
    )  # fmt: skip
    events = [broke("#1"), back("a", "3", 7), call("b", "5", {"n": 5}), call("end", "6")]
    assert words(again, *events) == words(session, *events)
    assert again.to_dict() == session.to_dict()


def test_a_snapshot_survives_other_writers_of_json() -> None:
    data = busy().to_dict()
    for text in (
        write_json(data),
        json.dumps(data, sort_keys=True, indent=2),
        json.dumps(data).replace(": 0.0", ": 0"),
    ):
        assert Session.from_dict(CONTRACT, json.loads(text)).to_dict() == data
    assert Session.from_dict(CONTRACT, read_json(json.dumps(data))).to_dict() == data


@pytest.mark.parametrize("move", [pickle.loads, copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"])
def test_a_copied_session_is_past_the_steps_that_the_first_has_taken(move: Any) -> None:
    session = held("!search.?search.!book", tools=["search", "book"])
    words(session, call("search", "1"), back("search", "1"))
    again = move(pickle.dumps(session)) if move is pickle.loads else move(session)
    assert words(again, call("search", "2"), call("book", "3")) == ["violation", "allowed"]
    assert words(session, call("book", "3")) == ["allowed"]
    assert len(again.journal) == 4


def test_the_size_of_a_snapshot_does_not_grow_with_history() -> None:
    session = held("rec L.!a.?a.L", at_most("a", 10**9))
    sizes = []
    for n in range(300):
        words(session, call("a", f"c{n}"), back("a", f"c{n}"))
        sizes.append(len(json.dumps(session.to_dict())))
    assert max(sizes) - min(sizes) <= 4


def fault(data: Any, contract: Contract = CONTRACT) -> list[str]:
    with pytest.raises(DulyError) as caught:
        Session.from_dict(contract, data)
    return [found.message for found in caught.value.diagnostics]


def test_a_snapshot_of_another_contract_is_refused_with_both_fingerprints() -> None:
    first = Contract(protocol("!search.!approve.!book"), name="A")
    second = Contract(protocol("!search.!book"), name="B")
    assert fault(Session(first).to_dict(), second) == [
        f"the snapshot belongs to `A` ({first.digest[:19]}), not to this contract ({second.digest[:19]})"
    ]


@pytest.mark.parametrize("data", [None, [], "x", {}, {"duly": 1}, {"duly": "1"}])
def test_what_is_no_snapshot_is_refused(data: Any) -> None:
    assert fault(data)[0].startswith("not a snapshot: ")


def test_an_unknown_field_is_refused() -> None:
    assert fault({**busy().to_dict(), "extra": 1})[0].startswith("not a snapshot: ")


def test_a_snapshot_of_a_newer_format_is_refused() -> None:
    assert fault({**busy().to_dict(), "duly": 2}) == ["a snapshot of format 2; this duly reads format 1"]


@pytest.mark.parametrize(
    "damage",
    [
        {"cursors": [1]},
        {"facts": "0"},
        {"data": [0, 0]},
        {"open": {}},
        {"more": {}},
        {"registers": "{}"},
        {"serial": 0},
        {"sum": ""},
    ],
)
def test_a_snapshot_that_lost_or_changed_something_is_refused(damage: dict[str, Any]) -> None:
    data = busy().to_dict()
    assert data != {**data, **damage}
    assert fault({**data, **damage}) == ["a damaged snapshot: its contents do not match their sum"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"cursors": [99]}, "a damaged snapshot: it holds a position that `protocol` does not have"),
        ({"cursors": []}, "a damaged snapshot: it holds another number of protocols"),
        ({"data": [1]}, "a damaged snapshot: it holds counts that no run can have"),
        ({"data": [-1, 0]}, "a damaged snapshot: it holds counts that no run can have"),
        ({"facts": "ff"}, "a damaged snapshot: it holds facts that the contract does not know"),
        ({"at": -1.0}, "a damaged snapshot: it holds a time that no session has"),
        ({"registers": "["}, "a damaged snapshot: not json: expecting value at line 1 column 2"),
        ({"registers": "[]"}, "a damaged snapshot: the registers are no object"),
        ({"open": {"1": {"label": "a", "args": "{}", "moved": [0]}}},
         "a damaged snapshot: it holds an open call `1` without the place it came from"),
        ({"open": {"1": {"label": "a", "args": "{}", "took": [7]}}},
         "a damaged snapshot: it holds an open call `1` that holds what does not exist"),
    ],
)  # fmt: skip
def test_a_state_that_this_contract_cannot_be_in_is_refused_even_with_a_sum(
    damage: dict[str, Any], message: str
) -> None:
    from duly.session.snapshot import _sum

    data = {key: value for key, value in {**busy().to_dict(), **damage}.items() if key != "sum"}
    assert fault({**data, "sum": _sum(data)})[0] == message


def test_a_halted_session_cannot_be_revived_by_leaving_the_halt_out() -> None:
    session = held("!a.!b", on_violation="halt")
    session.step(call("b", "1"))
    data = session.to_dict()
    assert data["more"] == {"over": "halted"}
    assert Session.from_dict(session.contract, data).is_halted
    assert fault({**data, "more": {}}, session.contract) == ["a damaged snapshot: its contents do not match their sum"]


def test_a_given_back_binding_is_undone_after_a_restore_too() -> None:
    session = held("rec L.!a(n as r).L")
    words(session, call("a", "1", {"n": 0.5}), call("a", "2", {"n": {"x": 1.5}}))
    again = Session.from_dict(session.contract, json.loads(json.dumps(session.to_dict())))
    words(again, broke("2"))
    assert again.registers == {"r": Decimal("0.5")}


def test_a_batch_stays_a_batch_over_a_restore() -> None:
    session = held("rec L.{!lookup.L, ?lookup(id as r).L, !pay(id == r).L}", must_precede("lookup", "pay"))
    words(session, call("lookup", "1", {}, batch="b"), back("lookup", "1", {"id": 7}))
    again = Session.from_dict(session.contract, session.to_dict())
    assert words(again, call("pay", "2", {"id": 7}, batch="b"), call("pay", "3", {"id": 7})) == ["violation", "allowed"]


def test_a_waiting_act_still_waits_after_a_restore() -> None:
    session = held(tools=[Tool("pay", effect="write")])
    words(session, call("pay", "1"), broke("1", "unknown"), call("pay", "2"))
    again = Session.from_dict(session.contract, session.to_dict())
    assert words(again, call("pay", "2", {"n": 1}), call("pay", "2")) == ["unrecognized", "needs_approval"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"granted": True}, "a yes that nobody gave who may"),
        ({"granted": True, "yes": ["eve"]}, "a yes that nobody gave who may"),
        ({"args": "[]"}, "arguments that are no object"),
        ({"edited": "1"}, "arguments that are no object"),
        ({"ticket": "t2-c2"}, "two tickets of one name"),
        ({"asks": ["other"]}, "a ticket that no approval gives out"),
    ],
)
def test_a_ticket_that_no_session_gives_out_does_not_come_back(damage: dict[str, Any], message: str) -> None:
    from duly.session.snapshot import _sum

    session = held(Approval("pay", by=("ana",)), tools=["pay"])
    words(session, call("pay", "c1", {"n": 1}), call("pay", "c2", {"n": 2}))
    words(session, Ordered("stand", "c2", "ana"))
    data = session.to_dict()
    assert Session.from_dict(session.contract, data).state == session.state
    data["more"]["tickets"]["c1"] |= damage
    data["sum"] = _sum({key: value for key, value in data.items() if key != "sum"})
    with pytest.raises(DulyError, match=f"it holds {message}"):
        Session.from_dict(session.contract, data)


@pytest.mark.parametrize("damage", [{"args": "[]"}, {"by": "eve"}])
def test_a_standing_yes_that_nobody_can_have_given_does_not_come_back(damage: dict[str, Any]) -> None:
    from duly.session.snapshot import _sum

    session = held(Approval("pay", by=("ana",)), tools=["pay"])
    words(session, call("pay", "c1", {"n": 1}), Ordered("stand", "c1", "ana"))
    data = session.to_dict()
    data["more"]["standing"][0] |= damage
    data["sum"] = _sum({key: value for key, value in data.items() if key != "sum"})
    with pytest.raises(DulyError, match="a damaged snapshot"):
        Session.from_dict(session.contract, data)
