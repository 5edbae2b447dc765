"""Guards told apart: what the reasoning says is what trying values says."""

import itertools
import random

import pytest

from duly.check.guard import disjoint, satisfiable
from duly.notation.compile import compile_text
from duly.notation.strings import parse
from duly.values.errors import DulyError
from duly.values.expr import Guard, Literal, compare


def apart(first, second):
    one, other = (parse(f"!a({text})").protocol.nodes[0].guards for text in (first, second))
    return disjoint(one, other)


def test_intervals_sets_kinds_and_registers_are_told_apart():
    for first, second in [
        ("x < 5", "x >= 5"), ("x == 1", "x == 2"), ("x == 1", "x in [2, '1']"), ("x == 'a'", "x == 1"),
        ("x <= 'a'", "x > 'a'"), ("x == true", "x == false"), ("x != null", "x == null"), ("x == 1.0", "x != 1"),
        ("x < 5, y == 1", "x > 3, y == 2"), ("x < 1e-9", "x >= 0.000000001"), ("x > 'a'", "x < 'a\\0'"),
        ("x == r", "x != r"), ("x < r", "x >= r"), ("x in []", "y == 1"),
    ]:  # fmt: skip
        assert apart(first, second) is True, (first, second)


def test_what_can_both_hold_is_seen():
    for first, second in [
        ("x <= 5", "x >= 5"), ("x == 1", "y == 1"), ("x != 1", "x != 2"), ("x == 1", "x == 1.0"),
        ("x > 1", "x < 1.0000001"), ("x > 'a'", "x < 'a\\0\\0'"), ("x != 1", "x == null"), ("x.a == 1", "x.b == 1"),
    ]:  # fmt: skip
        assert apart(first, second) is False, (first, second)


def test_what_hangs_on_a_session_is_not_decided():
    assert apart("x == r", "x == 1") is None
    assert apart("x == r", "x == s") is None


def test_reasoning_agrees_with_trying_many_values():
    dice = random.Random(3)
    literals = [0, 1, 2, 3, "", "a", "b", True, False, None, (1,), ()]
    trials = [*literals, 0.5, 1.5, 2.5, -1, 9, "0", "aa", "c", [1], [], [2], {}]
    for _ in range(3000):
        guards = [
            Guard(("x",), op, Literal(tuple(dice.sample(literals[:10], 2)) if op == "in" else dice.choice(literals)))
            for op in dice.choices(["==", "!=", "<", "<=", ">", ">=", "in"], k=dice.randint(1, 4))
        ]
        tried = any(all(compare(value, g.op, g.operand.value) is True for g in guards) for value in trials)
        assert satisfiable(guards) or not tried, guards
        # a text between "a" and "b" or a number between two others is among the trials, so the converse holds, too
        assert tried or not satisfiable(guards), guards


def test_a_thousand_guarded_branches_are_quick():
    text = ", ".join(f"a(n == {number}).b{number}" for number in range(1000)).replace(".b", ".!b")
    assert len(compile_text("!{" + text + "}").arcs) == 2000


def test_every_pair_of_equal_branches_is_found():
    graph = [Guard(("x",), "==", Literal(value)) for value in (1, 1.0, True, "1")]
    same = [(i, j) for (i, a), (j, b) in itertools.combinations(enumerate(graph), 2) if not disjoint((a,), (b,))]
    assert same == [(0, 1)]


def faults(*branches: str) -> list[str]:
    with pytest.raises(DulyError) as error:
        compile_text("{" + ", ".join(branches) + "}")
    return [fault.message for fault in error.value.diagnostics]


def test_branches_with_equal_guards_are_each_compared_with_the_first_of_them():
    assert faults("!a.!b", "!a.!c", "!a.!d") == ["`!a` stands twice in one choice"] * 2
    assert faults("!a(n == 1)", "!a(n == 1)", "!a(n == 2)", "!a(n == 1)") == ["`!a` has guards that can both hold"] * 2
    assert faults("!a(n == 1)", "!a(n == 1)", "!a(n < 2)") == ["`!a` has guards that can both hold"] * 2
    assert len(faults(*["!a.?b"] * 3000)) == 101


def test_more_branches_than_can_be_compared_are_refused():
    pieces = [f"!a(n > {n}, n < {n + 2})" for n in range(0, 1600, 2)]
    assert faults(*pieces) == ["`!a` has more than 500 branches that no field tells apart"]
    compile_text("{" + ", ".join(f"!a(a == 1, n == {n})" for n in range(3000)) + "}")
    shared = [f"!a(x == 1, n > {n}, n < {n + 2})" for n in range(0, 1600, 2)]
    assert faults(*shared) == ["`!a` has more than 500 branches that no field tells apart"]
