"""Python objects as payloads."""

import dataclasses
import datetime
import enum
import pathlib
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from duly.gates.objects import arguments_of, payload_of
from duly.values.plain import Malformed


@dataclasses.dataclass
class Order:
    id: int
    lines: list[str]


class Money(msgspec.Struct):
    amount: Decimal
    currency: str = "EUR"


class Model:
    """What looks like a pydantic model."""

    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"mode": mode, "n": 1}


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "payload"),
    [
        ({"a": [1, "x", None]}, {"a": [1, "x", None]}),
        (Order(1, ["a"]), {"id": 1, "lines": ["a"]}),
        ({"order": Order(1, [])}, {"order": {"id": 1, "lines": []}}),
        (Money(Decimal("1.50")), {"amount": Decimal("1.50"), "currency": "EUR"}),
        ({"at": datetime.date(2024, 5, 1)}, {"at": "2024-05-01"}),
        ({"path": pathlib.PurePosixPath("/w/a")}, {"path": "/w/a"}),
        ({"c": Colour.RED}, {"c": "red"}),
        ({1: 2}, {"1": 2}),
        ({"m": Model()}, {"m": {"mode": "json", "n": 1}}),
        ({"f": len}, {"f": {"type": "builtin_function_or_method"}}),
    ],
)
def test_objects_become_plain_values(value: Any, payload: Any) -> None:
    assert arguments_of(value) == payload == payload_of(value)


@pytest.mark.parametrize("value", [float("nan"), {"n": float("inf")}, {"t": "\ud800"}, [Decimal("NaN")]])
def test_what_cannot_be_judged_is_refused_as_arguments_and_named_as_a_result(value: Any) -> None:
    with pytest.raises(Malformed):
        arguments_of(value)
    assert payload_of(value) == {"type": type(value).__qualname__}


def test_a_cycle_is_refused_and_never_hangs() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Malformed):
        arguments_of(loop)
    assert payload_of(loop) == {"type": "list"}
