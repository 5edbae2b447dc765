"""What the verbs over a journal share: opening it, finding the session that is meant, and who is asking."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from duly.gates.gate import Gate
    from duly.journal.journal import Journal
    from duly.journal.record import Summary
    from duly.machine.contract import Contract
    from duly.machine.ir import State

Store = Annotated[
    str,
    typer.Option("--store", "-s", envvar="DULY_STORE", help="The journal: a file, or its address.", show_default=False),
]
Held = Annotated[
    str,
    typer.Option("--contract", "-c", envvar="DULY_CONTRACT", help="The contract of the session.", show_default=False),
]
By = Annotated[
    str | None,
    typer.Option("--by", help="Who says so; else the user of this terminal.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@contextmanager
def opened(address: str, *, readonly: bool = False, json: bool = False) -> "Iterator[Journal]":
    """The journal, closed again at the end; ends the verb with 2 where there is none, with 6 where it is unusable."""
    from duly.journal.journal import JournalError, open_journal

    from .output import stop, usage

    path = address.removeprefix("sqlite:///")
    if address == "memory:" or not Path(path).is_file():
        raise usage(f"the journal `{address}` does not exist", "`duly mcp --store` and `Gate.open` write one")
    try:
        journal = open_journal(address, readonly=readonly)
    except JournalError as error:
        raise stop(error.diagnostics, code=6, json=json) from None
    try:
        yield journal
    except JournalError as error:
        raise stop(error.diagnostics, code=6, json=json) from None
    finally:
        journal.close()


def summary_of(journal: "Journal", session: str) -> "Summary":
    """The session of this name; ends the verb with 2, and a suggestion, where there is none."""
    from duly.values.errors import suggest

    from .output import usage

    known = {summary.session: summary for summary in journal.sessions()}
    if session not in known:
        raise usage(f"no session `{session}`", suggest(session, known) or "`duly sessions` lists them")
    return known[session]


def gate_of(journal: "Journal", contract: "Contract", session: str) -> "Gate":
    """The gate of a session that the journal has."""
    from duly.gates.gate import Gate

    summary_of(journal, session)
    return Gate.open(contract, journal, session, guards=None)


def now(journal: "Journal", contract: "Contract", session: str) -> "State":
    """The state of a session as it stands now: time has gone on since its last record."""
    from time import time

    from msgspec import structs

    from duly.journal.replay import state_of

    last = summary_of(journal, session).last
    state = state_of(contract, journal, session)[0]
    return state if last is None else structs.replace(state, at=state.at + max(0.0, time() - last))


def person(by: str | None) -> str:
    """Who is asking: the name that is given, else that of the user of this terminal."""
    if by is not None:
        return by
    from getpass import getuser

    from .output import usage

    try:
        return getuser()
    except (OSError, KeyError):
        raise usage("nobody knows who is asking", "name yourself with `--by`") from None


def answer(verdict: Any, *, json: bool) -> typer.Exit:
    """Prints what was said of an event; to be raised: 0 where it was taken, 4 where it was not."""
    from duly.values.plain import write_json

    from .output import say, write

    if json:
        from .output import plain_reason

        reasons = [plain_reason(reason) for reason in verdict.reasons]
        write(write_json({"verdict": verdict.word, "reasons": reasons}))
    elif verdict:
        write("taken")
    else:
        say(verdict.text())
    return typer.Exit(0 if verdict else 4)


def clock(seconds: float | None) -> str:
    """A wall time as people read it, in UTC."""
    if seconds is None:
        return "never"
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
