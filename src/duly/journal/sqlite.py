"""A journal in one SQLite file: used by any number of threads and processes at once, also across ``fork``.

Every thread has a connection of its own. An append is one write transaction, guarded by the key of the record's
place, so that two writers can never both have been first.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from threading import Lock, local
from typing import Any, Final
from weakref import WeakSet

import msgspec

from duly.values.event import Found
from duly.values.plain import Malformed, write_json

from .journal import Conflict, JournalError, Level, unfit, unnoted
from .memory import ordered, summary, until_reused
from .record import (
    Meta,
    Posting,
    Record,
    Saved,
    Share,
    Summary,
    found_in,
    read_posting,
    read_record,
    write_record,
)
from .sqlite_file import connect, create, hold, told
from .sqlite_ledger import BALANCE, KNOWN, LAST, NAMES, NUMBER, POSTINGS, SAVE, TABLES, length_of, post

_PAGE: Final = 256
"""Records that are read at a time, so that a long history needs no memory and holds up no writer."""
_HALF: Final = 0xFFFFFFFF

# the first record needs no neighbour; every other stands behind one, so that there are no gaps
_APPEND: Final = (
    "INSERT INTO record (place, call, key, text) SELECT ?1, ?2, ?3, ?4 "
    "WHERE ?1 & 4294967295 = 0 OR EXISTS (SELECT 1 FROM record WHERE place = ?1 - 1)"
)
_READ: Final = "SELECT place, text FROM record WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?"
_LAST: Final = "SELECT place, text FROM record WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1"
_LENGTH: Final = "SELECT max(place) FROM record WHERE place BETWEEN ? AND ?"
_CALL: Final = "SELECT text FROM record WHERE call = ? ORDER BY place DESC"
_KEY: Final = "SELECT place, text FROM record WHERE key = ? ORDER BY place DESC LIMIT 1"
_SAVE: Final = (
    "INSERT INTO snapshot VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE "
    "SET length = excluded.length, text = excluded.text WHERE excluded.length >= snapshot.length"
)


class _Link:
    """One thread's connection, closed when its thread has ended."""

    def __init__(self, connection: sqlite3.Connection, inode: tuple[int, int]) -> None:
        self.connection = connection
        self.inode = inode

    def __del__(self) -> None:
        self.connection.close()


class SqliteJournal:
    """Opened with ``open_journal``; the file is created, recognised or refused at once."""

    shared = True

    def __init__(self, path: str, *, level: Level = "normal", wait: float = 5.0, readonly: bool = False) -> None:
        self.path = os.path.abspath(path)
        self._shown = path
        self._level: Level = level
        self._wait = wait
        self._readonly = readonly
        self._numbers: dict[str, int] = {}
        self._closed = False
        self._cut = False
        self._ledgered = False
        self._renew()
        if not readonly:
            create(self.path)
        self._link()
        _JOURNALS.add(self)

    def _renew(self) -> None:
        self._threads = local()
        self._links: WeakSet[_Link] = WeakSet()
        self._lock = Lock()

    def note(self, session: str, meta: Meta) -> Meta:
        known = self.meta(session)
        if known is not None:
            return known
        row = (session, meta.contract, meta.version, meta.digest, meta.created)
        self._write(
            "INSERT INTO session (id, contract, version, digest, created) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (id) DO NOTHING",
            row,
        )
        return self.meta(session) or meta

    def meta(self, session: str) -> Meta | None:
        row = self._one("SELECT contract, version, digest, created FROM session WHERE id = ?", (session,))
        return Meta(*row) if row is not None else None

    def append(
        self, session: str, records: Sequence[Record], *, expected: int, shares: Sequence[Share] = ()
    ) -> None:
        number = self._number(session)
        if number is None:
            raise unnoted(session)
        ordered(records, expected)
        base = number << 32
        rows = [
            (
                base | record.index,
                None if record.call is None else f"{number} {record.call}",
                None if record.key is None else f"{number} {record.key}",
                write_record(record).decode(),
            )
            for record in records
        ]
        if expected < 0 or expected + len(rows) > _HALF:
            raise Conflict(session, expected, self.length(session))
        connection = self._link()
        try:
            if len(rows) == 1 and not shares:
                # one statement is a transaction of its own, and a write lock from its beginning
                done = connection.execute(_APPEND, rows[0]).rowcount == 1
            else:
                done = self._append_all(connection, rows, shares)
        except sqlite3.IntegrityError:
            done = False
        except sqlite3.Error as error:
            raise self._told(connection, error) from None
        if not done:
            raise Conflict(session, expected, self.length(session))

    def _append_all(
        self, connection: sqlite3.Connection, rows: list[tuple[Any, ...]], shares: Sequence[Share]
    ) -> bool:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if shares:
                post(connection, shares)
            for row in rows:
                if connection.execute(_APPEND, row).rowcount != 1:
                    connection.execute("ROLLBACK")
                    return False
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return True

    def read(self, session: str, start: int = 0) -> Iterator[Record]:
        number = self._number(session)
        return iter(()) if number is None else self._pages(session, number, max(start, 0))

    def _pages(self, session: str, number: int, start: int) -> Iterator[Record]:
        base = number << 32
        while True:
            rows = self._all(_READ, (base | start, base | _HALF, _PAGE))
            for place, text in rows:
                record = self._record(session, text)
                if place & _HALF != start or record.index != start:
                    raise self._damaged(session, f"the record {start} is missing")
                yield record
                start += 1
            if len(rows) < _PAGE:
                return

    def length(self, session: str) -> int:
        number = self._number(session)
        if number is None:
            return 0
        last = self._one(_LENGTH, (number << 32, number << 32 | _HALF))[0]
        return 0 if last is None else (last & _HALF) + 1

    def save_snapshot(self, session: str, index: int, data: dict[str, Any]) -> None:
        number = self._number(session)
        if number is None:
            raise unnoted(session)
        length = self.length(session)
        if not 0 <= index <= length:
            raise unfit(session, index, length)
        self._write(_SAVE, (number, index, write_json(data)))

    def snapshot(self, session: str, digest: str | None = None) -> Saved | None:
        number = self._number(session)
        row = self._one("SELECT length, text FROM snapshot WHERE number = ?", (number,)) if number else None
        if row is None:
            return None
        try:
            data = msgspec.json.decode(row[1], type=dict[str, Any])
        except (msgspec.DecodeError, TypeError):
            return None  # it can be worked out again from the records
        return Saved(row[0], data) if digest is None or data.get("digest") == digest else None

    def find_key(self, session: str, key: str) -> Found | None:
        number = self._number(session)
        row = self._one(_KEY, (f"{number} {key}",)) if number is not None else None
        if row is None:
            return None
        first = self._record(session, row[1])
        later = self._all(
            "SELECT text FROM record WHERE call = ? AND place > ? ORDER BY place", (f"{number} {first.call}", row[0])
        )
        return found_in([*reversed(until_reused([self._record(session, text) for (text,) in later])), first])

    def find_call(self, session: str, id: str) -> Found | None:
        return found_in(self._of_call(session, id))

    def begun(self, session: str, id: str) -> Record | None:
        return next((record for record in self._of_call(session, id) if record.status == "open"), None)

    def _of_call(self, session: str, id: str) -> Iterator[Record]:
        number = self._number(session)
        rows = self._all(_CALL, (f"{number} {id}",)) if number is not None else []
        return (self._record(session, text) for (text,) in rows)

    def sessions(self) -> Iterator[Summary]:
        for number, id, *meta in self._all(
            "SELECT number, id, contract, version, digest, created FROM session ORDER BY number", ()
        ):
            last = self._one(_LAST, (number << 32, number << 32 | _HALF))
            length = 0 if last is None else (last[0] & _HALF) + 1
            yield summary(id, Meta(*meta), length, None if last is None else self._record(id, last[1]))

    def postings(self, ledger: str, start: int = 0) -> Iterator[Posting]:
        number, start = self._account(ledger), max(start, 0)
        while number is not None:
            base = number << 32
            rows = self._all(POSTINGS, (base | start, base | _HALF, _PAGE))
            for place, text in rows:
                if place & _HALF != start:
                    raise self._damaged(ledger, f"the posting {start} is missing", "ledger")
                yield self._posting(ledger, text)
                start += 1
            if len(rows) < _PAGE:
                return

    def posted(self, ledger: str) -> int:
        number = self._account(ledger)
        return 0 if number is None else length_of(self._one(LAST, (number << 32, number << 32 | _HALF)))

    def save_balance(self, ledger: str, index: int, data: dict[str, Any]) -> None:
        number, length = self._account(ledger), self.posted(ledger)
        if number is None or not 0 < index <= length:
            raise unfit(ledger, index, length)
        self._write(SAVE, (number, index, write_json(data)))

    def balance(self, ledger: str) -> Saved | None:
        number = self._account(ledger)
        row = self._one(BALANCE, (number,)) if number is not None else None
        try:
            return None if row is None else Saved(row[0], msgspec.json.decode(row[1], type=dict[str, Any]))
        except (msgspec.DecodeError, TypeError):
            return None  # it can be worked out again from the postings

    def ledgers(self) -> Iterator[str]:
        return iter([row[0] for row in self._all(NAMES, ())] if self._kept() else [])

    def _kept(self) -> bool:
        """Whether the file has the tables of ledgers."""
        self._ledgered = self._ledgered or self._one(KNOWN, ())[0] == TABLES
        return self._ledgered

    def _account(self, ledger: str) -> int | None:
        row = self._one(NUMBER, (ledger,)) if self._kept() else None
        return None if row is None else int(row[0])

    def _posting(self, ledger: str, text: str) -> Posting:
        try:
            return read_posting(text)
        except Malformed as error:
            raise self._damaged(ledger, str(error), "ledger") from None

    def check(self) -> None:
        """Reads the whole file and every record; raises JournalError ``corrupt`` with what is wrong."""
        problems = self._all("PRAGMA integrity_check(1)", ())
        if problems[0][0] != "ok":
            raise JournalError("corrupt", f"`{self._shown}` is damaged: {problems[0][0]}", "restore it from a copy")
        for known in self.sessions():
            for _ in self.read(known.session):
                pass
        for ledger in self.ledgers():
            for _ in self.postings(ledger):
                pass

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for link in list(self._links):
                link.connection.close()

    def _number(self, session: str) -> int | None:
        number = self._numbers.get(session)
        if number is None:
            row = self._one("SELECT number FROM session WHERE id = ?", (session,))
            if row is None:
                return None
            number = self._numbers[session] = row[0]
        return number

    def _record(self, session: str, text: str) -> Record:
        try:
            return read_record(text)
        except Malformed as error:
            raise self._damaged(session, str(error)) from None

    def _damaged(self, session: str, what: str, kind: str = "session") -> JournalError:
        message = f"the {kind} `{session[:80]}` in `{self._shown}` is damaged: {what}"
        return JournalError("corrupt", message, "restore it from a copy")

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        connection = self._link()
        try:
            connection.execute(statement, values)
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise self._told(connection, error) from None

    def _one(self, statement: str, values: tuple[Any, ...]) -> Any:
        connection = self._link()
        try:
            return connection.execute(statement, values).fetchone()
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise self._told(connection, error) from None

    def _all(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        connection = self._link()
        try:
            return connection.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise self._told(connection, error) from None

    def _told(self, connection: sqlite3.Connection, error: Exception) -> Exception:
        if isinstance(error, UnicodeEncodeError):
            return Malformed("a name that cannot be written as UTF-8")
        assert isinstance(error, sqlite3.Error)
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return told(error, self._shown)

    def _link(self) -> sqlite3.Connection:
        """This thread's connection. A file that was moved or deleted is noticed: what is written there is lost."""
        if self._closed:
            raise JournalError("gone", f"the journal `{self._shown}` is closed", "open it again")
        if self._cut:
            message = f"`{self._shown}` was closed by the process that this one was forked from"
            raise JournalError("gone", message, "fork before it is opened, or close it in the parent last")
        link: _Link | None = getattr(self._threads, "link", None)
        try:
            stat = os.stat(self.path)
        except OSError:
            message = f"`{self._shown}` is not there any more" if link is not None else f"`{self._shown}` is not there"
            raise JournalError("gone", message, "put it back, or open another journal") from None
        inode = (stat.st_dev, stat.st_ino)
        if link is None:
            connection = connect(self.path, level=self._level, wait=self._wait, readonly=self._readonly)
            link = self._threads.link = _Link(connection, inode)
            with self._lock:
                self._links.add(link)
        elif link.inode != inode:
            message = f"`{self._shown}` is another file than the one that was opened"
            raise JournalError("gone", message, "open the journal again")
        return link.connection


def _forked() -> None:
    """SQLite connections must not be used, or closed, by a child: it opens its own and lets the old ones be.

    SQLite counts in the child on locks that only its parent has, so that the child takes them here.
    """
    for journal in list(_JOURNALS):
        links = list(journal._links)
        link = getattr(journal._threads, "link", None)
        if link is not None:
            links.append(link)
        _INHERITED.extend(links)
        journal._renew()
        journal._cut = bool(links) and not hold(journal.path)
    if _INHERITED:
        import ctypes

        for link in _INHERITED:
            # one reference too many: not even the end of the interpreter closes it
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(link))


_JOURNALS: "WeakSet[SqliteJournal]" = WeakSet()
_INHERITED: "list[_Link]" = []
os.register_at_fork(after_in_child=_forked)
