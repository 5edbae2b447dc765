"""Laws of ledgers: several sessions interleaved over one store, against a list of all that ever happened."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly import Called, Contract, Failed, Gate, Ordered, Refused, Returned, Tool, at_most, at_most_total, rate_limit
from duly.gates.shelf import shelf_of
from duly.journal.journal import open_journal
from duly.journal.replay import again, state_of
from duly.machine.watch.outer import add
from duly.session.ledger import moved
from duly.session.snapshot import save
from laws.settings import tried

SESSIONS = 3
CONTRACT = Contract(
    at_most("send", 2, per="day", scope="store", id="daily"),
    at_most_total("pay", "amount", 10, scope="store", id="money"),
    at_most("mail", 1, same="args.to", scope="store", id="each"),
    rate_limit("ping", 2, 60, scope="store", id="pace"),
    at_most("send", 4, per="day", id="own"),
    name="law", tools=[Tool(name, idempotent=True) for name in ("send", "pay", "mail", "ping")],
)  # fmt: skip
START = 1_764_590_400.0

ACTS = st.one_of(
    st.just(("send", {})),
    st.builds(lambda n: ("pay", {"amount": n}), st.sampled_from([0, 1, 3, "2.5", Decimal("0.1")])),
    st.builds(lambda to: ("mail", {"to": to}), st.sampled_from(["ana", "bob", 1, 1.0])),
    st.just(("ping", {})),
)
STEPS = st.one_of(
    st.tuples(st.just("call"), ACTS),
    st.tuples(st.sampled_from(["done", "none", "unknown", "retry"]), st.integers(0, 5)),
)
RUNS = st.lists(st.tuples(st.integers(0, SESSIONS - 1), st.sampled_from([-90000, -30, 0, 10, 45, 90000]), STEPS), max_size=40)


class Oracle:
    """Everything that was admitted, in a list; what is allowed is counted from its beginning each time."""

    def __init__(self) -> None:
        self.done: list[dict[str, Any]] = []
        self.wall = [0.0] * SESSIONS
        self.latest = ""

    def day(self, session: int) -> str:
        return max(datetime.fromtimestamp(self.wall[session], UTC).date().isoformat(), self.latest)

    def allows(self, session: int, label: str, args: dict[str, Any], wall: float) -> bool:
        self.wall[session] = max(self.wall[session], wall)
        kept = [each for each in self.done if each["label"] == label and each["kept"]]
        if label == "send":
            today = [each for each in kept if each["day"] == self.day(session)]
            return len(today) < 2 and sum(each["session"] == session for each in today) < 4
        if label == "pay":
            return sum((Decimal(str(e["args"]["amount"])) for e in (*kept, {"args": args})), Decimal(0)) <= 10
        if label == "mail":
            return not any(each["args"]["to"] == args["to"] for each in kept)
        return sum(self.wall[session] - each["at"] < 60 for each in kept) < 2

    def take(self, session: int, label: str, args: dict[str, Any], id: str) -> None:
        day = self.day(session)
        if label == "send":
            self.latest = max(self.latest, day)
        self.done.append({
            "session": session, "label": label, "args": args, "id": id, "day": day, "at": self.wall[session],
            "kept": True, "open": True, "uncertain": False,
        })  # fmt: skip


@tried(60, 2000)
@given(RUNS)
def test_sessions_over_one_store_are_allowed_what_a_list_of_everything_allows(run: list[Any]) -> None:
    journal = open_journal("memory:")
    now = [START]
    gates = [
        Gate.open(CONTRACT, journal, f"s{n}", wall=lambda: now[0], clock=lambda: 0.0, every=7) for n in range(SESSIONS)
    ]
    oracle = Oracle()
    for number, (session, later, (what, told)) in enumerate(run):
        now[0] += later
        gate = gates[session]
        if what == "call":
            label, args = told
            allowed = oracle.allows(session, label, args, now[0])
            verdict = gate.step(Called(label, args, id=f"c{number}"))
            assert bool(verdict) == allowed, (label, args, verdict)
            if allowed:
                oracle.take(session, label, args, f"c{number}")
            continue
        mine = [each for each in oracle.done if each["session"] == session and each["open"]]
        if not mine:
            continue
        call = mine[told % len(mine)]
        oracle.wall[session] = max(oracle.wall[session], now[0])
        if what == "done":
            gate.step(Returned(call["label"], {}, id=call["id"]))
            call["open"] = False
        elif what == "none":
            gate.step(Failed(call["id"], "none"))
            call["open"] = call["kept"] = False
        elif what == "unknown":
            gate.step(Failed(call["id"], "unknown"))
            call["uncertain"] = True
        elif call["uncertain"]:
            gate.step(Ordered("settle", target=call["id"], by="ana", payload={"as": "retry"}))
            call["open"] = call["kept"] = False
    sums: dict[str, Any] = {}
    for n in range(SESSIONS):
        # one session is decided again without any ledger but what its records say
        state = CONTRACT.start
        for step in again(CONTRACT, journal.read(f"s{n}")):
            assert step.agrees
            for name, more in moved(CONTRACT, state, step.state).items():
                add(sums.setdefault(name, {}), more)
            state = step.state
        assert save(CONTRACT, state) == save(CONTRACT, state_of(CONTRACT, journal, f"s{n}")[0])
    # and what all records together have used up is what the ledgers hold
    views = shelf_of(journal).views
    assert {name: value for name, value in sums.items() if any(value.values())} == {
        name: view.value for name, view in views.items() if any(view.value.values())
    }
    kept = [each for each in oracle.done if each["kept"]]
    money = sum((Decimal(str(e["args"]["amount"])) for e in kept if e["label"] == "pay"), Decimal(0))
    held = views["law/money"].value if "law/money" in views else {}
    assert held.get("", {}).get("", {}).get("", 0) == money


@pytest.mark.parametrize("kept", [1, 2, 7])
def test_a_kept_balance_only_saves_work(kept: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr("duly.gates.shelf.EVERY", kept)
    path = str(tmp_path / "j.sqlite")
    for number in range(12):
        journal = open_journal(path)
        gate = Gate.open(CONTRACT, journal, f"s{number}", wall=lambda: START)
        taken = 0
        for call in range(2):
            try:
                gate.begin("pay", {"amount": 1}, id=f"c{call}")
                gate.begin("mail", {"to": f"{number} {call}"}, id=f"m{call}")
            except Refused:
                continue
            taken += 1
        assert taken == (2 if number < 5 else 0)
        journal.close()
