"""What a contract lets the model see, wherever a refusal comes out; the record has all of it every time."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from duly import Called, Gate, Received, Refused, Session, Tool, guard, must_precede
from duly.gates.mcp import answer
from duly.journal.journal import Journal
from duly.journal.memory import MemoryJournal
from duly.journal.sqlite import SqliteJournal
from duly.machine.contract import Contract

CONTRACT = Contract(must_precede("look", "pay"), must_precede("Yes", "pay"), tools=[Tool("look"), Tool("pay")], show=())
SOME = Contract(must_precede("look", "pay"), tools=[Tool("look"), Tool("pay")], show=("repair",))


def refusal_of(work: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        work()
    return caught.value


def test_a_guarded_function_tells_no_more_than_the_contract_shows() -> None:
    session = Session(CONTRACT)
    refused = refusal_of(guard(session, lambda: 1, name="pay"))
    assert (str(refused), refused.verdict.text()) == ("refused", "refused")
    assert [reason.rule for reason in refused.verdict.reasons] == ["must_precede(look, pay)", "must_precede(Yes, pay)"]
    entry = session.journal[-1]
    assert entry.verdict is not None
    assert len(entry.verdict.reasons) == 2


def test_a_guarded_coroutine_tells_no_more_than_the_contract_shows() -> None:
    async def pay() -> int:
        return 1

    refused = refusal_of(lambda: asyncio.run(guard(Session(SOME), pay)()))
    assert str(refused) == "refused\nto make it legal: first call `look`"


def test_arguments_that_are_no_values_tell_no_more_than_the_contract_shows() -> None:
    refused = refusal_of(lambda: guard(Session(CONTRACT), lambda x: x, name="pay")("\ud800"))
    assert str(refused) == "not understood"
    assert [reason.kind for reason in refused.verdict.reasons] == ["malformed"]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Called("pay", {}, id="1"), "refused"),
        (Called("pay", [1], id="2"), "not understood"),
        (Called("pay", {"n": float("nan")}, id="3"), "not understood"),
        (Called(7, {}), "not understood"),  # type: ignore[arg-type]
        (Received("pay"), "finding"),
    ],
)
def test_every_refusal_of_a_session_tells_no_more_than_the_contract_shows(event: Any, said: str) -> None:
    live, looked = Session(CONTRACT), Session(CONTRACT)
    stored = Gate.open(CONTRACT, MemoryJournal(), "s").session
    assert [looked.peek(event).text(), live.step(event).text(), stored.peek(event).text(), stored.step(event).text()] == [
        said
    ] * 4
    assert live.observe(event).text() in ("finding", "not understood")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_journal_has_every_reason_whatever_is_shown(kind: str, tmp_path: Path) -> None:
    journal: Journal = MemoryJournal() if kind == "memory" else SqliteJournal(tmp_path / "j.sqlite")
    gate = Gate.open(CONTRACT, journal, "s")
    assert str(refusal_of(lambda: gate.begin("pay", {}))) == "refused"
    (record,) = journal.read("s", 0)
    assert [(reason.rule, reason.kind, reason.message, reason.help) for reason in record.reasons] == [
        (f"must_precede({first}, pay)", "order", f"`pay` needs an earlier `{first}`", f"`{first}` must have succeeded first")
        for first in ("look", "Yes")
    ]
    journal.close()


def test_an_answer_for_mcp_has_the_shown_parts_only() -> None:
    verdicts = [Session(contract).step(Called("pay", {}, id="1")) for contract in (CONTRACT, SOME)]
    assert [answer.refusal(verdict, structured=True) for verdict in verdicts] == [
        {
            "content": [{"type": "text", "text": "refused"}], "isError": True,
            "_meta": {"duly/verdict": {"verdict": "violation"}}, "structuredContent": {"verdict": "violation"},
        },
        {
            "content": [{"type": "text", "text": "refused\nto make it legal: first call `look`"}], "isError": True,
            "_meta": {
                "duly/verdict": {"verdict": "violation", "repair": {"answer": "steps", "steps": ["call `look`"]}}
            },
            "structuredContent": {"verdict": "violation", "repair": {"answer": "steps", "steps": ["call `look`"]}},
        },
    ]  # fmt: skip
