"""`duly sessions`: what a journal holds."""

from typing import TYPE_CHECKING, Any

import typer

from .store import Json, Store, clock, opened

if TYPE_CHECKING:
    from duly.journal.record import Summary


def sessions(store: Store, json: Json = False) -> None:
    """Lists the sessions of a journal: contract, length, last event, and whether calls are open or uncertain.

    \b
    Examples:
      duly sessions --store desk.sqlite
      duly sessions --store desk.sqlite --json

    Exits with 6 if the journal cannot be used.
    """
    from duly.values.plain import write_json

    from .output import console, number, write

    with opened(store, readonly=True, json=json) as journal:
        found = list(journal.sessions())
    if json:
        for summary in found:
            write(write_json(_plain(summary)))
        raise typer.Exit(0)
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("session", "contract", "events", "last (UTC)", "stands"):
        table.add_column(name)
    for summary in found:
        meta = summary.meta
        contract = f"{meta.contract} {meta.version}".strip() or meta.digest[:19]
        table.add_row(summary.session, contract, str(summary.length), clock(summary.last), _stands(summary))
    if found:
        console().print(table)
    write(number(len(found), "session"))


def _stands(summary: "Summary") -> str:
    parts = [summary.over] if summary.over else []
    if summary.open - summary.uncertain > 0:
        parts.append(f"{summary.open - summary.uncertain} running")
    if summary.uncertain:
        parts.append(f"{summary.uncertain} uncertain")
    return ", ".join(parts) or "open"


def _plain(summary: "Summary") -> dict[str, Any]:
    meta = summary.meta
    return {
        "session": summary.session, "contract": meta.contract, "version": meta.version, "digest": meta.digest,
        "created": meta.created, "events": summary.length, "last": summary.last, "over": summary.over,
        "open": summary.open, "uncertain": summary.uncertain,
    }  # fmt: skip
