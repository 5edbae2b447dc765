"""A live session: a contract, a state, and the record of what was said of each event. Safe to share between threads."""

from _thread import allocate_lock as Lock  # `threading` costs more than the rest of this file
from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from duly.machine.contract import Contract
from duly.machine.ir import NOTHING, State
from duly.machine.merge import merge
from duly.values.errors import Refused, fault, suggest
from duly.values.event import (
    Called,
    Closed,
    Event,
    Received,
    Returned,
    Sent,
    sign,
)  # fmt: skip
from duly.values.expr import UNSET
from duly.values.plain import Malformed, plain
from duly.values.verdict import Allowed, Legal, Reason, Repair, Unrecognized, Verdict

from .close import owed
from .decide import judge
from .door import DOORS, admit
from .explain import legal
from .ledger import Ledger, over, supplied
from .move import ended
from .record import Entry, looked_up
from .refuse import malformed

KEPT = 10_000
"""Entries that a session remembers of its own past, unless it is told otherwise; decisions never need them."""


Decide = Callable[[Contract, State, Event], tuple[Verdict, State]]


class Session:
    """One run held to one contract, or to several at once.

    ``step`` decides an event and moves; ``peek`` decides and does not. ``keep`` bounds the record that ``journal``
    and ``trace`` show (None keeps all of it); what a session decides never depends on it, apart from answering a
    repeated idempotency key from the record. ``ledger`` is what caps with ``scope: store`` count in, together with all
    other sessions that have it; without one they refuse.
    """

    __slots__ = ("__weakref__", "_lock", "contract", "journal", "ledger", "state")

    contract: Contract
    state: State
    journal: "deque[Entry]"

    def __init__(self, *contracts: Contract, keep: int | None = KEPT, ledger: Ledger | None = None) -> None:
        if not contracts or not all(isinstance(contract, Contract) for contract in contracts):
            raise fault("session", "a session is held to a contract", help="Session(Contract(…)), or duly.load(path)")
        self.contract = merge(contracts)
        self.state = self.contract.start
        self.journal = deque(maxlen=keep)
        self.ledger = ledger
        self._lock = Lock()

    def send(self, label: str, payload: Any = None) -> Verdict:
        """``!label``: the agent calls (a declared tool) or says something."""
        contract = self.contract
        try:
            if payload is not None:
                payload = plain(payload)
            event = Called(label, payload) if label in contract.tool_names else Sent(label, payload)
        except (Malformed, TypeError) as error:
            return self._refuse(Sent(str(label)), str(error))
        if contract.outer:
            return self._decided(event, False)
        lock = self._lock
        lock.acquire()  # twice as quick as `with`, and this is the hottest path there is
        try:
            verdict, self.state = judge(contract, self.state, event, False)
            self.journal.append(Entry(event, verdict))
        finally:
            lock.release()
        return verdict

    def receive(self, label: str | None, payload: Any = None) -> Verdict:
        """``?label``: a call answered (a declared tool) or a message; None is a message that nobody could name."""
        contract = self.contract
        try:
            if payload is not None:
                payload = plain(payload)
            event: Event = Returned(label, payload) if label in contract.tool_names else Received(label, payload)
        except (Malformed, TypeError) as error:
            return self._refuse(Received(str(label)), str(error))
        if contract.outer:
            return self._decided(event, False)
        lock = self._lock
        lock.acquire()  # twice as quick as `with`, and this is the hottest path there is
        try:
            if type(event) is Returned:
                event = self._looked_up(event)
            verdict, self.state = judge(contract, self.state, event, False)
            self.journal.append(Entry(event, verdict))
        finally:
            lock.release()
        return verdict

    def step(self, event: Event) -> Verdict:
        """Decides an event and moves. Never raises for an event, however odd it is."""
        try:
            event = admit(event)
        except Malformed as error:
            return self._refuse(event, str(error))
        return self._decided(event, False)

    def observe(self, event: Event) -> Verdict:
        """The verdict on an event that happens all the same (shadow, recorded runs); the state takes in what ran."""
        try:
            event = admit(event)
        except Malformed as error:
            return self._refuse(event, str(error))
        return self._decided(event, True)

    def _decided(self, event: Event, happened: bool) -> Verdict:
        kind = type(event)
        lock = self._lock
        lock.acquire()
        try:
            if (kind is Called and event.key is not None) or (  # type: ignore[union-attr]
                kind is Returned and event.id not in self.state.open  # type: ignore[union-attr,operator]
            ):
                event = self._looked_up(event)
            if self.contract.outer:
                verdict, self.state, used = over(judge, self.ledger, self.contract, self.state, event, happened)
                self.journal.append(Entry(event, verdict, "shadow" if happened else "enforce", used))
                return verdict
            verdict, self.state = judge(self.contract, self.state, event, happened)
            self.journal.append(Entry(event, verdict, "shadow") if happened else Entry(event, verdict))
        finally:
            lock.release()
        return verdict

    def note(self, event: Event, verdict: Verdict) -> None:
        """Keeps what a gate said of an event that no decision was made on."""
        with self._lock:
            self.journal.append(Entry(event, verdict))

    def number(self) -> str:
        """A call number that no open call has; each is given once."""
        with self._lock:
            serial = self.state.serial + 1
            while f"#{serial}" in self.state.open or f"#{serial}" in self.state.more.parked:
                serial += 1
            self.state = replace(self.state, serial=serial)
            return f"#{serial}"

    def peek(self, event: Event) -> Verdict:
        """The verdict that ``step`` would give, and nothing moves or is recorded."""
        try:
            event = admit(event)
        except Malformed as error:
            return Unrecognized((malformed(str(error)),), show=self.contract.terms.show)
        with self._lock:
            return judge(self.contract, self.state, self._looked_up(event), False, self._ledgers())[0]

    def _ledgers(self) -> Any:
        return None if self.ledger is None else self.ledger.readings(self.contract.ledgers.values())

    def _view(self) -> State:
        """The state with all that its rules can be asked with."""
        return supplied(self.contract, self.state, self._ledgers()) if self.contract.outer else self.state

    def peek_send(self, label: str, payload: Any = None) -> Verdict:
        """The verdict that ``send`` would give."""
        contract = self.contract
        if type(label) is not str or label in contract.tool_names:
            return self.peek(Called(label, payload))
        try:
            event = Sent(label) if payload is None else Sent(label, plain(payload))
        except Malformed as error:
            return Unrecognized((malformed(str(error)),), show=self.contract.terms.show)
        lock = self._lock
        lock.acquire()  # as in `send`
        try:
            return judge(contract, self.state, event, False, self._ledgers() if contract.outer else None)[0]
        finally:
            lock.release()

    def peek_receive(self, label: str | None, payload: Any = None) -> Verdict:
        """The verdict that ``receive`` would give."""
        return self.peek((Returned if label in self.contract.tool_names else Received)(label, payload))  # type: ignore[arg-type]

    def require(self, event: Event) -> Allowed:
        """Steps, and raises ``duly.Refused`` with the verdict unless the event is allowed."""
        verdict = self.step(event)
        if not isinstance(verdict, Allowed):
            raise Refused(verdict)
        return verdict

    def legal(self) -> tuple[Legal, ...]:
        """The acts that are not refused for every payload, with their conditions."""
        return legal(self.contract, self._view())

    def repair(self, label: str) -> Repair | None:
        """What would make an act of this name legal; None where the contract does not know it."""
        from .repair import repair

        plan = self.contract.acts.get(label)
        return repair(self.contract, self._view(), plan) if plan is not None else None

    def owed(self) -> tuple[Reason, ...]:
        """What would be found if the session ended now."""
        return tuple(owed(self.contract, self.state))

    def status(self, rule: str) -> str:
        """How a rule or protocol stands: ``satisfied``, ``violated`` (found in this run) or ``open`` (more is owed).

        Raises DulyError for an id that the contract does not have.
        """
        lines = {line.id: line for line in self.contract.lines}
        if rule not in self.contract.rules and rule not in lines:
            known = [*self.contract.rules, *lines]
            raise fault("rule", f"unknown rule `{rule}`", help=suggest(rule, known) or f"rules are {', '.join(known)}")
        state = self.state
        if rule in state.more.found:
            return "violated"
        if rule in lines:
            return "satisfied" if ended(lines[rule], state.cursors) else "open"
        return "open" if any(reason.rule == rule for reason in self.owed()) else "satisfied"

    @property
    def is_terminal(self) -> bool:
        """Whether the run may end here: every protocol has ended, no call is open, no result waits."""
        state = self.state
        return (
            not state.open
            and not state.more.waiting
            and all(ended(line, state.cursors) for line in self.contract.lines)
        )

    @property
    def is_halted(self) -> bool:
        over = self.state.more.over
        return over is not None and over.startswith("halted")

    @property
    def current_state(self) -> Any:
        """The name (or number) of the protocol's state; a tuple where there are several cursors, None without any."""
        graphs = self.contract.terms.protocols
        found = tuple(
            graph.names.get(self.state.cursors[slot], self.state.cursors[slot])
            for line, graph in zip(self.contract.lines, graphs, strict=True)
            for slot in line.slots
            if self.state.cursors[slot] >= 0
        )
        return found[0] if len(found) == 1 else found or None

    @property
    def registers(self) -> dict[str, Any]:
        """A copy of what is bound."""
        return {name: plain(value) for name, value in self.state.registers.items() if value is not UNSET}

    @property
    def trace(self) -> list[str]:
        """What was stepped, as labels, refused and unrecognized events included: ``["!Ask", "?Yes"]``."""
        return [sign(entry.event) if entry.event is not None else "reset" for entry in self.journal]

    def close(self) -> Verdict:
        """Ends the session; what is owed is found."""
        return self.step(Closed())

    def reset(self) -> None:
        """Begins anew. The record stays, with a mark."""
        with self._lock:
            self.state = self.contract.start
            self.journal.append(Entry(None, None))

    def to_dict(self) -> dict[str, Any]:
        """A snapshot as a plain JSON object; its size depends on the state and not on the history."""
        from .snapshot import save

        with self._lock:
            return save(self.contract, self.state)

    @classmethod
    def from_dict(
        cls, contract: Contract, data: dict[str, Any], *, keep: int | None = KEPT, ledger: Ledger | None = None
    ) -> "Session":
        """The session that a snapshot holds; raises DulyError where it is damaged or belongs to another contract."""
        from .snapshot import restore

        session = cls(contract, keep=keep, ledger=ledger)
        session.state = restore(session.contract, data)
        return session

    def _refuse(self, event: Any, message: str) -> Verdict:
        verdict = Unrecognized((malformed(message),), show=self.contract.terms.show)
        kind = type(event)
        if kind in DOORS:
            # what is no plain value is not kept
            event = replace(event, **{name: {} if name in ("usage", "tools") else None for name in DOORS[kind][3]})
            with self._lock:
                self.journal.append(Entry(event, verdict))
        return verdict

    def _looked_up(self, event: Event) -> Event:
        if isinstance(event, Called | Returned):
            return looked_up(self.contract, self.state, self.journal, event)
        return event

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {
                "contract": self.contract, "state": self.state, "journal": list(self.journal),
                "keep": self.journal.maxlen,
            }  # fmt: skip

    def __setstate__(self, data: dict[str, Any]) -> None:
        self.contract = data["contract"]
        state: State = data["state"]
        # what is nothing is known by being one shared value, which a pickle does not keep
        self.state = replace(state, more=NOTHING) if state.more == NOTHING else state
        self.journal = deque(data["journal"], maxlen=data["keep"])
        # a pickle goes elsewhere, where the ledger is not
        self.ledger = None
        self._lock = Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Session":
        # the contract and the state are values, so a copy shares them
        fresh = type(self).__new__(type(self))
        fresh.__setstate__(self.__getstate__())
        fresh.ledger = self.ledger
        return fresh

    __copy__ = lambda self: self.__deepcopy__({})  # noqa: E731

    def __repr__(self) -> str:
        return f"Session({self.contract.name or 'unnamed'!r}, state={self.current_state!r})"
