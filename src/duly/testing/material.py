"""What the kits try a store with: odd payloads, events of every kind, a small contract, and how a gate records."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from duly.journal.journal import Journal
from duly.journal.record import Meta, Record, record_of
from duly.journal.replay import state_of
from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.machine.rule import at_most, must_precede
from duly.machine.terms import Tool
from duly.session.decide import judge
from duly.values.event import (
    Called,
    Charged,
    Closed,
    Decided,
    Elapsed,
    Event,
    Failed,
    Found,
    Listed,
    Opened,
    Ordered,
    Received,
    Returned,
    Sent,
)
from duly.values.expr import same

Make = Callable[[str], Journal]

META: Final = Meta("kit", "1", "sha256:00", 1_700_000_000.25)
WALL: Final = 1_700_000_001.125
CONTRACT: Final = Contract(
    must_precede("look", "pay"),
    at_most("pay", 3),
    name="kit",
    tools=[Tool("look", effect="none"), Tool("pay", effect="write", outcomes={"denied": "result.ok == false"})],
)


def note(index: int, event: Event | None = None, **fields: Any) -> Record:
    """A record to try a store with."""
    return Record(index, event if event is not None else Sent("Hello"), "allowed", WALL, **fields)


def deep(levels: int) -> Any:
    """A payload of so many levels."""
    value: Any = {"end": True}
    for level in range(levels - 1):
        value = {"in": value} if level % 2 else [value]
    return value if isinstance(value, dict) else {"in": value}


PAYLOADS: Final[tuple[Any, ...]] = (
    None,
    {},
    {"amount": Decimal("0.10"), "exact": Decimal("1E+999"), "small": Decimal("-1E-999"), "zero": Decimal("-0.0")},
    {"float": 0.1, "tiny": 5e-324, "large": 1.7976931348623157e308, "minus": -0.0},
    {"int": 2**64, "huge": 10**399, "less": -(10**399), "digits": Decimal(10**6000)},
    {"emoji": "🧾👩‍👩‍👧‍👦", "nul": "a\x00b", "lines": "\u2028\r\n\t\x7f", "quote": "\"'\\`$(rm)", "rtl": "\u202eabc"},
    {"": "", " ": None, "event": "called", "ключ": [True, False, None, 1, "1", [], {}]},
    {"deep": deep(60)},
    {"long": "x" * 300_000},
)
"""Payloads that stores get wrong."""


def events() -> list[Event]:
    """Events of every kind, with everything that each can carry."""
    found = Found("finished", "pay", {"n": Decimal("1.50")}, {"ok": True}, "ok", "c0")
    who: dict[str, Any] = {"at": 12.1, "run": "r", "turn": "t", "agent": "a", "session": "s"}
    return [
        *(Called("pay", payload, id=f"c{number}") for number, payload in enumerate(PAYLOADS)),
        Called("pay", {"n": 1}, id="c", batch="b", key="k", parent="p", server="s", executed_by="host",
               answers={"limit": True, "risk": "timeout"}, found=found, **who),
        Called("pay", None, raw='{"n": 1,'),
        Sent(None, {"text": "…"}, batch="b", **who), Sent("Bye"),
        Returned("pay", {"ok": Decimal("1.0")}, id="c", outcome="denied", server="s", executed_by="h", found=found),
        Returned("pay", None, id="c", **who),
        Failed("c", "none", "cut", **who), Failed("c"),
        Received(None, {"text": "?"}, **who), Received("Yes", {"text": "yes 👍"}),
        Decided("edit", target="c", ticket="t", by="ana", payload={"n": 2}, reason="too much", **who),
        Ordered("settle", target="c", by="ana", scope={"tools": ["pay"]}, payload={"as": "done", "result": 1}, **who),
        Charged({"tokens": 5, "usd": Decimal("0.0031")}, id="c", **who),
        Opened("s2", parent="c", budget={"calls": 3}, at="2024-05-01T12:00:00Z", run="r"),
        Listed("fs", {"read_file": "sha256:00"}, **who),
        Elapsed(1e9 + 0.1), Elapsed("2024-05-01T12:00:00+02:00"), Closed(), Closed(**who),
    ]  # fmt: skip


def equal(one: Any, other: Any) -> bool:
    """Whether two events say the same: numbers by exact value, all else exactly."""
    if type(one) is not type(other):
        return False
    return all(
        equal(mine, its) if isinstance(mine, Found) else same(mine, its)
        for mine, its in ((getattr(one, name), getattr(other, name)) for name in one.__struct_fields__)
    )


def run(journal: Journal, session: str, *events: Event, contract: Contract = CONTRACT) -> State:
    """Decides events one after another and records them, as a gate does."""
    journal.note(session, Meta(contract.name, contract.version, contract.digest, WALL))
    state, length = state_of(contract, journal, session)
    for event in events:
        verdict, after = judge(contract, state, event, False)
        record = record_of(contract, state, after, event, verdict, index=length, wall=WALL)
        journal.append(session, [record], expected=length)
        state, length = after, length + 1
    return state
