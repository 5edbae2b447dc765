"""JSON with positions: strict, exact, and the same values as the standard library reads."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.notation.json import read_json_nodes
from duly.notation.node import Node, plain
from duly.values.errors import DulyError
from duly.values.source import Source


def read(text: str) -> Node:
    return read_json_nodes(Source("c.json", text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_what_json_writes_is_read_back(value: object, indent: int | str | None, ascii: bool) -> None:
    assert plain(read(json.dumps(value, indent=indent, ensure_ascii=ascii))) == value


def test_numbers_are_exact() -> None:
    assert plain(read("[0.10, 1e2, -0, 12345678901234567890]")) == [
        Decimal("0.10"),
        Decimal("1e2"),
        0,
        12345678901234567890,
    ]


def test_every_value_knows_where_it_stands() -> None:
    node = read('{\n\t"a": [1,\n\t"x"]}')
    (_, second) = node.get("a").value  # type: ignore[union-attr]
    assert (second.span.where(), second.span.text()) == ("c.json:3:2", '"x"')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', "c.json:1:10: the key `a` is repeated"),
        ('{"a": NaN}', "c.json:1:7: not JSON: `NaN` is no value"),
        ("[-Infinity]", "c.json:1:2: not JSON: `-Infinity` is no value"),
        ('{"a": 01}', "c.json:1:7: not JSON: `01` is no value"),
        ('{"a": 1,}', "c.json:1:8: not JSON: a comma stands before `}`"),
        ("[1, 2", "c.json:1:6: not JSON: expected `,` or `]`"),
        ('{"a" 1}', "c.json:1:6: not JSON: expected `:` after the key `a`"),
        ("{a: 1}", "c.json:1:2: not JSON: expected a key in double quotes"),
        ("{'a': 1}", "c.json:1:2: not JSON: expected a key in double quotes"),
        ('{"a": "x', "c.json:1:7: not JSON: unterminated string starting"),
        ('{"a": "\t"}', "c.json:1:8: not JSON: invalid control character"),
        ("{} {}", "c.json:1:4: not JSON: something follows the document"),
        ('"\\ud800"', "c.json:1:1: not JSON: the text holds half of a surrogate pair"),
        ("[", "c.json:1:2: not JSON: the text ends where a value is expected"),
        ("", "c.json:1:1: not JSON: the text ends where a value is expected"),
        ("[" * 100_000, "c.json:1:65: nested deeper than 64 levels"),
    ],
)
def test_what_is_not_json_is_refused_where_it_stands(text: str, said: str) -> None:
    with pytest.raises(DulyError) as caught:
        read(text)
    (fault,) = caught.value.diagnostics
    assert f"{fault.where()}: {fault.message}" == said
