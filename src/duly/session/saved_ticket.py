"""Tickets and standing yeses on paper, as part of a session's snapshot."""

from msgspec import Struct, field

from duly.machine.ir import Parked, Standing
from duly.values.plain import read_json, write_json


class SavedTicket(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An act that waits for people."""

    label: str
    args: str
    ticket: str
    asks: list[str]
    yes: list[str] = field(default_factory=list)
    until: float | None = None
    granted: bool = False
    edited: str | None = None
    agent: str | None = None
    context: str | None = None
    said: list[tuple[str, str, str]] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)


class SavedStanding(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    label: str
    args: str
    asks: list[str]
    by: str
    within: dict[str, str] = field(default_factory=dict)
    until: float | None = None


def write_ticket(waits: Parked) -> SavedTicket:
    edited = None if waits.edited is None else write_json(waits.edited)
    return SavedTicket(
        waits.label, write_json(waits.args), waits.ticket, list(waits.asks), list(waits.yes), waits.until,
        waits.granted, edited, waits.agent, None if waits.context is None else write_json(waits.context),
        list(waits.said), list(waits.programs),
    )  # fmt: skip


def read_ticket(saved: SavedTicket) -> Parked:
    edited = None if saved.edited is None else read_json(saved.edited)
    return Parked(
        saved.label, read_json(saved.args), saved.ticket, "", tuple(saved.asks), tuple(saved.yes), saved.until,
        saved.granted, edited, saved.agent, None if saved.context is None else read_json(saved.context),
        tuple(saved.said), tuple(saved.programs),
    )  # fmt: skip


def write_standing(stands: Standing) -> SavedStanding:
    args = write_json(stands.args)
    return SavedStanding(stands.id, stands.label, args, list(stands.asks), stands.by, stands.within, stands.until)


def read_standing(saved: SavedStanding) -> Standing:
    args = read_json(saved.args)
    return Standing(saved.id, saved.label, args, tuple(saved.asks), saved.by, saved.within, saved.until)
