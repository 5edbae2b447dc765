"""tau2 ``Results``: ``simulations`` of tasks, each with messages, trial, reward and the reason why it ended."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from ..document import Document
from ..trajectory import Problem, Recorder, Trajectory
from .message import hear
from .reader import begin, first_text, lost

SIGNALS: Final = ("###TRANSFER###", "###OUT-OF-SCOPE###")
"""Marks by which the simulated user ends a run, besides the one that all readers know; they are no speech."""


class Tau2:
    name = "tau2"
    about = "tau2 results: `simulations` with `messages` and `reward_info`, or one simulation a line"

    def fits(self, document: Document) -> bool:
        return any(_simulations(value) is not None or _is_simulation(value) for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        number = 0
        for record in document.records():
            found = _simulations(record.value)
            for simulation in [record.value] if found is None else found:
                number += 1
                run = f"{document.stem}/{number}"
                if record.problem is None and _is_simulation(simulation):
                    yield _run(document, simulation, run, record.line)
                    continue
                trajectory = lost(document, record, run, self.name)
                if record.problem is None:
                    trajectory.problems.append(Problem("malformed", "a simulation without messages", record.line))
                    if type(simulation) is dict:
                        _facts(trajectory, simulation)
                yield trajectory


def _run(document: Document, simulation: dict[str, Any], run: str, line: int) -> Trajectory:
    trajectory, recorder = begin(document, run, line=line, format=Tau2.name)
    _facts(trajectory, simulation)
    start = _instant(simulation.get("start_time"))
    at: float | None = None
    for message in _flat(simulation["messages"]):
        if start is not None and type(message) is dict:
            at = _since(start, message.get("timestamp"), at)
        _tell(recorder, message, at)
    trajectory.events = recorder.take()
    return trajectory


def _tell(recorder: Recorder, message: Any, at: float | None) -> None:
    if type(message) is not dict:
        hear(recorder, message)
        return
    if message.get("requestor") == "user" and message.get("role") == "tool":
        # the user's own device: the agent neither asked for it nor saw what came back
        recorder.leave_out("result of the user's own tool call")
        return
    if message.get("role") == "user":
        content, calls = message.get("content"), message.get("tool_calls")
        if type(calls) is list and calls:
            for _ in calls:
                recorder.leave_out("the user's own tool call")
            if not content:
                return
        for signal in SIGNALS:
            if type(content) is str and signal in content:
                content = content.replace(signal, "")
                recorder.trajectory.ended = True
        message = {"role": "user", "content": content}
    hear(recorder, message, at)


def _flat(messages: list[Any]) -> Iterator[Any]:
    """The messages, with several results in one message taken apart."""
    for message in messages:
        several = message.get("tool_messages") if type(message) is dict else None
        if type(several) is list:
            yield from several
        else:
            yield message


def _facts(trajectory: Trajectory, simulation: dict[str, Any]) -> None:
    trajectory.task = first_text(simulation, "task_id")
    trajectory.trial = first_text(simulation, "trial")
    trajectory.run = f"{trajectory.task}/{trajectory.trial or 0}"
    reward = simulation.get("reward_info")
    if type(reward) is dict:
        trajectory.rewarded(reward.get("reward"))
    trajectory.ended = type(simulation.get("termination_reason")) is str


def _simulations(value: Any) -> list[Any] | None:
    if type(value) is not dict or type(value.get("simulations")) is not list:
        return None
    found: list[Any] = value["simulations"]
    return found if any(_is_simulation(item) for item in found) or ("info" in value and "tasks" in value) else None


def _is_simulation(value: Any) -> bool:
    if type(value) is not dict or "task_id" not in value or type(value.get("messages")) is not list:
        return False
    return "reward_info" in value or "termination_reason" in value


def _instant(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if type(text) is str else None
    except ValueError:
        return None


def _since(start: datetime, text: Any, before: float | None) -> float | None:
    """Seconds since the start, never less than before; the zone is that of the file, which names none."""
    now = _instant(text)
    if now is None or (now.tzinfo is None) != (start.tzinfo is None):
        return before
    return max(before or 0.0, round((now - start).total_seconds(), 6))
