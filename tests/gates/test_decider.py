"""Deciders at a gate: callbacks and programs, each asked once about a ticket, and what counts as an answer."""

import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import anyio
import pytest

from duly import (
    Approval,
    Callback,
    Contract,
    Decided,
    DulyError,
    Gate,
    Ordered,
    Program,
    Refused,
    Session,
    Stand,
    Tool,
    at_most_total,
    open_journal,
)  # fmt: skip
from duly.gates.question import HUNG

PAY = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
TOOLS = [Tool("pay", effect="write", idempotent=True, schema=PAY)]


def till(**approval: Any) -> Contract:
    return Contract(Approval("pay", **{"by": ("policy",), **approval}), tools=TOOLS)


def asked(answer: Any, *, contract: Contract | None = None, within: float = 5.0, **more: Any) -> Gate:
    run = answer if callable(answer) else lambda ticket: answer
    deciders = {"policy": Callback(run, within), **more}
    return Gate(Session(contract or till()), deciders=deciders)


def said(gate: Gate) -> list[tuple[str, str]]:
    return [(str(type(entry.event).__struct_config__.tag), entry.verdict.word) for entry in gate.session.journal]  # type: ignore[union-attr]


def refusal(gate: Gate, n: int = 1, **more: Any) -> tuple[str, str, str]:
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": n}, **more)
    (reason,) = caught.value.verdict.reasons
    return caught.value.verdict.word, reason.kind, reason.message


@pytest.mark.parametrize("answer", [True, {"decision": "approve"}, {"decision": "approve", "reason": "small"}])
def test_a_yes_of_a_callback_runs_the_call(answer: Any) -> None:
    gate = asked(answer)
    assert gate.begin("pay", {"n": 1}).payload == {"n": 1}
    assert said(gate) == [("called", "needs_approval"), ("decided", "allowed"), ("called", "allowed")]


def test_a_coroutine_is_awaited() -> None:
    async def decide(ticket: dict[str, Any]) -> bool:
        await anyio.sleep(0)
        return bool(ticket["args"]["n"] == 1)

    gate = asked(decide)
    assert gate.begin("pay", {"n": 1}).payload == {"n": 1}
    assert refusal(gate, 2) == ("violation", "denied", "no to this `pay`: `policy` has said no")


def test_the_ticket_is_given_as_it_would_be_shown() -> None:
    seen: list[Any] = []
    gate = asked(lambda ticket: seen.append(ticket) or True, contract=till(ask="Pay {args.n}?", expires=60.0))
    gate.begin("pay", {"n": 5}, id="c1", context={"why": "late fee"})
    (ticket,) = seen
    assert 0 < ticket.pop("left") <= 60
    assert ticket == {
        "ticket": "t1-c1", "call": "c1", "label": "pay", "args": {"n": 5}, "question": "Pay 5?", "by": ["policy"],
        "need": 1, "yes": [], "granted": False, "stand": ["exactly these arguments"], "agent": None,
        "context": {"why": "late fee"}, "said": [], "digest": gate.session.contract.digest, "session": None,
        "decider": "policy",
    }  # fmt: skip


def test_a_callback_cannot_change_what_runs_by_changing_its_ticket() -> None:
    gate = asked(lambda ticket: ticket["args"].update(n=99) or True)
    assert gate.begin("pay", {"n": 1}).payload == {"n": 1}


def test_a_no_keeps_its_words_and_nobody_is_asked_again_in_the_turn() -> None:
    seen: list[Any] = []
    gate = asked(lambda ticket: seen.append(ticket) or {"decision": "deny", "reason": "too\nmuch"})
    told = ("violation", "denied", "no to this `pay`: `policy` has said no: too much")
    assert [refusal(gate), refusal(gate)] == [told, told]
    assert len(seen) == 1
    gate.receive("Hello")
    assert refusal(gate) == told
    assert len(seen) == 2


def test_an_edit_runs_as_edited() -> None:
    gate = asked({"decision": "edit", "args": {"n": 3}})
    assert gate.begin("pay", {"n": 9}).payload == {"n": 3}


def test_an_edit_that_cannot_run_is_a_no() -> None:
    word, kind, message = refusal(asked({"decision": "edit", "args": {"m": 3}}))
    assert (word, kind) == ("violation", "rubbish")
    assert "the edited arguments do not fit" in message


def crash(ticket: Any) -> Any:
    raise ValueError("out of order")


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (None, "rubbish", "`policy` gave an answer that is no decision: a `NoneType` is no decision"),
        (1, "rubbish", "`policy` gave an answer that is no decision: a `int` is no decision"),
        ("approve", "rubbish", "`policy` gave an answer that is no decision: a `str` is no decision"),
        ({}, "rubbish", "`policy` gave an answer that is no decision: `decision` is one of approve, deny, edit, leave"),
        ({"decision": "approve", "unless": "late"}, "rubbish",
         "`policy` gave an answer that is no decision: an answer has no `unless`"),
        ({"decision": "approve", "args": {"n": 1}}, "rubbish",
         "`policy` gave an answer that is no decision: `edit` gives the new `args` as one object, and nothing else does"),
        ({"decision": "approve", "reason": 3}, "rubbish", "`policy` gave an answer that is no decision: `reason` is text"),
        (crash, "crash", "`policy` broke off when it was asked: ValueError: out of order"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_a_no_with_a_reason_of_its_own(answer: Any, kind: str, words: str) -> None:
    assert refusal(asked(answer)) == ("violation", kind, f"no to this `pay`: {words}")


def test_silence_is_a_no_at_the_deadline() -> None:
    over = Event()
    told = "no to this `pay`: `policy` has not answered: no answer within 0.02 seconds"
    assert refusal(asked(lambda ticket: over.wait(), within=0.02)) == ("violation", "timeout", told)
    over.set()


def test_a_decider_that_hangs_again_and_again_is_not_called_any_more() -> None:
    over = Event()
    gate = asked(lambda ticket: over.wait(), within=0.001)
    for n in range(HUNG):
        refusal(gate, n)
    assert refusal(gate, HUNG)[2].endswith(f"has not answered: {HUNG} earlier questions have not been answered yet")
    over.set()


def test_what_a_decider_leaves_waits_for_people_with_its_recommendation() -> None:
    answers: list[Any] = []
    leaves = {"decision": "leave", "recommendation": "approve", "reason": "known customer"}
    gate = asked(lambda ticket: answers.append(ticket) or leaves, contract=till(by=("policy", "ana")))
    for _ in range(2):
        assert refusal(gate, id="c1")[0] == "needs_approval"
    assert len(answers) == 1
    (waits,) = gate.session.state.more.parked.values()
    assert waits.said == (("policy", "leave", "approve: known customer"),)
    assert gate.step(Decided("approve", ticket=waits.ticket, by="ana"))
    assert gate.begin("pay", {"n": 1}, id="c1").payload == {"n": 1}


def test_several_deciders_are_asked_until_enough_have_said_yes() -> None:
    seen: list[str] = []

    def yes(ticket: Any) -> bool:
        seen.append(ticket["decider"])
        return True

    contract = till(by=("policy", "risk", "third"), need=2)
    deciders = {name: Callback(yes) for name in ("policy", "risk", "third")}
    gate = Gate(Session(contract), deciders=deciders)
    assert gate.begin("pay", {"n": 1}).payload == {"n": 1}
    assert seen == ["policy", "risk"]


def test_one_yes_of_two_is_kept_for_the_person_who_decides_next() -> None:
    gate = asked(True, contract=till(by=("policy", "ana"), need=2))
    assert refusal(gate, id="c1")[0] == "needs_approval"
    assert gate.step(Decided("approve", "c1", by="ana"))
    assert gate.begin("pay", {"n": 1}, id="c1").payload == {"n": 1}


def test_who_asks_for_a_call_is_not_asked_about_it() -> None:
    from duly import Called

    contract = till(by=("policy", "ana"))
    gate = asked(True, contract=contract)
    assert gate.step(Called("pay", {"n": 1}, id="c1", agent="policy")).word == "needs_approval"
    assert said(gate) == [("called", "needs_approval")]


def test_in_shadow_nobody_is_asked() -> None:
    seen: list[Any] = []
    gate = Gate(Session(till()), mode="shadow", deciders={"policy": Callback(lambda ticket: seen.append(ticket))})
    gate.begin("pay", {"n": 1})
    assert seen == []


def test_a_call_that_is_refused_anyway_is_put_before_nobody() -> None:
    seen: list[Any] = []
    contract = Contract(Approval("pay", by=("policy",)), at_most_total("pay", "n", 3), tools=TOOLS)
    gate = asked(lambda ticket: seen.append(ticket) or True, contract=contract)
    assert refusal(gate, 4)[:2] == ("violation", "amount")
    assert seen == []


def test_other_rules_are_asked_again_after_the_yes() -> None:
    contract = Contract(Approval("pay", by=("policy",)), tools=TOOLS)
    gates: list[Gate] = []

    def freeze(ticket: Any) -> bool:
        gates[0].step(Ordered("freeze", by="policy"))
        return True

    gates.append(asked(freeze, contract=contract))
    assert refusal(gates[0])[:2] == ("violation", "frozen")


def test_a_person_who_was_first_counts_and_the_decider_does_not() -> None:
    gates: list[Gate] = []

    def late(ticket: Any) -> bool:
        gates[0].step(Decided("deny", ticket=ticket["ticket"], by="ana"))
        return True

    gates.append(asked(late, contract=till(by=("policy", "ana"))))
    assert refusal(gates[0]) == ("violation", "denied", "a person has said no to this `pay`")
    assert said(gates[0]) == [
        ("called", "needs_approval"), ("decided", "allowed"), ("decided", "violation"), ("called", "violation"),
    ]  # fmt: skip


def test_a_withdrawn_ticket_is_not_asked_for_again_by_the_gate() -> None:
    gates: list[Gate] = []

    def late(ticket: Any) -> bool:
        gates[0].step(Ordered("withdraw", ticket["ticket"], by="policy"))
        return True

    gates.append(asked(late))
    assert refusal(gates[0])[0] == "needs_approval"
    assert gates[0].session.state.more.parked == {}


def test_a_second_thread_does_not_ask_about_the_same_ticket() -> None:
    begun, go = Event(), Event()
    seen: list[Any] = []

    def slow(ticket: Any) -> bool:
        seen.append(ticket)
        begun.set()
        return go.wait(10)

    gate = asked(slow)
    passes: list[Any] = []
    thread = Thread(target=lambda: passes.append(gate.begin("pay", {"n": 1}, id="c1")))
    thread.start()
    assert begun.wait(10)
    assert refusal(gate, id="c1")[0] == "needs_approval"
    go.set()
    thread.join()
    assert (len(seen), [each.payload for each in passes]) == (1, [{"n": 1}])


def test_the_session_is_not_locked_while_a_decider_thinks() -> None:
    words: list[str] = []
    gates: list[Gate] = []

    def think(ticket: Any) -> bool:
        words.append(gates[0].receive("Hello").word)
        return True

    gates.append(asked(think))
    gates[0].begin("pay", {"n": 1})
    assert words == ["allowed"]


def test_who_gives_up_while_a_decider_thinks_has_not_begun() -> None:
    begun, go = Event(), Event()

    def slow(ticket: Any) -> bool:
        begun.set()
        return go.wait(10)

    gate = asked(slow)

    async def body() -> None:
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await gate.abegin("pay", {"n": 1}, id="c1")

            tasks.start_soon(ask)
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()

    anyio.run(body)
    assert not go.is_set()
    go.set()
    assert said(gate) == [("called", "needs_approval")]
    assert gate.session.state.open == {}


def test_the_same_request_opened_again_is_the_same_ticket() -> None:
    gate = Gate(Session(till()))
    tickets = []
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            gate.begin("pay", {"n": 1}, id="req-7", context={"invoice": 12})
        tickets.append(caught.value.verdict.ticket)  # type: ignore[union-attr]
    assert tickets == ["t1-req-7"] * 3
    assert [waits.context for waits in gate.session.state.more.parked.values()] == [{"invoice": 12}]


def test_over_a_store_a_person_elsewhere_and_a_decider_here_count_once(tmp_path: Path) -> None:
    journal = open_journal(str(tmp_path / "s.sqlite"))
    contract = till(by=("policy", "ana"))

    def late(ticket: Any) -> bool:
        other = Gate.open(contract, open_journal(str(tmp_path / "s.sqlite")), "s", guards=None)
        assert other.step(Decided("approve", ticket=ticket["ticket"], by="ana"))
        return True

    gate = Gate.open(contract, journal, "s", deciders={"policy": Callback(late)})
    assert gate.begin("pay", {"n": 1}, id="c1").payload == {"n": 1}
    words = [(type(r.event).__name__, r.verdict) for r in journal.read("s")]
    assert words == [("Called", "needs_approval"), ("Decided", "allowed"), ("Decided", "violation"), ("Called", "allowed")]
    with pytest.raises(Refused):
        Gate.open(contract, journal, "s").begin("pay", {"n": 1}, id="c2")


def test_what_was_asked_stays_on_record_over_a_restart(tmp_path: Path) -> None:
    contract, seen = till(by=("policy", "ana")), []
    for _ in range(2):
        journal = open_journal(str(tmp_path / "s.sqlite"))
        leave = Callback(lambda ticket: seen.append(ticket["ticket"]) or {"decision": "leave", "reason": "unsure"})
        gate = Gate.open(contract, journal, "s", deciders={"policy": leave})
        assert refusal(gate, id="c1", context="why")[0] == "needs_approval"
        gate.leave()
        journal.close()
    journal = open_journal(str(tmp_path / "s.sqlite"))
    called, decided = [record.event for record in journal.read("s")][:2]
    assert (seen, called.context, decided.by, decided.channel, decided.reason) == (  # type: ignore[union-attr]
        ["t1-c1"], "why", "policy", "callback", "unsure",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("deciders", "contract", "message"),
    [
        ({"": Callback(bool)}, till(), "a decider without a name"),
        ({"policy": bool}, till(), "the decider `policy` cannot be asked"),
        ({"policy": Callback(bool, 0)}, till(), "the decider `policy` has no time to answer"),
        ({"policy": Callback(3)}, till(), "the decider `policy` cannot be called"),  # type: ignore[arg-type]
        ({"policy": Program("decide")}, till(), "the decider `policy` names no program"),  # type: ignore[arg-type]
        ({"polcy": Callback(bool)}, till(), "nothing in the contract lets `polcy` decide"),
        ({"policy": Program(("true",))}, till(by=()), "nothing in the contract lets `policy` decide"),
        ({"policy": Callback(bool)}, Contract(tools=TOOLS), "nothing in the contract lets `policy` decide"),
    ],
)  # fmt: skip
def test_a_decider_that_can_decide_nothing_is_an_error_at_once(deciders: Any, contract: Contract, message: str) -> None:
    with pytest.raises(DulyError) as caught:
        Gate(Session(contract), deciders=deciders)
    assert caught.value.diagnostics[0].message == message


def test_a_program_counts_for_the_approvals_that_name_it_and_a_callback_for_those_that_name_nobody() -> None:
    contract = Contract(Approval("pay", by=("policy",), id="a"), Approval("pay", id="b", stand=Stand()), tools=TOOLS)
    script = "print('true')"
    gate = Gate(Session(contract), deciders={"policy": Program((sys.executable, "-c", script))})
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": 1}, id="c1")
    assert (caught.value.verdict.word, caught.value.verdict.rules) == ("needs_approval", ("a", "b"))
    assert gate.step(Decided("approve", "c1", by="ana")).word == "allowed"
    assert gate.begin("pay", {"n": 1}, id="c1").payload == {"n": 1}
    gate = asked(True, contract=contract)
    assert gate.begin("pay", {"n": 1}).payload == {"n": 1}
