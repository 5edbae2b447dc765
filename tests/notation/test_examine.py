"""The shape of documents: every fault, with its place, what was expected, and what would help."""

import pytest

from duly.notation.examine import Found, examine, pattern_problem
from duly.notation.keys import DOCUMENT
from duly.notation.toml import read_toml
from duly.notation.yaml import read_yaml
from duly.values.source import Source


def faults(text: str) -> list[str]:
    found: Found = []
    examine(DOCUMENT, read_yaml(Source("c", "duly: 1\n" + text)), found)
    return [f"{fault.where()}: {fault.message}" + (f" ({fault.help})" if fault.help else "") for fault in found]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contrct: x", "c:2:1: unknown key `contrct` in a contract document; did you mean `contract`?"),
        ("tools: {a: {efect: none}}", "c:2:13: unknown key `efect` in a tool's declaration; did you mean `effect`?"),
        (
            "audit: {zzz: 1}",
            "c:2:9: unknown key `zzz` in a mapping with `count` (known: count)",
        ),
        (
            "version: 1.4",
            "c:2:10: expected a version, in quotes where it looks like a number under `version`, got `1.4`"
            ' (write it in quotes: "1.4")',
        ),
        ("contract: ''", "c:2:11: expected a name under `contract`, got an empty text"),
        ("mode: strict", "c:2:7: expected `enforce` or `shadow` under `mode`, got `strict`"),
        ("mode: shadwo", "c:2:7: expected `enforce` or `shadow` under `mode`, got `shadwo` (did you mean `shadow`?)"),
        ("forever: yes", "c:2:10: expected `true` or `false` under `forever`, got `yes`"),
        (
            "tools: {b: }",
            "c:2:12: expected a tool's declaration for `b`, got nothing (write `{}` where there is nothing to say)",
        ),
        ("tools: {'': {}}", "c:2:9: an empty name under `tools`"),
        ("tools: [a]", "c:2:8: expected a mapping from tool to a tool's declaration under `tools`, got a list"),
        ("show: reasons", "c:2:7: expected a list of `reasons`, `legal` or `repair` under `show`, got `reasons`"
                          " (write `[reasons]`)"),
        ("outside: [a, b, a]", "c:2:17: `a` is listed twice under `outside`"),
        ("breaker: {of: equal}", "c:2:10: the key `refusals` is missing under `breaker`"
                                 " (the refusal with this number halts)"),
        ("breaker: {refusals: 0}", "c:2:21: expected an integer of at least 1 under `refusals`, got `0`"),
        ("rules: [{at_most: {of: x, n: true}}]", "c:2:30: expected a non-negative integer or the name of a fact under `n`, got `true` (write it in quotes: \"true\")"),
        ("rules: [{at_most: {of: x, n: -1}}]", "c:2:30: expected a non-negative integer under `n`, got `-1`"),
        ("rules: [{at_most: {of: x, n: 1.5}}]", "c:2:30: expected a non-negative integer under `n`, got `1.5`"),
        ("rules: [{at_most: {of: x, n: 1e3}}]", "c:2:30: expected a non-negative integer under `n`, got `1E+3`"),
        ("rules: [{must_preceed: [a, b]}]", "c:2:10: unknown rule `must_preceed`; did you mean `must_precede`?"),
        ("rules: [{id: x}]", "c:2:9: the rule says nothing (name one of `must_precede`, `never_after`, `at_most` or 20 others)"),
        ("rules: [x]", "c:2:9: expected a rule, got `x` (write `- must_precede: …`)"),
        (
            "rules: [{must_precede: [a, b], at_most: {of: a, n: 1}}]",
            "c:2:32: `must_precede` and `at_most` stand in one rule (begin a new item with `-`)",
        ),
        (
            "rules: [{must_precede: [a]}]",
            "c:2:24: expected a list of 2 items, each a name, a group such as `@change`, or a glob or a mapping"
            " with `of` and `where` under `must_precede`, got 1 of them",
        ),
        (
            "labels: {Yes: {matches: '(?=a)'}}",
            "c:2:25: the pattern under `matches` does not compile: invalid perl operator: (?="
            " (patterns are RE2: no look-around, no back-references)",
        ),
    ],
)  # fmt: skip
def test_a_fault_says_where_it_is_and_what_was_expected(text: str, said: str) -> None:
    assert faults(text) == [said]


@pytest.mark.parametrize(
    "text",
    [
        "redact: []",
    ],
)
def test_what_a_later_version_will_know_is_refused_by_name_and_never_ignored(text: str) -> None:
    (said,) = faults(text)
    assert said.endswith(
        "is not supported by this version of duly"
        " (a contract is never loaded with a part of it ignored; take it out, or use a version that knows it)"
    )


def test_all_faults_are_reported_at_once() -> None:
    assert len(faults("contrct: x\nversion: 1\nmode: x\ntools: {a: {b: c, d: e}}\nredact: {}")) == 6


def test_a_document_of_another_edition_is_refused() -> None:
    found: Found = []
    examine(DOCUMENT, read_yaml(Source("c", "duly: 2")), found)
    assert [fault.message for fault in found] == ["expected `1` under `duly`, got `2`"]


def test_a_document_that_does_not_say_its_edition_is_refused() -> None:
    found: Found = []
    examine(DOCUMENT, read_yaml(Source("c", "contract: x")), found)
    assert [(fault.message, fault.help) for fault in found] == [("the key `duly` is missing", "write `duly: 1`")]


def test_toml_faults_name_the_path() -> None:
    found: Found = []
    examine(DOCUMENT, read_toml(Source("c.toml", "duly = 1\n[tools.a]\nefect = 'none'\neffect = 'wrote'")), found)
    assert [fault.where() for fault in found] == ["tools.a.efect", "tools.a.effect"]


def test_a_pattern_that_would_need_too_much_room_is_refused() -> None:
    assert pattern_problem(r"(?i)\byes\b") == ""
    assert pattern_problem("((a{100}){100}){100}") != ""
