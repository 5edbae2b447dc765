"""duly's own trace: one event a line, as in ``{"event": "called", "label": "refund", …}``."""

from collections.abc import Iterator
from typing import Any

import msgspec

from duly.values.event import KINDS, Closed, Event
from duly.values.plain import Malformed, plain

from ..document import Document
from ..trajectory import Recorder, Trajectory
from .reader import begin, follow


class Native:
    name = "duly"
    about = "duly's own trace: one event a line"

    def fits(self, document: Document) -> bool:
        return any(_is_event(value) for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        trajectory, recorder = begin(document, document.stem, format=self.name)
        follow(document, recorder, _hear)
        yield trajectory


def _is_event(value: Any) -> bool:
    return type(value) is dict and type(value.get("event")) is str and value["event"] in KINDS


def _hear(recorder: Recorder, value: Any) -> None:
    if not _is_event(value):
        kind = value.get("event") if type(value) is dict else None
        word = f"an unknown event `{kind[:40]}`" if type(kind) is str else "a record that is not an event"
        recorder.problem("malformed", word)
        return
    try:
        event: Event = msgspec.convert(plain(value), KINDS[value["event"]])
    except (msgspec.ValidationError, Malformed) as error:
        recorder.problem("malformed", f"not an event: {str(error)[:200].lower()}")
        return
    if type(event) is Closed:
        recorder.trajectory.ended = True
    recorder.add(event)
