"""The published schema and the reference page: made from the table, and at one with the parser."""

import json
import runpy
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from duly.notation.document import parse_terms
from duly.notation.document_print import document_of
from duly.notation.document_schema import document_schema, schema_text
from duly.values.errors import DulyError

REFERENCE = Path(__file__).resolve().parents[2] / "docs/reference"


def test_the_published_files_are_the_generated_ones() -> None:
    written = runpy.run_path(str(REFERENCE / "generate.py"))["written"]()
    assert set(written) == {"contract.schema.json", "contract-document.md"}
    assert {name: (REFERENCE / name).read_text("utf-8") for name in written} == written


def test_the_schema_is_a_schema() -> None:
    assert json.loads(schema_text()) == document_schema()
    jsonschema_rs.validator_for(document_schema())


DOCUMENTS: list[dict[str, Any]] = [
    {"duly": 1},
    {"duly": 1, "tools": {"a": {"effect": "none", "paths": {"p": None, "q": "/x"}, "clamp": {"n": {"max": 2}}}}},
    {"duly": 1, "groups": {"g": ["a"], "h": {"effect": "write"}}},
    {"duly": 1, "labels": {"Yes": {"from": "user", "matches": "y"}, "No": {"otherwise": True}}},
    {"duly": 1, "rules": [{"must_precede": ["a", "b"], "id": "x"}, {"at_most": {"of": "a", "n": 0}}]},
    {"duly": 1, "breaker": {"refusals": 1}, "audit": {"count": "attempted"}, "show": ["legal"], "facts": {"x": [None]}},
    {"duly": 1, "protocol": "!a", "protocols": {"p": {"initial": "a", "terminal": ["a"], "transitions": []}}},
    {"duly": 1, "labels": {"Yes": {"matches": "y"}}, "examples": [{"text": "x", "label": None}]},
    {"duly": 1, "approvals": [{"of": "a"}], "withdraw_on": "message", "guards": [{"of": "a", "run": "m:f"}]},
    {"duly": 1, "approvals": [{"of": "a", "when": "true", "ask": "?", "by": ["x"], "need": 2, "expires": "1h30m",
                               "no": "turn", "stand": {"within": {"p": "/**"}, "lasts": 2.5}, "id": "i",
                               "except": ["b"]}]},
    {"duly": 1, "approvals": [{"of": "a", "stand": "none", "expires": 60}]},
    # faults
    {"duly": 1, "approvals": [{}]},
    {"duly": 1, "approvals": [{"of": "a", "expires": 0}]},
    {"duly": 1, "approvals": [{"of": "a", "expires": -1}]},
    {"duly": 1, "approvals": [{"of": "a", "expires": 1e16}]},
    {"duly": 1, "approvals": [{"of": "a", "expires": "5"}]},
    {"duly": 1, "approvals": [{"of": "a", "expires": "30m1h"}]},
    {"duly": 1, "approvals": [{"of": "a", "expires": ""}]},
    {"duly": 1, "approvals": [{"of": "a", "expires": None}]},
    {"duly": 1, "approvals": [{"of": "a", "stand": "wide"}]},
    {"duly": 1, "approvals": [{"of": "a", "stand": {"wthin": {}}}]},
    {"duly": 1, "approvals": [{"of": "a", "by": ["x", "x"]}]},
    {"duly": 1, "approvals": [{"of": "a", "need": 0}]},
    {"duly": 1, "approvals": [{"of": "a", "no": "never"}]},
    {"duly": 1, "withdraw_on": "never"},
    {"duly": 1, "guards": [{"of": "a"}]},
    {},
    {"duly": 2},
    {"duly": 1, "budget": {}},
    {"duly": 1, "version": 1},
    {"duly": 1, "mode": "strict"},
    {"duly": 1, "tools": {"a": None}},
    {"duly": 1, "tools": {" ": {}}},
    {"duly": 1, "tools": {"a": {"pin": True}}},
    {"duly": 1, "groups": {"g": {}}},
    {"duly": 1, "rules": [{"id": "x"}]},
    {"duly": 1, "rules": [{"must_precede": ["a"]}]},
    {"duly": 1, "rules": [{"must_precede": ["a", "b"], "at_most": {"of": "a", "n": 1}}]},
    {"duly": 1, "rules": [{"at_most": {"of": "a", "n": True}}]},
    {"duly": 1, "rules": [{"at_most": {"of": "a", "n": -1}}]},
    {"duly": 1, "show": ["legal", "legal"]},
    {"duly": 1, "breaker": {"refusals": 0}},
    {"duly": 1, "examples": [{"text": "x"}]},
    {"duly": 1, "protocol": []},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=json.dumps)
def test_the_schema_and_the_parser_agree(document: dict[str, Any]) -> None:
    try:
        parse_terms(json.dumps(document), name="c.json")
        parsed = True
    except DulyError:
        parsed = False
    assert jsonschema_rs.validator_for(document_schema()).is_valid(document) is parsed


def test_what_is_printed_is_valid() -> None:
    text = json.dumps(DOCUMENTS[1] | DOCUMENTS[4])
    document = document_of(parse_terms(text, name="c.json"))
    assert jsonschema_rs.validator_for(document_schema()).is_valid(document)
