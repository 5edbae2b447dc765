"""Field cases that need people, amounts, rates, duties and budgets: every event gets the verdict that it must get."""

from collections.abc import Callable
from typing import Any

import pytest

from cases.shared import absent, cases
from cases.test_field_cases import MEANT, Run, tools, word
from duly import (
    Above,
    Allowed,
    Approval,
    Breaker,
    Contract,
    Decided,
    Elapsed,
    LabelRule,
    Ordered,
    Rule,
    Session,
    Stand,
    Tool,
    at_most,
    must_precede,
    protocol,
)  # fmt: skip

SAID = [LabelRule("Said", otherwise=True)]


def total(limit: Any, **more: Any) -> Rule:
    options = {name: more.pop(name) for name in ("same", "on_excess") if name in more}
    return Rule("at_most_total", {"of": "pay", "field": "amount", "limit": limit, **more}, **options)


def rule(template: str, of: str, **args: Any) -> Rule:
    return Rule(template, {"of": of, **args})


CONTRACTS: dict[str, Callable[[], Contract]] = {
    "F02": lambda: Contract(total(10), tools=tools("pay")),
    "F07": lambda: Contract(Approval("deploy"), tools=tools("deploy")),
    "F08": lambda: Contract(Approval("edit"), tools=tools("edit")),
    "F09": lambda: Contract(Approval("record"), tools=tools("record")),
    "F10": lambda: Contract(Approval("purge"), tools=tools("purge")),
    "F11": lambda: Contract(Approval("delete_file"), Approval("send_email"), tools=tools("delete_file", "send_email")),
    "F12": lambda: Contract(Approval("wipe"), tools=tools("read", "wipe")),
    "F13": lambda: Contract(Approval("wipe"), tools=tools("wipe"), labels=SAID),
    "F14": lambda: Contract(Approval("pay"), tools=tools("pay", "get_balance"), labels=SAID, withdraw_on="message"),
    "F17": lambda: Contract(Approval("transfer"), tools=tools("transfer", "read_page")),
    "F18": lambda: Contract(Approval("transfer"), tools=[Tool("transfer", clamp={"amount": {"max": 50}})]),
    "F20": lambda: Contract(Approval("close_account"), tools=tools("close_account")),
    "F36": lambda: Contract(total(100), tools=tools("pay")),
    "F37": lambda: Contract(total(1000, per="act"), tools=tools("pay")),
    "F38": lambda: Contract(
        total(100, back={"of": "refund_of", "call": "payment"}),
        Rule("at_most", {"of": "refund_of", "n": 1}, same="payment"), tools=tools("pay", "refund_of"),
    ),
    "F39": lambda: Contract(total({"USD": 500}, units="currency"), tools=tools("pay")),
    "F40": lambda: Contract(total(0.8), tools=tools("pay")),
    "F46": lambda: Contract(Approval("refund", above=Above("amount", 100, same="order")), tools=tools("refund")),
    "F47": lambda: Contract(
        protocol("!lookup.?lookup(order as o, age_days as d).rec L.!refund(order == o).L"),
        Rule("learns", {"of": "lookup", "fact": "total", "value": "result.total"}),
        Rule("at_most_total", {"of": "refund", "field": "amount", "limit": "total"}),
        Approval("refund", when="args.amount > 50.0 && !(args.amount <= 200.0 && registers.d <= 14)"),
        tools=tools("lookup", "refund"),
    ),
    "F52": lambda: Contract(
        at_most("call_api", 3, scope="run"), Approval("call_api", when="args.write == true"), tools=tools("call_api")
    ),
    "F54": lambda: Contract(
        Rule("at_most", {"of": "delete_*", "n": 10, "weigh": {"delete_one": 1, "delete_many": "args.ids"}}),
        tools=tools("delete_one", "delete_many"),
    ),
    "F56": lambda: Contract(total(10), tools=[
        Tool("pay", error="has(result.effect) && result.effect == 'none'",
             uncertain="has(result.effect) && result.effect == 'unknown'")
    ]),
    "F58": lambda: Contract(
        rule("no_repeat", "search", n=3), at_most("search", 6, scope="run"), tools=tools("search"),
        breaker=Breaker(2, "in_a_row", "run"),
    ),
    "F59": lambda: Contract(Approval("push", expires=60.0), tools=tools("push")),
    "F60": lambda: Contract(Approval("exec", expires=300.0), tools=tools("exec")),
    "F61": lambda: Contract(rule("rate_limit", "send", n=2, per=60), tools=tools("send")),
    "F62": lambda: Contract(rule("rate_limit", "call_api", n=5, per=60), tools=tools("call_api")),
    "F63": lambda: Contract(
        rule("must_happen", "write_summary", before="finish"), rule("must_follow", "lock", by="unlock", within=30),
        tools=tools("lock", "unlock", "work", "finish", "write_summary"),
    ),
    "F66": lambda: Contract(Approval("delete_user"), tools=tools("get_user", "delete_user")),
    "F76": lambda: Contract(
        must_precede("validate", "delete"), Approval("pay", expires=60.0), tools=tools("validate", "delete", "pay"),
        breaker=Breaker(3, "equal", "turn"),
    ),
    "F79": lambda: Contract(
        Approval("write", when="!args.path.startsWith('/tmp/')", stand=Stand({"path": "/srv/**"})),
        Approval("wipe", stand="none"), tools=[Tool("write", paths={"path": None}), Tool("wipe")],
    ),
}  # fmt: skip

DECISIONS = {"approve": "approve", "reject": "deny"}


class PeopleRun(Run):
    """A case in which people decide: a release is a yes and the parked call asked again."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract)
        self.asked: dict[str, dict[str, Any]] = {}

    def step(self, told: dict[str, Any]) -> str:
        if told["dir"] == "system" and told["label"] in ("clock", "poll", "wall_clock_step"):
            return word(self.session().step(Elapsed(told["at"])))
        if told["dir"] == "system" and told["label"] == "restart":
            saved = self.session().to_dict()
            self.sessions[""] = Session.from_dict(self.contract, saved)
            return "note"
        if told["dir"] != "human":
            said = super().step(told)
            if said == "needs_approval":
                self.asked[told["id"]] = told
            return said
        verdict = self.session().step(self.order(told))
        return word(verdict)

    def order(self, told: dict[str, Any]) -> Any:
        some = {"at": told["at"]} if "at" in told else {}
        args = told.get("args") or {}
        by = args.get("by", "ann")
        match told["label"]:
            case "approve" | "reject":
                return Decided(DECISIONS[told["label"]], told["for"], by=by, **some)  # type: ignore[arg-type]
            case "decide_list":
                return Decided("deny", by=by)
            case "approve_same_arguments_always":
                return Ordered("stand", told["for"], by)
            case "approve_scope_session":
                return Ordered("stand", told["for"], by, scope=args.get("scope"))
        return Ordered("withdraw", by=by, scope=args["scope"])

    def resumed(self, id: str, at: Any) -> str:
        """The parked call asked again, as a gate that still holds it does."""
        told = {**self.asked[id], **({"at": at} if at is not None else {})}
        return super().step(told)


WORDS = {**MEANT, "release": ("allowed",), "refuse": ("allowed",), "void": ("finding",), "halt": ("violation",)}


@absent("field_cases.json")
@pytest.mark.parametrize(
    "case", [case for case in cases("field_cases.json") if case["id"] in CONTRACTS], ids=lambda c: c["id"]
)
def test_every_event_of_a_field_case_gets_its_verdict(case: dict[str, Any]) -> None:
    run = PeopleRun(CONTRACTS[case["id"]]())
    for number, (told, expected) in enumerate(zip(case["events"], case["expected"], strict=True), 1):
        got = run.step(told)
        assert got in WORDS[expected["verdict"]], f"event {number} {told}: {got}, {expected}"
        if expected["verdict"] == "release":
            assert run.resumed(told["for"], told.get("at")) == "allowed", f"event {number} {told}"
        if expected["verdict"] == "halt":
            assert run.session().state.more.over is not None
    executed = case["final"]["executed"]
    assert {label: run.bodies[label] for label in executed} == executed


@absent("field_cases.json")
def test_every_contract_belongs_to_a_case() -> None:
    assert set(CONTRACTS) <= {case["id"] for case in cases("field_cases.json")}


def test_what_runs_is_what_was_shown() -> None:
    run = PeopleRun(CONTRACTS["F18"]())
    call = {"dir": "call", "label": "transfer", "id": "t1", "args": {"amount": 100}}
    assert run.step(call) == "needs_approval"
    shown = run.session().state.more.parked["t1"].runs
    run.step({"dir": "human", "label": "approve", "for": "t1"})
    verdict = run.session().step(run.event(call))
    assert isinstance(verdict, Allowed)
    assert verdict.payload == shown == {"amount": 50}
