"""One SQLite file as a journal: how it is created, recognised and opened, and what its errors mean.

Nothing is changed in a file before it is known to be a journal of duly, in a format that this duly writes.
"""

import errno
import os
import sqlite3
from time import monotonic, sleep
from typing import Final

from .journal import JournalError, Level

APPLICATION: Final = 0x64756C79
"""``duly`` in ASCII: what SQLite's `application_id` says of our files, and of no others."""
FORMAT: Final = 1

# `place` is the session's number times 2**32 plus the record's index: one key for both, in the order of the file, so
# that records are added at the end of a page instead of into an index of their own.
SCHEMA: Final = (
    "CREATE TABLE format (version INTEGER NOT NULL)",
    """CREATE TABLE session (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        contract TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, created REAL NOT NULL
    )""",
    "CREATE TABLE record (place INTEGER PRIMARY KEY, call TEXT, key TEXT, text TEXT NOT NULL)",
    "CREATE INDEX record_call ON record (call) WHERE call IS NOT NULL",
    "CREATE INDEX record_key ON record (key) WHERE key IS NOT NULL",
    "CREATE TABLE snapshot (number INTEGER PRIMARY KEY, length INTEGER NOT NULL, text TEXT NOT NULL)",
    """CREATE VIEW history AS
        SELECT session.id AS session, place & 4294967295 AS "index", text
        FROM record JOIN session ON session.number = place >> 32""",
    f"INSERT INTO format VALUES ({FORMAT})",
    f"PRAGMA user_version = {FORMAT}",
    f"PRAGMA application_id = {APPLICATION}",
)

_SYNCHRONOUS: Final[dict[str, str]] = {"full": "FULL", "normal": "NORMAL", "memory": "OFF"}


def create(path: str) -> None:
    """An empty file that only its owner can read, in directories of the same kind, unless it is there already."""
    try:
        parent = os.path.dirname(os.path.abspath(path))
        missing = []
        while not os.path.isdir(parent):
            missing.append(parent)
            parent = os.path.dirname(parent)
        for directory in reversed(missing):
            try:
                os.mkdir(directory, 0o700)
            except FileExistsError:
                if not os.path.isdir(directory):
                    raise
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if os.path.isdir(path):
            message = f"`{path}` is a directory, not a journal"
            raise JournalError("foreign", message, "give the path of a file in it") from None
    except PermissionError as error:
        message = f"no journal can be created at `{path}`: {_strerror(error)}"
        raise JournalError("readonly", message, "give a path that this user may write") from None
    except OSError as error:
        kind = "full" if error.errno == errno.ENOSPC else "gone"
        message = f"no journal can be created at `{path}`: {_strerror(error)}"
        raise JournalError(kind, message, "give another path") from None  # type: ignore[arg-type]


def connect(path: str, *, level: Level, wait: float, readonly: bool) -> sqlite3.Connection:
    """A connection to a file that is a journal; a new file is made one. Raises JournalError."""
    _recognise(path)
    try:
        address = f"file:{_quoted(os.path.abspath(path))}?mode={'ro' if readonly else 'rw'}"
        link = sqlite3.connect(address, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise told(error, path) from None
    try:
        if not _known(link, path):
            if readonly:
                raise JournalError("foreign", f"`{path}` is empty, not a journal", "give the path of a journal")
            _furnish(link, path)
        if not readonly:
            _into_wal(link, path, wait)
            link.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[level]}")
        return link
    except sqlite3.Error as error:
        link.close()
        raise told(error, path) from None
    except BaseException:
        link.close()
        raise


def _recognise(path: str) -> None:
    """Looks at the header before the file is opened to be used, which would recover or check-point somebody else's.

    SQLite itself reads it, as a file that nobody changes: it neither recovers nor locks then.
    """
    # INVARIANT: the process never closes a journal's file on its own. POSIX drops all locks of a process on a file as
    # soon as it closes any descriptor of it; without them others take the log for theirs, and delete it under us.
    try:
        if os.stat(path).st_size == 0:
            return
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        kind = "gone" if isinstance(error, FileNotFoundError) else "readonly"
        message = f"`{path}` cannot be read: {_strerror(error)}"
        raise JournalError(kind, message, "see that the path exists and may be read") from None  # type: ignore[arg-type]
    try:
        link = sqlite3.connect(f"file:{_quoted(os.path.abspath(path))}?mode=ro&immutable=1", uri=True)
        try:
            application = link.execute("PRAGMA application_id").fetchone()[0]
        finally:
            link.close()
    except sqlite3.Error as error:
        if _primary(error) != sqlite3.SQLITE_NOTADB:
            raise told(error, path) from None
        message = f"`{path}` is no SQLite file; nothing was changed in it"
        help = "give the path of a journal, or of a file that does not exist yet"
        raise JournalError("foreign", message, help) from None
    if application != APPLICATION:
        raise _of_others(path)


def _of_others(path: str) -> JournalError:
    message = f"`{path}` is a database of another program; nothing was changed in it"
    return JournalError("foreign", message, "give the path of a journal, or of a file that does not exist yet")


def _known(link: sqlite3.Connection, path: str) -> bool:
    """Whether the file is a journal already; False for an empty one, JournalError for anything else."""
    application = link.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        if application == 0 and link.execute("PRAGMA page_count").fetchone()[0] == 0:
            return False
        raise _of_others(path)
    version = link.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        message = f"`{path}` was written by a newer duly, in format {version}; this one reads up to {FORMAT}"
        raise JournalError("newer", message, "use the newer duly; nothing was changed")
    tables = {row[0] for row in link.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"format", "session", "record", "snapshot"} <= tables or version < 1:
        message = f"`{path}` is a damaged journal: parts of it are missing"
        raise JournalError("corrupt", message, "restore it from a copy")
    return True


def _furnish(link: sqlite3.Connection, path: str) -> None:
    """The tables, in one transaction: whoever is killed in it leaves an empty file, whoever comes second finds them."""
    link.execute("BEGIN IMMEDIATE")
    try:
        # a transaction has a first page already, so that only its tables tell a new file from one made meanwhile
        if link.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            for statement in SCHEMA:
                link.execute(statement)
        link.execute("COMMIT")
    except BaseException:
        if link.in_transaction:
            link.execute("ROLLBACK")
        raise
    _known(link, path)


def _into_wal(link: sqlite3.Connection, path: str, wait: float) -> None:
    """Write-ahead logging; SQLite does not itself wait for others while it changes over."""
    until = monotonic() + wait
    while True:
        try:
            mode = link.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if _primary(error) != sqlite3.SQLITE_BUSY or monotonic() >= until:
                raise
            sleep(0.005)
            continue
        if mode != "wal":
            message = f"`{path}` cannot be written ahead: the file system does not support it"
            raise JournalError("gone", message, "keep the journal on a local disk")
        return


def hold(path: str) -> bool:
    """Takes the locks by which SQLite says that a file is in use, for as long as the process lives.

    False where the log is not there any more: whoever held it has closed the file.
    """
    import fcntl

    # where these locks are is part of SQLite's file format, so that all its versions respect one another
    for name, start, length in ((path, 0x40000002, 510), (f"{path}-shm", 128, 1)):
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, length, start)
        except OSError:
            return False
    return os.path.exists(f"{path}-wal")


def told(error: sqlite3.Error, path: str) -> JournalError:
    """What an error of SQLite means for whoever keeps a journal."""
    code = _primary(error)
    text = str(error)
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in text:
        return JournalError("gone", f"the journal `{path}` is closed", "open it again")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JournalError("busy", f"`{path}` was held by others for too long", "ask again, or allow a longer wait")
    if code == sqlite3.SQLITE_FULL or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_WRITE:
        return JournalError("full", f"`{path}` cannot grow: {text}", "make room; nothing was recorded")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return JournalError("readonly", f"`{path}` cannot be written: {text}", "open it as a user who may write it")
    if code == sqlite3.SQLITE_NOTADB:
        return JournalError("foreign", f"`{path}` is no SQLite file; nothing was changed in it", "give another path")
    if code == sqlite3.SQLITE_CORRUPT:
        return JournalError("corrupt", f"`{path}` is damaged: {text}", "restore it from a copy")
    if code == sqlite3.SQLITE_CANTOPEN:
        parent = os.path.dirname(os.path.abspath(path))
        if os.path.exists(path) and not os.access(parent, os.W_OK):
            message = f"`{path}` cannot be written: its directory, where SQLite keeps the log, may not be"
            return JournalError("readonly", message, "open it as a user who may write it, or copy it elsewhere")
        return JournalError("gone", f"`{path}` cannot be opened", "see that the path exists and may be read")
    return JournalError("gone", f"`{path}` failed: {text}", "see that the disk is well, then open the journal again")


def _primary(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def _strerror(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
