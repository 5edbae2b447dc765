"""Rules: one `Called` beside one `call` of acel-core, with rules that do not mention the tool and with rules that all do."""

import gc
from collections.abc import Callable
from time import process_time
from typing import Any

import acel

import duly
from duly.machine.terms import Rule

from .measure import Figure, interleaved

ROUND = 200
OPEN = 10
"""Calls that are open at once, at most; the peer's have ended when they return."""
ARGS = {"amount": 1, "path": "/srv/a"}


def figures() -> list[Figure]:
    return [*_unmentioned(), *_mentioned(), *_history()]


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
