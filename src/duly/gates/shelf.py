"""The ledgers of a store as this process knows them: read once, then kept up with what others post.

Decisions over them take turns in one process; between processes the store says who was first, and who was second reads
what the first one posted and decides again.
"""

import os
from _thread import allocate_lock
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct, field

from duly.journal.journal import Journal, JournalError
from duly.journal.record import Posting, Share
from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.machine.watch.outer import Outer, Reading, Value, add
from duly.session.ledger import keepers, moved

EVERY = 200
"""Postings after which what a ledger holds is kept, so that nobody has to add them all up again."""


class _View(Struct):
    """A ledger after its first ``length`` postings."""

    length: int = 0
    value: Value = field(default_factory=dict)
    saved: int = 0


class Shelf:
    """One for each store in use, shared by all sessions over it."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.views: dict[str, _View] = {}

    @contextmanager
    def turn(self, store: Journal, contract: Contract, names: Iterable[str], until: float) -> Iterator["Desk"]:
        """Brings these ledgers up to date and holds them until all is appended; what was not is taken back.

        Raises JournalError, also where others take longer than ``until``.
        """
        if not self.lock.acquire(timeout=max(0.0, until - monotonic())):
            raise JournalError("busy", "other decisions over the same ledger took too long", "ask again")
        try:
            desk = Desk(self, store, keepers(contract), tuple(names))
            try:
                yield desk
            finally:
                desk.leave()
        finally:
            self.lock.release()

    def view(self, store: Journal, name: str) -> _View:
        """The ledger as the store has it now."""
        view = self.views.get(name)
        if view is None:
            view = _View()
            kept = store.balance(name)
            if kept is not None:
                add(view.value, kept.data)
                view.length = view.saved = kept.index
        for posting in store.postings(name, view.length):
            # nothing is believed before it is read whole
            add(view.value, posting.add)
            view.length += 1
        self.views[name] = view
        return view


class Desk:
    """What one attempt asks and adds: ledgers move with each event, and stay so only once it was appended."""

    def __init__(self, shelf: Shelf, store: Journal, keepers: dict[str, Outer], names: tuple[str, ...]) -> None:
        self._shelf, self._store, self._keepers = shelf, store, keepers
        self._views = {name: shelf.view(store, name) for name in names}
        self._postings: dict[str, list[Posting]] = {name: [] for name in names}
        self._done = False

    def readings(self) -> dict[str, Reading]:
        return {name: Reading(view.value) for name, view in self._views.items()}

    def move(self, contract: Contract, before: State, after: State, session: str, index: int) -> None:
        """Adds what a decision has used up, or given back, to each ledger."""
        for name, more in moved(contract, before, after).items():
            if name not in self._views:
                self._views[name] = self._shelf.view(self._store, name)
                self._postings[name] = []
            add(self._views[name].value, more)
            said = {
                window: {key: {place: str(n) for place, n in row.items()} for key, row in rows.items()}
                for window, rows in more.items()
            }
            self._postings[name].append(Posting(session, index, said))

    def shares(self) -> dict[str, Any]:
        """What is appended beside the records, as the store takes it."""
        return {"shares": [Share(each, view.length, tuple(self._postings[each])) for each, view in self._views.items()]}

    def done(self) -> None:
        """All was appended."""
        self._done = True
        for name, view in self._views.items():
            view.length += len(self._postings[name])
            if view.length - view.saved >= EVERY:
                self._keep(name, view)

    def _keep(self, name: str, view: _View) -> None:
        keeper = self._keepers.get(name)
        if keeper is None:
            return
        view.value = keeper.pruned(view.value)
        data: dict[str, Any] = {
            window: {key: {place: str(n) for place, n in row.items()} for key, row in rows.items()}
            for window, rows in view.value.items()
        }
        try:
            self._store.save_balance(name, view.length, data)
        except JournalError:
            return  # it only saves work, and the next one will do
        view.saved = view.length

    def leave(self) -> None:
        if self._done:
            return
        for name, postings in self._postings.items():
            for posting in postings:
                add(self._views[name].value, _less(posting.add))


def _less(more: dict[str, Any]) -> Value:
    return {
        window: {key: {place: -Decimal(n) for place, n in row.items()} for key, row in rows.items()}
        for window, rows in more.items()
    }


def shelf_of(store: Journal) -> Shelf:
    """The ledgers of a store; one shelf for all that use it."""
    with _GUARD:
        return _SHELVES.setdefault(store, Shelf())


def _forked() -> None:
    """A child begins with what the store says; a lock of its parent's threads would never be given back in it."""
    global _GUARD
    _GUARD = allocate_lock()
    for shelf in list(_SHELVES.values()):
        shelf.lock, shelf.views = allocate_lock(), {}


_GUARD = allocate_lock()
_SHELVES: "WeakKeyDictionary[Journal, Shelf]" = WeakKeyDictionary()
os.register_at_fork(after_in_child=_forked)
