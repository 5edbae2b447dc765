"""The machine of a formula against what the formula means, by the evaluator beside this file."""

import os
import random
from collections import deque
from itertools import product

import pytest

from duly.machine.formula.core import TooLarge, core_of
from duly.machine.formula.parse import parse
from duly.machine.formula.progress import MOST_STEPS, automaton

from .evaluator import FUTURE, PAST, Tree, text, tree, truths

TIMES = 10 if os.environ.get("DULY_SOAK") else 1
NAMES = ("!a", "?b", "!c")
LETTERS = (frozenset(), frozenset({0}), frozenset({1}), frozenset({2}))
TRACES = 25


def compiled(formula: Tree, names=NAMES):
    """The machine over: nothing holds, the first atom does, the second does, …; None where it is too large."""
    core = core_of(parse(text(formula, names)))
    place = {name: number for number, name in enumerate(names)}
    order = [place[atom.side + atom.name] for atom in core.atoms]
    letters = [frozenset(order.index(atom) for atom in letter if atom in order) for letter in LETTERS[: len(names) + 1]]
    try:
        return automaton(core, letters)
    except TooLarge:
        return None


def least(formula):
    """The machine of a text, over events at which one atom holds, or none."""
    core = core_of(parse(formula))
    return automaton(core, [frozenset(), *(frozenset({number}) for number in range(len(core.atoms)))])


def run(machine, trace):
    state = 0
    for atom in trace:
        state = machine.moves[state][0 if atom is None else atom + 1]
    return state


def traces(rng, length, count=TRACES):
    return [[rng.choice((None, 0, 1, 2)) for _ in range(length)] for _ in range(count)]


@pytest.mark.parametrize("part", range(8))
def test_the_machine_gives_the_value_that_the_formula_has(part):
    """With the others, 10^5 pairs of a formula and a trace, 10^6 under ``DULY_SOAK``."""
    pairs, large = 0, 0
    for seed in range(500 * TIMES):
        rng = random.Random(f"{part} {seed}")
        formula = tree(rng, rng.randrange(2, 12), 3)
        machine = compiled(formula)
        if machine is None:
            large += 1
            machine = compiled(formula := tree(rng, 4, 3))
        found = traces(rng, rng.randrange(1, 9))
        said = [machine.holds[run(machine, trace)] for trace in found]
        assert said == truths(formula, found, 3), text(formula, NAMES)
        pairs += len(found)
    assert (pairs, large < 5 * TIMES) == (12_500 * TIMES, True)


@pytest.mark.parametrize("part", range(2))
def test_false_for_good_and_true_for_good_are_exact(part):
    """What is called false for good no continuation of four positions makes true; what is not, the continuation does
    that the machine names; and the same for true."""
    every = [list(more) for length in range(1, 5) for more in product((None, 0, 1), repeat=length)]
    by_length = {length: [more for more in every if len(more) == length] for length in range(1, 5)}
    counts = {"false": 0, "true": 0, "open": 0}
    for seed in range(150 * TIMES):
        rng = random.Random(f"good {part} {seed}")
        formula = tree(rng, rng.randrange(2, 9), 2)
        machine = compiled(formula, NAMES[:2])
        if machine is None:
            continue
        before = [rng.choice((None, 0, 1)) for _ in range(rng.randrange(1, 6))]
        state = run(machine, before)
        now = truths(formula, [before], 2)
        for value, sort in ((True, machine.dead), (False, machine.sure)):
            if state in sort:
                counts["false" if value else "true"] += 1
                assert now == [not value], text(formula, NAMES)
                for more in by_length.values():
                    later = truths(formula, [before + each for each in more], 2)
                    assert later == [not value] * len(more), (text(formula, NAMES), before)
            else:
                counts["open"] += 1
                assert truths(formula, [before + witness(machine, state, value)], 2) == [value], text(formula, NAMES)
    assert min(counts.values()) > 15, counts


def witness(machine, state, value):
    """The shortest continuation after which the machine says this value."""
    queue, seen = deque([(state, [])]), {state}
    while queue:
        here, steps = queue.popleft()
        if machine.holds[here] is value:
            return steps
        for letter, target in enumerate(machine.moves[here]):
            if target not in seen:
                seen.add(target)
                queue.append((target, [*steps, None if letter == 0 else letter - 1]))
    raise AssertionError("the machine names no such continuation")


@pytest.mark.parametrize(
    ("formula", "states", "dead", "sure", "still"),
    [
        ("G(!a -> O ?b)", 3, {1}, {2}, True),
        ("F !a", 2, set(), {1}, True),
        ("G not !a", 2, {1}, set(), True),
        ("G(!a -> F ?b)", 2, set(), set(), True),
        ("G(!a -> X ?b)", 3, {2}, set(), False),
        ("!a and not !a", 1, {0}, set(), True),
        ("F !a and G not !a", 1, {0}, set(), True),
        ("F !a or G not !a", 1, set(), {0}, True),
        ("F(!a and X F ?b) <-> F(?b and Y O !a)", 1, set(), {0}, True),
        ("G F !a <-> F(!a and not X true)", 2, set(), {1}, False),  # but for the trace without a position
        ("F(!a and Y H not !a) and G not (!a and Y true)", 1, {0}, set(), True),
        ("true", 1, set(), {0}, True),
        ("X true", 3, set(), {2}, False),
    ],
)
def test_equivalent_remainders_meet(formula, states, dead, sure, still):
    machine = least(formula)
    assert (len(machine.moves), set(machine.dead), set(machine.sure), machine.still(0)) == (states, dead, sure, still)


def test_the_machine_is_the_same_whatever_way_its_formula_is_written():
    same = ["G(!a -> O ?b)", "not F(!a and not O ?b)", "G(not !a or not H not ?b)", "G(!a -> O ?b) and G(!a -> O ?b)",
            "(not !a) W (?b and not !a) or (G not !a)"]  # fmt: skip
    machines = {automaton(core_of(parse(each)), [*LETTERS[:3]]) for each in same}
    assert len(machines) == 1


def test_a_formula_without_end_is_refused_with_the_bound():
    far = "!a and " + "X " * 14 + "?b"
    for formula, said in (
        (f"F({far})", f"leads to more than {MOST_STEPS} steps: over 3333 states for 3 kinds of events"),
        ("count(a) < 150", "has more than 200 different atoms and temporal operators"),
        ("at_least(2, " + ", ".join(f"a{n}" for n in range(300)) + ")",
         "has more than 200 different atoms and temporal operators"),
        ("count(a) < 999999", "has more than 100000 parts"),
    ):  # fmt: skip
        with pytest.raises(TooLarge) as caught:
            least(formula)
        assert str(caught.value) == said


def test_depth_is_no_limit_where_nothing_new_is_said():
    core = core_of(parse("not " * 20_001 + "!a"))
    assert len(automaton(core, [frozenset(), frozenset({0})]).moves) == 3


def test_pure_past_and_pure_future_formulas_are_tried_as_well():
    for seed in range(300):
        rng = random.Random(f"pure {seed}")
        ones, twos = (FUTURE if seed % 2 else PAST), (("U", "R", "W", "and") if seed % 2 else ("S", "or", "and"))
        ones = tuple(one for one in (*ones, "not") if one not in ("U", "R", "W", "S"))
        formula = tree(rng, 9, 3, ones, twos)
        formula = formula if seed % 2 else ("G", formula)
        machine = compiled(formula)
        found = traces(rng, 7)
        said = [machine.holds[run(machine, trace)] for trace in found]
        assert said == truths(formula, found, 3), text(formula, NAMES)
