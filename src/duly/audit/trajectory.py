"""A recorded run as events that nobody has named yet, and the recorder with which readers write it down."""

from array import array
from collections.abc import Iterable
from typing import Any, Final, Literal

from msgspec import Struct, field

from duly.values.errors import Diagnostic
from duly.values.event import Called, Event, Received, Returned, Sent
from duly.values.plain import Malformed, plain, read_json, write_json

STOP: Final = "###STOP###"
"""What the simulated users of the tau benchmarks say when they have finished; it is no speech."""

REMEMBERED: Final = 10_000
"""Answered calls whose outer ids are remembered, so that a run of any length takes bounded memory."""


class Problem(Struct, frozen=True):
    """A record that could not be read, or that speaks of one that is missing: the run is incomplete.

    ``index`` counts the events of the run before it: what is found later may rest on what is absent here.
    """

    kind: str
    message: str
    line: int | None = None
    index: int = 0

    def diagnostic(self, file: str) -> Diagnostic:
        path = file if self.line is None else f"{file}:{self.line}"
        return Diagnostic(code=self.kind, message=self.message, path=path)


class Trajectory(Struct):
    """One run.

    ``events`` is a list, or, for a long run that is read line by line, an iterator that can be gone through once;
    ``problems``, ``ended`` and ``left_out`` are complete when all events have been taken. ``ended`` says that the
    record shows the run's end. ``left_out`` counts by kind what is recorded and is neither an act nor known to the
    agent.
    ``tells_errors`` is false where the format cannot say that a call failed. ``lines`` holds the line of the file on
    which each event's record begins.
    """

    file: str
    run: str
    task: str | None = None
    trial: str | None = None
    outcome: Literal["pass", "fail"] | None = None
    reward: float | None = None
    events: Iterable[Event] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ended: bool = False
    format: str = ""
    tells_errors: bool = True
    left_out: dict[str, int] = field(default_factory=dict)
    lines: "array[int]" = field(default_factory=lambda: array("Q"))

    def rewarded(self, reward: Any) -> None:
        """Takes a reward from 0 to 1; the run passed when it is 1."""
        try:
            self.reward = float(reward)
        except (TypeError, ValueError, OverflowError):
            return
        # rewards are products of floats in some benchmarks; their own scorers allow this much
        self.outcome = "pass" if self.reward >= 1 - 1e-6 else "fail"


class Recorder:
    """Writes a run down: numbers the calls, and finds the call that a result belongs to.

    Outer ids repeat within recorded runs, so a result belongs to the nearest earlier call with its id that has no
    result yet. Without an id it belongs to the first call that waits (of its name, if it has one); with an id that no
    call had, to the first waiting call of its name.
    """

    __slots__ = ("_answered", "_batches", "_calls", "_events", "_open", "_outer", "line", "trajectory")

    def __init__(self, trajectory: Trajectory, *, line: int = 1) -> None:
        self.trajectory = trajectory
        self.line = line
        self._events: list[Event] = []
        self._calls = 0
        self._batches = 0
        self._open: dict[str, tuple[str | None, str]] = {}
        self._outer: dict[str, list[str]] = {}
        self._answered: dict[str, tuple[str, str]] = {}

    def take(self) -> list[Event]:
        """The events since the last taking."""
        taken, self._events = self._events, []
        return taken

    def add(self, event: Event) -> None:
        """An event of the record on the current line."""
        self._events.append(event)
        self.trajectory.lines.append(self.line)

    def heard(self, text: str, *, at: float | None = None) -> None:
        """A person spoke."""
        if STOP in text:
            text = text.replace(STOP, "")
            self.trajectory.ended = True
        self.add(Received(None, {"text": text.strip()}, at=at))

    def said(self, text: str, *, at: float | None = None) -> None:
        """The agent spoke; white space alone is no message."""
        if text and not text.isspace():
            self.add(Sent(None, {"text": text}, at=at))

    def batch(self) -> str:
        """A name for the calls of one message."""
        self._batches += 1
        return f"b{self._batches}"

    def called(
        self, name: str, arguments: Any, *, id: str | None = None, batch: str | None = None, at: float | None = None
    ) -> None:
        """The agent called a tool. ``arguments`` is an object, or the text of one; what is neither stays undecoded."""
        self._calls += 1
        number = f"c{self._calls}"
        self._open[number] = (id, name)
        if id is not None:
            self._outer.setdefault(id, []).append(number)
        payload, raw = _arguments(arguments)
        self.add(Called(name, payload, id=number, at=at, batch=batch, raw=raw))

    def returned(
        self,
        payload: Any,
        *,
        id: str | None = None,
        name: str | None = None,
        error: bool = False,
        at: float | None = None,
    ) -> None:
        """A call answered; ``error`` is the transport's own word that it failed."""
        number, label = self._match(id, name)
        if label is None:
            shown = f" `{id[:80]}`" if id else ""
            self.problem("missing", f"a result{shown} belongs to a call that is not recorded")
            return
        if type(payload) is not str:
            try:
                payload = plain(payload)
            except Malformed as error_:
                self.problem("malformed", f"the result of `{label[:80]}` cannot be read: {error_}")
                payload = None
        self.add(Returned(label, payload, number, "error" if error else None, at))

    def knows(self, id: str) -> bool:
        """Whether a call had this outer id."""
        return id in self._outer or id in self._answered

    def problem(self, kind: str, message: str) -> None:
        """Something on the current line that cannot be read, or that shows that something is missing."""
        trajectory = self.trajectory
        trajectory.problems.append(Problem(kind, message, self.line, len(trajectory.lines)))

    def leave_out(self, kind: str) -> None:
        counts = self.trajectory.left_out
        counts[kind] = counts.get(kind, 0) + 1

    def _match(self, id: str | None, name: str | None) -> tuple[str | None, str | None]:
        if id is not None:
            waiting = self._outer.get(id)
            if waiting:
                return self._answer(waiting[-1])
            if id in self._answered:
                return self._answered[id]
        for number, (outer, label) in self._open.items():
            if name == label or (name is None and (outer is None or id is None)):
                return self._answer(number)
        return None, name

    def _answer(self, number: str) -> tuple[str, str]:
        outer, label = self._open.pop(number)
        if outer is not None:
            same = self._outer[outer]
            same.remove(number)
            if not same:
                del self._outer[outer]
            self._answered.pop(outer, None)
            self._answered[outer] = (number, label)
            if len(self._answered) > REMEMBERED:
                del self._answered[next(iter(self._answered))]
        return number, label


def _arguments(value: Any) -> tuple[Any, str | None]:
    """(payload, None) for one JSON object, (None, text) for all else."""
    if type(value) is str:
        try:
            read = read_json(value)
        except Malformed:
            return None, value
        return (read, None) if type(read) is dict else (None, value)
    if type(value) is dict:
        try:
            return plain(value), None
        except Malformed:
            pass
    if value is None:
        return None, ""
    try:
        return None, write_json(value)
    except (RecursionError, ValueError):
        # too deep to be written down again; whatever stands here, it is not one JSON object
        return None, "nested too deeply"
