"""The one difference between the two runs of a task: whether the agent's tools are bare functions or guarded ones."""

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

import duly

from .desk import READS, Desk, DeskError, Result

CONTRACT = "contract.yaml"


class Outcome(Struct, frozen=True):
    """What a call came to: what the model is given, and whether the tool ran at all, and did what it was asked."""

    content: str
    ran: bool
    done: bool
    refusal: str = ""


class Gate(Protocol):
    """What a run needs: say, hear and call, and which tools the agent may be offered now."""

    def say(self, text: str) -> None: ...

    def hear(self, text: str) -> None: ...

    def call(self, tool: str, arguments: dict[str, Any]) -> Outcome: ...

    def offered(self) -> tuple[str, ...]: ...


class Bare:
    """Without duly: every tool is offered at any time, and every call runs."""

    def __init__(self, desk: Desk) -> None:
        self._tools = desk.tools()

    def say(self, text: str) -> None:
        return

    def hear(self, text: str) -> None:
        return

    def call(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        return _outcome(lambda: self._tools[tool](**arguments))

    def offered(self) -> tuple[str, ...]:
        return tuple(self._tools)


class Guarded:
    """With duly: the same tools behind `duly.guard`, and what is said on either side told to the session."""

    def __init__(self, desk: Desk) -> None:
        self._session = duly.Session(contract())
        self._gate = duly.Gate(self._session)
        self._tools = {name: duly.guard(self._gate, tool) for name, tool in desk.tools().items()}

    def say(self, text: str) -> None:
        self._gate.say(text)

    def hear(self, text: str) -> None:
        self._gate.hear(text)

    def call(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        try:
            return _outcome(lambda: self._tools[tool](**arguments))
        except duly.Refused as refused:
            # what a model gets for a refused call is an error like any other, so that an audit knows that nothing ran
            return Outcome(f"Error: {refused}", False, False, str(refused))

    def offered(self) -> tuple[str, ...]:
        legal = {act.label for act in self._session.legal()}
        return tuple(name for name in self._tools if name in legal or name in READS)


class Place(Struct, frozen=True):
    """Where a run happens: the gate, the desk as it is at the end, and how to leave."""

    gate: Gate
    desk: Callable[[], Desk]
    close: Callable[[], None]


Setting = Callable[[str, bool], Place]
"""Sets up a place for a task, without or with duly."""


def here(task: str, guarded: bool) -> Place:
    """The desk in this process, as plain Python."""
    desk = Desk()
    return Place(Guarded(desk) if guarded else Bare(desk), lambda: desk, lambda: None)


def contract_path() -> Path:
    """Where the demo's contract lies, for `duly audit … --contract`."""
    return Path(str(files(__package__).joinpath(CONTRACT)))


@cache
def contract() -> "duly.Contract":
    """The demo's contract, loaded once."""
    return duly.load(contract_path())


def _outcome(run: Callable[[], Result]) -> Outcome:
    try:
        return Outcome(json.dumps(run(), ensure_ascii=False), True, True)
    except DeskError as error:
        return Outcome(f"Error: {error}", True, False)
