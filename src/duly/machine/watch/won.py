"""Successes that permit: in which batch, since when, and which open calls would end them.

A row holds [batch, when, ids of open calls that would end it, id]; the id is that of a call that may still be taken
back, None where the success is sure. Of two, the later is ended by less and is younger, so a row stays short.
"""

from typing import Any, TypedDict

from .member import Act
from .watch import Batch, Call, Seconds

Row = list[list[Any]]


class WonBook(TypedDict):
    won: list[tuple[Batch, Seconds, list[str], Call]]


def gained(row: Row, act: Act, *, sure: bool = True) -> Row:
    """The row with one more success, or with ``sure`` False with an admission that stands for one."""
    return _kept([*row, [act.batch, act.at, [], None if sure else act.id]])


def sure(row: Row, id: str | None) -> Row:
    """The row once a call that stands in it can no longer be taken back."""
    if id is None or not any(each[3] == id for each in row):
        return row
    return _kept([[*each[:3], None] if each[3] == id else each for each in row])


def lost(row: Row, id: str | None) -> Row:
    """The row once a call is known not to have happened: it permits nothing, and ends nothing."""
    if id is None or not any(each[3] == id or id in each[2] for each in row):
        return row
    left = [each for each in row if each[3] != id]
    return _kept([[each[0], each[1], [other for other in each[2] if other != id], each[3]] for each in left])


def ending(row: Row, id: str | None) -> Row:
    """The row while the call ``id`` would end what stands in it; a message ends it at once."""
    return [] if id is None else [[each[0], each[1], [*each[2], id], each[3]] for each in row]


def ended(row: Row, id: str | None) -> Row:
    """The row once a call that would end it has happened."""
    return row if id is None else [each for each in row if id not in each[2]]


def open_to(row: Row, batch: str | None) -> Row:
    """Those that permit an act of this batch: nothing has ended them, and they are no siblings."""
    return [each for each in row if not each[2] and (batch is None or each[0] != batch)]


def thawed(row: Row) -> Row:
    """A row that comes from paper, where times are exact decimals."""
    return [[each[0], float(each[1]), each[2], each[3]] for each in row]


def _kept(row: Row) -> Row:
    """The last of each of two batches, or the last without one, is as good as all before; what is not sure stays."""
    batches: list[Any] = []
    found: Row = []
    for each in reversed(row):
        if each[3] is None:
            if each[0] in batches or len(batches) == 2 or None in batches:
                continue
            batches.append(each[0])
        found.append(each)
    return found[::-1]
