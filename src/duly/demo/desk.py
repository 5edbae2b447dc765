"""The box office of a small theatre: ten tools over one fresh SQLite database in memory per task.

A tool that cannot do what it is asked raises ``DeskError`` and changes nothing.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Result = dict[str, Any]
Tool = Callable[..., Result]

READS: Final = ("find_bookings", "get_booking", "list_performances", "list_free_seats", "quote_refund")
CHANGES: Final = ("book_seats", "cancel_booking", "move_booking", "change_seats", "send_voucher")

_SCHEMA: Final = """
create table performances (id text primary key, show text not null, starts text not null, price integer not null);
create table bookings (
    reference text primary key, email text not null, performance text not null references performances,
    fare text not null, status text not null, paid integer not null, refunded integer not null default 0
);
create table seats (
    performance text not null references performances, seat text not null, reference text references bookings,
    primary key (performance, seat)
);
create table vouchers (reference text primary key references bookings, pounds integer not null);
"""
_PERFORMANCES: Final = (
    ("gulls-fri", "The Gulls", "Friday 19:30", 24),
    ("gulls-sat", "The Gulls", "Saturday 19:30", 30),
    ("gulls-sun", "The Gulls", "Sunday 15:00", 24),
    ("lamp-sat", "Lamplighters", "Saturday 14:00", 18),
    ("lamp-sun", "Lamplighters", "Sunday 11:00", 18),
)
_SEATS: Final = tuple(f"{row}{number}" for row in "ABC" for number in range(1, 5))
_BOOKINGS: Final = (
    # reference, e-mail, performance, fare, seats
    ("LT-201", "ines@post.example", "gulls-fri", "flex", ("A1", "A2")),
    ("LT-202", "bruno@post.example", "gulls-fri", "flex", ("B1",)),
    ("LT-203", "cleo@post.example", "gulls-sat", "flex", ("A1", "A2")),
    ("LT-204", "dimitri@post.example", "gulls-fri", "flex", ("C1", "C2")),
    ("LT-205", "esther@post.example", "lamp-sat", "flex", ("C3", "C4")),
    ("LT-206", "farid@post.example", "gulls-sun", "flex", ("B1", "B2", "B3")),
    ("LT-207", "greta@post.example", "gulls-fri", "flex", ("B3", "B4")),
    ("LT-208", "hugo@post.example", "lamp-sun", "saver", ("A1",)),
    ("LT-209", "ida@post.example", "lamp-sat", "flex", ("A1", "A2")),
    ("LT-211", "kofi@post.example", "gulls-sat", "flex", ("B1",)),
    ("LT-212", "kofi@post.example", "lamp-sun", "flex", ("B2",)),
    ("LT-213", "lena@post.example", "gulls-sun", "saver", ("A3", "A4")),
)
CANCEL_FEE: Final = 2
"""Pounds a seat that a cancelled booking costs."""
VOUCHER_LIMIT: Final = 20


class DeskError(Exception):
    """Why the desk cannot do what it was asked."""


class Desk:
    """One box office with its own database; the public methods but `tools`, `state` and `close` are the ten tools."""

    def __init__(self, database: str = ":memory:") -> None:
        """A desk with a fresh database, in memory or in a file that is not there yet; else with the one in the file."""
        known = database != ":memory:" and Path(database).exists()
        # a server may call its tools on other threads, one at a time
        self._db = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        if known:
            return
        self._db.executescript(_SCHEMA)
        self._db.executemany("insert into performances values (?, ?, ?, ?)", _PERFORMANCES)
        self._db.executemany(
            "insert into seats values (?, ?, null)", [(p[0], seat) for p in _PERFORMANCES for seat in _SEATS]
        )
        prices = {p[0]: p[3] for p in _PERFORMANCES}
        for reference, email, performance, fare, seats in _BOOKINGS:
            paid = prices[performance] * len(seats)
            self._insert(reference, email, performance, fare, seats, paid)

    def tools(self) -> dict[str, Tool]:
        """The ten tools by name."""
        return {name: getattr(self, name) for name in (*READS, *CHANGES)}

    def state(self) -> dict[str, list[tuple[Any, ...]]]:
        """The whole database as plain rows, in a fixed order: two desks are in the same state if these are equal."""
        tables = {"bookings": "reference", "seats": "performance, seat", "vouchers": "reference"}
        return {name: [tuple(row) for row in self._db.execute(f"select * from {name} order by {order}")]
                for name, order in tables.items()}  # fmt: skip

    def close(self) -> None:
        self._db.close()

    # reading

    def find_bookings(self, email: str) -> Result:
        """The references of all bookings made under an e-mail address."""
        rows = self._db.execute(
            "select reference from bookings where email = ? order by reference", (email,)
        ).fetchall()
        if not rows:
            raise DeskError(f"no booking under {email}")
        return {"bookings": [row["reference"] for row in rows]}

    def get_booking(self, reference: str) -> Result:
        """A booking: who, which performance, which seats, which fare, what was paid."""
        row = self._booking(reference)
        return {**dict(row), "seats": self._seats_of(reference)}

    def list_performances(self, show: str) -> Result:
        """When a show is on and what a seat costs."""
        rows = self._db.execute("select id, starts, price from performances where show = ?", (show,)).fetchall()
        if not rows:
            raise DeskError(f"no show called {show}")
        return {"performances": [dict(row) for row in rows]}

    def list_free_seats(self, performance: str) -> Result:
        """The seats that can still be had for a performance."""
        self._price(performance)
        return {"seats": self._free(performance)}

    def quote_refund(self, reference: str) -> Result:
        """What a customer would get back for cancelling now, in pounds."""
        row = self._booking(reference)
        if row["fare"] == "saver":
            return {"refundable": False, "refund": 0}
        return {"refundable": True, "refund": self._refund(row)}

    # changing

    def book_seats(self, email: str, performance: str, seats: list[str]) -> Result:
        """Sells seats for a performance under an e-mail address, at the flexible fare."""
        price = self._price(performance)
        self._check_seats(performance, seats, [])
        last = self._db.execute("select max(reference) from bookings").fetchone()[0]
        reference = f"LT-{int(last[3:]) + 1}"
        self._insert(reference, email, performance, "flex", tuple(seats), price * len(seats))
        return {"reference": reference, "paid": price * len(seats)}

    def cancel_booking(self, reference: str) -> Result:
        """Cancels a booking, frees its seats and pays back what the fare allows."""
        row = self._live(reference)
        if row["fare"] == "saver":
            raise DeskError(f"{reference} is a saver booking and cannot be refunded")
        refund = self._refund(row)
        self._db.execute(
            "update bookings set status = 'cancelled', refunded = ? where reference = ?", (refund, reference)
        )
        self._db.execute("update seats set reference = null where reference = ?", (reference,))
        return {"reference": reference, "status": "cancelled", "refund": refund}

    def move_booking(self, reference: str, performance: str) -> Result:
        """Moves a booking to another performance of the same show, to the first seats that are free there."""
        row = self._live(reference)
        self._price(performance)
        if self._show(performance) != self._show(row["performance"]):
            raise DeskError(f"{performance} is another show than {reference}'s")
        needed = len(self._seats_of(reference))
        free = self._free(performance)[:needed]
        if performance == row["performance"] or len(free) < needed:
            raise DeskError(f"{performance} has no {needed} seats to move to")
        self._db.execute("update bookings set performance = ? where reference = ?", (performance, reference))
        self._reseat(reference, performance, free)
        return {"reference": reference, "performance": performance, "seats": free}

    def change_seats(self, reference: str, seats: list[str]) -> Result:
        """Gives a booking other seats at the same performance, as many as it has."""
        row = self._live(reference)
        held = self._seats_of(reference)
        if len(seats) != len(held):
            raise DeskError(f"{reference} is for {len(held)} seats, not {len(seats)}")
        self._check_seats(row["performance"], seats, held)
        self._reseat(reference, row["performance"], seats)
        return {"reference": reference, "seats": sorted(seats)}

    def send_voucher(self, reference: str, pounds: int) -> Result:
        """Sends the customer a voucher, once per booking, for a delay or another disappointment."""
        self._live(reference)
        if not 0 < pounds <= VOUCHER_LIMIT:
            raise DeskError(f"a voucher is for 1 to {VOUCHER_LIMIT} pounds")
        if self._db.execute("select 1 from vouchers where reference = ?", (reference,)).fetchone():
            raise DeskError(f"a voucher was already sent for {reference}")
        self._db.execute("insert into vouchers values (?, ?)", (reference, pounds))
        return {"reference": reference, "voucher": pounds}

    # what the tools share

    def _booking(self, reference: str) -> sqlite3.Row:
        found = self._db.execute("select * from bookings where reference = ?", (reference,))
        row: sqlite3.Row | None = found.fetchone()
        if row is None:
            raise DeskError(f"no booking {reference}")
        return row

    def _live(self, reference: str) -> sqlite3.Row:
        row = self._booking(reference)
        if row["status"] != "booked":
            raise DeskError(f"{reference} is already cancelled")
        return row

    def _price(self, performance: str) -> int:
        row = self._db.execute("select price from performances where id = ?", (performance,)).fetchone()
        if row is None:
            raise DeskError(f"no performance {performance}")
        return int(row["price"])

    def _show(self, performance: str) -> str:
        return str(self._db.execute("select show from performances where id = ?", (performance,)).fetchone()["show"])

    def _free(self, performance: str) -> list[str]:
        rows = self._db.execute(
            "select seat from seats where performance = ? and reference is null order by seat", (performance,)
        )
        return [row["seat"] for row in rows]

    def _seats_of(self, reference: str) -> list[str]:
        rows = self._db.execute("select seat from seats where reference = ? order by seat", (reference,))
        return [row["seat"] for row in rows]

    def _refund(self, row: sqlite3.Row) -> int:
        return max(0, int(row["paid"]) - CANCEL_FEE * len(self._seats_of(row["reference"])))

    def _check_seats(self, performance: str, seats: list[str], held: list[str]) -> None:
        if not seats or len(set(seats)) != len(seats):
            raise DeskError("name each seat once, at least one")
        free = {*self._free(performance), *held}
        for seat in seats:
            if seat not in _SEATS:
                raise DeskError(f"there is no seat {seat}")
            if seat not in free:
                raise DeskError(f"seat {seat} is taken")

    def _insert(
        self, reference: str, email: str, performance: str, fare: str, seats: tuple[str, ...], paid: int
    ) -> None:
        row = (reference, email, performance, fare, "booked", paid)
        self._db.execute("insert into bookings values (?, ?, ?, ?, ?, ?, 0)", row)
        self._reseat(reference, performance, seats)

    def _reseat(self, reference: str, performance: str, seats: list[str] | tuple[str, ...]) -> None:
        self._db.execute("update seats set reference = null where reference = ?", (reference,))
        self._db.executemany(
            "update seats set reference = ? where performance = ? and seat = ?",
            [(reference, performance, s) for s in seats],
        )
