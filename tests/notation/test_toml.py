"""TOML: exact numbers, paths where there are no positions, and what is refused."""

from decimal import Decimal

import pytest

from duly.notation.node import plain
from duly.notation.toml import read_toml, step
from duly.values.errors import DulyError
from duly.values.source import Source


def test_values_are_exact_and_know_their_path() -> None:
    node = read_toml(Source("c.toml", 'a = 0.10\n[tools."x.y"]\nnames = ["p", "q"]\n'))
    names = node.get("tools").get("x.y").get("names")  # type: ignore[union-attr]
    assert plain(node) == {"a": Decimal("0.10"), "tools": {"x.y": {"names": ["p", "q"]}}}
    assert [item.path for item in names.value] == ['tools."x.y".names[0]', 'tools."x.y".names[1]']  # type: ignore[union-attr]


def test_a_key_that_toml_would_quote_is_quoted_in_a_path() -> None:
    assert [step("", "a"), step("a", "b-c"), step("a", 'b"c')] == ["a", "a.b-c", 'a."b\\"c"']


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\na = 2", "c.toml:2:6: not TOML: cannot overwrite a value"),
        ("a = 2020-01-01", "a: `2020-01-01` is a date or a time, which a contract does not know"),
        ("[t]\nb = 10:30:00", "t.b: `10:30:00` is a date or a time, which a contract does not know"),
        ("a = nan", ": `nan` is not a finite number"),
        ("a = " + "1" * 5000, "c.toml: an integer has more than 4,300 digits"),
        ("# nothing", "c.toml:1:1: the document is empty"),
        ("a = " + "[" * 70 + "]" * 70, "a" + "[0]" * 63 + ": nested deeper than 64 levels"),
        ("a = " + "[" * 5000, "c.toml:1:1: nested deeper than 64 levels"),
    ],
)
def test_what_has_no_clear_meaning_is_refused(text: str, said: str) -> None:
    with pytest.raises(DulyError) as caught:
        read_toml(Source("c.toml", text))
    (fault,) = caught.value.diagnostics
    assert f"{fault.where()}: {fault.message}" == said


def test_a_text_that_ends_too_early_is_pointed_at_at_its_end() -> None:
    with pytest.raises(DulyError) as caught:
        read_toml(Source("c.toml", "a = ["))
    assert caught.value.diagnostics[0].where() == "c.toml:1:6"


def test_a_key_of_very_many_parts_is_refused_before_it_costs_time():
    for key in (".".join(["a"] * 50_000), " . ".join(['"a"'] * 50_000), "[x." + ".".join(["a"] * 50_000) + "]"):
        with pytest.raises(DulyError) as error:
            read_toml(Source("c", f"duly = 1\n{key} = 1\n"))
        assert [fault.code for fault in error.value.diagnostics] == ["depth"]
