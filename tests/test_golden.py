"""What 0.1 wrote is read by every later release: events, verdicts, digests, snapshots."""

import json
from typing import Any

import pytest

import duly
from duly.values.paper import read_event, write_event
from golden.session import FILE, contract, replayed


@pytest.fixture
def golden() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_lines_of_0_1_read_and_write_back_to_the_letter(golden: dict[str, Any]) -> None:
    assert [write_event(read_event(line)) for line in golden["events"]] == golden["events"]


def test_a_contract_of_0_1_has_the_digest_that_its_snapshots_name(golden: dict[str, Any]) -> None:
    assert contract().digest == golden["digest"]


def test_a_run_of_0_1_gets_the_same_verdicts_and_ends_in_the_same_state(golden: dict[str, Any]) -> None:
    session = duly.Session(contract())
    assert replayed(golden["events"], session) == golden["verdicts"]
    assert json.loads(json.dumps(session.to_dict())) == golden["end"]


def test_a_session_goes_on_from_a_snapshot_of_0_1(golden: dict[str, Any]) -> None:
    session = duly.Session.from_dict(contract(), golden["snapshot"])
    cut = golden["cut"]
    assert replayed(golden["events"][cut:], session) == golden["verdicts"][cut:]
    assert json.loads(json.dumps(session.to_dict())) == golden["end"]
