from decimal import Decimal

import pytest
from msgspec import UNSET

from duly import Called, Closed, Contract, Failed, Received, Returned, Sent, Tool, at_most, must_precede
from duly.journal.record import Record, facts_of, read_record, record_of, write_record
from duly.session.decide import judge
from duly.values.plain import Malformed
from duly.values.source import Source, Span
from duly.values.verdict import Reason

CONTRACT = Contract(
    must_precede("look", "pay"),
    at_most("pay", 1),
    tools=[
        Tool("look", effect="none"),
        Tool("pay", effect="write", schema={"type": "object", "properties": {"n": {"default": 1}}}),
    ],
)


def _recorded(*events, happened=False, contract=CONTRACT):
    state, records = contract.start, []
    for index, event in enumerate(events):
        verdict, after = judge(contract, state, event, happened)
        records.append(
            record_of(contract, state, after, event, verdict, index=index, wall=1.5, happened=happened, by="me")
        )
        state = after
    return records


def test_allowed_call_is_recorded_with_its_number_as_open():
    (record,) = _recorded(Called("look", {"n": 1}))
    assert record == Record(0, Called("look", {"n": 1}), "allowed", 1.5, call="#1", status="open", by="me", open=1)


def test_what_was_admitted_is_recorded_where_it_is_not_what_was_asked():
    records = _recorded(Called("look", {}, id="a"), Returned("look", {}, id="a"), Called("pay", None, id="b", raw="{}"))
    assert [record.args for record in records] == [UNSET, UNSET, {"n": 1}]


def test_refused_call_is_recorded_with_its_reasons_and_begins_nothing():
    (record,) = _recorded(Called("pay", {"n": 1}, id="a"))
    assert (record.verdict, record.call, record.status, record.open) == ("violation", None, None, 0)
    assert [(reason.rule, reason.kind) for reason in record.reasons] == [("must_precede(look, pay)", "order")]


def test_refused_call_that_ran_all_the_same_is_recorded_as_open_and_as_a_finding():
    (record,) = _recorded(Called("pay", {"n": 1}, id="a"), happened=True)
    assert (record.verdict, record.finding, record.call, record.status) == ("violation", True, "a", "open")


def test_ends_of_calls_are_recorded_with_their_outcome():
    records = _recorded(
        Called("look", {}, id="a"), Called("look", {}, id="b"), Called("look", {}, id="c"), Called("look", {}, id="d"),
        Returned("look", {}, id="a"), Returned("look", {}, id="b", outcome="error"), Failed("c", "none"), Failed("d"),
        Returned("look", {}, id="d", outcome="slow"), Returned("look", {}, id="d"),
    )[4:]  # fmt: skip
    assert [(record.call, record.status, record.outcome, record.open, record.uncertain) for record in records] == [
        ("a", "finished", "ok", 3, 0),
        ("b", "failed", "error", 2, 0),
        ("c", "failed", None, 1, 0),
        ("d", "uncertain", None, 1, 1),
        ("d", "finished", "slow", 0, 0),
        (None, None, None, 0, 0),
    ]


def test_end_of_a_session_is_recorded():
    (record,) = _recorded(Closed())
    assert record.over == "closed"


def test_reasons_are_kept_without_the_text_of_the_contract():
    reason = Reason("r", "order", "no", span=Span(Source("f\udcff", "text", line=14, column=5), 0, 2))
    (kept,) = facts_of([reason])
    assert kept == Reason("r", "order", "no", place="f\ufffd:14:5")
    assert kept.where == reason.where == "f\ufffd:14:5"


def test_record_reads_back_as_it_was_written():
    record = Record(3, Received("Yes", {"n": Decimal("1.10")}), "allowed", 2.25, digest="sha256:1")
    assert read_record(write_record(record)) == record


def test_record_without_news_is_short():
    assert write_record(Record(0, Sent("Hi"), "allowed", 1.5)) == (
        b'{"index":0,"event":{"event":"sent","label":"Hi"},"verdict":"allowed","wall":1.5}'
    )


def test_numbers_longer_than_python_reads_come_back_exactly():
    record = Record(0, Sent("Hi", {"n": Decimal("9" * 9000)}), "allowed", 1.5)
    assert read_record(write_record(record)) == record


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"index":0,"event":{"event":"nothing"},"verdict":"allowed","wall":1}', b"\xff"]
)
def test_text_that_is_no_record_is_malformed(text):
    with pytest.raises(Malformed, match="not a record"):
        read_record(text)


def test_event_that_cannot_be_written_is_malformed():
    with pytest.raises(Malformed, match="an event that cannot be written"):
        write_record(Record(0, Sent("\ud800"), "allowed", 1.5))
