"""Strict JSON, one value after another."""

from decimal import Decimal

import pytest

from duly.audit.decode import decode, decode_at, end_of
from duly.values.plain import Malformed


def test_values_are_read_with_exact_decimals_and_integers() -> None:
    assert decode(b' {"a": 1.10, "b": [1, null, true]} \r\n') == {"a": Decimal("1.10"), "b": [1, None, True]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "a": 2}', "the key `a` is repeated"),
        (b'{"a": NaN}', "`NaN` is not JSON"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        (b'{"a": 1} {"b": 2}', "more text after the JSON value, at character 8"),
        (b'{"a": ', "not JSON: expecting value at character 6"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": 1e99999999999999999999}', "`1e99999999999999999999` is beyond the range of decimals"),
    ],
)
def test_what_is_no_strict_json_is_named(data: bytes, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        decode(data)
    assert str(caught.value) == message


def test_a_lone_surrogate_is_malformed_and_a_pair_is_a_character() -> None:
    with pytest.raises(Malformed):
        decode(b'{"a": "\\ud83d"}')
    assert decode(b'{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


def test_bytes_that_were_not_utf8_spoil_only_the_value_that_holds_them() -> None:
    text = b'["good", "b\xffd"]'.decode("utf-8", "surrogateescape")
    assert decode_at(text, 1) == ("good", 7)
    with pytest.raises(Malformed):
        decode_at(text, 9)


def test_the_end_of_a_value_is_told_even_where_it_is_not_strict() -> None:
    assert end_of('{"a": 1, "a": 2}, 3', 0) == 16
    assert end_of('{"a": 1', 0) is None
