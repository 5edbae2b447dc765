"""Canonical YAML: whatever is written reads back as what it was."""

from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from duly.notation.emit import Block, emit, flow, scalar
from duly.notation.node import plain
from duly.notation.yaml import read_yaml
from duly.values.source import Source

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [*"~1#='\"\\", "", " ", "yes", "true", "null", "1.5", "0x1", "- a", "a: b", "a #b", "!x", "@y", "<<", "---"]
)
NUMBER = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(TEXT, VALUE, min_size=1, max_size=4))
def test_every_plain_value_reads_back(value: dict[str, Any]) -> None:
    assert plain(read_yaml(Source("c.yaml", emit(value)))) == value


@given(TEXT)
def test_a_block_reads_back_but_for_the_line_ends_behind_it(text: str) -> None:
    (back,) = plain(read_yaml(Source("c.yaml", emit({"a": Block(text)})))).values()
    assert back.rstrip("\n") == text.rstrip("\n")


def test_a_short_collection_goes_in_one_line_and_a_long_one_below() -> None:
    long = {f"key_{n}": "x" * 20 for n in range(5)}
    assert flow({"a": [1, {"b": True}]}) == "{a: [1, {b: true}]}"
    assert emit({"t": {"short": {"a": 1}, "long": long}}) == "t:\n  short: {a: 1}\n  long:\n" + "".join(
        f"    key_{n}: xxxxxxxxxxxxxxxxxxxx\n" for n in range(5)
    )


def test_a_text_that_looks_like_something_else_is_quoted() -> None:
    assert [scalar(text) for text in ("yes", "true", "1", "a b", "@x", "é")] == [
        "yes", '"true"', '"1"', '"a b"', '"@x"', '"é"',
    ]  # fmt: skip
    assert [scalar(True), scalar(None), scalar(Decimal("0.10")), scalar(7)] == ["true", "null", "0.10", "7"]
