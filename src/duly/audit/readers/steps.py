"""Plain step logs: one step a line, with its kind under ``type``: a call, a result, what a person or the agent said."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

from ..document import Document
from ..trajectory import Recorder, Trajectory
from .message import text_of
from .reader import begin, first_text, follow


class Steps:
    name = "steps"
    about = "step logs: `type` is `call`, `result`, `user`, `agent` (or `agent_tool_call`, `tool_result`, `agent_text`)"

    def fits(self, document: Document) -> bool:
        return any(_telling(value) for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        facts = next((v for v in document.head if type(v) is dict and v.get("type") == "meta"), {})
        task, trial = first_text(facts, "task_id"), first_text(facts, "trial")
        run = document.stem if task is None else f"{task}/{trial or 0}"
        trajectory, recorder = begin(document, run, task=task, trial=trial, format=self.name)
        follow(document, recorder, _hear)
        yield trajectory


def _telling(value: Any) -> bool:
    if type(value) is not dict or "message" in value or "role" in value:
        return False
    kind = value.get("type")
    if kind in ("call", "agent_tool_call"):
        return first_text(value, "tool", "name") is not None
    if kind in ("result", "tool_result"):
        return "id" in value or first_text(value, "tool", "name") is not None
    return kind == "agent_text" and type(value.get("content")) is str


def _hear(recorder: Recorder, value: Any) -> None:
    kind = value.get("type") if type(value) is dict else None
    tell = _KINDS.get(kind) if type(kind) is str else None
    if tell is None:
        word = f"a step of the unknown kind `{str(kind)[:40]}`" if kind is not None else "a record that is not a step"
        recorder.problem("malformed", word)
        return
    tell(recorder, value)


def _call(recorder: Recorder, value: dict[str, Any]) -> None:
    name = first_text(value, "tool", "name")
    if name is None:
        recorder.problem("malformed", "a call without the name of its tool")
        return
    arguments = next((value[key] for key in ("args", "arguments", "input", "kwargs") if key in value), None)
    recorder.called(name, arguments, id=first_text(value, "id"), at=_at(value))


def _result(recorder: Recorder, value: dict[str, Any]) -> None:
    payload = next((value[key] for key in ("result", "content", "output", "error") if key in value), None)
    failed = value.get("ok") is False or value.get("is_error") is True or value.get("error") not in (None, False)
    recorder.returned(
        text_of(payload),
        id=first_text(value, "id"),
        name=first_text(value, "tool", "name"),
        error=failed,
        at=_at(value),
    )


def _user(recorder: Recorder, value: dict[str, Any]) -> None:
    text = first_text(value, "content", "text")
    recorder.heard("" if text is None else text, at=_at(value))


def _agent(recorder: Recorder, value: dict[str, Any]) -> None:
    recorder.said(first_text(value, "content", "text") or "", at=_at(value))


def _verdict(recorder: Recorder, value: dict[str, Any]) -> None:
    recorder.leave_out("the verdict of another monitor")
    recorder.trajectory.ended = recorder.trajectory.ended or value.get("type") == "outcome"


def _nothing(recorder: Recorder, value: dict[str, Any]) -> None:
    return


def _at(value: dict[str, Any]) -> float | None:
    at = value.get("at")
    # seconds only: clock times of logs name no zone, and then mean nothing
    return float(at) if isinstance(at, (int, float, Decimal)) and type(at) is not bool else None


_KINDS: Final[dict[str, Callable[[Recorder, dict[str, Any]], None]]] = {
    "call": _call,
    "agent_tool_call": _call,
    "result": _result,
    "tool_result": _result,
    "user": _user,
    "agent": _agent,
    "agent_text": _agent,
    "monitor": _verdict,
    "outcome": _verdict,
    "meta": _nothing,
}
