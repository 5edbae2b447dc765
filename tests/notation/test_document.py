"""Contract documents: the formats agree, all faults come at once, includes are merged."""

import json
from collections.abc import Mapping

import pytest
from msgspec import structs

from duly.machine.terms import Breaker, Example, LabelRule, Rule, Terms, Tool
from duly.notation.document import Fetch, Fetched, decode, format_of, parse_page, parse_terms
from duly.values.errors import DulyError, fault

from .bare import bare

YAML = """\
duly: 1
contract: airline-desk
version: 1.4.0
tools:
  get_reservation: {effect: none, error: "has(result.error)"}
  cancel: {effect: write, outcomes: {denied: "result.status == 'denied'"}, pairs: [id], clamp: {n: {max: 0.5}}}
groups: {change: {effect: write}}
labels:
  Yes: {matches: "(?i)^yes"}
  Question: {from: user, otherwise: true}
facts: {cap: 500}
protocol: |
  rec Desk.{?Question.Desk, ?Yes.!cancel.?cancel.Desk}
rules:
  - must_precede: [get_reservation, "@change"]
  - at_most: {of: cancel, n: 1}
    id: once
    scope: turn
    except: [x]
outside: [get_reservation]
breaker: {refusals: 3, of: equal}
audit: {count: effective}
examples: [{text: "Yes, please", label: Yes}, {text: "", label: null}]
"""


def faults(text: str, name: str = "c.yaml", fetch: Fetch | None = None) -> list[str]:
    with pytest.raises(DulyError) as caught:
        parse_terms(text, name=name, fetch=fetch)
    return [f"{each.where()}: {each.message}" for each in caught.value.diagnostics]


def folder(files: Mapping[str, str]) -> Fetch:
    def fetch(written: str, holder: str) -> Fetched:
        if written not in files:
            raise fault("include", f"`{written}` does not exist")
        return Fetched(written, files[written])

    return fetch


def test_a_document_says_what_its_keys_say() -> None:
    terms = parse_terms(YAML, name="c.yaml")
    (graph,) = terms.protocols
    assert graph.text == "rec Desk.?{Question.Desk, Yes.!cancel.?cancel.Desk}"
    assert bare(structs.replace(terms, protocols=())) == Terms(
        name="airline-desk",
        version="1.4.0",
        tools={
            "get_reservation": Tool("get_reservation", effect="none", error="has(result.error)"),
            "cancel": Tool(
                "cancel",
                effect="write",
                outcomes={"denied": "result.status == 'denied'"},
                pairs=("id",),
                clamp=terms.tools["cancel"].clamp if terms.tools else {},
            ),
        },
        groups={"change": {"effect": "write"}},
        labels={"Yes": LabelRule("Yes", matches="(?i)^yes"), "Question": LabelRule("Question", otherwise=True)},
        facts={"cap": 500},
        rules=(
            Rule("must_precede", {"first": "get_reservation", "then": "@change"}),
            Rule("at_most", {"of": "cancel", "n": 1}, id="once", scope="turn", excepting=("x",)),
        ),
        outside=("get_reservation",),
        breaker=Breaker(3, "equal"),
        count="effective",
        examples=(Example("Yes, please", "Yes"), Example("", None)),
    )


def test_json_and_toml_say_the_same_as_yaml() -> None:
    terms = parse_terms(YAML, name="c.yaml")
    as_json = json.dumps(
        {
            "duly": 1,
            "contract": "airline-desk",
            "version": "1.4.0",
            "tools": {
                "get_reservation": {"effect": "none", "error": "has(result.error)"},
                "cancel": {
                    "effect": "write",
                    "outcomes": {"denied": "result.status == 'denied'"},
                    "pairs": ["id"],
                    "clamp": {"n": {"max": 0.5}},
                },
            },
            "groups": {"change": {"effect": "write"}},
            "labels": {"Yes": {"matches": "(?i)^yes"}, "Question": {"from": "user", "otherwise": True}},
            "facts": {"cap": 500},
            "protocol": "rec Desk.{?Question.Desk, ?Yes.!cancel.?cancel.Desk}",
            "rules": [
                {"must_precede": ["get_reservation", "@change"]},
                {"at_most": {"of": "cancel", "n": 1}, "id": "once", "scope": "turn", "except": ["x"]},
            ],
            "outside": ["get_reservation"],
            "breaker": {"refusals": 3, "of": "equal"},
            "audit": {"count": "effective"},
            "examples": [{"text": "Yes, please", "label": "Yes"}, {"text": "", "label": None}],
        }
    )
    assert bare(parse_terms(as_json, name="c.json")) == bare(terms)
    as_toml = """
duly = 1
contract = "airline-desk"
version = "1.4.0"
protocol = "rec Desk.{?Question.Desk, ?Yes.!cancel.?cancel.Desk}"
outside = ["get_reservation"]
audit.count = "effective"
facts.cap = 500
groups.change.effect = "write"
breaker = {refusals = 3, of = "equal"}
rules = [
  {must_precede = ["get_reservation", "@change"]},
  {at_most = {of = "cancel", n = 1}, id = "once", scope = "turn", except = ["x"]},
]
[tools.get_reservation]
effect = "none"
error = "has(result.error)"
[tools.cancel]
effect = "write"
outcomes.denied = "result.status == 'denied'"
pairs = ["id"]
clamp.n.max = 0.5
[labels.Yes]
matches = "(?i)^yes"
[labels.Question]
otherwise = true
"""
    without = structs.replace(bare(terms), examples=())  # TOML has no null for the label of the second
    assert bare(parse_terms(as_toml, name="c.toml")) == without


def test_every_fault_of_a_document_comes_at_once_and_in_order() -> None:
    text = """\
duly: 1
contrct: x
tools:
  a: {clamp: {n: {min: 2, max: 1}}}
labels:
  A: {otherwise: true}
  B: {otherwise: true}
  C: {otherwise: true, matches: x}
  D: {unless: x}
protocol: |
  rec L.{
    ?A . M,
    !a
  }
examples: [{text: x, label: E}, {text: x}]
"""
    assert faults(text) == [
        "c.yaml:2:1: unknown key `contrct` in a contract document; did you mean `contract`?",
        "c.yaml:4:3: the clamp of `n` has a `min` above its `max`",
        "c.yaml:7:3: `A` and `B` both take what is left",
        "c.yaml:8:3: `C` has `matches` and `otherwise`",
        "c.yaml:9:3: `D` has `unless` without `matches`",
        "c.yaml:12:10: unbound recursion variable `M`",
        "c.yaml:15:29: unknown label `E`",
        "c.yaml:15:33: the key `label` is missing under `examples`",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "c.yaml:1:1: the document is empty"),
        (" \n\n", "c.yaml:1:1: the document is empty"),
        ("duly: 1\0", "c.yaml:1:8: the text holds the character NUL"),
        ("- duly", "c.yaml:1:1: expected a contract document, got a list"),
        ("duly", "c.yaml:1:1: expected a contract document, got `duly`"),
    ],
)
def test_a_text_that_is_no_document_is_refused(text: str, said: str) -> None:
    assert faults(text) == [said]


@pytest.mark.parametrize("name", ["c.yaml", "c.json", "c.toml"])
def test_a_text_that_cannot_be_written_as_utf8_is_refused(name: str) -> None:
    assert faults('duly = 1\nx = "\ud800"', name) == [f"{name}: line 2 holds half of a surrogate pair"]


def test_a_byte_order_mark_is_accepted() -> None:
    assert parse_terms("\ufeffduly: 1\ncontract: x", name="c.yaml").name == "x"
    assert decode(b"\xef\xbb\xbfduly: 1", name="c.yaml") == "\ufeffduly: 1"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"duly: 1\na: \xff", "byte 11 (line 2) is not UTF-8"),
        ("duly: 1".encode("utf-16"), "the file is UTF-16"),
        (b"#" * (4 * 1024 * 1024 + 1), "longer than 4194304 bytes"),
    ],
)
def test_a_file_that_is_no_text_of_bearable_size_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(DulyError) as caught:
        decode(data, name="c.yaml")
    assert [(each.where(), each.message) for each in caught.value.diagnostics] == [("c.yaml", said)]


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("c.yaml", "{}", "yaml"),
        ("c.YML", "a = 1", "yaml"),
        ("c.json", "a: 1", "json"),
        ("c.toml", "a: 1", "toml"),
        ("c", '\ufeff {"duly": 1}', "json"),
        ("c", "duly: 1", "yaml"),
        ("c", "# x\n\nduly = 1", "toml"),
        ("c", "[tools.a]\neffect = 'none'", "toml"),
        ("c", "- a = 1", "yaml"),
        ("c", "protocol: |\n  !a", "yaml"),
    ],
)
def test_the_format_follows_the_extension_and_then_the_text(name: str, text: str, format: str) -> None:
    assert format_of(name, text) == format


def test_included_documents_are_merged_behind_the_own_terms() -> None:
    files = {
        "tools.yaml": "duly: 1\ncontract: other\ntools: {a: {effect: none}}\nfacts: {cap: 1}\n"
        "rules: [{at_most: {of: a, n: 1}}]",
        "words.yaml": "duly: 1\ninclude: [tools.yaml]\nlabels: {Yes: {matches: yes}}\n"
        "examples: [{text: yes, label: Yes}]",
    }
    text = "duly: 1\ncontract: c\ninclude: [words.yaml, tools.yaml]\nlabels: {No: {matches: no}}\ntools: {b: {}}"
    terms = parse_terms(text, name="c.yaml", fetch=folder(files))
    assert (terms.name, list(terms.tools or ()), list(terms.labels), terms.facts) == (
        "c", ["b", "a"], ["No", "Yes"], {"cap": 1},
    )  # fmt: skip
    assert [rule.args for rule in terms.rules] == [{"of": "a", "n": 1}]
    assert terms.rules[0].span is not None
    assert terms.rules[0].span.where() == "tools.yaml:5:10"


def test_documents_that_include_each_other_are_refused() -> None:
    files = {"a.yaml": "duly: 1\ninclude: [b.yaml]", "b.yaml": "duly: 1\ninclude: [a.yaml]"}
    assert faults(files["a.yaml"], "a.yaml", folder(files)) == [
        "b.yaml:2:11: the documents include each other: `a.yaml` → `b.yaml` → `a.yaml`"
    ]


def test_faults_of_included_documents_stand_in_them() -> None:
    files = {"a.yaml": "duly: 1\nmod: x", "b.yaml": "x: [", "d.yaml": "- x"}
    text = "duly: 1\ninclude: [a.yaml, b.yaml, c.yaml, d.yaml]\nbudgt: 1"
    found = faults(text, fetch=folder(files))
    assert [each for each in found if "YAML" not in each] == [
        "c.yaml:2:27: `c.yaml` does not exist",
        "c.yaml:3:1: unknown key `budgt` in a contract document; did you mean `budget`?",
        "a.yaml:2:1: unknown key `mod` in a contract document; did you mean `mode`?",
        "d.yaml:1:1: expected a contract document, got a list",
    ]
    assert sum(each.startswith("b.yaml:") for each in found) == 1


def test_a_text_by_itself_includes_nothing() -> None:
    assert faults("duly: 1\ninclude: [a.yaml]") == [
        "c.yaml:2:11: `a.yaml` cannot be read here: a text by itself includes nothing"
    ]


def test_a_page_keeps_its_includes_unread() -> None:
    page = parse_page("duly: 1\ninclude: [a.yaml]\nexamples: [{text: x, label: Theirs}]", name="c.yaml")
    assert page.include == ("a.yaml",)
    assert page.terms.examples[0].label == "Theirs"
