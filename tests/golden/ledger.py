"""Writes the golden ledgers of this release: `python -m golden.ledger` in tests/, once, when a release is made.

A golden file is never written again: later releases must read it as it is.
"""

import sqlite3
import sys
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from duly import Called, Charged, Contract, Failed, Returned, Tool, at_most, at_most_total, cooldown
from duly.gates.shelf import shelf_of
from duly.journal.journal import Journal, open_journal
from duly.journal.record import Meta, record_of
from duly.journal.replay import state_of
from duly.machine.terms import Budget
from duly.session.decide import judge
from duly.session.ledger import used
from duly.values.event import Event

GOLDEN = Path(__file__).parent / "ledger-0.1.sqlite.sql"
DAY, NOON = 86400.0, 1_764_590_400.0
CONTRACT = Contract(
    at_most("send", 2, per="day", zone="Europe/Berlin", scope="store", same="args.to"),
    at_most_total("pay", "amount", {"USD": 10, "EUR": 5}, units="unit", scope="store", id="money"),
    cooldown("ping", 60, scope="store"),
    name="golden", version="1", tools=[Tool(name, idempotent=True) for name in ("send", "pay", "ping")],
    budget=(Budget({"calls": 9, "usd": 2}, scope="store"),),
)  # fmt: skip
RUN: tuple[tuple[str, Event], ...] = (
    ("one", Called("send", {"to": "ana"}, id="a", at=0.0, wall=NOON)),
    ("two", Called("send", {"to": "ana"}, id="a", at=0.0, wall=NOON)),
    ("two", Called("send", {"to": "ana"}, id="b", at=1.0, wall=NOON + 1)),
    ("one", Failed("a", "none", at=2.0, wall=NOON + 2)),
    ("two", Called("send", {"to": "🧾"}, id="c", at=DAY, wall=NOON + DAY)),
    ("one", Called("pay", {"amount": Decimal("9.99"), "unit": "USD"}, id="p", at=3.0, wall=NOON + 3)),
    ("two", Called("pay", {"amount": "0.02", "unit": "USD"}, id="p", at=DAY, wall=NOON + DAY)),
    ("one", Returned("pay", {}, id="p", at=4.0, wall=NOON + 4)),
    ("one", Called("ping", {}, id="g", at=5.0, wall=NOON + DAY + 5.25)),
    ("two", Called("ping", {}, id="g", at=DAY, wall=NOON + DAY + 6)),
    ("two", Charged({"usd": Decimal("0.5")}, at=DAY, wall=NOON + DAY)),
)


def go(journal: Journal, session: str, event: Event) -> str:
    """Decides one event over the ledgers and appends it, as a gate does; the verdict's word."""
    journal.note(session, Meta(CONTRACT.name, CONTRACT.version, CONTRACT.digest, NOON))
    state, index = state_of(CONTRACT, journal, session)
    with shelf_of(journal).turn(journal, CONTRACT, CONTRACT.ledgers.values(), monotonic() + 5) as desk:
        readings = desk.readings()
        verdict, after = judge(CONTRACT, state, event, False, readings)
        record = record_of(
            CONTRACT, state, after, event, verdict, index=index, wall=event.wall or NOON, ledgers=used(readings)
        )
        desk.move(CONTRACT, state, after, session, index)
        journal.append(session, [record], expected=index, **desk.shares())
        desk.done()
    return verdict.word


def main() -> None:
    with TemporaryDirectory() as directory:
        path = str(Path(directory) / "j.sqlite")
        journal = open_journal(path)
        for session, event in RUN:
            go(journal, session, event)
        journal.save_balance("golden/money", 1, {"": {"": {"USD": "9.99"}}})
        journal.close()
        with sqlite3.connect(path) as connection:
            pragmas = [f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};"
                       for name in ("application_id", "user_version")]  # fmt: skip
            GOLDEN.write_text("\n".join([*connection.iterdump(), *pragmas, ""]))


if __name__ == "__main__":
    if GOLDEN.exists():
        sys.exit(f"{GOLDEN.name} is there already, and is never written again")
    main()
