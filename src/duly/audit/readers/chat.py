"""Lists of chat messages: one list, an object around one, many of them, one message a line, requests with responses.

Both dialects of a message are understood wherever they stand (``message.py``); the two readers differ in how a
format is recognised, and in whether it can say that a call failed.
"""

from collections.abc import Iterator
from typing import Any, Final

from ..document import Document, Record
from ..trajectory import Problem, Recorder, Trajectory
from .message import hear, is_message
from .reader import begin, first_text, follow, lost

SESSIONS: Final = ("run", "run_id", "conversation_id", "session_id", "thread_id", "trace_id")
IDS: Final = (*SESSIONS, "id", "instance_id")


class Chat:
    """Chat messages with ``tool_calls`` and the role ``tool``; there a failed call looks like any other."""

    name = "openai-chat"
    about = "chat messages with `tool_calls`: a list, `{messages: […]}`, many of them, or one message or run a line"
    tells_errors = False

    def fits(self, document: Document) -> bool:
        return any(_messages(value) is not None or is_message(value) for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        if any(is_message(value) for value in document.head):
            trajectory, recorder = begin(document, document.stem, format=self.name, tells_errors=self.tells_errors)
            follow(document, recorder, hear)
            yield trajectory
        elif any(_exchange(value) is not None for value in document.head):
            yield from self._exchanges(document)
        else:
            yield from self._runs(document)

    def _runs(self, document: Document) -> Iterator[Trajectory]:
        alone = document.form == "object"
        seen: dict[str, int] = {}
        for number, record in enumerate(document.records(), start=1):
            run = document.stem if alone and number == 1 else f"{document.stem}/{number}"
            messages = _messages(record.value)
            if messages is None:
                yield lost(document, _misfit(record), run, self.name)
                continue
            trajectory = self._run(document, record, run, messages)
            seen[trajectory.run] = times = seen.get(trajectory.run, 0) + 1
            if times > 1:
                trajectory.run += f"#{times}"
            yield trajectory

    def _run(self, document: Document, record: Record, run: str, messages: list[Any]) -> Trajectory:
        value = record.value if type(record.value) is dict else {}
        task, trial = first_text(value, "task_id"), first_text(value, "trial")
        name = first_text(value, *IDS) or (task if task is None or trial is None else f"{task}/{trial}")
        trajectory, recorder = begin(
            document,
            name or run,
            line=record.line,
            task=task,
            trial=trial,
            format=self.name,
            tells_errors=self.tells_errors,
        )
        if "reward" in value:
            trajectory.rewarded(value["reward"])
        for message in messages:
            hear(recorder, message)
        trajectory.events = recorder.take()
        return trajectory

    def _exchanges(self, document: Document) -> Iterator[Trajectory]:
        """Requests with responses. Each request repeats what was said before: those that go on belong to one run."""
        number = 0
        asked: list[Any] = []
        recorder: Recorder | None = None
        for record in document.records():
            pair = _exchange(record.value)
            if pair is None:
                number += 1
                yield lost(document, _misfit(record), f"{document.stem}/{number}", self.name)
                continue
            messages, answer = pair
            if recorder is None or messages[: len(asked)] != asked:
                if recorder is not None:
                    yield _finished(recorder)
                number += 1
                run = first_text(record.value, *SESSIONS)
                _, recorder = begin(
                    document, run or f"{document.stem}/{number}", format=self.name, tells_errors=self.tells_errors
                )
                fresh = messages
            else:
                # the first message after what was asked is the answer that has been heard already
                fresh = messages[len(asked) :]
                if fresh and type(fresh[0]) is dict and fresh[0].get("role") == "assistant":
                    fresh = fresh[1:]
            recorder.line = record.line
            for message in [*fresh, *answer]:
                hear(recorder, message)
            asked = messages
        if recorder is not None:
            yield _finished(recorder)


class Blocks(Chat):
    """Messages whose content is blocks: ``tool_use`` answered by ``tool_result``, which can say ``is_error``."""

    name = "anthropic-messages"
    about = "messages with `tool_use` and `tool_result` blocks: as `openai-chat`, or requests with their responses"
    tells_errors = True

    def fits(self, document: Document) -> bool:
        return any(self._has_blocks(value) for value in document.head)

    def _has_blocks(self, value: Any) -> bool:
        if is_message(value):
            content = value.get("content")
            return type(content) is list and any(
                type(part) is dict and type(part.get("type")) is str and part["type"] in _BLOCKS for part in content
            )
        pair = _exchange(value)
        found = [*pair[0], *pair[1]] if pair is not None else _messages(value)
        return found is not None and any(self._has_blocks(message) for message in found if is_message(message))


_BLOCKS: Final = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"}
)


def _messages(value: Any) -> list[Any] | None:
    """The messages of one run: a list of them, or what stands under `messages`."""
    if type(value) is dict:
        pair = _exchange(value)
        value = [*pair[0], *pair[1]] if pair is not None else value.get("messages", value.get("traj"))
    if type(value) is list and any(is_message(item) for item in value):
        return value
    return None


def _exchange(value: Any) -> tuple[list[Any], list[Any]] | None:
    """A request's messages and the messages of its response."""
    if type(value) is not dict:
        return None
    request = next((value[key] for key in ("request", "input", "body") if type(value.get(key)) is dict), None)
    response = next((value[key] for key in ("response", "output") if type(value.get(key)) is dict), None)
    if request is None or response is None or type(request.get("messages")) is not list:
        return None
    if is_message(response):
        return request["messages"], [response]
    choices = response.get("choices")
    if type(choices) is list and choices and type(choices[0]) is dict and is_message(choices[0].get("message")):
        return request["messages"], [choices[0]["message"]]
    return (request["messages"], []) if "error" in response else None


def _misfit(record: Record) -> Record:
    if record.problem is not None:
        return record
    return Record(None, record.line, Problem("malformed", "a record that holds no messages", record.line))


def _finished(recorder: Recorder) -> Trajectory:
    recorder.trajectory.events = recorder.take()
    return recorder.trajectory
