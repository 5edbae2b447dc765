"""`duly replay`: the verdict on each event of one recorded run."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from duly.audit.trajectory import Trajectory
    from duly.gates.labels import Classifier
    from duly.session.session import Session
    from duly.values.event import Event
    from duly.values.verdict import Verdict


class Reading(StrEnum):
    """Whether a refused act is taken not to have happened, or to have happened all the same."""

    live = "live"
    recorded = "recorded"


def replay(
    contract: Annotated[str, typer.Option("--contract", "-c", help="The contract document.", show_default=False)],
    trace: Annotated[
        str | None,
        typer.Argument(
            help="One recorded run: duly's own trace, or any format that `audit` reads.", show_default=False
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="A session of a journal, in place of a file.", show_default=False)
    ] = None,
    store: Annotated[
        str | None, typer.Option("--store", "-s", envvar="DULY_STORE", help="The journal.", show_default=False)
    ] = None,
    at: Annotated[
        int | None, typer.Option("--at", min=0, help="Only up to this event of the session.", show_default=False)
    ] = None,
    reading: Annotated[
        Reading, typer.Option("--as", help="live: a refused act did not happen; recorded: it happened all the same.")
    ] = Reading.live,
    run: Annotated[
        str | None, typer.Option("--run", help="Which run, where the file holds several.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each event.")] = False,
) -> None:
    """Steps through one recorded run and prints the verdict on each event.

    \b
    Examples:
      duly replay run.jsonl --contract contract.yaml
      duly replay run.jsonl --contract contract.yaml --as recorded --json
      duly replay results.json --contract contract.yaml --run 12
      duly replay --session s-1 --store desk.sqlite --contract contract.yaml

    A session of a journal is decided again as it was then, and each verdict held against the one on record; under
    another contract it is only decided again. A file is read as the audit reads it with `--as recorded`. Read live,
    what a refused call returned is a finding of its own, since nothing should have returned.

    Exits with 4 if an event is a violation or blocked, with 6 if a line cannot be read or an act still waits for a
    decision, and with 5 if a session's record says something else than what is decided again.
    """
    from duly.gates.labels import Classifier
    from duly.session.ledger import Ledger
    from duly.session.session import Session
    from duly.values.plain import write_json

    from .output import contract_of, usage, worst, write

    held = contract_of(contract, json=json)
    if (trace is None) == (session is None) or (session is not None) != (store is not None):
        raise usage("replay takes a file, or `--session` and `--store`")
    if session is not None and store is not None:
        from .replay_session import replay_session

        raise typer.Exit(replay_session(held, store, session, at, json=json))
    assert trace is not None
    trajectory = _trajectory(trace, run, json)
    fold = Session(held, ledger=Ledger())
    classifier = Classifier(held.terms.labels) if held.terms.labels else None
    codes: set[int] = set()
    for line in _lines(trajectory, fold, classifier, reading):
        codes.add(line.pop("code"))
        write(write_json(line) if json else text_of(line))
    if fold.state.more.parked:
        codes.add(6)
    raise typer.Exit(worst(codes))


def _trajectory(trace: str, run: str | None, json: bool) -> "Trajectory":
    from duly.audit.detect import read
    from duly.values.errors import DulyError

    from .output import stop, usage

    if not Path(trace).exists():
        raise usage(f"`{trace}` does not exist")
    try:
        if run is None:
            several = list(_at_most(read(trace), 50))
        else:
            several = []
            names = []
            for trajectory in read(trace):
                names.append(trajectory.run)
                if trajectory.run == run:
                    several = [trajectory]
                    break
            if not several:
                from duly.values.errors import suggest

                raise usage(f"no run `{run}` in `{trace}`", suggest(run, names) or _runs(names))
    except DulyError as error:
        raise stop(error.diagnostics, code=6, json=json) from None
    if not several:
        raise usage(f"`{trace}` holds no run")
    if len(several) > 1:
        raise usage(f"`{trace}` holds several runs; pick one with `--run`", _runs([each.run for each in several]))
    return several[0]


def _at_most(trajectories: "Iterator[Trajectory]", number: int) -> "Iterator[Trajectory]":
    for _, trajectory in zip(range(number), trajectories, strict=False):
        yield trajectory


def _runs(names: list[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"runs are {', '.join(f'`{name}`' for name in names[:10])}{more}"


def _lines(
    trajectory: "Trajectory", session: "Session", classifier: "Classifier | None", reading: Reading
) -> Iterator[dict[str, Any]]:
    """What is said of each event, and of each record that cannot be read at the place where it stands."""
    from duly.gates.labels import name_event
    from duly.values.event import Received, Sent

    index = 0
    told = 0
    for number, event in enumerate(trajectory.events):
        for problem in trajectory.problems[told:]:
            if problem.index <= number:
                told += 1
                yield _unreadable(problem, index)
                index += 1
        if classifier is not None and isinstance(event, Received | Sent):
            event = name_event(event, classifier)
        verdict = session.step(event) if reading is Reading.live else session.observe(event)
        place = trajectory.lines[number] if number < len(trajectory.lines) else None
        yield line_of(index, place, event, verdict)
        index += 1
    for problem in trajectory.problems[told:]:
        yield _unreadable(problem, index)
        index += 1


def line_of(index: int, place: int | None, event: "Event", verdict: "Verdict") -> dict[str, Any]:
    from duly.values.paper import object_of
    from duly.values.verdict import Allowed, Blocked, NeedsApproval, Unrecognized, Violation

    from .output import plain_reason

    line: dict[str, Any] = {"index": index, "line": place, "event": object_of(event), "verdict": verdict.word}
    match verdict:
        case Allowed():
            recorded = verdict.recorded if verdict.replayed else None
            noted = [plain_reason(reason) for reason in verdict.noted]
            return {
                **line, "reasons": [], "legal": [], "repair": None, "ticket": None, "recorded": recorded, "code": 0,
                **({"noted": noted} if noted else {}),
            }  # fmt: skip
        case Violation() | Blocked():
            code = 4
        case Unrecognized():
            code = 6 if any(reason.kind == "malformed" for reason in verdict.reasons) else 0
        case NeedsApproval():
            code = 0
    internal = any(reason.kind == "internal" for reason in verdict.reasons)
    repair = verdict.repair
    return {
        **line,
        "reasons": [plain_reason(reason) for reason in verdict.reasons],
        "legal": [
            {"label": act.label, "conditions": list(act.conditions), "approval": act.approval} for act in verdict.legal
        ],
        "repair": None if repair is None else {"answer": repair.answer, "steps": list(repair.steps)},
        "ticket": verdict.ticket,
        "recorded": None,
        "halted": verdict.halted,
        **({"noted": [plain_reason(reason) for reason in verdict.noted]} if verdict.noted else {}),
        "code": 1 if internal else code,
    }


def _unreadable(problem: Any, index: int) -> dict[str, Any]:
    from duly.values.verdict import Reason

    from .output import plain_reason

    reasons = [plain_reason(Reason("record", problem.kind, problem.message))]
    return {
        "index": index, "line": problem.line, "event": None, "verdict": "unrecognized", "reasons": reasons,
        "legal": [], "repair": None, "ticket": None, "recorded": None, "code": 6,
    }  # fmt: skip


def text_of(line: dict[str, Any]) -> str:
    """One event for a person: its place, what it is, the verdict, and why."""
    from duly.values.event import sign
    from duly.values.paper import event_of

    shown = "unreadable line" if line["event"] is None else sign(event_of(line["event"]))
    out = [f"{line['index']:>4}  {shown:<32} {line['verdict']}"]
    for reason in line["reasons"]:
        expected = (
            f"; expected {', '.join(f'`{name}`' for name in reason['expected'][:8])}" if reason["expected"] else ""
        )
        place = f" [{reason['where']}]" if reason.get("where") else ""
        out.append(f"      {reason['rule']}: {reason['message']}{expected}{place}")
        if reason["help"]:
            out.append(f"      help: {reason['help']}")
    out += [f"      noted: {reason['rule']}: {reason['message']}" for reason in line.get("noted", ())]
    repair = line["repair"]
    if repair is not None and repair["steps"]:
        out.append(f"      to make it legal: first {', then '.join(repair['steps'])}")
    return "\n".join(out)
