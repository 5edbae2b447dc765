"""The gate: what stands between a decision and the world.

It reads the clock, and only here are enforce and shadow told apart.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, Literal
from weakref import WeakKeyDictionary

from msgspec import Struct, structs

from duly.session.refuse import malformed
from duly.session.session import Session
from duly.values.errors import Refused, fault
from duly.values.event import Called, Event, Failed, Received, Returned, Sent
from duly.values.verdict import Allowed, Refusal, Unrecognized, Verdict

from .labels import Classifier

Mode = Literal["enforce", "shadow"]


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
    ``clock`` gives seconds that never fall.
    """

    def __init__(self, session: Session, *, mode: Mode | None = None, clock: Callable[[], float] = monotonic) -> None:
        if mode not in (None, "enforce", "shadow"):
            raise fault("gate", f"unknown mode `{mode}`", help="a mode is `enforce` or `shadow`")
        self.session = session
        self._mode: Mode | None = mode
        self._clock = clock
        self._zero = clock() - session.state.at
        self._classifier: Classifier | None = None
        _GATES.setdefault(session, self)

    @classmethod
    def of(cls, session: Session) -> "Gate":
        """The gate of a session; one is made where it has none."""
        known = _GATES.get(session)
        return known if known is not None else cls(session)

    @property
    def mode(self) -> Mode:
        ordered = self.session.state.more.mode
        if ordered in ("enforce", "shadow"):
            return ordered  # type: ignore[return-value]
        return self._mode or self.session.contract.terms.mode

    def step(self, event: Event) -> Verdict:
        """Decides an event that has no time yet; in shadow, as one that happens whatever the verdict."""
        if event.at is None:
            event = structs.replace(event, at=self._clock() - self._zero)
        return self.session.observe(event) if self.mode == "shadow" else self.session.step(event)

    def begin(
        self, label: str, payload: dict[str, Any] | None, *, key: str | None = None, id: str | None = None
    ) -> Pass:
        """Asks for a call before it runs; raises ``duly.Refused``. What is begun must be settled or failed.

        ``payload`` None stands for arguments that are no plain values, which only shadow lets by.
        """
        inside = _INSIDE.get()
        parent = inside[1] if inside is not None and inside[0] is self else None
        shadow = self.mode == "shadow"
        if shadow and id is None:
            id = self.session.number()
        asked: Any = payload if payload is not None else ["no plain values"]
        verdict = self.step(Called(label, asked, id=id, key=key, parent=parent, batch=_BATCH.get()))
        if isinstance(verdict, Allowed):
            ready = verdict.payload if verdict.payload is not None else payload or {}
            return Pass(verdict.id or id or "", label, ready, verdict, verdict.recorded, verdict.replayed)
        if not shadow:
            raise Refused(verdict)
        return Pass(id or "", label, payload or {}, verdict)

    def judged(self, label: str, read: Callable[[], Any]) -> Any:
        """What ``read`` gives as the arguments of a call, which are plain values.

        Otherwise it raises ``duly.Refused``; in shadow, where the call runs all the same, it gives None.
        """
        try:
            return read()
        except Exception as error:
            if self.mode == "shadow":
                return None
            verdict = Unrecognized((malformed(f"`{label}`: {error}"),))
            self.session.note(Called(label), verdict)
            raise Refused(verdict) from error

    def settle(self, call: Pass, result: Any, *, outcome: str | None = None) -> Verdict:
        """The call has returned."""
        return self.step(Returned(call.label, result, id=call.id, outcome=outcome))

    def fail(self, call: Pass, effect: Literal["none", "unknown"], error: str) -> Verdict:
        """The call broke off, with or without a possible effect."""
        return self.step(Failed(call.id, effect, error))

    def hear(self, text: str) -> Verdict:
        """What a person said: named by the contract's labels, then received. Call it only where the text comes in."""
        label = self._labels().classify(text)
        return self.step(Received(label, {"text": text}))

    def say(self, text: str) -> Verdict:
        """What the agent says, named by the labels that are declared ``from: agent``."""
        label = self._labels().classify(text, source="agent")
        verdict = self.step(Sent(label, {"text": text}))
        if isinstance(verdict, Refusal) and self.mode == "enforce":
            raise Refused(verdict)
        return verdict

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
