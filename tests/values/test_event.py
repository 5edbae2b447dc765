"""The event alphabet, and events as labels."""

import pytest

from duly import Called, Charged, Closed, Elapsed, Failed, Opened, Ordered, Received, Returned, Sent
from duly.values.event import ACTS, KINDS, Event, sign


@pytest.mark.parametrize(
    ("event", "label"),
    [
        (Called("refund", {"amount": 5}), "!refund"),
        (Sent("Answer"), "!Answer"),
        (Sent(None), "!Unrecognized"),
        (Returned("verify"), "?verify"),
        (Returned("verify", outcome="denied"), "?verify=denied"),
        (Received("Yes"), "?Yes"),
        (Received(None), "?Unrecognized"),
        (Failed("c1"), "failed"),
        (Ordered("freeze", by="ana"), "ordered"),
        (Charged({"tokens": 5}), "charged"),
        (Opened("s2"), "opened"),
        (Elapsed(5.0), "elapsed"),
        (Closed(), "closed"),
    ],
)
def test_an_event_has_a_label(event: Event, label: str) -> None:
    assert sign(event) == label


def test_there_are_twelve_kinds_and_only_two_can_be_refused() -> None:
    assert sorted(KINDS) == [
        "called", "charged", "closed", "decided", "elapsed", "failed", "listed", "opened", "ordered", "received",
        "returned", "sent",
    ]  # fmt: skip
    assert ACTS == (Called, Sent)
    assert set(KINDS.values()) == set(Event.__args__)  # type: ignore[attr-defined]


def test_events_are_values() -> None:
    assert Called("a", {"n": 1}, id="1") == Called("a", {"n": 1}, id="1")
    assert Called("a", {"n": 1}, id="1") != Called("a", {"n": 1}, id="2")
    with pytest.raises(AttributeError):
        Called("a").label = "b"  # type: ignore[misc]
