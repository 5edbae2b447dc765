"""The event alphabet: what can be observed of an agent's run, and its form on paper (one JSON object a line).

Acts (``Called``, ``Sent``) are decided before they happen and can be refused; all others have happened. Payloads
are plain JSON values: ``values/plain.py`` makes them so at the door.
"""

from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct


class Found(Struct, frozen=True, gc=False):
    """What the journal holds of a call, looked up by the gate and handed to ``decide`` as part of an event.

    ``status`` is ``finished``, ``open``, ``uncertain`` or ``failed``; ``payload`` are the arguments of the call,
    ``result`` its recorded result and ``outcome`` the outcome of that.
    """

    status: str
    label: str
    payload: Any = None
    result: Any = None
    outcome: str | None = None
    id: str | None = None


class Called(Struct, frozen=True, gc=False, tag_field="event", tag="called", omit_defaults=True):
    """The agent asks for a tool. ``raw`` is undecoded argument text and stands in place of ``payload``.

    ``context`` is what whoever asks wants to be known of the call: it is shown to those who decide on it and kept for
    the record, and nothing is judged by it.
    """

    label: str
    payload: Any = None
    id: str | None = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    batch: str | None = None
    key: str | None = None
    parent: str | None = None
    server: str | None = None
    executed_by: str | None = None
    answers: dict[str, Any] | None = None
    raw: str | None = None
    found: Found | None = None
    context: Any = None
    wall: float | None = None


class Sent(Struct, frozen=True, gc=False, tag_field="event", tag="sent", omit_defaults=True):
    """The agent says something. ``label`` None: nobody could name it."""

    label: str | None
    payload: Any = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    batch: str | None = None
    wall: float | None = None


class Returned(Struct, frozen=True, gc=False, tag_field="event", tag="returned", omit_defaults=True):
    """A call answered. ``outcome`` None leaves the outcome to the contract's conditions."""

    label: str
    payload: Any = None
    id: str | None = None
    outcome: str | None = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    server: str | None = None
    executed_by: str | None = None
    found: Found | None = None
    wall: float | None = None


class Failed(Struct, frozen=True, gc=False, tag_field="event", tag="failed", omit_defaults=True):
    """A call broke off. ``effect`` says whether it may have done something all the same."""

    id: str
    effect: Literal["none", "unknown"] = "unknown"
    error: str | None = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


class Received(Struct, frozen=True, gc=False, tag_field="event", tag="received", omit_defaults=True):
    """The agent learns something, as a rule from a person. ``label`` None: nobody could name it."""

    label: str | None
    payload: Any = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


class Decided(
    Struct, frozen=True, gc=False, tag_field="event", tag="decided", omit_defaults=True, rename={"target": "for"}
):
    """A decision on a parked act, named by its call id (``for``) or its ticket.

    ``leave`` leaves it to others, perhaps with a ``recommendation`` to them. ``channel`` is None where a person has
    decided; a gate that has asked a ``callback`` or a ``program`` says so, and under ``fault`` why it has none but this
    answer (``timeout``, ``crash``, ``rubbish``).
    """

    decision: Literal["approve", "deny", "edit", "leave"]
    target: str | None = None
    ticket: str | None = None
    by: str | None = None
    payload: Any = None
    reason: str | None = None
    recommendation: str | None = None
    channel: Literal["callback", "program"] | None = None
    fault: Literal["timeout", "crash", "rubbish"] | None = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


class Ordered(
    Struct, frozen=True, gc=False, tag_field="event", tag="ordered", omit_defaults=True, rename={"target": "for"}
):
    """An order of a person: freeze, unfreeze, stand, withdraw, settle, mode, accept."""

    order: Literal["freeze", "unfreeze", "stand", "withdraw", "settle", "mode", "accept"]
    target: str | None = None
    by: str | None = None
    scope: Any = None
    payload: Any = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


class Charged(Struct, frozen=True, gc=False, tag_field="event", tag="charged", omit_defaults=True):
    """Something was used up: tokens, money, any named unit."""

    usage: dict[str, Any]
    id: str | None = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


class Opened(Struct, frozen=True, gc=False, tag_field="event", tag="opened", omit_defaults=True):
    """A child session was opened."""

    session: str
    parent: str | None = None
    budget: dict[str, Any] | None = None
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    wall: float | None = None


class Listed(Struct, frozen=True, gc=False, tag_field="event", tag="listed", omit_defaults=True):
    """A server listed its tools: the digest of each definition."""

    server: str
    tools: dict[str, str]
    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


class Elapsed(Struct, frozen=True, gc=False, tag_field="event", tag="elapsed", omit_defaults=True):
    """Time passed and nothing else happened."""

    at: float | str
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


class Closed(Struct, frozen=True, gc=False, tag_field="event", tag="closed", omit_defaults=True):
    """The session ended."""

    at: float | str | None = None
    run: str | None = None
    turn: str | None = None
    agent: str | None = None
    session: str | None = None
    wall: float | None = None


Act: TypeAlias = Called | Sent
Observation: TypeAlias = Returned | Failed | Received | Decided | Ordered | Charged | Opened | Listed | Elapsed | Closed
Event: TypeAlias = Act | Observation

ACTS: Final = (Called, Sent)
KINDS: Final[dict[str, type]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (
        Called, Sent, Returned, Failed, Received, Decided, Ordered, Charged, Opened, Listed, Elapsed, Closed,
    )
}  # fmt: skip


def sign(event: Event) -> str:
    """The event as a label: ``!refund``, ``?verify=denied``, ``?Yes``; other events by their kind: ``closed``."""
    if isinstance(event, Called | Sent):
        return f"!{event.label if event.label is not None else 'Unrecognized'}"
    if isinstance(event, Returned):
        return f"?{event.label}" + (f"={event.outcome}" if event.outcome is not None else "")
    if isinstance(event, Received):
        return f"?{event.label if event.label is not None else 'Unrecognized'}"
    return str(type(event).__struct_config__.tag)
