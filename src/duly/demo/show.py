"""The demo on a terminal, or in a file: tables and texts made from the runs and their score."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from duly.audit.report import Report

from .agent import GIVES_IN
from .counter import Refusal, Run
from .score import Figures, Score
from .task import TASKS
from .transcript import Written

WIDTH = 100


def console() -> Console:
    """Standard output, never wider than a page; without colours and boxes where it is no terminal."""
    out = Console(highlight=False)
    return (
        Console(highlight=False, width=min(WIDTH, out.width))
        if out.is_terminal
        else Console(highlight=False, width=WIDTH)
    )


def intro(out: Console, model: str, *, mcp: bool = False) -> None:
    """Who works here, who comes, and what the rule is."""
    agent = (
        "a real language model with 135 million parameters, running in this process"
        if model == "local"
        else f"a script, no model. It asks before changing anything, but yields to pressure {GIVES_IN:.0%} of the time"
    )
    _head(out, "A box office, twelve customers, one rule")
    out.print(
        "The rule: nothing is changed without a yes of the customer, given after the agent asked, and each yes is good"
        " for one change. Some customers push back, hesitate, or say yes to something else."
    )
    out.print(f"The agent is {agent}.")
    if mcp:
        out.print(
            "The desk is an MCP server. Each customer is served twice through the MCP client: with the bare server, and"
            " with the same server behind duly mcp. The host tells the gate what is said at the counter."
        )
    else:
        out.print("Each customer is served twice: with bare tools, and with the same tools behind duly.guard.")


def tasks(out: Console, runs: Sequence[Run]) -> None:
    """One line per customer."""
    table = _table(out, "task", "the customer", "without duly", "with duly")
    for task in TASKS:
        mine = [run for run in runs if run.task == task.name]
        pair = [next((run for run in mine if run.guarded is guarded), None) for guarded in (False, True)]
        if any(pair):
            table.add_row(task.name, task.about, *(_outcome(run) for run in pair))
    out.print(table)


def figures(out: Console, score: Score) -> None:
    """The figures without and with duly side by side."""
    if score.without.runs < len(TASKS):
        out.print(f"The time was up after {score.without.runs} of {len(TASKS)} customers; the figures are of these.")
    table = _table(out, "", "without duly", "with duly", right=True)
    rows: list[tuple[str, ...]] = [
        ("unconfirmed changes", str(score.without.unconfirmed), str(score.with_.unconfirmed)),
        ("tasks served (database as it should be)", *(f"{f.served} of {f.runs}" for f in _both(score))),
        ("  of these, served with an unconfirmed change", *(str(f.served_with_unconfirmed) for f in _both(score))),
        ("calls refused", "-", str(score.with_.refusals)),
        ("steps of the agent", str(score.without.turns), str(score.with_.turns)),
    ]
    for row in rows:
        table.add_row(*row)
    out.print(table)


def refusal(out: Console, refused: Refusal) -> None:
    """One refusal in full: what the customer said, what the agent tried, what it was told."""
    _head(out, "What the agent is told when it is refused")
    out.print(f"task {refused.task}; the customer said: {escape(refused.heard)}")
    out.print(f"the agent called {escape(refused.act)} and got:")
    out.print(Padding(Text(refused.text), (0, 0, 0, 4)))


def tools(out: Console, seen: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]]) -> None:
    """How the client's list of tools changed when a customer said yes."""
    text, before, after = next((each for each in seen if set(each[1]) < set(each[2])), ("", (), ()))
    if text:
        _head(out, "What the client is shown")
        out.print(f"before the customer said `{escape(text)}`: {len(before)} tools, {', '.join(before)}")
        out.print(f"after it: also {', '.join(name for name in after if name not in before)}")


def store(out: Console, path: Path, contract: Path, session: str) -> None:
    """What the gate's journal holds of the sessions, as the command line prints it."""
    _head(out, "What is on record")
    kept = "--store", str(path)
    for words in (
        ("sessions", *kept),
        ("log", session, *kept),
        ("replay", "--session", session, *kept, "--contract", str(contract)),
    ):
        out.print(Text(shlex.join(("duly", *words)), style="bold"), soft_wrap=True)
        # decided again with a refusal in it, a session ends with the code for violations
        done = subprocess.run([sys.executable, "-m", "duly", *words], capture_output=True, text=True, check=False)
        out.print(Text(indent((done.stdout + done.stderr).rstrip(), "    ")), soft_wrap=True)


def picture(out: Console, drawing: str) -> None:
    """The protocol as text."""
    _head(out, "The rule as a protocol")
    out.print(Text(drawing.rstrip("\n"), no_wrap=True, overflow="ignore"), soft_wrap=True)


def audited(out: Console, written: Written, reports: Sequence[Report], score: Score) -> None:
    """What an audit of the transcripts says, beside what the customers know."""
    _head(out, "The same contract, afterwards: an audit of the transcripts")
    out.print(
        f"The runs lie in {escape(str(written.without.parent))} as chat messages, and that is all the audit has read."
    )
    table = _table(out, "file", "runs", "violating runs", "calls found", "unconfirmed changes", right=True)
    for path, report, found, known in zip(
        (written.without, written.with_), reports, (score.audit_without, score.audit_with), _both(score), strict=True
    ):
        row = report.runs, report.violating_runs, sum(found.values()), known.unconfirmed
        table.add_row(path.name, *map(str, row))
    out.print(table)
    out.print(_agreement(score))
    command = f"duly audit {written.without} --contract {written.contract}"
    out.print(Text.assemble("To see it in full: ", (command, "bold")), soft_wrap=True)


def onward(out: Console) -> None:
    """What to do next, in three lines."""
    _head(out, "What next")
    lines = (
        ("duly audit RUNS --contract CONTRACT", "the same audit, on recorded runs of your own agent"),
        ("duly init", "a first contract for your own tools"),
        ("tool = duly.guard(session, tool)", "hold your own agent to it, live"),
    )
    table = Table.grid(padding=(0, 3))
    for command, meaning in lines:
        table.add_row(Text(command, style="bold"), meaning)
    out.print(Padding(Group(table), (0, 0, 1, 2)))


def _agreement(score: Score) -> str:
    if score.agrees:
        return "[green]It found exactly the changes that the customers had not agreed to, and no others.[/]"
    return (
        "[red]Audit and customers differ.[/] The contract hears that a yes came after a question, and not which change"
        " was meant: an agent that then makes another one than it described is found by the customers only."
    )


def _outcome(run: Run | None) -> str:
    if run is None:
        return "-"
    notes = ["served" if run.served else "[yellow]not served[/]"]
    if run.unconfirmed:
        count = len(run.unconfirmed)
        notes.append(f"[red]{count} unconfirmed[/]")
    if run.refusals:
        notes.append(f"{len(run.refusals)} refused")
    return ", ".join(notes)


def _both(score: Score) -> tuple[Figures, Figures]:
    return score.without, score.with_


def _head(out: Console, title: str) -> None:
    out.print()
    out.print(Text(title, style="bold cyan"))


def _table(out: Console, *columns: str, right: bool = False) -> Table:
    table = Table(box=box.SIMPLE_HEAD if out.is_terminal else None, padding=(0, 1, 0, 1))
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if right and index else "left")
    return table
