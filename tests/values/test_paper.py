"""Events on paper: one strict JSON object a line."""

from decimal import Decimal

import pytest

from duly import Called, Charged, Closed, Decided, Failed, Listed, Ordered, Received, Returned
from duly.values.event import Event, Found
from duly.values.paper import event_of, object_of, read_event, write_event
from duly.values.plain import Malformed


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (
            '{"event":"called","label":"refund","payload":{"amount":240},"id":"c7","at":12.5}',
            Called("refund", {"amount": 240}, id="c7", at=12.5),
        ),
        (
            '{"event":"returned","label":"verify","id":"c7","outcome":"denied"}',
            Returned("verify", None, "c7", "denied"),
        ),
        ('{"event":"failed","id":"c7","effect":"none","error":"timeout"}', Failed("c7", "none", "timeout")),
        ('{"event":"failed","id":"c7"}', Failed("c7")),
        ('{"event":"received","label":null}', Received(None)),
        ('{"event":"decided","decision":"approve","for":"c7","by":"ana"}', Decided("approve", "c7", by="ana")),
        ('{"event":"ordered","order":"settle","for":"c7","by":"ana"}', Ordered("settle", "c7", "ana")),
        ('{"event":"charged","usage":{"usd":0.0031}}', Charged({"usd": Decimal("0.0031")})),
        ('{"event":"listed","server":"fs","tools":{"read":"sha256:1"}}', Listed("fs", {"read": "sha256:1"})),
        ('{"event":"closed"}', Closed()),
        ('{"event":"called","label":"a","at":"2024-05-01T12:00:00Z"}', Called("a", at="2024-05-01T12:00:00Z")),
    ],
)
def test_an_event_is_read_from_its_line_and_written_to_it(line: str, event: Event) -> None:
    assert read_event(line) == event
    assert write_event(event) == line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "an event is one JSON object"),
        ("{}", "an event names its kind under `event`"),
        ('{"event":"caled"}', "unknown event `caled`; did you mean `called`?"),
        ('{"event":5}', "unknown event `5`"),
        ('{"event":"called"}', "a `called` event: object missing required field `label`"),
        ('{"event":"called","label":5}', "a `called` event: expected `str`, got `int` - at `$.label`"),
        ('{"event":"called","label":"a","lable":"b"}', "unknown key `lable` in a `called` event; did you mean `label`?"),
        ('{"event":"called","label":"a","label":"b"}', "the key `label` is repeated"),
        ('{"event":"failed","id":"c","effect":"some"}', "a `failed` event: invalid enum value 'some' - at `$.effect`"),
        ('{"event":"called","label":"a","at":true}',
         "a `called` event: expected `float | str | null`, got `bool` - at `$.at`"),
        ('{"event":"called","label":"a","payload":{"n":NaN}}', "`NaN` is not JSON"),
        ("{", "not JSON: expecting property name enclosed in double quotes at line 1 column 2"),
    ],
)  # fmt: skip
def test_a_faulty_line_is_refused_with_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_event(line)
    assert str(caught.value) == message


def test_nobody_can_write_on_paper_what_only_a_gate_looks_up() -> None:
    with pytest.raises(Malformed, match="unknown key `found` in a `called` event"):
        read_event('{"event":"called","label":"pay","key":"k","found":{"status":"finished","label":"pay"}}')
    known = Called("pay", {}, key="k", found=Found("finished", "pay", {}, 5))
    assert write_event(known) == '{"event":"called","label":"pay","payload":{},"key":"k"}'


def test_the_kind_comes_first_and_defaults_are_left_out() -> None:
    assert list(object_of(Called("a", {}, batch="b"))) == ["event", "label", "payload", "batch"]
    assert event_of({"label": "a", "event": "called", "payload": {}, "batch": "b"}) == Called("a", {}, batch="b")
