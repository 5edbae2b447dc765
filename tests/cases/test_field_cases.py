"""Field cases: each one's contract, its events one by one, and the verdict that each must get (MEANING, A8).

Covered are the cases whose contracts need protocols, precedence, counts, tools, labels, orders, keys and snapshots only.
Of a few, single events need something else; those are named under ``LATER``.
"""

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from cases.shared import absent, cases
from duly import (
    Approval,
    Called,
    Contract,
    DulyError,
    Elapsed,
    Failed,
    LabelRule,
    Listed,
    Ordered,
    Received,
    Returned,
    Session,
    Tool,
    at_most,
    must_precede,
    protocol,
)  # fmt: skip
from duly.gates.labels import Classifier
from duly.values.definition import definition_digest
from duly.values.verdict import Allowed, Verdict

YES = LabelRule("Yes", matches=r"(?i)^\W*yes\W*$")
OBJECT = {"type": "object"}


def tools(*names: str) -> list[Tool]:
    return [Tool(name) for name in names]


def schema(**properties: Any) -> dict[str, Any]:
    required = [name.removesuffix("_") for name in properties if not name.startswith("maybe_")]
    return {
        "type": "object", "required": required,
        "properties": {name.removeprefix("maybe_"): part for name, part in properties.items()},
    }  # fmt: skip


NAMES = {"enum": ["a.txt", "b.txt"]}
HUNDRED = {"type": "number", "maximum": 100}
FAILS = "(has(result.isError) && result.isError == true) || (has(result.ok) && result.ok == false)"

CONTRACTS: dict[str, Callable[[], Contract]] = {
    "F01": lambda: Contract(at_most("search", 2), tools=tools("search")),
    "F03": lambda: Contract(must_precede("validate", "delete"), tools=tools("validate", "delete")),
    "F05": lambda: Contract(protocol("!{close_ticket, escalate}"), tools=tools("close_ticket", "escalate")),
    "F06": lambda: Contract(must_precede("login", "transfer"), at_most("transfer", 1), tools=tools("login", "transfer")),
    "F15": lambda: Contract(protocol("rec L.?Yes.!refund.?refund.L"), tools=tools("refund"), labels=[YES]),
    "F19": lambda: Contract(
        protocol("rec L.!propose(order as o).?propose.?Yes.!change_order(order == o).?change_order.L"),
        tools=tools("propose", "change_order"), labels=[YES],
    ),
    "F21": lambda: Contract(tools=[Tool("pay", effect="write"), Tool("get_receipt", effect="none")]),
    "F22": lambda: Contract(tools=[Tool("ship", effect="write")]),
    "F24": lambda: Contract(protocol("!search.?search.!approve.?approve.!book"), name="A"),
    "F25": lambda: Contract(protocol("!search.?search.!book.?book.end"), tools=tools("search", "book")),
    "F27": lambda: Contract(at_most("delete_file", 1), tools=tools("spawn_agent", "delete_file")),
    "F28": lambda: Contract(
        at_most("write_file", 0), tools=tools("write_file"),
        aliases={"mcp__fs__write_file": "write_file", "fs.write_file": "write_file"},
    ),
    "F29": lambda: Contract(Approval("delete_user"), tools=tools("delete_user")),
    "F30": lambda: Contract(Approval("db2/execute_sql"), tools=tools("db1/execute_sql", "db2/execute_sql")),
    "F31": lambda: Contract(at_most("place_order", 1), tools=tools("run_code", "place_order")),
    "F32": lambda: Contract(tools=[Tool("search", pin=True)]),
    "F34": lambda: Contract(tools=[Tool("read_table", effect="none"), Tool("run_sql", effect="write")]),
    "F35": lambda: Contract(tools=tools("search", "shell")),
    "F41": lambda: Contract(
        protocol("rec L.!deploy(image.hash == 'abc', region in ['eu', 'us']).L"), tools=tools("deploy")
    ),
    "F42": lambda: Contract(protocol("rec L.!run(env != 'prod', env != 'live').L"), tools=tools("run")),
    "F43": lambda: Contract(
        protocol("rec L.{!read(path as r).?read.L, !write(path == r).L}"),
        tools=[Tool("read", paths={"path": None}), Tool("write", paths={"path": None})],
    ),
    "F44": lambda: Contract(tools=[
        Tool("read_file", schema=schema(path=NAMES)),
        Tool("read_files", schema=schema(paths={"type": "array", "minItems": 1, "items": NAMES})),
    ]),
    "F45": lambda: Contract(tools=[Tool("pay", schema=schema(amount=HUNDRED, maybe_max_amount=HUNDRED))]),
    "F49": lambda: Contract(at_most("tool", 2), tools=tools("tool")),
    "F50": lambda: Contract(at_most("search", 2), tools=[Tool("search", schema=schema(q={"minLength": 1}))]),
    "F51": lambda: Contract(at_most("search", 2, scope="run"), at_most("search", 3), tools=tools("search")),
    "F53": lambda: Contract(at_most("search", 2, scope="run"), tools=tools("search")),
    "F57": lambda: Contract(must_precede("lookup", "refund"), tools=[Tool("lookup", error=FAILS), Tool("refund")]),
    "F64": lambda: Contract(tools=[
        Tool("remove", schema=schema(path={"type": "string"}, maybe_dry_run={"type": "boolean"})),
        Tool("ping", schema=OBJECT),
    ]),
    "F65": lambda: Contract(tools=[Tool("pay", schema=schema(amount=HUNDRED))]),
    "F67": lambda: Contract(
        must_precede("lookup", "refund"), tools=[Tool("lookup", pairs=("order",), error="result.ok == false"), Tool("refund")]
    ),
    "F68": lambda: Contract(must_precede("vote", "close"), tools=[Tool("vote", error="result.ok == false"), Tool("close")]),
    "F77": lambda: Contract(at_most("send", 1), tools=tools("send")),
    "F78": lambda: Contract(tools=[
        Tool("shell", schema=schema(command={"type": "string", "not": {"pattern": "rm -rf"}})),
        *tools("editor", "open_panel", "commit"),
    ]),
    "F86": lambda: Contract(tools=tools("note")),
}  # fmt: skip

LATER = {
    "F86": {5: "evidence"},
}
"""Events (from 1) that need something that these contracts do not have."""


class Run:
    """One case as it goes on: a session per name, what the surroundings do, and how often each body ran."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.sessions: dict[str, Session] = {}
        self.saved: Any = None
        self.watching = False
        self.bodies: Counter[str] = Counter()
        self.classifier = Classifier(contract.terms.labels)

    def session(self, name: str = "") -> Session:
        if name not in self.sessions:
            self.sessions[name] = Session(self.contract)
        return self.sessions[name]

    def step(self, told: dict[str, Any]) -> str:
        """The word for what happens to one event."""
        if told["dir"] == "system":
            return str(getattr(self, told["label"])(**told.get("args", {})))
        session = self.session(told.get("session", ""))
        event = self.event(told)
        verdict = session.observe(event) if self.watching else session.step(event)
        allowed = isinstance(verdict, Allowed)
        if told["dir"] == "call" and ((allowed and not verdict.replayed) or self.watching):  # type: ignore[union-attr]
            self.bodies[told["label"]] += 1
        return "ran" if self.watching else word(verdict)

    def event(self, told: dict[str, Any]) -> Any:
        some = {name: told[name] for name in ("id", "at", "run", "agent") if name in told}
        if told["dir"] == "call":
            more = {name: told[name] for name in ("key", "parent", "server", "raw") if name in told}
            return Called(told["label"], told.get("args"), batch=told.get("par"), **some, **more)
        if told["dir"] == "result":
            return Returned(told["label"], told["result"], executed_by=told.get("executed_by"), **some)
        if told["dir"] == "user":
            return Received(self.classifier.classify(told["args"]["text"]), told["args"])
        if told["label"] == "settle_done":
            return Ordered("settle", told["for"], "ana", payload={"as": "done"})
        return Ordered(told["label"], by="ana")

    # what the surroundings do

    def crash(self) -> str:
        self.saved = self.session().to_dict()
        return "note"

    def restore(self, snapshot: str = "") -> str:
        try:
            again = Session.from_dict(self.contract, self.saved)
        except DulyError as error:
            named = all(digest[:19] in str(error) for digest in (self.saved["digest"], self.contract.digest))
            return "spec_error" if named else "an error that does not name both fingerprints"
        self.sessions[""] = again
        # a gate that comes back says of each call without a result that nobody knows
        verdicts = [again.step(Failed(identity, "unknown", "the process ended")) for identity in again.state.open]
        assert all(verdicts)
        assert all(call.uncertain for call in again.state.open.values())
        return "note"

    def snapshot(self) -> str:
        return self.crash()

    def move(self, how: list[str]) -> str:
        first = self.session()
        ways = [
            Session.from_dict(self.contract, first.to_dict()), pickle.loads(pickle.dumps(first)), copy.deepcopy(first)
        ]  # fmt: skip
        for again in ways:
            assert [again.peek(Called(label, {})).word for label in ("search", "book")] == ["violation", "allowed"]
        self.sessions[""] = ways[0]
        return "note"

    def load_contract(self, name: str) -> str:
        if name == "B":
            self.contract = Contract(protocol("!search.?search.!book"), name="B")
        return "spec_ok"

    def run_retry(self) -> str:
        return "note"

    def new_run(self, run: str) -> str:
        return word(self.session().step(Elapsed(0.0, run=run)))

    def mode(self, value: str) -> str:
        scope = "shadow" if value == "watch" else "enforce"
        verdict = self.session().step(Ordered("mode", by="ana", scope=scope))
        self.watching = self.session().state.more.mode == "shadow"
        return word(verdict)

    def report(self) -> str:
        seen = [entry for entry in self.session().journal if isinstance(entry.event, Called)]
        assert [entry.mode for entry in seen] == ["shadow"] * 3
        assert [reason.rule for entry in seen for reason in entry.verdict.reasons] == ["at_most(send, 1)"] * 2  # type: ignore[union-attr]
        return "note"

    def tools_listed(self, tools: dict[str, Any]) -> str:
        digests = {name: definition_digest(definition) for name, definition in tools.items()}
        return word(self.session().step(Listed("", digests)))


def word(verdict: Verdict) -> str:
    if isinstance(verdict, Allowed):
        return "replayed" if verdict.replayed else "allowed"
    if verdict.finding and verdict.word == "violation":
        return "finding"
    return verdict.word


MEANT = {
    "allow": ("allowed", "ran"),
    "deny": ("violation",),
    "hold": ("needs_approval",),
    "grant": ("allowed",),
    "replay": ("replayed",),
    "flag": ("finding",),
    "malformed": ("unrecognized",),
    "note": ("note", "allowed", "unrecognized"),
    "spec_ok": ("spec_ok",),
    "spec_error": ("spec_error",),
}


@absent("field_cases.json")
@pytest.mark.parametrize(
    "case", [case for case in cases("field_cases.json") if case["id"] in CONTRACTS], ids=lambda c: c["id"]
)
def test_every_event_of_a_field_case_gets_its_verdict(case: dict[str, Any]) -> None:
    run, later = Run(CONTRACTS[case["id"]]()), LATER.get(case["id"], {})
    for number, (told, expected) in enumerate(zip(case["events"], case["expected"], strict=True), 1):
        if number not in later:
            got = run.step(told)
            assert got in MEANT[expected["verdict"]], f"event {number} {told}: {got}, {expected}"
    if not later:
        assert {label: run.bodies[label] for label in case["final"]["executed"]} == case["final"]["executed"]


@absent("field_cases.json")
def test_every_contract_belongs_to_a_case() -> None:
    known = {case["id"] for case in cases("field_cases.json")}
    assert set(CONTRACTS) <= known
    assert set(LATER) <= set(CONTRACTS)


def test_a_limit_of_ten_holds_over_fifty_threads() -> None:
    from threading import Thread

    session = Session(Contract(at_most("pay", 10), tools=tools("pay")))
    verdicts: list[Verdict] = []
    threads = [
        Thread(target=lambda n=n: verdicts.append(session.step(Called("pay", {"amount": 1}, id=f"p{n}"))))
        for n in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(map(bool, verdicts)) == 10
