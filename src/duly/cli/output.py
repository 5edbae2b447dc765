"""What the verbs share: exit codes, faults as text and as JSON, the console, and progress on the terminal."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from duly.machine.contract import Contract
    from duly.values.errors import Diagnostic
    from duly.values.verdict import Reason

ORDER: Final = (1, 2, 3, 5, 4, 6)
"""Which of several exit codes is given."""

SLOW: Final = 2.0
"""Seconds after which progress is shown."""


def worst(codes: Iterable[int]) -> int:
    """The exit code of several results."""
    found = set(codes)
    return next((code for code in ORDER if code in found), 0)


def write(text: str) -> None:
    """A line on standard output."""
    typer.echo(text)


def say(text: str) -> None:
    """A line for the person, on standard error."""
    typer.echo(text, err=True)


def usage(message: str, help: str = "") -> typer.Exit:
    """Says what is wrong with the command line; to be raised."""
    say(f"error: {message}" + (f"\n  help: {help}" if help else ""))
    return typer.Exit(2)


def written(name: str) -> str:
    """A file name as text that can be written as UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def number(count: int, what: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{count} {what}" + ("" if count == 1 else "s")


def plain_diagnostic(diagnostic: "Diagnostic") -> dict[str, Any]:
    """A diagnostic as plain data, as `--json` gives it."""
    line, column = (None, None)
    if diagnostic.span is not None:
        line, column = diagnostic.span.source.position(diagnostic.span.start)
    return {
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "where": written(diagnostic.where()),
        "line": line,
        "column": column,
        "witness": list(diagnostic.witness),
        "help": diagnostic.help,
    }


def plain_reason(reason: "Reason") -> dict[str, Any]:
    """A reason as plain data, as `--json` gives it."""
    return {
        "rule": reason.rule,
        "kind": reason.kind,
        "message": reason.message,
        "got": reason.got,
        "expected": list(reason.expected),
        "help": reason.help,
        "where": reason.where or None,
        "severity": reason.severity,
        "follow_on": reason.follow_on,
        "untimed": reason.untimed,
    }


def stop(diagnostics: "Iterable[Diagnostic]", *, code: int, json: bool) -> typer.Exit:
    """Says why a verb cannot go on: on standard error, or, for machines, as one JSON object; to be raised."""
    from duly.values.plain import write_json

    found = list(diagnostics)
    if json:
        write(write_json({"diagnostics": [plain_diagnostic(d) for d in found], "exit_code": code}))
    else:
        for diagnostic in found:
            say(diagnostic.text())
    return typer.Exit(code)


def contract_of(path: str, *, json: bool = False) -> "Contract":
    """The contract of a document; ends the verb with 2 where there is no such file and with 3 where it is faulty."""
    from duly import load
    from duly.values.errors import DulyError

    if not os.path.isfile(path):
        word = "is a folder" if os.path.isdir(path) else "does not exist"
        raise usage(f"the contract `{path}` {word}", "`duly init` writes a first one")
    try:
        return load(path)
    except DulyError as error:
        raise stop(error.diagnostics, code=3, json=json) from None


def console() -> "Console":
    """The console for tables: as wide as the terminal, and wide enough for whole lines where there is none."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(soft_wrap=not terminal, highlight=False, width=None if terminal else 160)


@contextmanager
def progress(title: str) -> "Iterator[Callable[[int, int], None]]":
    """Gives a function that is told how many of how many are done; a bar is shown where that takes long."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from threading import Timer

    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=None)
    timer = Timer(SLOW, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        bar.stop()
