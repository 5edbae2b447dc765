"""Short ways to step a session through events and to name what came of them."""

from duly import Called, Contract, Failed, Graph, Ordered, Received, Returned, Rule, Session, Tool, protocol
from duly.values.event import Event
from duly.values.verdict import Verdict


def held(*parts: str | Graph | Rule, **terms: object) -> Session:
    """A session held to protocols (texts) and rules; tools may be names."""
    tools = terms.pop("tools", None)
    if tools is not None:
        terms["tools"] = [Tool(tool) if isinstance(tool, str) else tool for tool in tools]  # type: ignore[attr-defined]
    ready = [protocol(part) if isinstance(part, str) else part for part in parts]
    return Session(Contract(*ready, **terms))  # type: ignore[arg-type]


def words(session: Session, *events: Event) -> list[str]:
    return [session.step(event).word for event in events]


def why(verdict: Verdict) -> list[tuple[str, str]]:
    """The rule and the kind of each reason."""
    return [(reason.rule, reason.kind) for reason in verdict.reasons]


def call(label: str, id: str, payload: dict[str, object] | None = None, **more: object) -> Called:
    return Called(label, payload if payload is not None else {}, id=id, **more)  # type: ignore[arg-type]


def back(label: str, id: str, payload: object = None, outcome: str | None = None) -> Returned:
    return Returned(label, payload, id=id, outcome=outcome)


def broke(id: str, effect: str = "none") -> Failed:
    return Failed(id, effect)  # type: ignore[arg-type]


def settle(id: str, how: str, **more: object) -> Ordered:
    return Ordered("settle", id, "ana", payload={"as": how, **more})


def ran(session: Session, label: str, id: str, payload: dict[str, object] | None = None, result: object = None) -> None:
    """A call that is admitted and succeeds."""
    assert words(session, call(label, id, payload), back(label, id, result)) == ["allowed", "allowed"]


def hear(label: str | None, **payload: object) -> Received:
    return Received(label, payload or None)
