"""Nodes: what messages call them, and what plain values they are."""

from decimal import Decimal

import pytest

from duly.notation.node import Node, decimal, integer, plain, shown
from duly.notation.yaml import read_yaml
from duly.values.errors import DulyError
from duly.values.source import Source


def test_a_node_becomes_the_plain_value_that_was_written() -> None:
    node = read_yaml(Source("c.yaml", "a: [1, 0.10, null, true, x]\nb: {}"))
    assert plain(node) == {"a": [1, Decimal("0.10"), None, True, "x"], "b": {}}


def test_messages_call_a_node_by_its_text_or_by_its_kind() -> None:
    long = "x" * 50
    assert [shown(Node("text", "a")), shown(Node("text", "a\nb")), shown(Node("text", long))] == [
        "`a`",
        "`a…`",
        f"`{'x' * 40}…`",
    ]
    assert [shown(Node("truth", True)), shown(Node("null", None)), shown(Node("list", ()))] == [
        "`true`",
        "nothing",
        "a list",
    ]


def test_a_key_that_is_not_there_has_no_node() -> None:
    node = read_yaml(Source("c.yaml", "a: 1"))
    assert node.get("b") is None
    assert Node("text", "a").get("a") is None


def test_a_very_long_integer_is_exact_and_takes_no_quadratic_time() -> None:
    assert integer("9" * 1000) == Decimal("9" * 1000)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e9999999999999999999", "x"])
def test_a_number_that_is_not_finite_is_refused(text: str) -> None:
    with pytest.raises(DulyError, match="is not a finite number"):
        decimal(text)
