"""Lengths of time as text and as numbers."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.notation.document import parse_terms
from duly.notation.duration import duration, seconds
from duly.values.errors import DulyError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("90s", 90.0), ("5m", 300.0), ("1h30m", 5400.0), ("2d", 172800.0), ("1d2h3m4s", 93784.0), ("90m", 5400.0),
        ("0h5s", 5.0), (90, 90.0), (Decimal("0.25"), 0.25), (10**15, 1e15),
    ],
)  # fmt: skip
def test_text_and_numbers_are_seconds(written: object, meant: float) -> None:
    assert seconds(written) == meant


@pytest.mark.parametrize(
    "written",
    ["", "5", "m", "30m1h", "5m5m", "5 m", "-5m", "1.5h", "5M", "0s", "1:30", "٥m", "9" * 20 + "s", "99999999999999d",
     0, -1, Decimal("1e-400"), Decimal("1e400"), 10**15 + 1],
)  # fmt: skip
def test_what_is_no_length_of_time_is_none(written: object) -> None:
    assert seconds(written) is None


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (90.0, "90s"), (300.0, "5m"), (5400.0, "90m"), (3600.0, "1h"), (86401.0, "1d1s"), (93784.0, "93784s"),
        (0.1, Decimal("0.1")), (60, "1m"),
    ],
)  # fmt: skip
def test_the_shortest_exact_form_is_shown(length: float, shown: object) -> None:
    assert duration(length) == shown


@given(st.floats(0, 1e15, exclude_min=True))
def test_what_is_shown_is_what_is_meant(length: float) -> None:
    assert seconds(duration(length)) == length


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("1:30", "expected a duration under `expires`, got `1:30`"),
        ("0", "expected a duration under `expires`, got `0`"),
        ("[1]", "expected a duration under `expires`, got a list"),
    ],
)
def test_a_document_says_what_is_no_duration_and_what_would_be(written: str, message: str) -> None:
    with pytest.raises(DulyError) as caught:
        parse_terms(f"duly: 1\napprovals:\n  - of: pay\n    expires: {written}\n", name="c.yaml")
    (said,) = caught.value.diagnostics
    assert (said.message, said.where()) == (message, "c.yaml:4:14")
    if written != "[1]":
        assert said.help == "write seconds as a number above 0, or for example `90s`, `5m`, `1h30m` or `2d`"
