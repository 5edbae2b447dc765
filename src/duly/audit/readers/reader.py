"""What a reader is, and what all readers share: naming runs, and handing events on while a long file is read."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from duly.values.event import Event

from ..document import Document, Record
from ..trajectory import Recorder, Trajectory


class Reader(Protocol):
    """One recorded format.

    ``fits`` looks at the first records of a document and says whether this is the format; names of files say
    nothing. ``read`` yields the runs. What cannot be read becomes a problem of its run; only a file
    without any run raises DulyError.
    """

    name: str
    about: str

    def fits(self, document: Document) -> bool: ...

    def read(self, document: Document) -> Iterator[Trajectory]: ...


def begin(document: Document, run: str, *, line: int = 1, **facts: Any) -> tuple[Trajectory, Recorder]:
    trajectory = Trajectory(file=str(document.path), run=run, **facts)
    return trajectory, Recorder(trajectory, line=line)


def lost(document: Document, record: Record, run: str, format: str) -> Trajectory:
    """The run of which only the place is known."""
    trajectory = Trajectory(file=str(document.path), run=run, format=format)
    if record.problem is not None:
        trajectory.problems.append(record.problem)
    return trajectory


def follow(document: Document, recorder: Recorder, hear: Callable[[Recorder, Any], None]) -> None:
    """Writes down a run whose records are those of the document; a long one is handed on while it is read."""
    hand_on(document, recorder, (event for record in document.records() for event in listen(recorder, record, hear)))


def hand_on(document: Document, recorder: Recorder, flow: Iterator[Event]) -> None:
    """Gives a run its events: those of a long document while it is read."""
    recorder.trajectory.events = flow if document.long else list(flow)


def listen(recorder: Recorder, record: Record, hear: Callable[[Recorder, Any], None]) -> list[Event]:
    """The events of one record, as ``hear`` writes them down."""
    recorder.line = record.line
    if record.problem is not None:
        recorder.problem(record.problem.kind, record.problem.message)
    else:
        hear(recorder, record.value)
    return recorder.take()


def first_text(value: dict[str, Any], *keys: str) -> str | None:
    """The first of the keys that holds a name: text, or a number as text."""
    for key in keys:
        found = value.get(key)
        if type(found) is str and found:
            return found
        if type(found) is int:
            return str(found)
    return None
