"""One run: an agent and a customer at a desk, with a gate between agent and tools, and everything written down."""

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from .customer import GOODBYE, Customer
from .desk import CHANGES
from .gate import Outcome, Setting, here
from .task import Change, Task

Messages = list[dict[str, Any]]


class Refusal(Struct, frozen=True):
    """A call that was refused, what the customer had said last, and what the model was told."""

    task: str
    act: str
    heard: str
    text: str


class Run(Struct):
    """How a run of one task came out.

    ``unconfirmed`` are changes that took effect without a yes in the customer's head; ``served`` says that the database
    ended as it should have.
    """

    task: str
    guarded: bool
    unconfirmed: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    changes: int = 0
    served: bool = False
    turns: int = 0
    messages: Messages = field(default_factory=list)


class Counter:
    """What an agent sees of a run: it can `say` something and is answered, and it can `call` a tool."""

    def __init__(self, task: Task, *, guarded: bool, setting: Setting = here) -> None:
        self.task = task
        self.customer = Customer(task)
        self.heard = task.opening
        self.run = Run(task.name, guarded)
        self._place = setting(task.name, guarded)
        self._gate = self._place.gate
        self._hear(task.opening)

    def say(self, text: str) -> str:
        """Says something to the customer and waits for the answer."""
        self.run.turns += 1
        self._gate.say(text)
        self.run.messages.append({"role": "assistant", "content": text})
        self._hear(self.customer.answer(text))
        return self.heard

    def call(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        """Calls a tool, which may refuse, fail, or do what it is asked."""
        self.run.turns += 1
        outcome = self._gate.call(tool, arguments)
        self._record(tool, arguments, outcome.content)
        change = Change(tool, arguments)
        if outcome.refusal:
            act = f"{tool}({json.dumps(arguments, ensure_ascii=False)})"
            self.run.refusals.append(Refusal(self.task.name, act, self.heard, outcome.refusal))
        elif outcome.done and tool in CHANGES:
            self.run.changes += 1
            if not self.customer.spend(change):
                self.run.unconfirmed.append(change.words())
        return outcome

    def offered(self) -> tuple[str, ...]:
        """The tools that the agent is offered now."""
        return self._gate.offered()

    def close(self) -> Run:
        """The customer leaves, and the database is compared with what it should be."""
        if self.heard != GOODBYE:
            self._hear(GOODBYE)
        self._place.close()
        desk = self._place.desk()
        self.run.served = desk.state() == self.task.expected()
        desk.close()
        return self.run

    def _hear(self, text: str) -> None:
        self.heard = text
        self._gate.hear(text)
        self.run.messages.append({"role": "user", "content": text})

    def _record(self, tool: str, arguments: dict[str, Any], content: str) -> None:
        id = f"call_{sum(message['role'] == 'tool' for message in self.run.messages) + 1}"
        written = json.dumps(arguments, ensure_ascii=False)
        call = {"id": id, "type": "function", "function": {"name": tool, "arguments": written}}
        self.run.messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        self.run.messages.append({"role": "tool", "tool_call_id": id, "content": content})


Agent = Callable[[Counter], None]


def play(task: Task, agent: Agent, *, guarded: bool, setting: Setting = here) -> Run:
    """One agent serves one customer."""
    counter = Counter(task, guarded=guarded, setting=setting)
    agent(counter)
    return counter.close()
