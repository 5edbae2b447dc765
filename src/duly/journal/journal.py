"""The interface of journals, what can go wrong with one, and how one is opened from its address.

A journal is a stream of records for each session. It never decides anything: what the records mean is said by
deciding their events again.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias

from duly.values.errors import Diagnostic, DulyError, fault
from duly.values.event import Found

from .record import Meta, Posting, Record, Saved, Share, Summary

Kind: TypeAlias = Literal["conflict", "busy", "full", "readonly", "foreign", "newer", "corrupt", "gone"]
Level: TypeAlias = Literal["full", "normal", "memory"]
LEVELS: Final[tuple[Level, ...]] = ("full", "normal", "memory")
_ADDRESSES: Final = "use `memory:`, `sqlite:///path` or a path"


class JournalError(DulyError):
    """A journal that cannot be used as asked.

    ``kind`` says how: ``conflict`` (somebody appended first), ``busy`` (others hold it for too long), ``full``,
    ``readonly``, ``foreign`` (no journal of duly), ``newer`` (written by a later duly), ``corrupt``, ``gone`` (closed,
    moved or deleted, out of reach, or it has no such session).
    """

    kind: Kind

    def __init__(self, kind: Kind, message: str, help: str) -> None:
        self.kind = kind
        super().__init__([Diagnostic("journal", message, help=help)])

    def __reduce__(self) -> tuple[Any, ...]:
        diagnostic = self.diagnostics[0]
        return JournalError, (self.kind, diagnostic.message, diagnostic.help)


class Conflict(JournalError):
    """Somebody appended first; ``length`` is how many records the session has."""

    def __init__(self, session: str, expected: int, length: int) -> None:
        self.session, self.expected, self.length = session, expected, length
        message = f"the session `{session[:80]}` has {length} records, not {expected}"
        super().__init__("conflict", message, "read what was appended and decide again")

    def __reduce__(self) -> tuple[Any, ...]:
        return Conflict, (self.session, self.expected, self.length)


class LedgerConflict(Conflict):
    """Somebody posted to a ledger first; ``length`` is how many postings it has."""

    def __init__(self, ledger: str, expected: int, length: int) -> None:
        self.ledger, self.session, self.expected, self.length = ledger, "", expected, length
        message = f"the ledger `{ledger[:80]}` has {length} postings, not {expected}"
        JournalError.__init__(self, "conflict", message, "read what was posted and decide again")

    def __reduce__(self) -> tuple[Any, ...]:
        return LedgerConflict, (self.ledger, self.expected, self.length)


class Journal(Protocol):
    """What every store offers. All of it is safe to call from any thread; every failure is a ``JournalError``.

    ``shared`` says whether several processes may use the store at once.
    """

    shared: bool

    def note(self, session: str, meta: Meta) -> Meta:
        """Notes a session before its first record, and gives what is noted of it: what was noted first stays."""
        ...

    def meta(self, session: str) -> Meta | None:
        """What was noted of a session; None where there is none of this name."""
        ...

    def append(
        self, session: str, records: Sequence[Record], *, expected: int, shares: Sequence[Share] = ()
    ) -> None:
        """Appends all records or none, the first at index ``expected``; raises Conflict where that is not the length.

        ``shares`` are posted to their ledgers in the same piece: records and postings are all there, or none. Raises
        LedgerConflict where a ledger is not as long as its share expects, and Malformed for what cannot be written.
        """
        ...

    def postings(self, ledger: str, start: int = 0) -> Iterator[Posting]:
        """What was posted to a ledger from index ``start`` on, in order; nothing where there is no such ledger."""
        ...

    def posted(self, ledger: str) -> int:
        """How many postings a ledger has."""
        ...

    def save_balance(self, ledger: str, index: int, data: dict[str, Any]) -> None:
        """Keeps what a ledger holds after its first ``index`` postings, unless a later one is kept."""
        ...

    def balance(self, ledger: str) -> Saved | None:
        """The latest balance that was kept."""
        ...

    def ledgers(self) -> Iterator[str]:
        """The names of all ledgers that have postings or were asked for them."""
        ...

    def read(self, session: str, start: int = 0) -> Iterator[Record]:
        """The records from index ``start`` on, in order; nothing where there is no such session."""
        ...

    def length(self, session: str) -> int:
        """How many records a session has."""
        ...

    def save_snapshot(self, session: str, index: int, data: dict[str, Any]) -> None:
        """Keeps the state after the first ``index`` records, unless a later one is kept; not past the last record."""
        ...

    def snapshot(self, session: str, digest: str | None = None) -> Saved | None:
        """The latest snapshot; None where there is none, or none of the contract with this digest."""
        ...

    def find_key(self, session: str, key: str) -> Found | None:
        """What became of the last call that was admitted under an idempotency key."""
        ...

    def find_call(self, session: str, id: str) -> Found | None:
        """What became of the last call of this number."""
        ...

    def begun(self, session: str, id: str) -> Record | None:
        """The record that admitted the last call of this number."""
        ...

    def sessions(self) -> Iterator[Summary]:
        """Every session, in the order in which they were noted."""
        ...

    def close(self) -> None:
        """Ends the use of the store; further use raises JournalError ``gone``."""
        ...


def open_journal(address: str, *, level: Level = "normal", wait: float = 5.0, readonly: bool = False) -> Journal:
    """The journal at ``memory:``, ``sqlite:///path`` or a plain path; a file is created where there is none.

    ``level`` is what a record survives once it is appended: ``full`` a power cut, ``normal`` the end of the process
    however it comes, ``memory`` the same, but nothing is ever forced to the disk. ``wait`` bounds in seconds how
    long another user of the file is waited for. Raises JournalError.
    """
    if level not in LEVELS:
        raise fault("journal", f"unknown level `{level}`", help=f"levels are {', '.join(LEVELS)}")
    if address == "memory:":
        from .memory import MemoryJournal

        return MemoryJournal()
    scheme, separator, path = address.partition("://")
    if separator and scheme != "sqlite":
        raise fault("journal", f"no store for `{scheme[:20]}://`", help=_ADDRESSES)
    if separator and not path.startswith("/"):
        raise fault("journal", f"`{address[:80]}` names no file", help="write `sqlite:///path` with three strokes")
    if not (path[1:] if separator else address):
        raise fault("journal", "the address of a journal is empty", help=_ADDRESSES)
    from .sqlite import SqliteJournal

    # as everywhere else: three strokes and a relative path, four and an absolute one
    return SqliteJournal(path[1:] if separator else address, level=level, wait=wait, readonly=readonly)


def unnoted(session: str) -> JournalError:
    return JournalError("gone", f"the journal has no session `{session[:80]}`", "note the session before its records")


def unfit(session: str, index: int, length: int) -> JournalError:
    message = f"a snapshot of `{session[:80]}` after {index} records, of which there are {length}"
    return JournalError("corrupt", message, "append the records before the snapshot")
