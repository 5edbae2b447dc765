"""Packs of llmcontract: they load while they hold nothing that would be ignored."""

import json

import pytest
from llmcontract.pack import ContractPack, normalize_pack
from llmcontract.policy import Did, Requirement

from duly.notation.document import parse_terms
from duly.values.errors import DulyError


def test_a_pack_without_requirements_loads_as_it_is() -> None:
    pack = ContractPack("desk", "rec L.?{Ask.!lookup.L, Bye}", layout={"nodes": []}, description="a desk")
    terms = parse_terms(json.dumps(normalize_pack(pack.to_dict())), name="desk.json")
    assert (terms.name, [graph.text for graph in terms.protocols]) == ("desk", ["rec L.?{Ask.!lookup.L, Bye}"])


def test_a_pack_with_requirements_is_refused_at_their_place() -> None:
    pack = ContractPack("desk", "!a.!b", requirements=(Requirement("b", Did("a"), "a first"),))
    with pytest.raises(DulyError) as caught:
        parse_terms(json.dumps(pack.to_dict(), indent=1), name="desk.json")
    (fault,) = caught.value.diagnostics
    assert fault.where() == "desk.json:6:18"
    assert fault.message == "requirements over the history are not supported by this version of duly"


def test_all_faults_of_a_pack_are_reported_at_once() -> None:
    text = '{"pack_version": "2.0", "name": 1, "protocol": "!a . X", "requirement": [], "requirements": [1]}'
    with pytest.raises(DulyError) as caught:
        parse_terms(text, name="desk.json")
    assert [fault.message for fault in caught.value.diagnostics] == [
        "expected the pack version `1.0`, got `2.0`",
        "expected a text under `name`, got `1`",
        "unbound recursion variable `X`",
        "unknown key `requirement` in a pack of llmcontract",
        "requirements over the history are not supported by this version of duly",
    ]
