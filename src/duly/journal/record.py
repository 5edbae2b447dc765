"""What a journal keeps: one record for each decided event, and what it says of calls that have ended.

Records are values; how they are stored is the business of each store. Their text is one JSON object with exact
decimals, so that deciding the events again gives the same verdicts.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from duly.machine.contract import Contract
from duly.machine.ir import Open, State
from duly.session.settle import outcome_of
from duly.session.time import FOREVER
from duly.values.event import Called, Event, Failed, Found, Ordered, Returned, Sent
from duly.values.plain import LONG, Malformed
from duly.values.verdict import Allowed, Reason, Refusal, Verdict


class Meta(Struct, frozen=True):
    """What a journal knows of a session from its beginning: the contract it is held to, and when it was opened."""

    contract: str
    version: str
    digest: str
    created: float


class Record(Struct, frozen=True, omit_defaults=True):
    """One decided event and what was said of it.

    ``event`` holds what a gate looked up (``found``) and asked (``answers``), so that nothing is asked again.
    ``happened`` is the reading it was judged by, ``mode`` the one in force; ``judged`` False marks what a gate said
    without a decision, which moves nothing. ``call`` is the call that the event began or ended, ``status`` how that
    stands since (``open``, ``finished``, ``failed``, ``uncertain``), ``outcome`` how it ended; ``name`` and ``args``
    are what was admitted, where that is not what was asked. ``by`` is the process that admitted the call. ``listed``
    says that the events of a batch were decided in the order of a list, and not as they arrived. ``digest`` is
    empty where the session's own contract decided. ``over``, ``open`` and ``uncertain`` are the session as it then was.
    ``ledgers`` is what the decision asked of each ledger, as it was before: by window, value of ``same``, and unit.
    """

    index: int
    event: Event
    verdict: str
    wall: float
    mode: str = "enforce"
    happened: bool = False
    judged: bool = True
    reasons: tuple[Reason, ...] = ()
    ticket: str | None = None
    halted: bool = False
    finding: bool = False
    replayed: bool = False
    call: str | None = None
    status: str | None = None
    outcome: str | None = None
    name: str | None = None
    args: Any | UnsetType = UNSET
    by: str | None = None
    listed: bool = False
    digest: str = ""
    over: str | None = None
    open: int = 0
    uncertain: int = 0
    noted: tuple[Reason, ...] = ()
    ledgers: dict[str, dict[str, dict[str, dict[str, str] | None]]] | None = None

    @property
    def key(self) -> str | None:
        """The idempotency key of a call that was admitted under one."""
        return self.event.key if self.status == "open" and type(self.event) is Called else None


class Posting(Struct, frozen=True):
    """What one record of a session adds to a ledger: exact amounts, by window, by value of ``same``, and by unit."""

    session: str
    record: int
    add: dict[str, dict[str, dict[str, str]]]


class Share(Struct, frozen=True):
    """What is posted to one ledger together with records, the first posting at index ``expected``. Without postings it
    says that the ledger must still be what it was."""

    ledger: str
    expected: int
    postings: tuple[Posting, ...] = ()


class Saved(Struct, frozen=True):
    """A snapshot: the state after the first ``index`` records, as ``Session.to_dict`` writes it."""

    index: int
    data: dict[str, Any]


class Summary(Struct, frozen=True):
    """A session at a glance, as its last record left it."""

    session: str
    meta: Meta
    length: int
    last: float | None = None
    over: str | None = None
    open: int = 0
    uncertain: int = 0


def record_of(
    contract: Contract,
    before: State,
    after: State,
    event: Event,
    verdict: Verdict,
    *,
    index: int,
    wall: float,
    mode: str = "enforce",
    happened: bool = False,
    judged: bool = True,
    by: str | None = None,
    listed: bool = False,
    ledgers: dict[str, Any] | None = None,
) -> Record:
    """The record of an event that took a session from ``before`` to ``after``."""
    call, status, outcome, name, args = _of_call(contract, before, after, event, verdict) if judged else _NO_CALL
    refusal = verdict if isinstance(verdict, Refusal) else None
    calls = after.open.values()
    return Record(
        index, event, verdict.word, wall, mode, happened, judged,
        facts_of(refusal.reasons) if refusal is not None else (),
        refusal.ticket if refusal is not None else None,
        refusal.halted if refusal is not None else False,
        refusal.finding if refusal is not None else False,
        type(verdict) is Allowed and verdict.replayed,
        call, status, outcome, name, args,
        by if status == "open" else None,
        listed, "", after.more.over, len(calls), sum(call.uncertain for call in calls) if calls else 0,
        facts_of(verdict.noted) if verdict.noted else (), ledgers,
    )  # fmt: skip


def facts_of(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Reasons with the name of their place, for the journal does not have the text that they stand in."""
    return tuple(
        structs.replace(reason, span=None, place=reason.where) if reason.span is not None else reason
        for reason in reasons
    )


def _of_call(contract: Contract, before: State, after: State, event: Any, verdict: Verdict) -> tuple[Any, ...]:
    """The call that the event began or ended, how it stands, its outcome, and what was admitted."""
    kind = type(event)
    if kind is Called:
        identity: Any = verdict.id if type(verdict) is Allowed else event.id
        held = after.open.get(identity)
        if held is None or before.open.get(identity) is held:
            return _NO_CALL
        name = held.label if held.label != event.label else None
        return identity, "open", None, name, UNSET if held.args is event.payload else held.args
    if kind is Returned or kind is Failed:
        identity = event.id
    elif kind is Ordered and event.order == "settle":
        identity = event.target
    else:
        return _NO_CALL
    held = before.open.get(identity)
    if held is None:
        return _NO_CALL
    now = after.open.get(identity)
    if now is not None:
        return (identity, "uncertain", None, None, UNSET) if now.uncertain else _NO_CALL
    outcome = _outcome(contract, held, event)
    return identity, "failed" if outcome in (None, "error") else "finished", outcome, None, UNSET


def _outcome(contract: Contract, call: Open, event: Any) -> str | None:
    if type(event) is Returned:
        return event.outcome if event.outcome is not None else outcome_of(contract, call, event.payload)
    if type(event) is Ordered:
        told = event.payload if isinstance(event.payload, dict) else {}
        return "ok" if told.get("as", event.scope) == "done" else None
    return None


_NO_CALL: Final = (None, None, None, None, UNSET)


def found_in(newest: Iterable[Record]) -> Found | None:
    """What the records of one call, the newest first, say of it: how its last admission has ended."""
    end: Record | None = None
    for record in newest:
        if record.status == "open":
            return _found(record, end)
        if end is None or end.status == "uncertain":
            end = record
    return None


def _found(begun: Record, end: Record | None) -> Found:
    event: Any = begun.event
    label = begun.name if begun.name is not None else event.label
    args = event.payload if begun.args is UNSET else begun.args
    if end is None:
        return Found("open", label, args, id=begun.call)
    result = None
    if end.status != "uncertain":
        told: Any = getattr(end.event, "payload", None)
        result = told.get("result") if type(end.event) is Ordered and isinstance(told, dict) else told
    if end.status == "failed" and type(end.event) is not Returned:
        result = None
    return Found(str(end.status), label, args, result, end.outcome, begun.call)


def write_record(record: Record) -> bytes:
    """The record as one JSON object; raises Malformed where its event holds what cannot be written."""
    try:
        return _ENCODER.encode(record)
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Malformed(f"an event that cannot be written: {str(error)[:200]}") from None


def writable(event: Event) -> Event:
    """The event, if what is written of it can be read again as the same; raises Malformed."""
    if type(event.at) in (int, float) and not -FOREVER < event.at < FOREVER:  # type: ignore[operator]
        raise Malformed("`at` is not a finite number of seconds")
    try:
        again = _EVENTS.decode(_ENCODER.encode(event))
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if "out of range" in str(error):
            return event  # whole numbers that `read_record` knows how to read
        raise Malformed(f"an event that cannot be written: {str(error)[:200]}") from None
    if again.at != event.at or again.wall != event.wall:
        raise Malformed("`at` is a number of seconds or an instant with a zone")
    return event


def legible(event: Event) -> Event:
    """What can be kept of an event that was refused at the door: its texts, as far as they are texts."""
    kept: dict[str, Any] = {}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if isinstance(value, str):
            kept[name] = value[:1000].encode("utf-8", "backslashreplace").decode()
        elif name in ("label", "id", "server", "order", "decision") and value is not None:
            kept[name] = str(value)[:1000].encode("utf-8", "backslashreplace").decode()
        else:
            kept[name] = {} if name in ("usage", "tools") else None
    if type(event) is Failed:
        kept["effect"] = "unknown"
    try:
        return writable(type(event)(**{name: value for name, value in kept.items() if value is not None}))
    except (Malformed, TypeError):
        return Sent(None)


def write_posting(posting: Posting) -> str:
    """The posting as one JSON object."""
    try:
        return msgspec.json.encode(posting).decode()
    except (UnicodeEncodeError, TypeError) as error:
        raise Malformed(f"a posting that cannot be written: {str(error)[:200]}") from None


def read_posting(text: bytes | str) -> Posting:
    """The posting that a text says; raises Malformed."""
    try:
        return msgspec.json.decode(text, type=Posting)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"not a posting: {str(error)[:200]}") from None


def read_record(text: bytes | str) -> Record:
    """The record that a text says; raises Malformed. Numbers with a point or an exponent are read as decimals."""
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "out of range" not in str(error):
            raise Malformed(f"not a record: {str(error)[:200]}") from None
    # whole numbers beyond what Python reads as integers were decimals when they were written
    import json

    try:
        value = json.loads(text, parse_float=Decimal, parse_int=_integer)
        return msgspec.convert(value, Record)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not a record: {str(error)[:200]}") from None


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= LONG else Decimal(text)


_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_EVENTS: Final = msgspec.json.Decoder(Event, float_hook=Decimal)
_DECODER: Final = msgspec.json.Decoder(Record, float_hook=Decimal)
