"""duly's own trace: one event a line, as in ``{"event": "called", "label": "refund", …}``."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from duly.values.event import KINDS, Closed, Event
from duly.values.paper import event_of
from duly.values.plain import Malformed, plain

from ..block import events_of
from ..document import Batch, Document
from ..trajectory import Recorder, Trajectory
from .reader import begin, hand_on, listen


class Native:
    name = "duly"
    about = "duly's own trace: one event a line"

    def fits(self, document: Document) -> bool:
        return any(type(value) is dict and _is_kind(value.get("event")) for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        trajectory, recorder = begin(document, document.stem, format=self.name)
        hand_on(document, recorder, chain.from_iterable(_flow(document, recorder)))
        yield trajectory


def _flow(document: Document, recorder: Recorder) -> Iterator[list[Event]]:
    trajectory = recorder.trajectory
    for part in document.batches(events_of):
        if isinstance(part, Batch):
            trajectory.lines.extend(range(part.line, part.line + len(part.values)))
            trajectory.ended = trajectory.ended or Closed in set(map(type, part.values))
            yield part.values
        else:
            yield listen(recorder, part, _hear)


def _is_kind(value: Any) -> bool:
    return type(value) is str and value in KINDS


def _hear(recorder: Recorder, value: Any) -> None:
    try:
        if type(value) is dict:
            for key, item in value.items():
                if type(item) is dict or type(item) is list:
                    value[key] = plain(item)
        event = event_of(value)
    except Malformed as error:
        recorder.problem("malformed", str(error))
        return
    if type(event) is Closed:
        recorder.trajectory.ended = True
    recorder.add(event)
