"""YAML under the 1.2 core schema: what scalars mean, what is refused, and where."""

from decimal import Decimal

import pytest
import yaml as pyyaml

from duly.notation.node import Node, plain
from duly.notation.yaml import read_yaml
from duly.values.errors import DulyError
from duly.values.source import Source


def read(text: str) -> Node:
    return read_yaml(Source("c.yaml", text))


def message(text: str) -> str:
    """Place and message of the one fault of a text."""
    with pytest.raises(DulyError) as caught:
        read(text)
    (fault,) = caught.value.diagnostics
    return f"{fault.where()}: {fault.message}"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("2024-05-15", "2024-05-15"),
        ("1_000", "1_000"),
        ("1.4.0", "1.4.0"),
        ("0o17", 15),
        ("017", 17),
        ("0x1F", 31),
        ("-12", -12),
        ("0.10", Decimal("0.10")),
        ("1e3", Decimal("1e3")),
        (".5", Decimal("0.5")),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("'1'", "1"),
        ('"true"', "true"),
    ],
)
def test_a_scalar_means_what_the_core_schema_says(written: str, value: object) -> None:
    found = plain(read(f"a: {written}"))["a"]
    assert (found, type(found)) == (value, type(value))


def test_numbers_are_exact() -> None:
    assert plain(read("a: 0.1000000000000000055511151231257827")) == {
        "a": Decimal("0.1000000000000000055511151231257827")
    }
    assert plain(read("a: 123456789012345678901234567890")) == {"a": 123456789012345678901234567890}


def test_every_value_knows_where_it_stands() -> None:
    node = read("é: 😀\nlist:\n  - one\n  - {two: 2}\n")
    two = node.get("list").value[1].get("two")  # type: ignore[union-attr]
    assert two.span.where() == "c.yaml:4:11"
    assert two.span.text() == "2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3", "c.yaml:3:1: the key `a` is repeated"),
        ("a: {x: 1, x: 2}", "c.yaml:1:11: the key `x` is repeated"),
        ("a: !!str 1", "c.yaml:1:4: the tag `tag:yaml.org,2002:str` has no meaning in a contract"),
        ("a: !pay . ?ok", "c.yaml:1:4: the tag `!pay` has no meaning in a contract"),
        ("a: 1\n---\nb: 1", "c.yaml:2:1: a second document begins here"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "c.yaml:3:3: merge keys are not part of YAML 1.2"),
        ("a: &x [*x]", "c.yaml:1:8: the alias `x` stands inside what it names"),
        ("a: *x", "c.yaml:1:4: no anchor `x` stands above"),
        ("a: .nan", "c.yaml:1:4: `.nan` is not a finite number"),
        ("a: -.inf", "c.yaml:1:4: `-.inf` is not a finite number"),
        ("1: a", "c.yaml:1:1: the key `1` is not a text"),
        ("null: a", "c.yaml:1:1: the key `null` is not a text"),
        ("? [a]\n: b", "c.yaml:1:3: a key must be one word or a quoted text"),
        ("a: \x01", "c.yaml:1:4: the character U+0001 may not stand in YAML"),
        ("# nothing\n", "c.yaml:1:1: the document is empty"),
        ("a: " + "[" * 70 + "]" * 70, "c.yaml:1:67: nested deeper than 64 levels"),
    ],
)
def test_what_has_no_clear_meaning_is_refused_where_it_stands(text: str, said: str) -> None:
    assert message(text) == said


def test_a_bracket_that_is_never_closed_is_pointed_at() -> None:
    assert message("a: [1, 2\n").startswith("c.yaml:")


def test_a_tab_for_indentation_is_explained() -> None:
    with pytest.raises(DulyError) as caught:
        read("a:\n\tb: 1")
    assert caught.value.diagnostics[0].help == "indent with spaces; YAML does not allow tabs there"


def test_an_alias_stands_for_what_it_names() -> None:
    assert plain(read("a: &x {b: 1}\nc: *x")) == {"a": {"b": 1}, "c": {"b": 1}}


def test_aliases_that_blow_the_document_up_are_refused() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert message("\n".join(lines)) == "c.yaml:6:15: more than 200000 values"


def test_brackets_without_end_are_refused_at_once() -> None:
    assert "nest" in message("[" * 200_000)


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    assert plain(read("'<<': 1")) == {"<<": 1}


@pytest.mark.parametrize(
    "text",
    [
        "é: 😀\nlist:\n  - one\n  - {two: 2}\n",
        "a: |\n  x\n\n  y\nb: >\n  folded\n  text\nc: 'it''s'\n",
        'a: "x\\ty"\r\nb: [1,\r\n 2]\r\n',
    ],
)
def test_the_tree_is_the_same_without_the_c_library(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = read(text)
    monkeypatch.delattr(pyyaml, "CSafeLoader")
    assert read(text) == quick
