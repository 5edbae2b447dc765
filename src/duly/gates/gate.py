"""The gate: what stands between a decision and the world.

It reads the clock, asks the guards outside the contract, and only here are enforce and shadow told apart.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from time import monotonic, time
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct, structs

from duly.journal.journal import Journal
from duly.machine.contract import Contract
from duly.session.refuse import malformed
from duly.session.session import Session
from duly.values.errors import Refused, fault
from duly.values.event import Called, Closed, Event, Failed, Received, Returned, Sent
from duly.values.plain import own
from duly.values.verdict import Allowed, Refusal, Unrecognized, Verdict

from .action import Action, act
from .asking import Asking, Job, room, surely, until
from .decider import Decider, Deciders
from .labels import Classifier
from .outside import Outside, answered, checked, named
from .stored import Effect, Mode, StoredSession, Taken

T = TypeVar("T")


class Pass(Struct, frozen=True):
    """A call that may run: its number, what is to run, and what was said of it (in shadow perhaps a refusal)."""

    id: str
    label: str
    payload: dict[str, Any]
    verdict: Verdict
    recorded: Any = None
    replayed: bool = False


class Gate:
    """Holds one session's calls to its contract.

    In ``enforce`` a refused act raises ``duly.Refused`` and does not run; in ``shadow`` it runs, and the record says
    what enforce would have said. The mode is the one given here, else the contract's; an order of a
    person goes before both.
    ``clock`` gives seconds that never fall, ``wall`` seconds since 1970, which only calendar limits ask for.
    ``guards``, and those that the contract names, are asked before a call is decided; with None nobody is asked, and
    calls that the contract's guards are about are refused. ``actions`` are called with each event and its verdict after
    both are recorded, and what they raise is recorded and changes nothing.
    ``deciders`` are asked about calls that wait, by the names that the contract's approvals have under ``by``; what
    they leave open still waits for people.

    The methods that begin with ``a`` do the same for coroutines, and no loop stands still for a lock or a store.
    """

    def __init__(
        self,
        session: Session,
        *,
        mode: Mode | None = None,
        clock: Callable[[], float] = monotonic,
        wall: Callable[[], float] = time,
        guards: Iterable[Outside] | None = (),
        actions: Iterable[Action] = (),
        deciders: Mapping[str, Decider] | None = None,
    ) -> None:
        if mode not in (None, "enforce", "shadow"):
            raise fault("gate", f"unknown mode `{mode}`", help="a mode is `enforce` or `shadow`")
        self.session = session
        self._mode: Mode | None = mode
        self._clock = clock
        self._wall = wall
        self._zero = clock() - session.state.at
        self._classifier: Classifier | None = None
        self._guards = () if guards is None else checked((*named(session.contract), *guards), session.contract)
        self._actions = tuple(actions)
        self._deciders = Deciders(deciders, session.contract) if deciders else None
        if not isinstance(session, StoredSession):
            _GATES.setdefault(session, self)
        elif session.gate is None:
            session.gate = self

    @classmethod
    def open(
        cls,
        contract: Contract,
        journal: Journal,
        session: str,
        *,
        mode: Mode | None = None,
        clock: Callable[[], float] = monotonic,
        wall: Callable[[], float] = time,
        wait: float = 10.0,
        every: int = 200,
        guards: Iterable[Outside] | None = (),
        actions: Iterable[Action] = (),
        deciders: Mapping[str, Decider] | None = None,
    ) -> "Gate":
        """The gate of a session that a journal keeps: begun where the journal does not know it, else gone on with.

        Any number of threads and processes may open one session at once. ``wait`` bounds in seconds how long a
        decision waits for others; after that it is refused. A snapshot is kept after every ``every`` records. Calls of
        processes that have ended are uncertain from now on. Raises JournalError where the journal cannot be used, and
        DulyError where the session is held to another contract.
        """
        if mode not in (None, "enforce", "shadow"):
            raise fault("gate", f"unknown mode `{mode}`", help="a mode is `enforce` or `shadow`")
        stored = StoredSession(contract, journal, session, mode=mode, clock=clock, wall=wall, wait=wait, every=every)
        return cls(
            stored, mode=mode, clock=clock, wall=wall, guards=guards, actions=actions, deciders=deciders
        )

    @classmethod
    def of(cls, session: Session) -> "Gate":
        """The gate of a session; one is made where it has none."""
        known: Gate | None = session.gate if isinstance(session, StoredSession) else _GATES.get(session)
        return known if known is not None else cls(session)

    @property
    def mode(self) -> Mode:
        ordered = self.session.state.more.mode
        if ordered in ("enforce", "shadow"):
            return ordered  # type: ignore[return-value]
        return self._mode or self.session.contract.terms.mode

    def step(self, event: Event) -> Verdict:
        """Decides an event that has no time yet; in shadow, as one that happens whatever the verdict."""
        return self._take([event])[0].verdict

    def begin(
        self, label: str, payload: dict[str, Any] | None, *, key: str | None = None, id: str | None = None,
        context: Any = None,
    ) -> Pass:  # fmt: skip
        """Asks for a call before it runs; raises ``duly.Refused``. What is begun must be settled or failed.

        ``payload`` None stands for arguments that are no plain values, which only shadow lets by. ``id`` is the
        caller's own number of the request: asked again under it, it is the same one. ``context`` is a plain value that
        is shown to whoever decides on the call and kept for the record.
        """
        return _passed(self._take([self._call(label, payload, key, id, _BATCH.get(), context)])[0])

    def begin_all(self, calls: Sequence[tuple[str, dict[str, Any]]], *, batch: str) -> list[Pass | Refused]:
        """Asks for the calls of one list in its order, before any of them runs; each is a Pass, or why it is refused.

        All are recorded together. None of them permits another.
        """
        asked: list[Event] = [self._call(label, payload, None, None, batch) for label, payload in calls]
        answers: list[Pass | Refused] = []
        for taken in self._take(asked, listed=True):
            try:
                answers.append(_passed(taken))
            except Refused as refused:
                answers.append(refused)
        return answers

    def judged(self, label: str, read: Callable[[], Any]) -> Any:
        """What ``read`` gives as the arguments of a call, which are plain values.

        Otherwise it raises ``duly.Refused``; in shadow, where the call runs all the same, it gives None.
        """
        try:
            return read()
        except Exception as error:
            return self._unjudged(label, error)

    def _unjudged(self, label: str, error: Exception) -> None:
        if self.mode != "shadow":
            verdict = Unrecognized((malformed(f"`{label}`: {error}"),), show=self.session.contract.terms.show)
            self.session.note(Called(label), verdict)
            raise Refused(verdict) from error

    def settle(self, call: Pass, result: Any, *, outcome: str | None = None) -> Verdict:
        """The call has returned."""
        return self.step(Returned(call.label, result, id=call.id, outcome=outcome))

    def fail(self, call: Pass, effect: Effect, error: str) -> Verdict:
        """The call broke off, with or without a possible effect."""
        return self.step(Failed(call.id, effect, error))

    def receive(self, label: str | None, payload: Any = None) -> Verdict:
        """A message that has its name already; None is one that nobody could name."""
        return self.step(Received(label, payload))

    def hear(self, text: str) -> Verdict:
        """What a person said: named by the contract's labels, then received. Call it only where the text comes in."""
        return self.receive(self._labels().classify(text), {"text": text})

    def say(self, text: str) -> Verdict:
        """What the agent says, named by the labels that are declared ``from: agent``."""
        label = self._labels().classify(text, source="agent")
        taken = self._take([Sent(label, {"text": text})])[0]
        if isinstance(taken.verdict, Refusal) and not taken.happened:
            raise Refused(taken.verdict)
        return taken.verdict

    def close(self) -> Verdict:
        """Ends the session; what is owed is found."""
        verdict = self.step(Closed())
        self.leave()
        return verdict

    def leave(self) -> None:
        """Ends the use of the gate and not the session, which can be opened again; raises JournalError."""
        if isinstance(self.session, StoredSession):
            self.session.leave()

    async def abegin(
        self, label: str, payload: dict[str, Any] | None, *, key: str | None = None, id: str | None = None,
        context: Any = None,
    ) -> Pass:  # fmt: skip
        """``begin``; who is cancelled while it waits has not asked, who is cancelled later has not begun."""
        event = self._call(label, payload, key, id, _BATCH.get(), context)
        if self._quick:
            return _passed(self._take([event])[0])
        asking, passes = Asking(), list[Pass]()

        def ask() -> Pass | None:
            taken = self._take([event], asking=asking)
            if not taken:
                return None
            call = _passed(taken[0])
            passes.append(call)
            if not asking.answer():
                self._unbegun(call)
            return call

        from anyio import get_cancelled_exc_class, to_thread

        job = Job(ask)
        try:
            call = await to_thread.run_sync(job.run, limiter=room(), abandon_on_cancel=True)
        except get_cancelled_exc_class():
            fate = asking.give_up()
            if fate == "asked":
                await until(job.done)
            elif fate == "answered" and passes:
                await surely(partial(self._unbegun, passes[0]))
            raise
        assert call is not None, "only a question that was given up has no answer"
        return call

    def _unbegun(self, call: Pass) -> None:
        if not call.replayed:
            self.fail(call, "none", "given up before it began")

    async def abegin_all(self, calls: Sequence[tuple[str, dict[str, Any]]], *, batch: str) -> list[Pass | Refused]:
        """``begin_all``; who is cancelled is held until the calls are given back."""
        work = partial(self.begin_all, calls, batch=batch)
        if self._quick:
            return work()
        from anyio import get_cancelled_exc_class

        answers: list[Pass | Refused] = []
        try:
            await surely(lambda: answers.extend(work()))
        except get_cancelled_exc_class():
            for call in answers:
                if isinstance(call, Pass):
                    await surely(partial(self._unbegun, call))
            raise
        return answers

    async def ajudged(self, label: str, read: Callable[[], Any]) -> Any:
        """``judged``; what reads the arguments runs here, what records a refusal does not."""
        try:
            return read()
        except Exception as error:
            return await self._surely(partial(self._unjudged, label, error))

    async def asettle(self, call: Pass, result: Any, *, outcome: str | None = None) -> Verdict:
        """``settle``; it is done even where the caller is cancelled."""
        return await self._surely(partial(self.settle, call, result, outcome=outcome))

    async def afail(self, call: Pass, effect: Effect, error: str) -> Verdict:
        """``fail``; it is done even where the caller is cancelled."""
        return await self._surely(partial(self.fail, call, effect, error))

    async def astep(self, event: Event) -> Verdict:
        return await self._surely(partial(self.step, event))

    async def areceive(self, label: str | None, payload: Any = None) -> Verdict:
        return await self._surely(partial(self.receive, label, payload))

    async def ahear(self, text: str) -> Verdict:
        return await self._surely(partial(self.hear, text))

    async def asay(self, text: str) -> Verdict:
        return await self._surely(partial(self.say, text))

    async def aclose(self) -> Verdict:
        return await self._surely(self.close)

    @property
    def _quick(self) -> bool:
        """Whether deciding takes microseconds and waits for nothing but other such decisions."""
        slow = self._guards or self._actions or self._deciders is not None
        return not slow and not isinstance(self.session, StoredSession)

    async def _surely(self, work: Callable[[], T]) -> T:
        return work() if self._quick else await surely(work)

    def _call(
        self, label: str, payload: Any, key: str | None, id: str | None, batch: str | None, context: Any = None
    ) -> Called:
        inside = _INSIDE.get()
        parent = inside[1] if inside is not None and inside[0] is self else None
        asked: Any = payload if payload is not None else ["no plain values"]
        return Called(label, asked, id=id, key=key, parent=parent, batch=batch, context=context)

    def _take(self, events: Sequence[Event], *, listed: bool = False, asking: Asking | None = None) -> list[Taken]:
        """Decides, and asks the deciders of what waits; what they have let by is asked for again."""
        taken = self._once(events, listed=listed, asking=asking)
        if self._deciders is None or not taken:
            return taken
        return [
            self._deciders.consulted(self.session, event, one, self._once, asking)
            for event, one in zip(events, taken, strict=True)
        ]

    def _once(self, events: Sequence[Event], *, listed: bool = False, asking: Asking | None = None) -> list[Taken]:
        """Asks the guards, decides and records, and only then acts on it."""
        if self._guards:
            events = [self._guarded(event) if type(event) is Called else event for event in events]
        session = self.session
        if isinstance(session, StoredSession):
            taken = session.take(events, listed=listed, asking=asking)
        elif asking is None or asking.start():
            taken = [self._taken(event) for event in events]
        else:
            taken = []
        if self._actions:
            for one in taken:
                act(self._actions, session, one)
        return taken

    def _taken(self, event: Event) -> Taken:
        session = self.session
        shadow = self.mode == "shadow"
        if event.at is None:
            event = structs.replace(event, at=self._clock() - self._zero)
        if event.wall is None and session.contract.clocked:
            event = structs.replace(event, wall=self._wall())
        if not shadow:
            return Taken(event, session.step(event), False)
        if type(event) is Called and event.id is None:
            event = structs.replace(event, id=session.number())
        return Taken(event, session.observe(event), True)

    def _guarded(self, event: Called) -> Called:
        answers = answered(self._guards, self.session.contract, event)
        return event if answers is None else structs.replace(event, answers=answers)

    def _labels(self) -> Classifier:
        if self._classifier is None:
            self._classifier = Classifier(self.session.contract.terms.labels)
        return self._classifier

    @contextmanager
    def inside(self, call: Pass) -> Iterator[None]:
        """Marks calls that are made while this one runs as made inside it."""
        token = _INSIDE.set((self, call.id))
        try:
            yield
        finally:
            _INSIDE.reset(token)


def _passed(taken: Taken) -> Pass:
    """The pass of a call that may run; raises ``duly.Refused``."""
    event: Any = taken.event
    payload = event.payload if isinstance(event.payload, dict) else {}
    verdict = taken.verdict
    if isinstance(verdict, Allowed):
        ready = verdict.payload if verdict.ready is not None else own(payload)
        return Pass(verdict.id or event.id or "", event.label, ready, verdict, verdict.recorded, verdict.replayed)
    if not taken.happened:
        raise Refused(verdict)
    return Pass(event.id or "", event.label, own(payload), verdict)


@contextmanager
def batch(name: str) -> Iterator[None]:
    """Calls inside were asked for together: none of them permits another, whichever ends first."""
    token = _BATCH.set(name)
    try:
        yield
    finally:
        _BATCH.reset(token)


_GATES: "WeakKeyDictionary[Session, Gate]" = WeakKeyDictionary()
_INSIDE: "ContextVar[tuple[Gate, str] | None]" = ContextVar("duly_inside", default=None)
_BATCH: "ContextVar[str | None]" = ContextVar("duly_batch", default=None)
