"""A session whose state is what its journal says: decided here, appended there, and only then believed.

Threads take turns at a lock; processes are first or second at the journal, and who was second reads what the first
one wrote and decides again. Nothing waits without an end.
"""

import os
from _thread import allocate_lock
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Literal
from weakref import WeakSet

from msgspec import Struct, structs

from duly.journal.journal import Conflict, Journal, JournalError
from duly.journal.record import Meta, Record, legible, record_of, writable
from duly.journal.replay import again, held, state_of
from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.session.decide import judge
from duly.session.door import admit
from duly.session.ledger import concerned, supplied, used
from duly.session.record import Entry
from duly.session.refuse import malformed
from duly.session.session import KEPT, Session
from duly.session.snapshot import save
from duly.values.errors import fault
from duly.values.event import Called, Elapsed, Event, Received, Returned, Sent
from duly.values.plain import Malformed
from duly.values.verdict import Legal, Reason, Repair, Unrecognized, Verdict, Violation

from .alive import ended, me
from .asking import Asking
from .lookup import broken, looked_up, unjudged
from .shelf import Desk, shelf_of

Mode = Literal["enforce", "shadow"]
Effect = Literal["none", "unknown"]

TRIES = 64
"""How often a decision is made anew because another process was first; then the act is refused."""


class Taken(Struct, frozen=True):
    """An event as it was decided, the verdict, and whether it happens all the same."""

    event: Event
    verdict: Verdict
    happened: bool


class StoredSession(Session):
    """A session over a journal; made by ``Gate.open``.

    ``name`` is the session's id in the journal. What is stepped is decided and appended in one piece, or refused with
    the reason ``store`` or ``busy``. An observation that cannot be written is kept and written before anything else.
    """

    __slots__ = (
        "_clock", "_due", "_length", "_mode", "_others", "_saved", "_shelf", "_wait", "_wall", "_zero", "every", "gate",
        "name", "store", "unanswered",
    )  # fmt: skip

    def __init__(
        self,
        contract: Contract,
        store: Journal,
        name: str,
        *,
        mode: Mode | None,
        clock: Callable[[], float],
        wall: Callable[[], float],
        wait: float,
        every: int,
        keep: int | None = KEPT,
    ) -> None:
        super().__init__(contract, keep=keep)
        if not name:
            raise fault("gate", "a session in a journal has a name", help="Gate.open(contract, journal, name)")
        self.store, self.name, self.every = store, name, every
        # the gate that asks for this session; kept here, so that both go when nobody uses them any more
        self.gate: Any = None
        # acts that were refused since the store did not answer, by the kind of their reason
        self.unanswered: Counter[str] = Counter()
        self._clock, self._wall, self._wait, self._mode = clock, wall, wait, mode
        self._due: list[tuple[Event, bool | None]] = []
        # open calls that other processes have admitted, and which process each
        self._others: dict[str, str] = {}
        self._shelf = shelf_of(store) if contract.ledgers else None
        store.note(name, Meta(contract.name, contract.version, contract.digest, wall()))
        held(contract, store, name)
        self.state, self._length = state_of(contract, store, name)
        self._saved = self._length
        since = 0.0
        if self._length:
            last = next(iter(store.read(name, self._length - 1)))
            since = max(0.0, wall() - last.wall)
        # time goes on where the last record left it, plus what the wall clock says has passed
        self._zero = clock() - self.state.at - since
        _OPEN.add(self)
        self._cut_off()

    def _cut_off(self) -> None:
        """Calls of processes that have ended: nobody knows what they did, and a person settles them."""
        for identity, call in list(self.state.open.items()):
            begun = self.store.begun(self.name, identity) if not call.uncertain else None
            if begun is not None and ended(begun.by):
                self.step(broken(self.contract, identity, call.label))
            elif begun is not None and begun.by is not None and begun.by != me():
                self._others[identity] = begun.by

    def _left(self) -> None:
        """Sees whether processes have ended since whose calls were still running when they were last looked at."""
        for identity, by in list(self._others.items()):
            call = self.state.open.get(identity)
            if call is not None and not call.uncertain and not ended(by):
                continue
            del self._others[identity]
            if call is not None and not call.uncertain:
                failed = structs.replace(broken(self.contract, identity, call.label), at=self._clock() - self._zero)
                self._due.append((failed, None))

    @property
    def mode(self) -> Mode:
        return self._mode_in(self.state)

    def _mode_in(self, state: State) -> Mode:
        ordered = state.more.mode
        if ordered in ("enforce", "shadow"):
            return ordered  # type: ignore[return-value]
        return self._mode or self.contract.terms.mode

    def take(
        self,
        events: Sequence[Event],
        *,
        happened: bool | None = None,
        listed: bool = False,
        asking: Asking | None = None,
    ) -> list[Taken]:
        """Decides events one after another and appends them together.

        ``happened`` None leaves it to the mode that is in force when they are decided. What ``asking`` has withdrawn
        by then was never asked, and nothing is returned.
        """
        ready: list[Event] = []
        odd: dict[int, Taken] = {}
        for place, event in enumerate(events):
            try:
                ready.append(writable(admit(event)))
            except Malformed as error:
                happens = self.mode == "shadow" if happened is None else happened
                odd[place] = Taken(event, self._refuse(event, str(error)), happens)
        if not odd:
            return self._asked(ready, happened, listed, asking)
        rest = iter(self._asked(ready, happened, listed, asking) if ready else [])
        return [odd[place] if place in odd else next(rest) for place in range(len(events))]

    def _asked(self, ready: list[Event], happened: bool | None, listed: bool, asking: Asking | None) -> list[Taken]:
        until = monotonic() + self._wait
        if not self._lock.acquire(timeout=self._wait):
            if asking is not None and not asking.start():
                return []
            message = f"other decisions on this session took longer than {self._wait:g} seconds"
            return self._refused(ready, happened, "busy", message, "ask again")
        try:
            if asking is not None and not asking.start():
                return []
            now = self._clock() - self._zero
            ready = [event if event.at is not None else structs.replace(event, at=now) for event in ready]
            if self.contract.clocked:
                wall = self._wall()
                ready = [event if event.wall is not None else structs.replace(event, wall=wall) for event in ready]
            return self._taken(ready, happened, listed, until)
        except JournalError as error:
            kind = "busy" if error.kind in ("busy", "conflict") else "store"
            told = error.diagnostics[0]
            return self._refused(ready, happened, kind, told.message, told.help)
        finally:
            self._lock.release()

    def _taken(self, events: Sequence[Event], happened: bool | None, listed: bool, until: float) -> list[Taken]:
        tries = 0
        while True:
            try:
                if self._others:
                    self._left()
                if self._due:
                    due = list(self._due)  # others may add to it while this thread has the lock
                    self._attempt([event for event, _ in due], [way for _, way in due], False, until)
                    del self._due[: len(due)]
                taken = self._attempt(events, [happened] * len(events), listed, until)
                self._save()
                return taken
            except Conflict:
                tries += 1
                if tries > TRIES or monotonic() > until:
                    raise
                self._catch_up()

    def _attempt(
        self, events: Sequence[Event], ways: Sequence[bool | None], listed: bool, until: float
    ) -> list[Taken]:
        """Decides on the state as it is known, and appends; raises Conflict where that was not the state any more."""
        contract = self.contract
        names = {name for event in events for name in concerned(contract, self.state, event)} if self._shelf else ()
        if self._shelf is None or not names:
            return self._appended(events, ways, listed, None)
        with self._shelf.turn(self.store, contract, sorted(names), until) as desk:
            return self._appended(events, ways, listed, desk)

    def _appended(
        self, events: Sequence[Event], ways: Sequence[bool | None], listed: bool, desk: Desk | None
    ) -> list[Taken]:
        state, index = self.state, self._length
        wall, by = self._wall(), me()
        taken: list[Taken] = []
        records: list[Record] = []
        for event, way in zip(events, ways, strict=True):
            mode = self._mode_in(state)
            happens = mode == "shadow" if way is None else way
            if happens and type(event) is Called and event.id is None:
                # what runs whatever the verdict needs a number to be settled by
                event = structs.replace(event, id=self.number())
            event = looked_up(self.contract, self.store, self.name, state, event)
            readings = None if desk is None else desk.readings()
            verdict, after = judge(self.contract, state, event, happens, readings)
            records.append(
                record_of(
                    self.contract, state, after, event, verdict, index=index, wall=wall, mode=mode, happened=happens,
                    by=by, listed=listed, ledgers=used(readings),
                )
            )  # fmt: skip
            if desk is not None:
                desk.move(self.contract, state, after, self.name, index)
            taken.append(Taken(event, verdict, happens))
            state, index = after, index + 1
        # a store that knows of no ledgers is not asked about any
        self.store.append(self.name, records, expected=self._length, **(desk.shares() if desk is not None else {}))
        if desk is not None:
            desk.done()
        self.state, self._length = state, index
        for one, record in zip(taken, records, strict=True):
            self._keep(one.event, one.verdict, record.mode)
        return taken

    def _refused(
        self, events: Sequence[Event], happened: bool | None, kind: str, message: str, help: str
    ) -> list[Taken]:
        """Nothing was recorded: acts are refused, what has happened is kept until it can be."""
        happens = self.mode == "shadow" if happened is None else happened
        now = self._clock() - self._zero
        taken = []
        for event in events:
            event = event if event.at is not None else structs.replace(event, at=now)
            act = isinstance(event, Called | Sent)
            self.unanswered[kind] += act
            if not act or happens:
                self._due.append((event, happens if act else happened))
            reason = Reason("journal", kind, message, help=help)
            verdict = Violation((reason,), finding=not act or happens, show=self.contract.terms.show)
            taken.append(Taken(event, verdict, happens))
        return taken

    def _catch_up(self) -> None:
        for step in again(self.contract, self.store.read(self.name, self._length), self.state):
            self.state, self._length = step.state, step.record.index + 1
            record = step.record
            if record.status == "open" and record.call is not None and record.by not in (None, me()):
                self._others[record.call] = str(record.by)
            if step.verdict is not None:
                self._keep(record.event, step.verdict, record.mode)

    def _keep(self, event: Event, verdict: Verdict, mode: str) -> None:
        self.journal.append(Entry(event, verdict, mode))

    def _save(self, *, now: bool = False) -> None:
        if self._length - self._saved >= (1 if now else self.every):
            try:
                self.store.save_snapshot(self.name, self._length, save(self.contract, self.state))
            except JournalError:
                if now:
                    raise
                return  # it only saves work, and the next one will do
            self._saved = self._length

    def leave(self) -> None:
        """Writes what is still due and a snapshot; the session can be opened again at any time."""
        with self._lock:
            self._taken([], None, False, monotonic() + self._wait)
            self._save(now=True)

    def send(self, label: str, payload: Any = None) -> Verdict:
        return self.step((Called if label in self.contract.tool_names else Sent)(label, payload))

    def receive(self, label: str | None, payload: Any = None) -> Verdict:
        kind: Any = Returned if label in self.contract.tool_names else Received
        return self.step(kind(label, payload))

    def _decided(self, event: Event, happened: bool) -> Verdict:
        return self.take([event], happened=happened)[0].verdict

    def note(self, event: Event, verdict: Verdict) -> None:
        """Records what was said of an event that no decision was made on."""
        event = legible(event)
        with self._lock:
            for _ in range(TRIES):
                record = unjudged(self._length, event, verdict, self._wall(), self.mode, self.state)
                try:
                    self.store.append(self.name, [record], expected=self._length)
                except Conflict:
                    self._catch_up()
                    continue
                except JournalError:
                    return  # it moved nothing, and was refused
                self._length += 1
                self._keep(event, verdict, record.mode)
                return

    def _refuse(self, event: Any, message: str) -> Verdict:
        verdict = Unrecognized((malformed(message),), show=self.contract.terms.show)
        if isinstance(event, Event.__args__):
            self.note(event, verdict)
        return verdict

    def number(self) -> str:
        """A call number that no other process gives out."""
        from secrets import token_hex

        return f"#{token_hex(6)}"

    def peek(self, event: Event) -> Verdict:
        try:
            event = writable(admit(event))
        except Malformed as error:
            return Unrecognized((malformed(str(error)),), show=self.contract.terms.show)
        try:
            with self._lock:
                self._catch_up()
                if self.contract.clocked and event.wall is None:
                    event = structs.replace(event, wall=self._wall())
                event = looked_up(self.contract, self.store, self.name, self.state, event)
                return judge(self.contract, self.state, event, False, self._ledgers())[0]
        except JournalError as error:
            told = error.diagnostics[0]
            reason = Reason("journal", "store", told.message, help=told.help)
            return Violation((reason,), show=self.contract.terms.show)

    def _ledgers(self) -> Any:
        """What all sessions of the store have used up by now."""
        if self._shelf is None:
            return None
        names = self.contract.ledgers.values()
        with self._shelf.turn(self.store, self.contract, names, monotonic() + self._wait) as desk:
            return desk.readings()

    def _view(self) -> State:
        if not self.contract.outer:
            return self.state
        return supplied(self.contract, self.state, self._ledgers(), Elapsed(self.state.at, wall=self._wall()))

    def legal(self) -> tuple[Legal, ...]:
        self.refresh()
        return super().legal()

    def repair(self, label: str) -> Repair | None:
        self.refresh()
        return super().repair(label)

    def owed(self) -> tuple[Reason, ...]:
        self.refresh()
        return super().owed()

    def refresh(self) -> None:
        """Takes in what other processes have appended; raises JournalError."""
        with self._lock:
            self._catch_up()

    def reset(self) -> None:
        raise fault("gate", "a session in a journal is not begun anew", help="open another session")

    def __reduce__(self) -> Any:
        raise TypeError("a session in a journal is opened, not copied: use `Gate.open`")

    def __deepcopy__(self, memo: dict[int, Any]) -> "Session":
        raise TypeError("a session in a journal is opened, not copied: use `Gate.open`")

    __copy__ = lambda self: self.__deepcopy__({})  # noqa: E731


def _forked() -> None:
    """A lock that another thread held while the process was forked would never be given back in the child."""
    for session in list(_OPEN):
        session._lock = allocate_lock()


_OPEN: "WeakSet[StoredSession]" = WeakSet()
os.register_at_fork(after_in_child=_forked)
