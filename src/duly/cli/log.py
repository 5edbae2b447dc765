"""`duly log`: what happened in a session, and what was said of it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .store import Json, Store, clock, opened, summary_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duly.journal.record import Record
    from duly.values.verdict import Reason


def log(
    session: Annotated[str, typer.Argument(help="The session's name.", show_default=False)],
    store: Store,
    start: Annotated[int, typer.Option("--from", min=0, help="The first record to show.")] = 0,
    refused: Annotated[bool, typer.Option("--refused", help="Only what was not allowed.")] = False,
    json: Json = False,
) -> None:
    """Prints the journal of a session: each event, the verdict on it, and why.

    \b
    Examples:
      duly log desk-17 --store desk.sqlite
      duly log desk-17 --store desk.sqlite --refused --json

    Exits with 6 if the journal cannot be used.
    """
    from duly.values.plain import write_json

    from .output import write

    with opened(store, readonly=True, json=json) as journal:
        summary_of(journal, session)
        for record in journal.read(session, start):
            if not refused or record.verdict != "allowed" or record.noted:
                write(write_json(_plain(record)) if json else _text(record))


def _plain(record: "Record") -> dict[str, Any]:
    from duly.values.paper import object_of

    from .output import plain_reason

    return {
        "index": record.index, "wall": record.wall, "event": object_of(record.event), "verdict": record.verdict,
        "mode": record.mode, "call": record.call, "ticket": record.ticket,
        "reasons": [plain_reason(reason) for reason in record.reasons],
        "noted": [plain_reason(reason) for reason in record.noted],
        **({"ledgers": record.ledgers} if record.ledgers is not None else {}),
    }  # fmt: skip


def _text(record: "Record") -> str:
    from duly.values.event import sign
    from duly.values.verdict import shorten

    mode = "" if record.mode == "enforce" else f" ({record.mode})"
    lines = [f"{record.index:>5}  {clock(record.wall)}  {sign(record.event):<32} {record.verdict}{mode}"]
    said = getattr(record.event, "payload", None)
    if isinstance(said, dict) and isinstance(said.get("text"), str):
        lines.append(f"       “{shorten(said['text'], 200)}”")
    lines += [f"       {reason.rule}: {reason.text()}{_place(reason)}" for reason in record.reasons]
    lines += [f"       noted: {reason.rule}: {reason.text()}{_place(reason)}" for reason in record.noted]
    lines += [f"       ledger {said}" for said in stood(record.ledgers)]
    return "\n".join(lines)


def stood(ledgers: "Mapping[str, Any] | None") -> list[str]:
    """What ledgers held when they were asked, a line for each: ``desk/at_most(send): 2 on 2026-12-01``."""
    found = []
    for name, value in (ledgers or {}).items():
        parts = []
        for window, rows in value.items():
            for key, row in rows.items():
                of = f" for {key}" if key else ""
                on = f" on {window}" if window else ""
                parts.append(f"{_held(row)}{of}{on}")
        if parts:
            found.append(f"{name}: {'; '.join(parts)}")
    return found


def _held(row: "Mapping[str, str] | None") -> str:
    if row is None:
        return "no room"
    from duly.values.verdict import shorten

    counted = [n if place in ("n", "") else f"{n} {place}" for place, n in row.items()]
    return shorten(", ".join(counted), 200) or "0"


def _place(reason: "Reason") -> str:
    return f" [{reason.where}]" if reason.where else ""
