"""The door for values: plain copies, strict JSON, and what is refused with its place."""

import enum
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest

from duly.values.plain import DEPTH, Malformed, plain, read_json, write_json, write_sorted


class Colour(enum.StrEnum):
    RED = "red"


class Mixed(str, enum.Enum):
    A = "a"


class Level(enum.IntEnum):
    HIGH = 3


class Ratio(float):
    pass


class Money(Decimal):
    pass


def said(value: Any) -> str:
    with pytest.raises(Malformed) as caught:
        plain(value)
    return str(caught.value)


def test_a_plain_value_is_copied_so_that_later_changes_do_not_reach_it() -> None:
    inner: list[Any] = [1]
    value = {"a": inner, "b": {"c": inner}}
    copy = plain(value)
    inner.append(2)
    value["d"] = 1
    assert copy == {"a": [1], "b": {"c": [1]}}


@pytest.mark.parametrize(
    ("value", "copy"),
    [
        (None, None),
        ("é", "é"),
        ((1, [2]), [1, [2]]),
        (OrderedDict(a=1), {"a": 1}),
        (Colour.RED, "red"),
        ({Mixed.A: Mixed.A}, {"a": "a"}),
        (Level.HIGH, 3),
        ({"n": Ratio(0.5)}, {"n": 0.5}),
        ({"n": Money("0.50")}, {"n": Decimal("0.50")}),
        ({"n": 10**401}, {"n": Decimal("1E+401")}),
        ({"n": -(10**401)}, {"n": -Decimal("1E+401")}),
        ([10**399], [10**399]),
    ],
)
def test_values_of_like_types_become_plain(value: Any, copy: Any) -> None:
    made = plain(value)
    assert made == copy
    assert _types(made) == _types(copy)


def _types(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _types(item) for key, item in value.items()}
    return [_types(item) for item in value] if isinstance(value, list) else type(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": float("nan")}, "`payload.a` is not a finite number"),
        ({"a": [1, float("inf")]}, "`payload.a[1]` is not a finite number"),
        ({"a": Decimal("NaN")}, "`payload.a` is not a finite number"),
        ({"n": Ratio("nan")}, "`payload.n` is not a finite number"),
        ({1: 2}, "`payload` has a key that is not text: `1`"),
        ({"a": {None: 2}}, "`payload.a` has a key that is not text: `None`"),
        ({"a": b"x"}, "`payload.a` is a `bytes`, which is no JSON value"),
        ({"a": {1, 2}}, "`payload.a` is a `set`, which is no JSON value"),
        ({"a": object}, "`payload.a` is a `type`, which is no JSON value"),
        ({"a": "\ud800"}, "`payload.a` holds text that cannot be written as UTF-8"),
        ({"\ud800": 1}, "`payload` holds text that cannot be written as UTF-8"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(value: Any, message: str) -> None:
    assert said(value) == message


def test_nesting_has_a_bound_and_cycles_meet_it() -> None:
    deep: Any = 1
    for _ in range(DEPTH):
        deep = [deep]
    assert plain(deep) == deep
    assert said([deep]).endswith(f"is nested deeper than {DEPTH} levels")
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert said(loop).endswith(f"is nested deeper than {DEPTH} levels")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"n": 0.1}', {"n": Decimal("0.1")}),
        ('{"n": 1e999}', {"n": Decimal("1E+999")}),
        ('{"n": 1000000000000000000000001}', {"n": 10**24 + 1}),
        ('{"n": -0.0, "m": 1e-7, "k": 1.0}', {"n": Decimal("-0.0"), "m": Decimal("1e-7"), "k": Decimal("1.0")}),
        ('{"\\ufffd": 1, "\\ud800\\udc00": 2}', {"\ufffd": 1, "\U00010000": 2}),
        (b'"\xc3\xa9"', "é"),
        ("null", None),
        ("[]", []),
    ],
)
def test_json_is_read_exactly(text: str | bytes, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "the key `a` is repeated"),
        ('{"a": NaN}', "`NaN` is not JSON"),
        ('{"a": -Infinity}', "`-Infinity` is not JSON"),
        ('{"t": "\\ud800"}', "`value.t` holds text that cannot be written as UTF-8"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        ('{"a": 1', "not JSON: expecting ',' delimiter at line 1 column 8"),
        ("", "not JSON: expecting value at line 1 column 1"),
        ("{} {}", "not JSON: extra data at line 1 column 4"),
        ("[" * 100_000, f"nested deeper than {DEPTH} levels"),
        ("[" * 65 + "]" * 65, "`value[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]` is nested"
         f" deeper than {DEPTH} levels"),
        ("1e99999999999999999999", "`1e99999999999999999999` is beyond the range of decimals"),
    ],
)  # fmt: skip
def test_json_that_two_readers_could_read_differently_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_json(text)
    assert str(caught.value).startswith(message[:80])


def test_json_beyond_the_size_limit_is_refused_unread() -> None:
    with pytest.raises(Malformed, match="longer than 10 bytes"):
        read_json('"0123456789"', limit=10)


def test_ten_thousand_digits_are_read_as_a_decimal_and_written_again() -> None:
    digits = "9" * 10_000
    assert write_json(read_json(f'{{"n":{digits}}}')) == f'{{"n":{digits}}}'


def test_any_whole_number_from_python_can_be_written_and_read_back() -> None:
    assert read_json(write_json(plain({"n": 7 * 10**5000}))) == {"n": Decimal(7 * 10**5000)}


def test_decimals_are_written_as_numbers_with_the_digits_they_have() -> None:
    assert write_json({"b": Decimal("1.10"), "a": 1}) == '{"b":1.10,"a":1}'
    assert write_sorted({"b": Decimal("1.10"), "a": 1}) == b'{"a":1,"b":1.10}'
