"""Rules: one `Called` beside one `call` of acel-core, with rules that do not mention the tool and with rules that all do."""

import gc
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import acel

import duly
from duly.audit.document import open_document
from duly.audit.readers.native import Native
from duly.audit.run import audit
from duly.machine.terms import Rule

from .measure import Figure, interleaved

ROUND = 200
OPEN = 10
"""Calls that are open at once, at most; the peer's have ended when they return."""
ARGS = {"amount": 1, "path": "/srv/a"}


def figures() -> list[Figure]:
    return [*_unmentioned(), *_mentioned(), *_history(), _replay(), _age()]


def _ours(rules: list[Rule], label: str = "pay") -> Callable[[], int]:
    contract = duly.Contract(*rules)
    call = [duly.Called(label, ARGS, id=f"c{number}") for number in range(OPEN)]
    session = duly.Session(contract)

    def work() -> int:
        step = session.step
        for _ in range(ROUND // OPEN):
            session.state = contract.start
            for event in call:
                step(event)
        return ROUND

    return work


def _theirs(rules: list[Any], label: str = "pay") -> Callable[[], int]:
    def work() -> int:
        session = acel.Session()
        session.add_contracts(rules)
        for contract in rules:
            contract.reset()
        call = session.call
        for _ in range(ROUND):
            call(label, ARGS, result=None)
        return ROUND

    return work


def _unmentioned() -> list[Figure]:
    found = []
    flat: dict[str, Callable[[], int]] = {}
    for count, bar in ((1, 1.2), (50, 1 / 15), (500, 1 / 150)):
        ours = _ours([duly.must_precede(f"a{n}", f"b{n}") for n in range(count)])
        theirs = _theirs([acel.must_precede(f"a{n}", f"b{n}") for n in range(count)])
        flat[str(count)] = ours
        times = interleaved({"ours": ours, "theirs": theirs}, rounds=20)
        found.append(
            Figure(f"one call, {count} rules that do not mention it", times["ours"] / times["theirs"], "of acel", bar,
                   times["theirs"], note=f"{times['ours']:.2f} µs, theirs {times['theirs']:.1f}")
        )  # fmt: skip
    flat["10000"] = _ours([duly.must_precede(f"a{n}", f"b{n}") for n in range(10_000)])
    times = interleaved(flat, rounds=20)
    found.append(Figure("one call, 10,000 such rules instead of one", times["10000"] / times["1"], "times", 1.3))
    moved = _ours([duly.at_most(f"a{n}", 10**9) for n in range(10_000)], "a77")
    still = _ours([duly.at_most("a77", 10**9)], "a77")
    times = interleaved({"moved": moved, "still": still}, rounds=20)
    found.append(Figure("one counter moves, 10,000 instead of one", times["moved"] / times["still"], "times", 3))
    return found


def _mentioned() -> list[Figure]:
    kinds: list[tuple[str, list[Rule], list[Any], float]] = [
        (
            "order", [duly.must_precede("pay", f"b{n}") for n in range(50)],
            [acel.must_precede("pay", f"b{n}") for n in range(50)], 1 / 4,
        ),
        (
            "counts", [duly.at_most("pay", 10**9, id=f"r{n}") for n in range(50)],
            [acel.at_most_n_times("pay", 10**9) for _ in range(50)], 1 / 4,
        ),
        (
            "amounts",
            [Rule("at_most_total", {"of": "pay", "field": "amount", "limit": 10**9}, id=f"r{n}") for n in range(50)],
            [acel.at_most_total("pay", "amount", 10**9) for _ in range(50)], 1 / 4,
        ),
        (
            "conditions", [Rule("requires", {"of": "pay", "that": f"args.amount < {n + 2}"}) for n in range(50)],
            [acel.must_precede("pay", acel.matching("pay", f"/x{n}", field="path")) for n in range(50)], 1 / 2,
        ),
        (
            "patterns",
            [Rule("requires", {"of": "pay", "that": f"!args.path.matches('/x{n}')"}) for n in range(50)],
            [acel.at_most_n_times(acel.matching("pay", f"/x{n}", field="path"), 0) for n in range(50)], 1 / 2,
        ),
    ]  # fmt: skip
    found = []
    for name, ours, theirs, bar in kinds:
        times = interleaved({"ours": _ours(ours), "theirs": _theirs(theirs)}, rounds=12)
        found.append(
            Figure(f"one call, 50 rules about it: {name}", times["ours"] / times["theirs"], "of acel", bar,
                   times["theirs"], note=f"{times['ours']:.1f} µs, theirs {times['theirs']:.1f}")
        )  # fmt: skip
    return found


def _history() -> list[Figure]:
    """A refusal after 10,000 calls, its text included, and a call that carries an unread text of 10 MB."""
    session = duly.Session(duly.Contract(duly.at_most("pay", 10_000), duly.must_precede("look", "drop")))
    theirs = acel.Session(halt_on_violation=False)
    theirs.add_contracts([acel.at_most_n_times("pay", 10_000), acel.must_precede("look", "drop")])
    for number in range(10_000):
        session.step(duly.Called("pay", ARGS, id=f"c{number}"))
        session.step(duly.Returned("pay", None, id=f"c{number}"))
        theirs.call("pay", ARGS, result=None)
    begun = process_time()
    str(theirs.call("drop", ARGS, result=None))
    slow = (process_time() - begun) * 1e6

    def refused() -> int:
        for _ in range(20):
            session.step(duly.Called("drop", ARGS)).text()
        return 20

    ours = interleaved({"ours": refused})["ours"]
    rule = Rule("requires", {"of": "pay", "that": "args.amount < 2"})
    contract = duly.Contract(rule)
    texts = {"small": {"amount": 1, "text": "x"}, "large": {"amount": 1, "text": "x" * 10_000_000}}

    def reads(args: dict[str, Any]) -> Callable[[], int]:
        events = [duly.Called("pay", args, id=f"c{number}") for number in range(20)]

        def work() -> int:
            step = duly.Session(contract).step
            for event in events:
                step(event)
            return 20

        return work

    gc.collect()
    times = interleaved({name: reads(args) for name, args in texts.items()}, rounds=20)
    return [
        Figure("a refusal after 10,000 calls, text included", ours / slow, "of acel", 1 / 1000, slow,
               note=f"{ours:.0f} µs, theirs {slow / 1000:.1f} ms"),
        Figure("a condition beside an unread text of 10 MB", times["large"] / times["small"], "times", 1.1),
    ]  # fmt: skip


CALLS, THEIR_CALLS, TURNS = 100_000, 4_000, 3
"""Recorded calls that are replayed in each of the turns; the peer needs as much for each at any length."""


def _replay() -> Figure:
    """Recorded calls and results, one JSON line each, under 50 rules of which each call meets two."""
    ours = [duly.must_precede(f"t{n - 1}", f"t{n}") for n in range(1, 25)]
    ours += [duly.at_most(f"t{n}", 10**9) for n in range(26)]
    theirs = [acel.must_precede(f"t{n - 1}", f"t{n}") for n in range(1, 25)]
    theirs += [acel.at_most_n_times(f"t{n}", 10**9) for n in range(26)]
    with tempfile.TemporaryDirectory() as folder:
        mine, peer = Path(folder) / "ours.jsonl", Path(folder) / "theirs.jsonl"
        with mine.open("w") as file:
            for n in range(CALLS):
                file.write(json.dumps({"event": "called", "label": f"t{n % 26}", "payload": ARGS, "id": f"c{n}"}) + "\n")
                file.write(json.dumps({"event": "returned", "label": f"t{n % 26}", "payload": {"ok": n}, "id": f"c{n}"}) + "\n")
        with peer.open("w") as file:
            for n in range(THEIR_CALLS):
                file.write(json.dumps({"tool": f"t{n % 26}", "args": ARGS, "result": {"ok": n}, "ts": n}) + "\n")
        contract = duly.Contract(*ours)

        def replayed() -> int:
            gc.collect()
            report = audit(next(iter(Native().read(open_document(mine)))), contract)
            assert (report.events, report.verdict) == (2 * CALLS, "pass"), report.verdict
            return CALLS

        def rows() -> Iterator[dict[str, Any]]:
            with peer.open() as file:
                for row in file:
                    yield json.loads(row)

        def theirs_replayed() -> int:
            gc.collect()
            session = acel.Session(halt_on_violation=False)
            session.add_contracts(theirs)
            for contract in theirs:
                contract.reset()
            assert session.replay(rows()) == []
            return THEIR_CALLS

        times = interleaved({"ours": replayed, "theirs": theirs_replayed}, rounds=TURNS)
    quick, slow = times["ours"], times["theirs"]
    return Figure("a recorded call with its result, 50 rules, 100,000 of them", quick / slow, "of acel", 1 / 10, slow,
                  note=f"{quick:.1f} µs, theirs {slow:.1f} ({THEIR_CALLS:,} of them)")  # fmt: skip


def _age() -> Figure:
    """A call and its result after a history, under one rule of each kind that keeps something."""
    rules = [
        duly.must_precede("look", "pay"), duly.at_most("pay", 10**9),
        Rule("at_most_total", {"of": "pay", "field": "amount", "limit": 10**12}),
        Rule("requires", {"of": "pay", "that": "args.amount < 2"}), Rule("no_repeat", {"of": "pay", "n": 3}),
        Rule("rate_limit", {"of": "look", "n": 5, "per": 60}), Rule("fresh", {"of": "look", "for": "pay"}),
    ]  # fmt: skip
    contract = duly.Contract(*rules)
    pay = [(duly.Called("pay", {"amount": 1, "n": n}, id="c"), duly.Returned("pay", {"ok": n}, id="c")) for n in range(2)]

    def after(events: int) -> duly.Session:
        session = duly.Session(contract, keep=100)
        session.step(duly.Called("look", {}, id="l"))
        session.step(duly.Returned("look", {}, id="l"))
        for n in range(events // 2 - 1):
            for event in pay[n % 2]:
                session.step(event)
        return session

    def goes_on(session: duly.Session) -> Callable[[], int]:
        def work() -> int:
            step = session.step
            for n in range(100):
                for event in pay[n % 2]:
                    step(event)
            return 100

        return work

    young, old = after(100), after(1_000_000)
    assert isinstance(old.step(pay[0][0]), duly.Allowed)
    old.step(pay[0][1])
    found = interleaved({"young": goes_on(young), "old": goes_on(old)})
    return Figure("a call and its result after 10^6 events", found["old"] / found["young"], "of after 10^2", 1.1, 1.0,
                  note=f"{found['old']:.1f} against {found['young']:.1f} µs")  # fmt: skip
