"""`duly pending`, `approve`, `deny`, `settle`: what waits for a person, and the person's answer."""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .store import By, Held, Json, Store, answer, gate_of, now, opened, person

if TYPE_CHECKING:
    from duly.journal.journal import Journal
    from duly.machine.contract import Contract
    from duly.machine.ir import State

Ticket = Annotated[str, typer.Argument(help="The ticket, as `duly pending` shows it.", show_default=False)]
In = Annotated[
    str | None, typer.Option("--session", help="Its session, where several have one of this name.", show_default=False)
]
Why = Annotated[str | None, typer.Option("--reason", help="Why; kept for the record.", show_default=False)]

SHOWN = 200
"""Bytes that a line of the list shows of what was asked for."""


class How(StrEnum):
    """What became of an uncertain call."""

    done = "done"
    failed = "failed"
    retry = "retry"


def pending(
    store: Store, contract: Held,
    ask: Annotated[
        bool, typer.Option("--ask", help="Put what waits to the person at this terminal, one ticket after the other.")
    ] = False,
    by: By = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Lists what waits for a person: parked acts, and calls of which nobody knows whether they happened.

    \b
    Examples:
      duly pending --store desk.sqlite --contract desk.yaml
      duly pending --store desk.sqlite --contract desk.yaml --json
      duly pending --store desk.sqlite --contract desk.yaml --ask --by ana

    With `--ask` each ticket is answered with yes, no, edited arguments or a standing yes, or left.

    Exits with 0 if nothing waits, with 6 if something does or the journal cannot be used, with 4 if a decision is not
    taken.
    """
    from duly.values.plain import write_json

    from .output import contract_of, number, usage, worst, write

    if ask:
        from .ask import ask as ask_person
        from .ask import terminal

        if json or not terminal():
            raise usage("nobody sits at this terminal to be asked", "`duly approve` and `duly deny` name a ticket")
        held, name = contract_of(contract), person(by)
        with opened(store) as journal:
            waiting = [
                (session, line["ticket"])
                for session, state in _states(journal, held)
                for line in _waiting(session, state, held)
                if "question" in line and not line["granted"]
            ]
            codes = ask_person(journal, held, waiting, name)
            write(f"{number(len(waiting), 'ticket')} shown")
        raise typer.Exit(worst(codes))
    held = contract_of(contract, json=json)
    with opened(store, readonly=True, json=json) as journal:
        found = [line for name, state in _states(journal, held) for line in _waiting(name, state, held)]
    for line in found:
        write(write_json(line) if json else _text(line))
    if not json:
        write(f"{number(len(found), 'act')} waiting")
    raise typer.Exit(6 if found else 0)


def approve(
    ticket: Ticket, store: Store, contract: Held, session: In = None, by: By = None, reason: Why = None,
    edit: Annotated[
        str | None, typer.Option("--edit", help="JSON: the arguments with which it may run.", show_default=False)
    ] = None,
    always: Annotated[bool, typer.Option("--always", help="From now on also to acts like it.")] = False,
    scope: Annotated[
        str | None,
        typer.Option("--scope", help="With --always: JSON, the arguments that may vary, each with a glob; or a glob.",
                     show_default=False),
    ] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Says yes to a parked act. The yes is good for the identical act, once; all other rules are asked again.

    With `--edit` it is good for the act as edited. With `--always` it stands for equal acts from now on, or as far as
    the contract lets a standing yes go.

    \b
    Examples:
      duly approve t1-c7 --store desk.sqlite --contract desk.yaml --by ana
      duly approve t1-c7 --store desk.sqlite --contract desk.yaml --edit '{"amount": 5}'
      duly approve t1-c7 --store desk.sqlite --contract desk.yaml --always --scope '{"path": "/srv/**"}'

    Exits with 4 if the decision is not taken.
    """
    from .output import usage

    if sum(map(bool, (edit, always))) > 1 or (scope is not None and not always):
        raise usage("`--edit` and `--always` exclude one another, and `--scope` belongs to `--always`")
    args = None if edit is None else _object(edit, "--edit")
    if always:
        from duly.values.event import Ordered

        from .ask import scope_of

        within = None if scope is None else scope_of(scope)
        _tell(
            lambda name: Ordered("stand", target=ticket, by=name, scope=within),
            lambda state: any(parked.ticket == ticket for parked in state.more.parked.values()),
            f"no open ticket `{ticket}`", store, contract, session, by, json,
        )  # fmt: skip
        return
    _decide("approve" if args is None else "edit", ticket, store, contract, session, by, reason, json, args)


def deny(
    ticket: Ticket, store: Store, contract: Held, session: In = None, by: By = None, reason: Why = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Says no to a parked act.

    \b
    Example:
      duly deny t-c7 --store desk.sqlite --contract desk.yaml --by ana --reason "not today"

    Exits with 4 if the decision is not taken.
    """
    _decide("deny", ticket, store, contract, session, by, reason, json)


def settle(
    call: Annotated[str, typer.Argument(help="The call, as `duly pending` shows it.", show_default=False)],
    how: Annotated[How, typer.Argument(help="What became of it.", show_default=False)],
    store: Store,
    contract: Held,
    session: In = None,
    by: By = None,
    json: Json = False,
) -> None:
    """Says what became of an uncertain call. What waited for it is withdrawn (done), or may be asked again.

    \b
    Example:
      duly settle c7 failed --store desk.sqlite --contract desk.yaml --by ana

    Exits with 4 if the order is not taken.
    """
    from duly.values.event import Ordered

    _tell(
        lambda name: Ordered("settle", target=call, by=name, payload={"as": how.value}),
        lambda state: call in state.open,
        f"no call `{call}` is open", store, contract, session, by, json,
    )  # fmt: skip


def _object(text: str, option: str) -> dict[str, Any]:
    from duly.values.plain import Malformed, read_json

    from .output import usage

    try:
        found = read_json(text)
    except Malformed as error:
        raise usage(f"`{option}` is no JSON: {error}") from None
    if type(found) is not dict:
        raise usage(f"`{option}` is one JSON object")
    return found


def _decide(
    decision: Any, ticket: str, store: str, contract: str, session: str | None, by: str | None, reason: str | None,
    json: bool, args: dict[str, Any] | None = None,
) -> None:  # fmt: skip
    from duly.values.event import Decided

    _tell(
        lambda name: Decided(decision, ticket=ticket, by=name, reason=reason, payload=args),
        lambda state: any(parked.ticket == ticket for parked in state.more.parked.values()),
        f"no open ticket `{ticket}`", store, contract, session, by, json,
    )  # fmt: skip


def _tell(
    event: Any, meant: Any, nothing: str, store: str, contract: str, session: str | None, by: str | None, json: bool
) -> None:
    """Finds the one session that the ticket or the call belongs to, and steps the person's event there."""
    from .output import contract_of, usage

    held = contract_of(contract, json=json)
    with opened(store, json=json) as journal:
        names = [name for name, state in _states(journal, held) if session in (None, name) and meant(state)]
        if not names:
            raise usage(nothing, "`duly pending` lists what waits")
        if len(names) > 1:
            raise usage(f"{len(names)} sessions have one of this name", "pick one with `--session`")
        gate = gate_of(journal, held, names[0])
        verdict = gate.step(event(person(by)))
        gate.leave()
    raise answer(verdict, json=json)


def _states(journal: "Journal", contract: "Contract") -> "Iterator[tuple[str, State]]":
    """The sessions of this contract with their states; what belongs to another contract is left out."""
    for summary in journal.sessions():
        if summary.meta.digest == contract.digest:
            yield summary.session, now(journal, contract, summary.session)


def _waiting(session: str, state: "State", contract: "Contract") -> Iterator[dict[str, Any]]:
    from duly.session.ticket import ticket

    for identity, parked in state.more.parked.items():
        if parked.until is not None and state.at >= parked.until:
            continue
        line: dict[str, Any] = {
            "session": session, "ticket": parked.ticket, "call": identity, "label": parked.label, "args": parked.runs,
            "waits_for": parked.cause or None,
        }  # fmt: skip
        if parked.asks:
            line |= ticket(contract, state, identity).plain()
        yield line
    for identity, call in state.open.items():
        if call.uncertain:
            yield {"session": session, "ticket": None, "call": identity, "label": call.label, "args": call.args,
                   "waits_for": None}  # fmt: skip


def _text(line: dict[str, Any]) -> str:
    from duly.values.plain import seen, write_json
    from duly.values.verdict import shorten

    args = write_json(line["args"])
    act = f"{line['label']} {shorten(args, SHOWN)}"
    if len(args.encode("utf-8", "replace")) > SHOWN:
        act += f" (cut: {SHOWN} of {len(args.encode('utf-8', 'replace'))} bytes; `--json` and `--ask` show all)"
    if line["ticket"] is None:
        return seen(f"{line['session']}: call {line['call']} is uncertain: {act}")
    if "question" not in line:
        return seen(f"{line['session']}: {line['ticket']} waits until {line['waits_for']} is settled: {act}")
    who = " or ".join(line["by"]) or "a person"
    notes = [f"decided by {who}"] if line["need"] == 1 else [f"{len(line['yes'])} of {line['need']} yes, by {who}"]
    if line["granted"]:
        notes = [f"granted by {', '.join(line['yes'])}, until it is asked for again"]
    if line["left"] is not None:
        notes.append(f"{line['left']:.0f} s left")
    if line["agent"] is not None:
        notes.append(f"asked by {line['agent']}")
    if line["stand"]:
        notes.append(f"a standing yes may cover {', '.join(line['stand'])}")
    told = [f"{line['session']}: {line['ticket']}: {line['question']}", f"      {act}", f"      {'; '.join(notes)}"]
    if line["context"] is not None:
        told.append(f"      with {shorten(write_json(line['context']), SHOWN)}")
    for said in line["said"]:
        words = f": {shorten(said['words'], SHOWN)}" if said["words"] else ""
        told.append(f"      {said['by']} said {said['decision']}{words}")
    return "\n".join(map(seen, told))
