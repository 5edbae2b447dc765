"""The questions of `duly init`, one after the other; an answer that cannot be taken is asked for again."""

import sys
from collections.abc import Callable
from typing import TypeVar

import typer
from msgspec import structs

from duly.values.errors import DulyError

from .first import Answers, cap_of, changed, contract_text, first_of
from .init import reads
from .toolset import Described

T = TypeVar("T")


def terminal() -> bool:
    """Whether a person sits there."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def answered(answers: Answers) -> Answers:
    """The answers, with what a person says to what they leave open; raises typer.Abort where the person stops."""
    if not answers.tools:
        names = _asked("Which tools does the agent have? (names, with commas)", "find_order, refund_order", _names)
        tools = tuple(Described(name, "none" if reads(name) else "write") for name in names)
        answers = structs.replace(answers, tools=tools, origin=" that were named")
    guess = ", ".join(tool.name for tool in answers.tools if tool.effect == "write")
    answers = _asked(
        "Which of them change something? (names, or -)", guess or "-",
        lambda text: structs.replace(answers, tools=changed(answers.tools, _names(text))),
    )  # fmt: skip
    consent = typer.confirm("Must the user say yes before anything is changed?", default=answers.consent)
    answers = structs.replace(answers, consent=consent)
    answers = _asked(
        "What must come first? (as in find -> refund; several with commas, or -)", "-",
        lambda text: _tried(answers, firsts=(*answers.firsts, *map(first_of, _names(text)))),
    )  # fmt: skip
    answers = _asked(
        "Is a sum limited? (as in refund.amount=500 USD in currency; several with commas, or -)", "-",
        lambda text: _tried(answers, caps=(*answers.caps, *(cap_of(each, _called(answers)) for each in _names(text)))),
    )  # fmt: skip
    answers = _asked(
        "Which calls wait for a person? (names, or -)", "-",
        lambda text: _tried(answers, approvals=(*answers.approvals, *_names(text))),
    )  # fmt: skip
    if answers.approvals:
        answers = _asked(
            "Who may decide? (names, or - for anybody)", "-",
            lambda text: structs.replace(answers, by=tuple(_names(text))),
        )  # fmt: skip
    return _asked("shadow (record what would be refused) or enforce?", "shadow", lambda text: _mode(answers, text))


def _called(answers: Answers) -> list[str]:
    return [tool.name for tool in answers.tools]


def _tried(answers: Answers, **more: object) -> Answers:
    """The answers with more; raises DulyError where they name no tool."""
    fresh = structs.replace(answers, **more)
    contract_text(fresh)
    return fresh


def _mode(answers: Answers, text: str) -> Answers:
    if text.strip().lower() not in ("shadow", "enforce"):
        raise ValueError("answer `shadow` or `enforce`")
    return structs.replace(answers, mode=text.strip().lower())


def _names(text: str) -> list[str]:
    return [] if text.strip() == "-" else list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _asked(question: str, default: str, take: Callable[[str], T]) -> T:
    while True:
        text = typer.prompt(question, default=default)
        try:
            return take(text)
        except DulyError as error:
            for each in error.diagnostics:
                typer.echo(each.text(), err=True)
        except ValueError as error:
            typer.echo(f"error: {error}", err=True)
