"""Each rule that can be said as a formula against its formula, by ``step`` itself; and formulas against what they mean.

The histories have no batches, no two open calls of one tool, and no call that fails: there rules say more than formulas,
since what has failed is given back and siblings permit nothing, while a formula takes what has happened as it is.
Rules about time, sums, keys of idempotency and facts have no formula.
"""

import os
import random
from typing import Any

import pytest

from duly import (
    Called,
    Closed,
    Contract,
    Elapsed,
    Failed,
    LabelRule,
    Received,
    Returned,
    Rule,
    Session,
    at_least,
    at_most,
    between,
    ensures,
    exclusive,
    forbid,
    formula,
    fresh,
    immediately_before,
    must_follow,
    must_happen,
    must_precede,
    never_after,
    no_repeat,
    permit,
    requires,
)
from machine.formula.evaluator import text, tree, truths

TIMES = 10 if os.environ.get("DULY_SOAK") else 1
ACT = "(!a or !b or !c or !d or !e)"


def repeated(label: str, of: str, n: int) -> str:
    """The (n + 1)-th act of one label with no other of ``of`` between."""
    found = label
    for _ in range(n):
        found = f"({label} and Y(not {of} S {found}))"
    return found


def followed(n: int) -> str:
    """Among the next ``n`` acts is a b, and it succeeds."""
    paid = "(!b and F ?b)"
    found = paid
    for _ in range(n - 1):
        found = f"({paid} or X(not {ACT} U ({ACT} and {found})))"
    return f"X(not {ACT} U ({ACT} and {found}))"


PAIRS: list[tuple[Rule, str]] = [
    (must_precede("a", "b"), "G(!b -> O ?a)"),
    (must_precede("Yes", "b"), "G(!b -> O ?Yes)"),
    (must_precede("a", "b", on="called"), "G(!b -> O !a)"),
    (must_precede(["a", "c"], {"of": "b", "where": "args.n > 1"}), "G(!b{args.n > 1} -> O(?a or ?c))"),
    (never_after("a", "b"), "G(!a -> not O !b)"),
    (never_after("a", "b", on="returned"), "G(!a -> not O ?b)"),
    (at_most("a", 0), "G not !a"),
    (at_most("a", 2), "G count(!a) <= 2"),
    (at_most(["a", "b"], 3), "G not (" + repeated("(!a or !b)", "false", 3).replace("not false S", "O") + ")"),
    (at_least("a", 1), "F ?a"),
    (at_least("a", 3), "F count(a) >= 3"),
    (at_least("a", 2), "F(?a and X F ?a)"),
    (must_happen("a"), "F did(a)"),
    (must_happen("a", before="c"), "F ?a and G(!c -> O ?a)"),
    (exclusive("a", "b", "c"), "G not (O !a and O !b or O !b and O !c or O !a and O !c)"),
    (exclusive("a", "b"), "G at_most(1, !a, !b)"),
    (must_follow("a", "b", {"acts": 1}), f"G(!a -> {followed(1)})"),
    (must_follow("a", "b", {"acts": 3}), f"G(!a -> {followed(3)})"),
    (immediately_before("a", "b"), f"G(!b -> Y(not {ACT} S (?a and (not {ACT} S !a))))"),
    (immediately_before("a", "b", on="called"), f"G(!b -> Y(not {ACT} S !a))"),
    (between("c", "a", "b"), "G(!c -> (not !b S ?a))"),
    (fresh("a", "b", until="c"), "G(!b -> (not !c S ?a))"),
    (fresh("a", "b"), "G(!b -> did(a))"),
    (forbid("d"), "G not !d"),
    (forbid({"of": "d", "where": "args.n == 1"}), "G not !d{args.n == 1}"),
    (permit("d"), "true"),
    (no_repeat("a", 2), f"G not {repeated('!a', '!a', 2)}"),
    (no_repeat(["a", "b"], 1), f"G not ({repeated('!a', '(!a or !b)', 1)} or {repeated('!b', '(!a or !b)', 1)})"),
    (requires("a", "args.n > 1"), "G(!a -> !a{args.n > 1})"),
    (ensures("a", "result.ok"), "G(?a -> ?a{result.ok})"),
]


def history(rng: random.Random, session: Session, length: int, n: Any = (1, 2, 3)) -> Any:
    """Events one by one, as far as the session lets them happen: calls that are admitted succeed in any order."""
    for number in range(length):
        open = list(session.state.open.items())
        chance = rng.random()
        if open and chance < 0.45:
            id, call = rng.choice(open)
            yield Returned(call.label, {"ok": rng.random() < 0.7}, id=id)
        elif chance < 0.55:
            yield Received("Yes")
        else:
            free = sorted({"a", "b", "c", "d"} - {call.label for _, call in open})
            yield Called(rng.choice(free or ["e"]), {"n": rng.choice(n)}, id=f"i{number}")
    yield Closed()


@pytest.mark.parametrize(("rule", "same"), PAIRS, ids=[f"{rule.template} as {same}"[:70] for rule, same in PAIRS])
def test_a_rule_and_its_formula_refuse_and_find_the_same(rule: Rule, same: str) -> None:
    by_rule, by_formula = Contract(rule, labels=[LabelRule("Yes")]), Contract(formula(same), labels=[LabelRule("Yes")])
    said: dict[str, int] = {}
    for seed in range(60 * TIMES):
        rng = random.Random(f"{same} {seed}")
        first, second = Session(by_rule), Session(by_formula)
        # equal acts have equal arguments where a rule compares them, which a formula cannot
        length = rng.choice((4, 12, 24))
        for event in history(rng, first, length, (1,) if rule.template == "no_repeat" else (1, 2, 3)):
            one, two = first.step(event), second.step(event)
            assert (one.word, len(one.reasons) > 0) == (two.word, len(two.reasons) > 0), (seed, event, two.text())
            said[one.word] = said.get(one.word, 0) + 1
    assert said.get("violation", 0) > 10 or rule.template == "permit", said


ATOMS = ("!a", "?a", "!b{args.n > 1}", "?b=error", "?Yes")


def position(event: Any, label: str, n: Any) -> int | None:
    """The atom that holds at an event, worked out apart from duly."""
    match event:
        case Called("a"):
            return 0
        case Returned(outcome=None) if label == "a":
            return 1
        case Called("b"):
            return 2 if n > 1 else None
        case Returned(outcome="error") | Failed(effect="none") if label == "b":
            return 3
        case Received("Yes"):
            return 4
    return None


@pytest.mark.parametrize("part", range(2))
def test_each_event_is_judged_by_what_the_formula_means(part: int) -> None:
    """An act is refused only if no continuation of three positions makes the formula true; whatever has happened is a
    finding only then; and at the end there is one where the formula is false of the positions."""
    ends = [[x] for x in (None, 0, 1, 2, 3, 4)]
    later = [ends, [x + y for x in ends for y in ends], [x + y + z for x in ends for y in ends for z in ends[:4]]]
    counts = dict.fromkeys(("refused", "found", "open", "good"), 0)
    for seed in range(150 * TIMES):
        rng = random.Random(f"events {part} {seed}")
        shape = tree(rng, rng.randrange(2, 8), len(ATOMS))
        session = Session(Contract(formula(text(shape, ATOMS), id="f"), labels=[LabelRule("Yes")]))
        trace: list[int | None] = []

        def hopeless(more: int | None, shape: Any = shape, trace: list[int | None] = trace) -> bool:
            here = [*trace, more]
            return not any(truths(shape, [here], len(ATOMS))) and not any(
                any(truths(shape, [here + each for each in several], len(ATOMS))) for several in later
            )

        calls: dict[str, tuple[str, int]] = {}
        for number in range(9):
            event, label, n = made(rng, number, calls)
            place = position(event, label, n)
            before = session.state
            verdict = session.step(event)
            if verdict.word == "violation":
                assert hopeless(place), (text(shape, ATOMS), trace, event, verdict.text())
                if isinstance(event, Called):
                    counts["refused"] += 1
                    assert session.state.books == before.books
                    calls.pop(str(event.id))
                    continue
                counts["found"] += 1
                assert session.status("f") == "violated"
                assert session.state.books == before.books  # the machine stays where it was
                continue
            assert verdict.word == "allowed"
            trace.append(place)
        if trace:
            true = truths(shape, [trace], len(ATOMS))[0]
            counts["good" if true else "open"] += 1
            assert session.step(Closed()).word == ("allowed" if true else "violation"), (text(shape, ATOMS), trace)
    assert min(counts.values()) > 10, counts


def made(rng: random.Random, number: int, calls: dict[str, tuple[str, int]]) -> tuple[Any, str, int]:
    """A random event, the label of its call and the call's number."""
    chance = rng.random()
    if calls and chance < 0.4:
        id = rng.choice(sorted(calls))
        label, n = calls.pop(id)
        ways = [Returned(label, {}, id=id), Returned(label, {}, id=id, outcome="error"), Failed(id, "none")]
        return rng.choice(ways), label, n
    if chance < 0.5:
        return Received(rng.choice(("Yes", "No"))), "", 0
    if chance < 0.55:
        return Elapsed(at=number), "", 0
    label, n, id = rng.choice(("a", "b", "other")), rng.choice((1, 2)), f"i{number}"
    calls[id] = (label, n)
    return Called(label, {"n": n}, id=id), label, n
