"""Snapshots that somebody has changed: every field, with whatever may stand there.

Without a new sum none is taken. With one it is refused by name, or is a session that answers; nothing grants, and
nothing but a DulyError is raised.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from duly import Called, Charged, Contract, Decided, DulyError, Failed, Ordered, Received, Returned, Session
from duly.notation.document import parse_terms
from duly.session.snapshot import _sum
from duly.values.verdict import Refusal, Verdict

DOCUMENT = """
duly: 1
contract: till
tools:
  look: {effect: none}
  pay: {effect: write, schema: {properties: {amount: {type: number}}, required: [amount]}}
  write: {effect: write}
  zz: {effect: write}
labels:
  Yes: {from: user, matches: "(?i)^yes"}
  Other: {from: user, otherwise: true}
outside: [write, zz]
protocol: |
  rec L.{?Yes(text as maybe t).L, ?Other.L, !look.?look(id as maybe r).L, !pay.?{pay.L, pay=denied.L, pay=expired.L}}
breaker: {refusals: 9, of: equal, per: turn}
rules:
  - must_precede: [look, write]
  - {at_most: {of: pay, n: 3}, on_excess: ask, by: [ana], id: cap}
  - {at_most: {of: write, n: 5}, scope: turn, id: turn}
  - {at_most: {of: write, n: 3}, same: path, id: same}
  - at_most_total: {of: pay, field: amount, limit: 500, back: {of: look, call: args.call}}
  - collects: {of: look, fact: seen, value: result.ids, keep: 5}
  - learns: {of: look, fact: last, value: result.id}
  - rate_limit: {of: pay, n: 3, per: 60}
  - must_follow: {of: pay, by: look, within: 5}
  - must_follow: {of: pay, by: look, within: 90s}
  - must_happen: {of: look, before: pay}
  - no_repeat: {of: look, n: 3}
  - never_after: [zz, pay]
  - exclusive: [zz, look]
  - {immediately_before: [look, zz]}
  - within: {of: write, after: look, t: 60}
  - between: {of: write, from: look, to: zz}
  - fresh: {of: look, for: write, lasts: 100}
budget: {calls: 40, usd: 2.50}
approvals:
  - {of: pay, when: "args.amount > 100", by: [ana, bo], need: 2, expires: 1h, stand: none, id: big}
  - {of: write, by: [ana], stand: {within: {path: "/srv/**"}, lasts: 8h}, id: file}
"""
TILL = Contract.of(parse_terms(DOCUMENT, name="till.yaml"))


def busy() -> Session:
    """A session in which every book is written and everything waits that can."""
    session = Session(TILL)
    asked: list[Any] = [
        Called("look", {"call": "x"}, id="l1", at=1.0), Returned("look", {"ids": [1, 2], "id": 7}, id="l1", at=2.0),
        Received("Yes", {"text": "yes"}, at=3.0, turn="t1"),
        Called("pay", {"amount": 10}, id="p1", at=4.0), Returned("pay", {"ok": True}, id="p1", at=5.0),
        Called("look", {}, id="l2", at=6.0, batch="b1"), Called("zz", {}, id="z0", at=7.0),
        Returned("look", {"ids": [3]}, id="l2", at=8.0),
        Called("pay", {"amount": 150}, id="p3", at=10.0, agent="sub"),
        Called("write", {"path": "/srv/a"}, id="w1", at=11.0),
    ]  # fmt: skip
    for event in asked:
        session.step(event)
    waits = {saved["label"]: saved["ticket"] for saved in session.to_dict()["more"]["tickets"].values()}
    for event in (
        Decided("approve", ticket=waits.get("pay"), by="ana", at=12.0),
        Ordered("stand", target=waits.get("write"), by="ana", at=12.0, scope={"path": "/srv/**"}),
        Called("write", {"path": "/srv/a"}, id="w1", at=13.0),
        Called("write", {"path": 5}, id="w2", at=14.0),
        Charged({"usd": "0.01"}, at=15.0),
        Called("zz", {}, id="z1", at=16.0),
        Called("pay", {"amount": 20}, id="p2", at=17.0),
        Failed("p2", "unknown", "lost", at=18.0),
    ):
        session.step(event)
    return session


JUNK: tuple[Any, ...] = (
    0, -1, 99, 2**70, 1.5, float("nan"), float("inf"), "", "x", "\ud800", "l1", "bo", "{}", "[]", "null", '{"n":-5}',
    None, True, [], {}, [[]], [None], [1], ["x"], {"x": 1}, {"x": "y"}, {1: 2}, (1,), b"x", object(),
)  # fmt: skip
INNER: tuple[Any, ...] = (0, -1, "x", None, True, [], {}, [1], {"x": 1}, 1.5, 10**30)
GONE = object()


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*here, key)
        yield from places(item, (*here, key))


def changed(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    fresh = copy.deepcopy(data)
    holder = fresh
    for step in place[:-1]:
        holder = holder[step]
    if value is GONE:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return fresh


def at(data: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        data = data[step]
    return data


def damages(data: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Each field gone and with everything that does not belong there; within JSON texts, too."""
    for place in places(data):
        yield from ((place, changed(data, place, value)) for value in (GONE, *JUNK))
        held = at(data, place)
        if isinstance(held, str) and held[:1] in ("{", "["):
            inner = json.loads(held)
            for deep in places(inner):
                for value in (GONE, *INNER):
                    yield (*place, *deep), changed(data, place, json.dumps(changed(inner, deep, value)))


def summed(data: Any) -> Any:
    rest = {key: value for key, value in data.items() if key != "sum"}
    try:
        return {**rest, "sum": _sum(rest)}
    except (AttributeError, TypeError, ValueError):
        return None  # what has no sum cannot be given one


DATA = busy().to_dict()
ODD = [(place, data) for place, data in damages(DATA) if data != DATA or type(data) is not type(DATA)]


def test_the_session_that_is_changed_holds_everything() -> None:
    assert {*DATA["more"]} >= {"tickets", "standing", "issued", "tally"}
    assert {*DATA["books"]} == {watch.id for watch in TILL.watches if watch.start or watch.labels} - {"turn"}


def test_no_changed_snapshot_is_taken_without_a_new_sum() -> None:
    taken = []
    for place, data in ODD:
        try:
            again = Session.from_dict(TILL, data)
        except DulyError:
            continue
        if again.to_dict() != DATA:
            taken.append(place)
    assert taken == []


def test_a_changed_snapshot_with_a_new_sum_is_refused_by_name_or_is_a_session_that_answers() -> None:
    wrong = []
    for place, data in ODD:
        fresh = summed(data)
        if fresh is None:
            continue
        try:
            session = Session.from_dict(TILL, fresh)
        except DulyError:
            continue
        wrong += [(place, verdict.text()) for verdict in asked(session) if internal(verdict)]
        session.legal()
        session.owed()
        session.to_dict()
    assert wrong == []


def asked(session: Session) -> list[Verdict]:
    return [
        session.step(event)
        for event in (
            Called("look", {"call": "p1"}, id="l9", at=20.0),
            Returned("look", {"ids": [8], "id": 1}, id="l9", at=21.0),
            Returned("pay", {"ok": True}, id="p2", at=22.0),
            Called("pay", {"amount": 1}, id="p9", at=23.0),
            Failed("p9", "none", "no", at=24.0),
            Called("write", {"path": "/srv/b"}, id="w9", at=25.0),
            Returned("write", {}, id="w9", at=26.0),
            Charged({"usd": "0.01"}, at=27.0),
            Received("Yes", {"text": "yes"}, at=28.0, turn="t9"),
        )
    ]


def internal(verdict: Verdict) -> bool:
    return isinstance(verdict, Refusal) and any(reason.kind == "internal" for reason in verdict.reasons)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"within": {"path": "**"}}, "a standing yes that is wider than the contract lets one be"),
        ({"within": {"mode": "*"}}, "a standing yes that is wider than the contract lets one be"),
        ({"by": "eve"}, "a yes that nobody gave who may"),
        ({"asks": []}, "a yes that nobody gave who may"),
        ({"asks": ["big"]}, "a standing yes that is wider than the contract lets one be"),
    ],
)
def test_a_standing_yes_that_nobody_can_have_given_is_refused(change: dict[str, Any], what: str) -> None:
    data = copy.deepcopy(DATA)
    data["more"]["standing"][0].update(change)
    with pytest.raises(DulyError) as caught:
        Session.from_dict(TILL, summed(data))
    assert [each.message for each in caught.value.diagnostics] == [f"a damaged snapshot: it holds {what}"]


def test_a_yes_of_the_one_who_asked_is_refused() -> None:
    data = copy.deepcopy(DATA)
    (ticket,) = (saved for saved in data["more"]["tickets"].values() if saved["label"] == "pay")
    ticket["agent"] = "ana"
    with pytest.raises(DulyError) as caught:
        Session.from_dict(TILL, summed(data))
    assert [each.message for each in caught.value.diagnostics] == [
        "a damaged snapshot: it holds a yes of the one who asked"
    ]
