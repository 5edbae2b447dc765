"""A journal in memory: for tests, demos and sessions that need not outlive their process."""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, Final

from msgspec import Struct, field

from duly.values.event import Found
from duly.values.plain import write_json

from .journal import Conflict, JournalError, LedgerConflict, unfit, unnoted
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
    write_posting,
    write_record,
)


class _Stream(Struct):
    meta: Meta
    records: list[bytes] = field(default_factory=list)
    calls: dict[str, list[int]] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    saved: tuple[int, str] | None = None


class _Account(Struct):
    postings: list[str] = field(default_factory=list)
    balance: tuple[int, str] | None = None


class MemoryJournal:
    """Keeps records as text, like every other store, so that nobody can change what was recorded."""

    shared = False

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}
        self._accounts: dict[str, _Account] = {}
        self._lock = Lock()
        self._closed = False

    def note(self, session: str, meta: Meta) -> Meta:
        with self._lock:
            self._check()
            return self._streams.setdefault(session, _Stream(meta)).meta

    def meta(self, session: str) -> Meta | None:
        with self._lock:
            stream = self._stream(session)
            return stream.meta if stream is not None else None

    def append(
        self, session: str, records: Sequence[Record], *, expected: int, shares: Sequence[Share] = ()
    ) -> None:
        texts = [write_record(record) for record in records]
        posted = [[write_posting(posting) for posting in share.postings] for share in shares]
        with self._lock:
            stream = self._stream(session)
            if stream is None:
                raise unnoted(session)
            if len(stream.records) != expected:
                raise Conflict(session, expected, len(stream.records))
            ordered(records, expected)
            for share in shares:
                length = len(self._accounts.get(share.ledger, _NO_ACCOUNT).postings)
                if length != share.expected:
                    raise LedgerConflict(share.ledger, share.expected, length)
            for share, lines in zip(shares, posted, strict=True):
                self._accounts.setdefault(share.ledger, _Account()).postings += lines
            stream.records += texts
            for record in records:
                if record.call is not None:
                    stream.calls.setdefault(record.call, []).append(record.index)
                if record.key is not None:
                    stream.keys[record.key] = record.index

    def read(self, session: str, start: int = 0) -> Iterator[Record]:
        with self._lock:
            stream = self._stream(session)
            texts = stream.records[max(start, 0) :] if stream is not None else []
        return map(read_record, texts)

    def length(self, session: str) -> int:
        with self._lock:
            stream = self._stream(session)
            return len(stream.records) if stream is not None else 0

    def save_snapshot(self, session: str, index: int, data: dict[str, Any]) -> None:
        text = write_json(data)
        with self._lock:
            stream = self._stream(session)
            if stream is None:
                raise unnoted(session)
            if not 0 <= index <= len(stream.records):
                raise unfit(session, index, len(stream.records))
            if stream.saved is None or index >= stream.saved[0]:
                stream.saved = (index, text)

    def snapshot(self, session: str, digest: str | None = None) -> Saved | None:
        import msgspec

        with self._lock:
            stream = self._stream(session)
            saved = stream.saved if stream is not None else None
        if saved is None:
            return None
        data = msgspec.json.decode(saved[1])
        return Saved(saved[0], data) if digest is None or data.get("digest") == digest else None

    def find_key(self, session: str, key: str) -> Found | None:
        with self._lock:
            stream = self._stream(session)
            begun = stream.keys.get(key) if stream is not None else None
            if stream is None or begun is None:
                return None
            first = read_record(stream.records[begun])
            places = stream.calls.get(str(first.call), [])
            # the number may have been used again since
            later = [read_record(stream.records[place]) for place in places if place > begun]
        return found_in([*reversed(until_reused(later)), first])

    def find_call(self, session: str, id: str) -> Found | None:
        return found_in(self._of_call(session, id))

    def begun(self, session: str, id: str) -> Record | None:
        return next((record for record in self._of_call(session, id) if record.status == "open"), None)

    def _of_call(self, session: str, id: str) -> Iterator[Record]:
        with self._lock:
            stream = self._stream(session)
            texts = [stream.records[place] for place in stream.calls.get(id, ())] if stream is not None else []
        return map(read_record, reversed(texts))

    def sessions(self) -> Iterator[Summary]:
        with self._lock:
            self._check()
            known = [(name, s.meta, len(s.records), s.records[-1:]) for name, s in self._streams.items()]
        return iter([summary(name, meta, length, *map(read_record, last)) for name, meta, length, last in known])

    def postings(self, ledger: str, start: int = 0) -> Iterator[Posting]:
        with self._lock:
            self._check()
            texts = self._accounts.get(ledger, _NO_ACCOUNT).postings[max(start, 0) :]
        return map(read_posting, texts)

    def posted(self, ledger: str) -> int:
        with self._lock:
            self._check()
            return len(self._accounts.get(ledger, _NO_ACCOUNT).postings)

    def save_balance(self, ledger: str, index: int, data: dict[str, Any]) -> None:
        text = write_json(data)
        with self._lock:
            self._check()
            account = self._accounts.get(ledger, _NO_ACCOUNT)
            if not 0 < index <= len(account.postings):
                raise unfit(ledger, index, len(account.postings))
            if account.balance is None or index >= account.balance[0]:
                account.balance = (index, text)

    def balance(self, ledger: str) -> Saved | None:
        import msgspec

        with self._lock:
            self._check()
            saved = self._accounts.get(ledger, _NO_ACCOUNT).balance
        return Saved(saved[0], msgspec.json.decode(saved[1])) if saved is not None else None

    def ledgers(self) -> Iterator[str]:
        with self._lock:
            self._check()
            return iter(list(self._accounts))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._streams, self._accounts = {}, {}

    def _stream(self, session: str) -> _Stream | None:
        self._check()
        return self._streams.get(session)

    def _check(self) -> None:
        if self._closed:
            raise JournalError("gone", "this journal is closed", "open it again")


_NO_ACCOUNT: Final = _Account()


def ordered(records: Sequence[Record], expected: int) -> None:
    """Records carry their own index; raises JournalError where it is not the one they are appended at."""
    for index, record in enumerate(records, expected):
        if record.index != index:
            message = f"a record of index {record.index} at {index}"
            raise JournalError("corrupt", message, "number the records from the expected index on")


def until_reused(later: list[Record]) -> list[Record]:
    """The records of a call, up to the next call that has its number."""
    for place, record in enumerate(later):
        if record.status == "open":
            return later[:place]
    return later


def summary(session: str, meta: Meta, length: int, last: Record | None = None) -> Summary:
    if last is None:
        return Summary(session, meta, length)
    return Summary(session, meta, length, last.wall, last.over, last.open, last.uncertain)
