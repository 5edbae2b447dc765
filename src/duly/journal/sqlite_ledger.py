"""Ledgers in a journal's SQLite file: their postings, in the transaction that appends the records that they belong to.

The tables are made with the first posting, so that a file without ledgers is what it always was; an older duly leaves
them alone.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from .journal import LedgerConflict
from .record import Share, write_posting

# as with records, `place` is the ledger's number times 2**32 plus the posting's index
_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS ledger (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)",
    "CREATE TABLE IF NOT EXISTS posting (place INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS balance (number INTEGER PRIMARY KEY, length INTEGER NOT NULL, text TEXT NOT NULL)",
)
KNOWN: Final = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('ledger', 'posting', 'balance')"
NUMBER: Final = "SELECT number FROM ledger WHERE id = ?"
NAMES: Final = "SELECT id FROM ledger ORDER BY number"
POSTINGS: Final = "SELECT place, text FROM posting WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?"
LAST: Final = "SELECT max(place) FROM posting WHERE place BETWEEN ? AND ?"
BALANCE: Final = "SELECT length, text FROM balance WHERE number = ?"
SAVE: Final = (
    "INSERT INTO balance VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE "
    "SET length = excluded.length, text = excluded.text WHERE excluded.length >= balance.length"
)
HALF: Final = 0xFFFFFFFF
TABLES: Final = len(_SCHEMA)


def post(connection: sqlite3.Connection, shares: Sequence[Share]) -> None:
    """Posts inside an open transaction, which holds the write lock; raises LedgerConflict where somebody was first."""
    if connection.execute(KNOWN).fetchone()[0] < TABLES:
        for statement in _SCHEMA:
            connection.execute(statement)
    for share in shares:
        row = connection.execute(NUMBER, (share.ledger,)).fetchone()
        if row is None:
            row = (connection.execute("INSERT INTO ledger (id) VALUES (?)", (share.ledger,)).lastrowid,)
        base = int(row[0]) << 32
        length = length_of(connection.execute(LAST, (base, base | HALF)).fetchone())
        if length != share.expected:
            raise LedgerConflict(share.ledger, share.expected, length)
        rows = [(base | (length + at), write_posting(posting)) for at, posting in enumerate(share.postings)]
        connection.executemany("INSERT INTO posting VALUES (?, ?)", rows)


def length_of(last: Any) -> int:
    """How many postings there are, from the place of the last."""
    return 0 if last is None or last[0] is None else (int(last[0]) & HALF) + 1
