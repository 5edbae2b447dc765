"""Field cases about contracts themselves, about guards from outside, and about hand-offs with a part of a budget."""

from collections.abc import Callable
from typing import Any

import pytest

from cases.shared import absent, cases
from duly import (
    Called,
    Contract,
    DulyError,
    OutsideGuard,
    Refused,
    Session,
    Tool,
    Transition,
    at_most,
    exclusive,
    forbid,
    must_happen,
    must_precede,
    never_after,
    permit,
    protocol,
    requires,
    transitions,
)  # fmt: skip
from duly.check.contract import check_contract
from duly.machine.terms import Budget
from duly.session.split import split

CASES = {case["id"]: case for case in cases("field_cases.json")}

RECORDS = [Tool(name, schema={"type": "object", "properties": {"id": {"type": "string"}}}) for name in ("delete_record", "read_record")]
DELETES = [Tool(name) for name in ("delete_draft", "delete_drafts", "delete_user", "undelete_user")]


def misspelt() -> Contract:
    return Contract(must_precede("validate", "delete_recrod"), requires("delete_record", "args.idd != ''"), tools=RECORDS)


LOADS: dict[str, dict[str, Callable[[], Contract]]] = {
    "F80": {
        "False": misspelt, "True": misspelt,
    },
    "F81": {
        "1": lambda: Contract(must_precede("a", "b"), must_precede("b", "a")),
        "2": lambda: Contract(must_happen("c"), never_after("c", "start"), must_precede("start", "c")),
        "3": lambda: Contract(exclusive("d", "e"), must_happen("d"), must_happen("e")),
        "4": lambda: Contract(at_most("f", 0), must_happen("f")),
        "a before b only": lambda: Contract(must_precede("a", "b")),
    },
    "F82": {
        "1": lambda: Contract(transitions(
            [Transition("a", "!go", "b"), Transition("b", "!stop", "c"), Transition("x", "!back", "b")],
            initial="a", terminal=["c"],
        )),
        "2": lambda: Contract(protocol("!{stop.end, go.rec Y.!turn.Y}")),
        "3": lambda: Contract(protocol("!{ok.!a.end, ok.!b.end}")),
    },
    "F83": {
        "separate rules": lambda: Contract(forbid("delete_*"), permit("delete_draft"), tools=DELETES),
        "delete_* except delete_draft": lambda: Contract(forbid("delete_*", except_=["delete_draft"]), tools=DELETES),
    },
}  # fmt: skip


def loaded(build: Callable[[], Contract]) -> tuple[str, Contract | None]:
    """The word for what loading and `duly check` say of a contract."""
    try:
        contract = build()
    except DulyError:
        return "spec_error", None
    severities = {each.severity for each in check_contract(contract)}
    return ("spec_error" if "error" in severities else "spec_warning" if severities else "spec_ok"), contract


@absent("field_cases.json")
@pytest.mark.parametrize("id", LOADS)
def test_a_contract_is_judged_as_the_case_says(id: str) -> None:
    case, session = CASES[id], Session(Contract())
    for told, expected in zip(case["events"], case["expected"], strict=True):
        if told["dir"] == "system":
            said, contract = loaded(LOADS[id][str(*told["args"].values())])
            assert said == expected["verdict"], told
            session = Session(contract) if contract is not None else session
        else:
            verdict = session.step(Called(told["label"], told["args"], id=told["id"]))
            assert verdict.word == {"allow": "allowed", "deny": "violation"}[expected["verdict"]], told


def test_a_misspelt_name_is_said_with_what_was_meant() -> None:
    with pytest.raises(DulyError) as caught:
        LOADS["F80"]["True"]()
    assert any("idd" in each.message and "id" in each.help for each in caught.value.diagnostics)
    rules = must_precede("read_record", "delete_recrod"), must_precede("validate", "delete_record")
    found = [(each.message, each.help) for each in check_contract(Contract(*rules, tools=RECORDS)) if each.code == "unknown"]
    assert ("the rule `must_precede(read_record, delete_recrod)` names `delete_recrod`, which is not declared",
            "did you mean `delete_record`?") in found  # fmt: skip


@absent("field_cases.json")
def test_an_outside_guard_that_gives_no_plain_yes_refuses() -> None:
    contract = Contract(tools=[Tool("publish")], guards=(OutsideGuard("publish", "checks:publish"),))
    (guard,) = contract.acts["publish"].guards
    answers: dict[str, Any] = {
        "sleeps 8 s": "timeout: it took 5 s", "exits 1 with a traceback": "crash: exit 1",
        "prints text that is not a verdict": "perhaps", "file is missing": "missing: no such file", "says allow": True,
    }  # fmt: skip
    session, how = Session(contract), ""
    case = CASES["F33"]
    for told, expected in zip(case["events"], case["expected"], strict=True):
        if told["dir"] == "system":
            how = told["args"]["how"]
            continue
        verdict = session.step(Called("publish", {}, id=told["id"], answers={guard: answers[how]}))
        assert verdict.word == {"allow": "allowed", "deny": "violation"}[expected["verdict"]], told
        kind = answers[how].partition(":")[0] if how != "says allow" else ""
        assert [r.kind for r in verdict.reasons] == ([] if verdict else ["rubbish" if kind == "perhaps" else kind])


@absent("field_cases.json")
def test_a_hand_off_lends_what_is_left_and_no_more() -> None:
    """A hand-off is itself no call of the run's five: only `work` counts."""
    contract = Contract(tools=[Tool("work")], budget=(Budget({"calls": 5}),))
    sessions: dict[str | None, Session] = {None: Session(contract)}
    case = CASES["F55"]
    for told, expected in zip(case["events"], case["expected"], strict=True):
        session = sessions[told.get("agent")]
        if told["label"] == "handoff":
            try:
                sessions[told["args"]["to"]] = split(session, told["args"]["to"], {"calls": told["args"]["allowance"]})
                said = "allowed"
            except Refused:
                said = "violation"
        else:
            said = session.step(Called("work", {}, id=told["id"])).word
        assert said == {"allow": "allowed", "deny": "violation"}[expected["verdict"]], told
