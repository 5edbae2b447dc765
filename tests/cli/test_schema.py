from pathlib import Path

import jsonschema_rs

from duly.gates.files import load_terms
from duly.notation.document_print import document_of

from .conftest import Duly


def test_the_schema_takes_a_contract_that_loads(duly: Duly, here: Path) -> None:
    said = duly("schema")
    assert said.code == 0
    document = document_of(load_terms("contract.yaml"))
    assert jsonschema_rs.is_valid(said.json, document)
    assert not jsonschema_rs.is_valid(said.json, {**document, "dully": 1})
