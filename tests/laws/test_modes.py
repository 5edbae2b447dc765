"""Modes by order: a rule that a person tells to watch, or to refuse, is one that says so itself."""

import random
from typing import Any

from msgspec import structs

from duly import Called, Contract, LabelRule, Ordered, Rule, Session
from duly.machine.rules import text_of
from duly.machine.terms import Budget

from .test_books import RUNS, contract, events, rules, said


def in_modes(made: list[Rule], modes: dict[str, Any]) -> list[Rule]:
    return [structs.replace(each, mode=modes[each.id]) for each in made]


def ordered(modes: dict[str, Any]) -> list[Ordered]:
    return [Ordered("mode", id, "ana", scope=mode) for id, mode in modes.items()]


def simple(rng: random.Random) -> list[Rule]:
    """Rules that are fused into bits and counts where they refuse, and kept by themselves where they watch."""
    some = [
        Rule("must_precede", {"first": rng.choice(("a", "b", "Say")), "then": rng.choice(("b", "c"))}),
        Rule("must_precede", {"first": "Say", "then": rng.choice(("a", "c"))}, scope="turn"),
        Rule("at_most", {"of": rng.choice(("a", "b")), "n": rng.choice((0, 1, 2))}),
        Rule("at_most", {"of": "a", "n": rng.choice((1, 3))}, scope="run"),
    ]
    return [structs.replace(each, id=f"{number} {text_of(each)}") for number, each in enumerate(some)]


def test_a_mode_by_order_is_the_mode_of_the_contract() -> None:
    for seed in range(RUNS):
        rng = random.Random(seed)
        made = simple(rng) if seed % 2 else rules(rng, 4)
        modes: dict[str, Any] = {each.id: rng.choice(("enforce", "shadow")) for each in made}
        written, told = Session(contract(in_modes(made, modes))), Session(contract(made))
        for event in ordered(modes):
            assert told.step(event)
        for event, happened in events(rng):
            verdicts = [each.observe(event) if happened else each.step(event) for each in (written, told)]
            assert said(verdicts[0]) == said(verdicts[1]), (seed, event, modes)
            assert [each.label for each in written.legal()] == [each.label for each in told.legal()], (seed, event)
            assert written.repair("a") == told.repair("a"), (seed, event)
            again = Session.from_dict(told.contract, told.to_dict())
            assert again.state == told.state
            told = again


def test_an_order_in_the_middle_leaves_what_was_used_up_under_watch() -> None:
    """Counts alone: after the switch a rule knows all that ran, so it refuses what a count over what ran would."""
    for seed in range(RUNS):
        rng = random.Random(seed)
        n, switch = rng.choice((1, 2, 3)), rng.randrange(8)
        held = Contract(Rule("at_most", {"of": "a", "n": n}, id="cap"), labels=[LabelRule("Say")])
        session, ran = Session(held), 0
        session.step(Ordered("mode", "cap", "ana", scope="shadow"))
        for number in range(8):
            if number == switch:
                session.step(Ordered("mode", "cap", "ana", scope="enforce"))
            verdict = session.step(Called("a", {}, id=str(number)))
            assert bool(verdict) == (number < switch or ran < n), (seed, number)
            assert [reason.rule for reason in verdict.noted] == (["cap"] if number < switch and ran >= n else [])
            ran += bool(verdict)


def test_a_budget_may_be_told_to_watch() -> None:
    session = Session(Contract(budget=(Budget({"calls": 1}, id="purse"),)))
    assert session.step(Called("a", {}, id="1"))
    assert session.step(Called("a", {}, id="2")).rules == ("purse",)  # type: ignore[union-attr]
    assert session.step(Ordered("mode", "purse", "ana", scope="shadow"))
    verdict = session.step(Called("a", {}, id="3"))
    assert (verdict.word, [reason.rule for reason in verdict.noted]) == ("allowed", ["purse"])
