"""Guards outside the contract, and actions after a decision."""

import asyncio
from threading import Event

import pytest

from duly import Called, Contract, DulyError, Gate, OutsideGuard, Refused, Session, Tool, at_most
from duly.gates.outside import Outside
from duly.gates.question import HUNG
from duly.journal.journal import open_journal
from duly.journal.replay import again
from gates import asked
from steps import held, why

TOOLS = [Tool("pay", effect="write", schema={"type": "object", "properties": {"n": {"type": "integer", "default": 7}}})]


def gated(run: object, *, of: tuple[str, ...] = ("pay",), within: float = 5.0, mode: str | None = None) -> Gate:
    return Gate(held(tools=TOOLS), guards=[Outside(of, run, within, "limit")], mode=mode)  # type: ignore[arg-type]


def refusal(gate: Gate, payload: dict[str, object] | None = None) -> tuple[str, str, str]:
    with pytest.raises(Refused) as caught:
        gate.begin("pay", payload if payload is not None else {"n": 1})
    (reason,) = caught.value.verdict.reasons
    return reason.rule, reason.kind, reason.message


def test_guard_that_says_yes_lets_the_call_by_and_its_answer_is_kept() -> None:
    gate = gated(lambda args: args == {"n": 1})
    gate.begin("pay", {"n": 1})
    assert [entry.event.answers for entry in gate.session.journal] == [{"limit": True}]  # type: ignore[union-attr]


def test_guard_sees_what_would_run() -> None:
    seen: list[object] = []
    gated(lambda args: seen.append(args) is None).begin("pay", {})
    assert seen == [{"n": 7}]


def test_guard_cannot_change_what_runs() -> None:
    passed = gated(lambda args: args.clear() is None).begin("pay", {"n": 1})
    assert passed.payload == {"n": 1}


def test_no_is_refused() -> None:
    assert refusal(gated(lambda args: False)) == ("limit", "guard", "the guard `limit` said no")


def test_crash_is_refused() -> None:
    def crash(args: object) -> bool:
        raise KeyError("x")

    assert refusal(gated(crash)) == ("limit", "crash", "the guard `limit` crashed: KeyError: 'x'")


def test_guard_that_ends_its_thread_is_refused() -> None:
    def leave(args: object) -> bool:
        raise SystemExit(0)

    assert refusal(gated(leave)) == ("limit", "crash", "the guard `limit` crashed: SystemExit: 0")


@pytest.mark.parametrize("answer", [None, 1, "yes", "timeout: x", [True], object()])
def test_answer_that_is_no_plain_yes_is_refused(answer: object) -> None:
    message = f"the guard `limit` gave an answer that is neither yes nor no: a `{type(answer).__name__}`"
    assert refusal(gated(lambda args: answer)) == ("limit", "rubbish", message)


def test_silence_is_refused_at_the_deadline() -> None:
    over = Event()
    gate = gated(lambda args: over.wait(), within=0.02)
    told = ("limit", "timeout", "the guard `limit` did not answer: no answer within 0.02 seconds")
    assert refusal(gate) == told
    over.set()


def test_guard_that_hangs_again_and_again_is_not_asked_any_more_until_it_comes_back() -> None:
    over = Event()
    gate = gated(lambda args: over.wait(), within=0.001)
    for _ in range(HUNG):
        refusal(gate)
    assert refusal(gate)[2] == f"the guard `limit` did not answer: {HUNG} earlier questions have not been answered yet"
    over.set()


def test_arguments_that_no_guard_can_be_asked_about_are_refused() -> None:
    gate = gated(lambda args: True)
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": "one"})
    assert why(caught.value.verdict) == [("limit", "missing")]


def test_coroutine_is_a_guard_too() -> None:
    async def yes(args: object) -> bool:
        await asyncio.sleep(0)
        return True

    assert gated(yes).begin("pay", {}).verdict.word == "allowed"


def test_other_calls_are_not_asked_about() -> None:
    session = held(tools=["look", *TOOLS])
    gate = Gate(session, guards=[Outside(("pay",), lambda args: False, 5.0, "limit")])
    assert gate.begin("look", {}).verdict.word == "allowed"


def test_refusal_of_a_guard_uses_up_nothing() -> None:
    answers = iter([False, True])
    gate = Gate(
        held(at_most("pay", 1), tools=TOOLS), guards=[Outside(("pay",), lambda args: next(answers), 5.0, "limit")]
    )
    refusal(gate)
    assert gate.begin("pay", {}).verdict.word == "allowed"


def test_in_shadow_the_call_runs_and_the_guard_is_a_finding() -> None:
    gate = gated(lambda args: False, mode="shadow")
    passed = gate.begin("pay", {"n": 1})
    assert (why(passed.verdict), passed.verdict.finding) == ([("limit", "guard")], True)
    assert gate.settle(passed, 1).word == "allowed"


def test_replay_takes_the_answer_and_asks_nobody() -> None:
    asked: list[object] = []
    contract, journal = Contract(tools=TOOLS), open_journal("memory:")
    guards = [Outside(("pay",), lambda args: asked.append(args) is None and len(asked) == 1, 5.0, "limit")]
    gate = Gate.open(contract, journal, "s", guards=guards)
    gate.begin("pay", {})
    refusal(gate)
    steps = list(again(contract, journal.read("s")))
    assert [step.verdict.word for step in steps] == ["allowed", "violation"]  # type: ignore[union-attr]
    assert all(step.agrees for step in steps)
    assert len(asked) == 2


def test_guard_that_cannot_be_asked_is_refused_when_the_gate_is_made() -> None:
    session = held(tools=TOOLS)
    for guards, message in (
        ([Outside(("pay",), None, 5.0, "limit")], "the guard `limit` cannot be asked"),  # type: ignore[arg-type]
        ([Outside(("pay",), bool, 0.0, "limit")], "the guard `limit` cannot be asked"),
        ([Outside(("pay",), bool), Outside(("pay",), bool)], "two guards are called `bool`"),
        ([Outside(("pya",), bool)], "the guard `bool` names an unknown tool `pya`"),
    ):
        with pytest.raises(DulyError, match=message):
            Gate(session, guards=guards)


def test_action_is_told_what_was_recorded_before() -> None:
    journal = open_journal("memory:")
    told: list[tuple[str, int]] = []
    gate = Gate.open(
        Contract(tools=TOOLS),
        journal,
        "s",
        actions=[lambda event, verdict: told.append((verdict.word, journal.length("s")))],
    )
    gate.settle(gate.begin("pay", {}), 1)
    assert told == [("allowed", 1), ("allowed", 2)]


def test_action_that_fails_is_recorded_and_undoes_nothing() -> None:
    def mail(event: object, verdict: object) -> None:
        raise OSError("no mail")

    contract, journal = Contract(tools=TOOLS), open_journal("memory:")
    gate = Gate.open(contract, journal, "s", actions=[mail])
    assert gate.begin("pay", {}).verdict.word == "allowed"
    first, second = journal.read("s")
    assert (first.verdict, second.verdict, second.judged, second.finding) == ("allowed", "violation", False, True)
    assert [reason.message for reason in second.reasons] == ["the action `mail` failed: OSError: no mail"]
    steps = list(again(contract, journal.read("s")))
    assert steps[-1].state == steps[0].state == gate.session.state


def test_action_may_use_the_gate_itself() -> None:
    session = held(tools=TOOLS)
    gates: list[Gate] = []

    def look_back(event: object, verdict: object) -> None:
        if isinstance(event, Called):
            gates[0].hear("done")

    gates.append(Gate(session, actions=[look_back]))
    gates[0].begin("pay", {})
    assert session.trace == ["!pay", "?Unrecognized"]


def named(run: str, *, within: float = 5.0) -> Contract:
    return Contract(OutsideGuard("pay", run, within), tools=TOOLS)


def test_a_guard_that_the_contract_names_is_looked_up_and_asked_by_the_gate() -> None:
    asked.ASKED.clear()
    gate = Gate(Session(named("gates.asked:small")))
    gate.begin("pay", {"n": 3})
    assert refusal(gate, {"n": 30}) == ("gates.asked:small", "guard", "the guard `gates.asked:small` said no")
    assert asked.ASKED == [{"n": 3}, {"n": 30}]


def test_a_call_that_no_gate_has_asked_about_is_refused() -> None:
    session = Session(named("gates.asked:small"))
    verdict = session.step(Called("pay", {"n": 1}, id="c1"))
    assert why(verdict) == [("gates.asked:small", "missing")]
    assert why(Gate(session, guards=None).step(Called("pay", {"n": 1}, id="c1"))) == [("gates.asked:small", "missing")]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("no.such.module:guard", "cannot be found: ModuleNotFoundError"),
        ("gates.asked:big", "cannot be found: AttributeError"),
        ("gates.asked:NUMBER", "cannot be called"),
    ],
)
def test_a_gate_does_not_start_without_the_guards_that_its_contract_names(run: str, said: str) -> None:
    with pytest.raises(DulyError, match=said):
        Gate(Session(named(run)))


def test_a_name_that_is_none_is_a_fault_of_the_contract() -> None:
    for run in ("os.system", "a b:c", ":x", "m:"):
        with pytest.raises(DulyError, match="is no name of a guard"):
            named(run)
