"""Ledgers of earlier releases are read as they are."""

import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from duly.gates.shelf import shelf_of
from duly.journal.journal import Journal, open_journal
from duly.journal.replay import again
from duly.values.event import Called
from golden.ledger import CONTRACT, DAY, GOLDEN, NOON, RUN, go

SEND = "golden/at_most(send, per=day, zone=Europe/Berlin, same=args.to, scope=store)"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    path = tmp_path / "j.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(GOLDEN.read_text())
    connection.close()
    return open_journal(str(path))


def test_ledgers_of_0_1_hold_what_they_held(journal: Journal) -> None:
    assert list(journal.ledgers()) == [SEND, "golden/money", "golden/cooldown(ping, 60, scope=store)", "golden/budget"]
    held = {name: shelf_of(journal).view(journal, name).value for name in journal.ledgers()}
    assert held == {
        SEND: {"2025-12-01": {'"ana"': {"n": 1}}, "2025-12-02": {'"🧾"': {"n": 1}}},
        "golden/money": {"": {"": {"USD": Decimal("9.99")}}},
        "golden/cooldown(ping, 60, scope=store)": {"": {"": {"1764676805.25": 1}}},
        "golden/budget": {"": {"": {"calls": 4, "usd": Decimal("0.5")}}},
    }


def test_sessions_of_0_1_are_decided_again_from_the_values_in_their_records(journal: Journal) -> None:
    words = {}
    for name in ("one", "two"):
        steps = list(again(CONTRACT, journal.read(name)))
        assert all(step.agrees for step in steps)
        words[name] = [step.record.verdict for step in steps]
    assert words == {
        "one": ["allowed", "allowed", "allowed", "allowed", "allowed"],
        "two": ["allowed", "violation", "allowed", "violation", "violation", "allowed"],
    }
    assert sum(map(len, words.values())) == len(RUN)


def test_ledgers_of_0_1_go_on(journal: Journal) -> None:
    asked = [
        Called("ping", {}, id="z", wall=NOON + DAY + 65),
        Called("ping", {}, id="z", wall=NOON + DAY + 65.25),
        Called("pay", {"amount": "0.02", "unit": "USD"}, id="x", wall=NOON + 2 * DAY),
        Called("pay", {"amount": "0.01", "unit": "USD"}, id="y", wall=NOON + 2 * DAY),
    ]
    assert [go(journal, "three", event) for event in asked] == ["violation", "allowed", "violation", "allowed"]
