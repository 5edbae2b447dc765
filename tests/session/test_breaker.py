"""Breakers against a count by hand: refusals in a row or of equal acts, per turn, run or session."""

import random
from typing import Any

import pytest

from duly import Breaker, Called, Contract, Elapsed, LabelRule, Received, Sent, Session, at_most, forbid, no_repeat
from duly.session.refuse import TALLIED
from steps import call, held, words

LABELS = [LabelRule("Hi"), LabelRule("Tell", "agent")]


class ByHand:
    """All that happened, gone over again for each question."""

    def __init__(self, breaker: Breaker) -> None:
        self.breaker = breaker
        self.past: list[tuple[str, Any]] = []

    def since(self) -> list[tuple[str, Any]]:
        """What counts: since the last turn, run or the beginning."""
        ends = {"turn": ("turn", "run"), "run": ("run",), "session": ()}[self.breaker.per]
        found: list[tuple[str, Any]] = []
        for kind, act in self.past:
            found = [] if kind in ends else [*found, (kind, act)]
        return found

    def halts(self, act: Any) -> bool:
        """Whether the refusal of this act is the one that halts."""
        told = [*self.since(), ("refused", act)]
        if self.breaker.of == "equal":
            return told.count(("refused", act)) >= self.breaker.refusals
        row = 0
        for kind, _ in told:
            row = row + 1 if kind == "refused" else 0 if kind == "admitted" else row
        return row >= self.breaker.refusals

    def halted(self) -> bool:
        return any(kind == "halted" for kind, _ in self.since())


@pytest.mark.parametrize("of", ["in_a_row", "equal"])
@pytest.mark.parametrize("per", ["turn", "run", "session"])
def test_a_breaker_counts_as_one_would_by_hand(of: Any, per: Any) -> None:
    for seed in range(60):
        rng = random.Random(f"{of} {per} {seed}")
        breaker = Breaker(rng.choice((1, 2, 3)), of, per)
        session = Session(Contract(forbid("no"), at_most("some", 2, scope="turn"), labels=LABELS, breaker=breaker))
        hand = ByHand(breaker)
        for number in range(40):
            chance = rng.random()
            if chance < 0.12:
                session.step(Received("Hi"))
                hand.past.append(("turn", None))
                continue
            if chance < 0.18:
                session.step(Elapsed(0, run=str(number)))
                hand.past.append(("run", None))
                continue
            label, n = rng.choice(("no", "no", "some", "fine")), rng.choice((1, 1.0, 2))
            event: Any = Sent("Tell", {"n": n}) if label == "fine" and n == 2 else Called(label, {"n": n}, id=str(number))
            verdict = session.step(event)
            if hand.halted():
                assert verdict.word == "blocked", (seed, number)
            elif verdict:
                hand.past.append(("admitted", None))
            else:
                assert verdict.halted == hand.halts((label, n)), (seed, number)  # type: ignore[union-attr]
                hand.past.append(("refused", (label, n)))
                if verdict.halted:  # type: ignore[union-attr]
                    hand.past.append(("halted", None))


def test_a_loop_of_refusals_that_a_legal_call_breaks_is_caught_by_equal_refusals() -> None:
    loop = [call(label, f"{number} {label}") for number in range(3) for label in ("no", "fine")]
    rows = held(forbid("no"), breaker=Breaker(3, "in_a_row"))
    equal = held(forbid("no"), breaker=Breaker(3, "equal"))
    assert words(rows, *loop) == ["violation", "allowed"] * 3
    assert (words(equal, *loop), equal.is_halted) == (["violation", "allowed"] * 2 + ["violation", "blocked"], True)


def test_a_loop_of_legal_calls_is_refused_and_then_halted() -> None:
    session = held(no_repeat(["a", "b"], 2, among=8, scope="turn"), breaker=Breaker(2, "in_a_row", "turn"))
    loop = [call("ab"[number % 2], str(number), {"n": number % 2}) for number in range(7)]
    assert words(session, *loop) == ["allowed"] * 4 + ["violation"] * 2 + ["blocked"]
    assert words(session, Received("Hi"), call("a", "8", {"n": 0})) == ["allowed", "allowed"]


def test_acts_that_were_refused_the_longest_ago_are_forgotten_first() -> None:
    session = held(forbid("no"), breaker=Breaker(2, "equal"))
    words(session, call("no", "first", {"n": "first"}))
    for number in range(TALLIED + 5):
        assert session.step(call("no", str(number), {"n": number})).halted is False  # type: ignore[union-attr]
    assert len(session.state.more.tally) == TALLIED
    assert session.step(call("no", "again", {"n": "first"})).halted is False  # type: ignore[union-attr]
    assert session.step(call("no", "last", {"n": TALLIED + 4})).halted is True  # type: ignore[union-attr]
