"""Every rule against a naive reading of the whole history: what permits, what forbids, and what is given back.

The oracle keeps each act with what became of it, and asks the history anew for every act.
"""

import itertools
import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from duly import Called, Contract, Elapsed, Failed, Returned, Rule, Session

RUNS = 400 * (10 if os.environ.get("DULY_SOAK") else 1)
LABELS = ("a", "b", "c")


class Past:
    """One admitted act: ``state`` is open, won or back; ``won`` is the number of the event at which it succeeded."""

    def __init__(self, label: str, args: dict[str, Any], at: float, batch: str | None, number: int) -> None:
        self.label, self.args, self.at, self.batch, self.number = label, args, at, batch, number
        self.state, self.won, self.won_at = "open", -1, 0.0
        self.missed = False


History = list[Past]


def earlier(history: History, label: str, batch: str | None) -> bool:
    """What permits: a success that is no sibling."""
    return any(h.label == label and h.state == "won" and (batch is None or h.batch != batch) for h in history)


def sibling(past: Past, batch: str | None) -> bool:
    return batch is not None and past.batch == batch


def taken(history: History, label: str) -> list[Past]:
    """What forbids or uses up: admitted, and not known not to have happened."""
    return [h for h in history if h.label == label and h.state != "back"]


def last(history: History) -> Past | None:
    return next((h for h in reversed(history) if h.state != "back"), None)


def adjacent(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    before = last(history)
    fits = before is not None and before.label == "a" and before.state == "won"
    return label == "b" and not (fits and (batch is None or before.batch != batch))  # type: ignore[union-attr]


def between(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    ends = [h.number for h in taken(history, "c")]
    begun = [h for h in history if h.label == "a" and h.state == "won" and not sibling(h, batch)]
    return label == "b" and not any(all(end < h.won for end in ends) for h in begun)


def fresh(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    ends = [h.number for h in taken(history, "c")]
    good = [h for h in history if h.label == "a" and h.state == "won" and at - h.won_at < 3 and not sibling(h, batch)]
    return label == "b" and not any(all(end < h.won for end in ends) for h in good)


def late(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    wins = [h.won_at for h in history if h.label == "a" and h.state == "won" and not sibling(h, batch)]
    return label == "b" and bool(wins) and at - max(wins) >= 3


def repeated(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    row = [h.args for h in taken(history, "a")][-2:]
    return label == "a" and len(row) == 2 and all(each == args for each in row)


def circling(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    return label == "a" and [h.args for h in taken(history, "a")][-3:].count(args) >= 2


def crowded(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    return label == "a" and sum(at - h.at < 3 for h in taken(history, "a")) >= 2


def no_room(history: History, label: str, args: Any, at: float, batch: str | None) -> bool:
    if label == "b":
        return False
    for place, duty in enumerate(history):
        if duty.label != "a" or duty.state == "back" or duty.missed:
            continue
        after = [h for h in history[place + 1 :] if h.state != "back"]
        tried = [h for h in after[:2] if h.label == "b"]
        if len(after) >= 1 and not tried:
            return True
    return False


def misses(history: History) -> int:
    """The duties of ``must_follow`` within two acts that were missed just now, by what was given back."""
    found = 0
    for place, duty in enumerate(history):
        after = [h for h in history[place + 1 :] if h.state != "back"]
        if duty.label == "a" and duty.state != "back" and not duty.missed and len(after) > 1:
            duty.missed = not any(h.label == "b" for h in after[:2])
            found += duty.missed
    return found


Oracle = Callable[[History, str, Any, float, str | None], bool]

RULES: dict[str, tuple[Rule, Oracle, bool]] = {
    "must_precede": (
        Rule("must_precede", {"first": "a", "then": "b"}),
        lambda h, label, args, at, batch: label == "b" and not earlier(h, "a", batch), True,
    ),
    "must_precede called": (
        Rule("must_precede", {"first": "a", "then": "b"}, on="called"),
        lambda h, label, args, at, batch: label == "b"
        and not any(batch is None or p.batch != batch for p in taken(h, "a")), True,
    ),
    "must_precede same": (
        Rule("must_precede", {"first": "a", "then": "b"}, same="n"),
        lambda h, label, args, at, batch: label == "b"
        and not earlier([p for p in h if p.args == args], "a", batch), True,
    ),
    "never_after": (
        Rule("never_after", {"never": "a", "after": "b"}),
        lambda h, label, args, at, batch: label == "a" and bool(taken(h, "b")), True,
    ),
    "never_after returned": (
        Rule("never_after", {"never": "a", "after": "b"}, on="returned"),
        lambda h, label, args, at, batch: label == "a" and any(p.state == "won" for p in taken(h, "b")), True,
    ),
    "at_most where": (
        Rule("at_most", {"of": "a", "n": 2}, where="args.n == 1"),
        lambda h, label, args, at, batch: label == "a" and args["n"] == 1
        and sum(p.args["n"] == 1 for p in taken(h, "a")) >= 2, True,
    ),
    "at_most weigh": (
        Rule("at_most", {"of": ["a", "b"], "n": 4, "weigh": {"a": "args.n", "b": 3}}),
        lambda h, label, args, at, batch: label in "ab"
        and sum(p.args["n"] if p.label == "a" else 3 for p in [*taken(h, "a"), *taken(h, "b")])
        + (args["n"] if label == "a" else 3) > 4, True,
    ),
    "at_most_total": (
        Rule("at_most_total", {"of": "a", "field": "n", "limit": 4}),
        lambda h, label, args, at, batch: label == "a"
        and sum(p.args["n"] for p in taken(h, "a")) + args["n"] > 4, True,
    ),
    "exclusive": (
        Rule("exclusive", {"members": ["a", "b"]}),
        lambda h, label, args, at, batch: (label == "a" and bool(taken(h, "b")))
        or (label == "b" and bool(taken(h, "a"))), True,
    ),
    "must_happen": (
        Rule("must_happen", {"of": "a", "before": "b"}),
        lambda h, label, args, at, batch: label == "b" and not earlier(h, "a", batch), True,
    ),
    "immediately_before": (Rule("immediately_before", {"first": "a", "then": "b"}), adjacent, True),
    "between": (Rule("between", {"of": "b", "from": "a", "to": "c"}), between, True),
    "fresh": (Rule("fresh", {"of": "a", "for": "b", "lasts": 3, "until": "c"}), fresh, True),
    "within": (Rule("within", {"of": "b", "after": "a", "t": 3}), late, True),
    "no_repeat": (Rule("no_repeat", {"of": "a", "n": 2}), repeated, True),
    "no_repeat among": (Rule("no_repeat", {"of": "a", "n": 2, "among": 4}), circling, True),
    "rate_limit": (Rule("rate_limit", {"of": "a", "n": 2, "per": 3}), crowded, True),
    "must_follow": (Rule("must_follow", {"of": "a", "by": "b", "within": {"acts": 2}}), no_room, True),
    "forbid": (Rule("forbid", {"of": "a"}), lambda h, label, args, at, batch: label == "a", True),
    "requires": (
        Rule("requires", {"of": "a", "that": "args.n < 2"}),
        lambda h, label, args, at, batch: label == "a" and args["n"] >= 2, True,
    ),
}  # fmt: skip


def run(contract: Contract, oracles: list[Oracle], seed: int, *, batches: bool) -> None:
    """One random run: calls that overlap, succeed, fail or stay uncertain, in batches and over time."""
    rng, session = random.Random(seed), Session(contract)
    history: History = []
    open: dict[str, Past] = {}
    at = 0.0
    for number in range(14):
        at += rng.choice((0, 0, 1, 2))
        if open and rng.random() < 0.45:
            identity = rng.choice(list(open))
            past = open[identity]
            how = rng.choice(("won", "won", "back", "error", "unknown"))
            if how == "won":
                said = session.step(Returned(past.label, {}, id=identity, at=at))
                past.state, past.won, past.won_at = "won", number, at
                del open[identity]
            elif how in ("back", "error"):
                said = session.step(
                    Failed(identity, "none", at=at)
                    if how == "back"
                    else Returned(past.label, {}, id=identity, outcome="error", at=at)
                )
                past.state = "back"
                del open[identity]
            else:
                said = session.step(Failed(identity, "unknown", at=at))
            late = misses(history)
            if no_room in oracles:
                assert [reason.kind for reason in said.reasons] == ["late"] * late, (seed, number, late, [vars(h) for h in history])
            continue
        label, args = rng.choice(LABELS), {"n": rng.choice((1, 1, 2))}
        batch = rng.choice((None, "x", "y")) if batches else None
        identity = f"c{number}"
        expected = [oracle(history, label, args, at, batch) for oracle in oracles]
        before = session.state
        verdict = session.step(Called(label, args, id=identity, at=at, batch=batch))
        rules = {reason.rule for reason in verdict.reasons}
        names = [f"r{place}" for place, refuses in enumerate(expected) if refuses]
        assert rules == set(names), (seed, number, label, args, at, batch, [vars(h) for h in history])
        assert bool(verdict) is not any(expected)
        if verdict:
            open[identity] = Past(label, args, at, batch, number)
            history.append(open[identity])
        else:
            # a refused act changes nothing that a rule can see
            after = session.state
            assert (after.books, after.facts, after.data, after.open, after.registers) == (
                before.books, before.facts, before.data, before.open, before.registers
            )  # fmt: skip
        if rng.random() < 0.1:
            session = Session.from_dict(contract, session.to_dict())


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_its_history_says(name: str) -> None:
    rule, oracle, batches = RULES[name]
    contract = Contract(Rule(rule.template, rule.args, id="r0", same=rule.same, where=rule.where, on=rule.on))
    for seed in range(RUNS):
        run(contract, [oracle], seed, batches=batches and seed % 2 == 0)


def test_many_rules_together_say_what_each_says_alone_in_any_order() -> None:
    rng = random.Random(7)
    names = list(RULES)
    for seed in range(RUNS // 4):
        chosen = rng.sample(names, 4)
        rules = []
        for place, name in enumerate(chosen):
            rule = RULES[name][0]
            rules.append(Rule(rule.template, rule.args, id=f"r{place}", same=rule.same, where=rule.where, on=rule.on))
        rng.shuffle(rules)
        run(Contract(*rules), [RULES[name][1] for name in chosen], seed, batches=False)


def test_the_order_of_rules_never_matters() -> None:
    rules = [RULES[name][0] for name in ("must_precede", "never_after", "at_most_total", "no_repeat", "fresh")]
    events = [
        Called("b", {"n": 1}, id="1", at=0), Called("a", {"n": 2}, id="2", at=1), Returned("a", {}, id="2", at=2),
        Called("b", {"n": 1}, id="3", at=3), Called("a", {"n": 9}, id="4", at=4), Elapsed(9.0), Called("b", {"n": 1}, id="5"),
    ]  # fmt: skip
    answers = set()
    for order in itertools.permutations(rules):
        session = Session(Contract(*order))
        answers.add(tuple((v.word, frozenset(r.rule for r in v.reasons)) for v in map(session.step, events)))
    assert len(answers) == 1
