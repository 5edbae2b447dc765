"""`duly pending --ask`: what waits is put to the person at the terminal, one ticket after the other."""

import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from duly.journal.journal import Journal
    from duly.machine.contract import Contract
    from duly.session.ticket import Ticket
    from duly.values.event import Event

CHOICES = "[y] yes  [n] no  [e] edit  [a] always  [s] leave it  [q] stop"


def terminal() -> bool:
    """Whether a person sits there."""
    return sys.stdin.isatty()


def ask(journal: "Journal", contract: "Contract", waiting: list[tuple[str, str]], by: str) -> set[int]:
    """Puts each ticket (session, name) to the person; gives the exit codes: 4 for a decision that was not taken, 6 for
    what still waits."""
    from .output import say, write
    from .store import gate_of, now

    def open_ticket(session: str, name: str) -> "Ticket | None":
        from duly.session.ticket import ticket

        state = now(journal, contract, session)
        key = next((key for key, waits in state.more.parked.items() if waits.ticket == name and waits.asks), None)
        return None if key is None else ticket(contract, state, key)

    codes: set[int] = set()
    for place, (session, name) in enumerate(waiting, start=1):
        waits = open_ticket(session, name)
        if waits is None or waits.granted or (waits.left is not None and waits.left <= 0):
            write(f"{name} waits no more")
            continue
        try:
            event = _answer(waits, f"{place} of {len(waiting)}", session, by)
        except (typer.Abort, KeyboardInterrupt):
            return codes | {6}
        if event is None:
            codes.add(6)
            continue
        gate = gate_of(journal, contract, session)
        verdict = gate.step(event)
        gate.leave()
        if not verdict:
            say(verdict.text())
            codes.add(4)
            continue
        write("taken")
        waits = open_ticket(session, name)
        if waits is not None and not waits.granted:
            codes.add(6)
    return codes


def _answer(waits: "Ticket", place: str, session: str, by: str) -> "Event | None":
    """What the person says of one ticket; None where it is left. Raises Abort where the person stops."""
    from duly.values.event import Decided, Ordered
    from duly.values.plain import Malformed, read_json, seen, write_json

    from .output import say, write

    write(seen(f"({place}) {session}: {waits.ticket}: {waits.question}"))
    write(seen(f"      {waits.label} {write_json(waits.args)}"))
    if waits.need > 1:
        write(f"      {len(waits.yes)} of {waits.need} have said yes")
    if waits.left is not None:
        write(f"      {waits.left:.0f} s left")
    while True:
        said = typer.prompt(CHOICES, default="s", show_default=False)
        match said.strip().lower()[:1]:
            case "y":
                return Decided("approve", ticket=waits.ticket, by=by)
            case "n":
                return Decided("deny", ticket=waits.ticket, by=by)
            case "s":
                return None
            case "q":
                raise typer.Abort
            case "e":
                text = typer.prompt("      arguments (JSON)", default=write_json(waits.args))
                try:
                    args = read_json(text)
                except Malformed as error:
                    say(f"      no JSON: {error}")
                    continue
                if type(args) is dict:
                    return Decided("edit", ticket=waits.ticket, by=by, payload=args)
                say("      the arguments are one JSON object")
            case "a" if waits.stand:
                write(f"      may cover {', '.join(waits.stand)}")
                text = "" if len(waits.stand) == 1 else typer.prompt("      scope (JSON or a glob)", default="")
                return Ordered("stand", target=waits.ticket, by=by, scope=scope_of(text))
            case "a":
                say("      the contract lets no yes stand here")
            case _:
                continue


def scope_of(text: str) -> Any:
    """What is to stand: a JSON object, else a glob for the only argument that may vary; None for equal acts only."""
    from duly.values.plain import Malformed, read_json

    if not text.strip():
        return None
    try:
        found = read_json(text)
    except Malformed:
        return text
    return found if type(found) is dict else text
