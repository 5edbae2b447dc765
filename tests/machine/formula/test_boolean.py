"""Boolean functions: equal ones are one number."""

import random
from itertools import product

import pytest

from duly.machine.formula import boolean
from duly.machine.formula.boolean import Functions
from duly.machine.formula.core import TooLarge


def made(functions, rng, depth=4):
    """A random function, and what it is as a table over three variables."""
    rows = list(product((0, 1), repeat=3))
    if depth == 0:
        number = rng.randrange(3)
        return functions.test(number), [row[number] for row in rows]
    one, mine = made(functions, rng, depth - 1)
    two, other = made(functions, rng, depth - 1)
    match rng.randrange(4):
        case 0:
            return functions.both(one, two), [a & b for a, b in zip(mine, other, strict=True)]
        case 1:
            return functions.either(one, two), [a | b for a, b in zip(mine, other, strict=True)]
        case 2:
            return functions.negated(one), [1 - a for a in mine]
    three, third = made(functions, rng, depth - 1)
    return functions.choose(one, two, three), [b if a else c for a, b, c in zip(mine, other, third, strict=True)]


def test_functions_are_one_number_where_their_tables_are_equal_and_only_there():
    functions, rng = Functions(), random.Random(1)
    by_table, by_number = {}, {}
    for _ in range(400):
        number, table = made(functions, rng)
        assert by_table.setdefault(tuple(table), number) == number
        assert by_number.setdefault(number, table) == table
        assert functions.at_end(number) == bool(table[0])
    assert len(by_table) > 40


def test_variables_are_replaced_all_at_once():
    functions = Functions()
    a, b = functions.test(0), functions.test(1)
    other = functions.choose(a, functions.negated(b), 0)
    assert functions.replaced(other, [b, a], {}) == functions.both(b, functions.negated(a))


def test_too_many_tests_are_refused(monkeypatch):
    monkeypatch.setattr(boolean, "MOST_NODES", 10)
    functions = Functions()
    assert [functions.test(number) for number in range(9)] == list(range(2, 11))
    with pytest.raises(TooLarge, match="needs more than 10 tests"):
        functions.test(9)
