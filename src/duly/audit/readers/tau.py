"""tau-bench: runs with ``task_id``, ``trial``, ``reward`` and ``traj`` (chat messages), and few-shot transcripts."""

import re
from collections.abc import Iterator
from typing import Any, Final

from ..document import Document
from ..trajectory import Problem, Recorder, Trajectory
from .message import hear
from .reader import begin, first_text, lost


class Tau:
    name = "tau-bench"
    about = "tau-bench results: `task_id`, `trial`, `reward`, `traj`; an array, or one run a line"

    def fits(self, document: Document) -> bool:
        return any(_is_run(value) for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        for number, record in enumerate(document.records(), start=1):
            value = record.value
            if not _is_run(value):
                if record.problem is None and type(value) is dict and "task_id" in value:
                    # the benchmark writes a run that broke off with its error and without a conversation
                    problem = Problem("missing", "the run has no recorded conversation", record.line)
                    yield _facts(lost(document, record, f"{document.stem}/{number}", self.name), value, problem)
                    continue
                if record.problem is None:
                    problem = Problem("malformed", "a record that is not a run of tau-bench", record.line)
                    record = type(record)(None, record.line, problem)
                yield lost(document, record, f"{document.stem}/{number}", self.name)
                continue
            trajectory, recorder = begin(
                document, f"{document.stem}/{number}", line=record.line, format=self.name, tells_errors=False
            )
            _facts(trajectory, value)
            for message in value["traj"]:
                hear(recorder, message)
            trajectory.events = recorder.take()
            # a reward is given when the environment is done
            trajectory.ended = trajectory.ended or trajectory.reward is not None
            yield trajectory


class FewShot:
    """Transcripts as one text. They show that a tool was called, but not which: such a run is incomplete."""

    name = "tau-bench-few-shot"
    about = "tau-bench few-shot examples: `messages_display`, one conversation a line"

    def fits(self, document: Document) -> bool:
        return any(type(value) is dict and type(value.get("messages_display")) is str for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        for number, record in enumerate(document.records(), start=1):
            run = f"{document.stem}/{number}"
            shown = record.value.get("messages_display") if type(record.value) is dict else None
            if type(shown) is not str:
                if record.problem is None:
                    problem = Problem("malformed", "a record without `messages_display`", record.line)
                    record = type(record)(None, record.line, problem)
                yield lost(document, record, run, self.name)
                continue
            trajectory, recorder = begin(document, run, line=record.line, format=self.name, tells_errors=False)
            for who, text in _turns(shown):
                _tell(recorder, who, text)
            trajectory.events = recorder.take()
            yield trajectory


_TURN: Final = re.compile(r"^(system|user|assistant|tool): ?", re.MULTILINE)


def _turns(shown: str) -> Iterator[tuple[str, str]]:
    found = list(_TURN.finditer(shown))
    ends = [turn.start() for turn in found[1:]] + [len(shown)]
    if shown[: found[0].start() if found else len(shown)].strip():
        yield "", ""
    for turn, end in zip(found, ends, strict=False):
        yield turn.group(1), shown[turn.end() : end].rstrip("\n")


def _tell(recorder: Recorder, who: str, text: str) -> None:
    if who == "user":
        recorder.heard(text)
    elif who == "assistant" and text != "None":
        recorder.said(text)
    elif who == "":
        recorder.problem("malformed", "text that no turn begins")
    elif who == "tool":
        recorder.leave_out("result of an unnamed tool")
        recorder.problem("missing", "a tool was called whose name and arguments are not recorded")


def _is_run(value: Any) -> bool:
    return type(value) is dict and "task_id" in value and type(value.get("traj")) is list


def _facts(trajectory: Trajectory, value: dict[str, Any], problem: Problem | None = None) -> Trajectory:
    trajectory.task = first_text(value, "task_id")
    trajectory.trial = first_text(value, "trial")
    trajectory.run = f"{trajectory.task}/{trajectory.trial or 0}"
    trajectory.rewarded(value.get("reward"))
    if problem is not None:
        trajectory.problems.append(problem)
    return trajectory
