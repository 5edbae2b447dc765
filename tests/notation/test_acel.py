"""Rule files of acel-core: they load as they are, and what they say without meaning is refused at its place."""

import json
from pathlib import Path
from typing import Any

import pytest
from acel.config import ConfigError, contracts_from_rules, load_rules

from duly.notation.document import parse_terms
from duly.notation.document_print import print_terms
from duly.values.errors import DulyError

WHOLE = """\
state: {authenticated: false}
groups:
  refund_policy:
    - template: must_precede
      args: [verify_customer, issue_refund]
    - {template: at_most_total, args: [issue_refund, amount], kwargs: {limit: 500}}
contracts:
  - {template: must_precede, kwargs: {later: delete_record, earlier: validate_record}}
  - {template: at_most_n_times, args: [send_payment], kwargs: {n: 1.0}}
  - group: refund_policy
  - group: refund_policy
  - {template: cannot_follow_without, args: [ship], kwargs: {prerequisite: pay}}
  - {template: never_after, args: [{tool: Bash, matches: 'rm\\s'}, {tool: Bash, matches: push, field: a b}]}
  - {template: mutually_exclusive, args: [approve, reject]}
  - {template: required_before_session_end, args: [logout]}
  - {template: rate_limit, args: [send, 5], kwargs: {window_seconds: 60, clock: null}}
"""
READ = r"""duly: 1
facts: {authenticated: false}
rules:
  - must_precede: [validate_record, delete_record]
  - at_most: {of: send_payment, n: 1}
  - must_precede: [verify_customer, issue_refund]
  - at_most_total: {of: issue_refund, field: amount, limit: 500}
  - must_precede: [pay, ship]
  - never_after:
      - of: Bash
        where: "has(args.command) && args.command != null && string(args.command).matches(\"(?i)rm\\\\s\")"
      - of: Bash
        where: "\"a b\" in args && args[\"a b\"] != null && string(args[\"a b\"]).matches(\"(?i)push\")"
  - exclusive: [approve, reject]
  - must_happen: {of: logout}
  - rate_limit: {of: send, n: 5, per: 1m}
"""


def faults(text: str, name: str = "rules.yaml") -> list[tuple[str, str, str]]:
    with pytest.raises(DulyError) as caught:
        parse_terms(text, name=name)
    return [(each.where().partition(":")[2], each.message, each.help) for each in caught.value.diagnostics]


def one(spec: str) -> tuple[str, str, str]:
    """The first fault of a file with one rule: the text that it points at, and what it says."""
    with pytest.raises(DulyError) as caught:
        parse_terms(f"contracts:\n- {spec}\n", name="rules.yaml")
    first = caught.value.diagnostics[0]
    assert first.span is not None
    return first.span.text(), first.message, first.help


def test_a_rule_file_loads_as_it_is_and_prints_as_a_contract() -> None:
    assert print_terms(parse_terms(WHOLE, name="rules.yaml")) == READ
    assert print_terms(parse_terms(READ, name="again.yaml")) == READ


def test_the_same_file_as_json_says_the_same() -> None:
    import yaml

    text = json.dumps(yaml.safe_load(WHOLE))
    assert print_terms(parse_terms(text, name="rules.json")) == READ


@pytest.mark.parametrize("key", ["state", "initial_state"])
def test_the_initial_state_becomes_facts_under_either_name(key: str) -> None:
    text = f"{key}: {{cap: 3, open: true}}\ncontracts: [{{template: at_most_n_times, args: [a, 0]}}]"
    assert parse_terms(text, name="rules.yaml").facts == {"cap": 3, "open": True}


@pytest.mark.parametrize(
    ("spec", "there", "message", "help"),
    [
        ("{template: must_precede, args: [yes, b]}", 'yes',
         "`yes` without quotes is no text for acel-core under `earlier`", 'write it in quotes: "yes"'),
        ("{template: must_preceed, args: [a, b]}", 'must_preceed', "unknown template `must_preceed`",
         "did you mean `must_precede`?"),
        ("{template: must_precede, args: ab}", 'ab', "expected a list under `args`, got `ab`", ""),
        ("{template: must_precede, args: [a, b], mode: shadow}", 'mode', "unknown key `mode` in a rule of acel-core",
         "known: template, args, kwargs"),
        ("{template: must_precede, args: [a, 7]}", '7', "expected the name of a tool under `later`, got `7`",
         'write it in quotes: "7"'),
        ("{template: must_precede, args: [a, null]}", 'null', "expected the name of a tool under `later`, got nothing", ""),
        ("{template: must_precede, args: [a, a]}", '{template: must_precede, args: [a, a]}', "`must_precede` about `a` twice is always satisfied in acel-core",
         "take it out, or name two tools"),
        ("{template: never_after, args: [a, a]}", '{template: never_after, args: [a, a]}', "`never_after` about `a` twice refuses every call in acel-core",
         "write `at_most_n_times` with `n: 0`"),
        ("{template: must_precede, args: [a, b, c]}", 'c', "`c` is one argument too many",
         "`must_precede` takes `earlier`, `later`"),
        ("{template: must_precede, args: [a]}", '{template: must_precede, args: [a]}', "`must_precede` lacks `later`",
         "`must_precede` takes `earlier`, `later`"),
        ("{template: must_precede, args: [a, b], kwargs: {later: c}}", 'later', "`later` stands in `args` already",
         "say it once"),
        ("{template: must_precede, args: [a], kwargs: {latter: c}}", 'latter',
         "unknown argument `latter` of `must_precede`", "did you mean `later`?"),
        ("{template: must_precede, args: [a], kwargs: {later: {tool: b, matches: c}}}", 'later',
         "a matcher under `kwargs` is never read as one by acel-core, and fails at the first call",
         "write it in `args`"),
        ("{template: must_precede, args: [a, {tool: b, matches: c, fields: d}]}", 'fields',
         "unknown key `fields` in a matcher", "did you mean `field`?"),
        ("{template: must_precede, args: [a, {tool: b, matches: '('}]}", "'('",
         "the pattern does not compile: missing ): (",
         "patterns are RE2: no look-around, no back-references; the end of a text is `\\z`"),
        ("{template: must_precede, args: [a, {tool: b, matches: 'a{,3}'}]}", "'a{,3}'",
         "`{,n}` is a repetition in Python and plain text in RE2", "write `{0,n}`"),
        ('{template: must_precede, args: [a, "b*"]}', '"b*"', "`b*` is one name for acel-core, and would be a glob here",
         "write a contract document, where groups and globs are declared"),
        ("{template: at_most_n_times, args: [a, true]}", 'true', "expected a number under `n`, got `true`", ""),
        ("{template: at_most_n_times, args: [a, 2.5]}", '2.5', "expected a whole number under `n`, got `2.5`", ""),
        ("{template: at_most_n_times, args: [a, -1]}", '-1', "expected a number from 0 under `n`, got `-1`", ""),
        ("{template: at_most_n_times, args: [a, 010]}", '010',
         "`010` is an octal number for acel-core, and a decimal one here", "write `8`"),
        ("{template: at_most_n_times, args: [a, 1_000]}", '1_000', "expected a number under `n`, got `1_000`",
         "write it with digits alone"),
        ("{template: at_most_total, args: [a, x], kwargs: {limit: .nan}}", '.nan', "`.nan` is not a finite number", ""),
        ("{template: at_most_total, args: [a, x.y, 5]}", 'x.y',
         "`x.y` is one name for acel-core, and would be a path here", "write a contract document"),
        ("{template: rate_limit, args: [a, 0, 60]}", '0', "expected a number above 0 under `n`, got `0`", ""),
        ("{template: rate_limit, args: [a, 1, 0]}", '0', "expected a number above 0 under `window_seconds`, got `0`", ""),
        ("{template: rate_limit, args: [a, 1, 60], kwargs: {clock: x}}", 'clock', "a clock cannot stand in a file",
         "take it out: times come with the events"),
        ("{group: a, template: must_precede}", 'a', "unknown group `a`", "declared: none"),
        ("{args: [a, b]}", '{args: [a, b]}', "the rule has no `template`",
         "one of must_precede, cannot_follow_without, never_after, mutually_exclusive, required_before_session_end,"
         " at_most_n_times, at_most_total, rate_limit"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_at_its_place(spec: str, there: str, message: str, help: str) -> None:
    assert one(spec) == (there, message, help)


def test_all_faults_of_a_file_are_reported_at_once() -> None:
    text = "state: {a: yes}\ncontract: []\ncontracts:\n- 3\n- {group: g}\ngroups: {h: [{template: x}], g2: 1}\n"
    assert faults(text) == [
        ("1:12", "`yes` is a truth value for acel-core, and a text here", "write `true`"),
        ("2:1", "unknown key `contract` in a rule file of acel-core", "did you mean `contracts`?"),
        ("4:3", "expected a mapping with `template` and `args` under a rule, got `3`", ""),
        ("5:11", "unknown group `g`", "did you mean `g2`?"),
        ("6:25", "unknown template `x`",
         "one of must_precede, cannot_follow_without, never_after, mutually_exclusive, required_before_session_end,"
         " at_most_n_times, at_most_total, rate_limit"),
        ("6:34", "expected a list of rules under the group `g2`, got `1`", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["contracts: []", "contract: [{template: must_precede, args: [a, b]}]", "state: {}"])
def test_a_file_in_which_no_rule_is_in_force_is_refused(text: str) -> None:
    assert any("no rule is in force" in message for _, message, _ in faults(text))


def test_a_document_that_says_duly_is_no_rule_file() -> None:
    assert [message for _, message, _ in faults("duly: 1\ncontracts: []")] == [
        "unknown key `contracts` in a contract document; did you mean `contract`?"
    ]


SPECS: list[Any] = [
    {"template": template, "args": args, **({"kwargs": kwargs} if kwargs else {})}
    for template in ("must_precede", "cannot_follow_without", "never_after", "mutually_exclusive",
                     "required_before_session_end", "at_most_n_times", "at_most_total", "rate_limit", "forbid")
    for args in (["a"], ["a", "b"], ["a", 3], ["a", "x", 5], ["a", 2, 60], ["a", -1], ["a", 2, 0], [],
                 ["a", {"tool": "b", "matches": "x"}], ["a", {"tool": "b"}])
    for kwargs in ({}, {"limit": 5}, {"n": 1}, {"window_seconds": 3.5}, {"b": "c"}, {"later": "c", "clock": None})
]  # fmt: skip


def test_whatever_duly_loads_acel_loads_and_what_acel_refuses_duly_refuses(tmp_path: Path) -> None:
    loaded, only_theirs = 0, []
    for spec in SPECS:
        text = json.dumps({"contracts": [spec]})
        (tmp_path / "rules.json").write_text(text)
        try:
            theirs = bool(contracts_from_rules(load_rules(tmp_path / "rules.json")))
        except ConfigError:
            theirs = False
        try:
            ours = bool(parse_terms(text, name="rules.json").rules)
        except DulyError:
            ours = False
        assert theirs or not ours, spec
        loaded += ours
        if theirs and not ours:
            only_theirs.append(spec)
    assert loaded == 17
    # numbers where names must stand match nothing there, and a matcher for a field fails at the first call
    assert {json.dumps(spec["args"]) for spec in only_theirs} == {
        '["a", 3]', '["a", -1]', '["a", 2, 60]', '["a", 2, 0]', '["a", {"tool": "b", "matches": "x"}]',
    }  # fmt: skip
