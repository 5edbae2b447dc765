"""Conditions as plain functions give CEL's own answers, or leave it to CEL."""

import os
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from duly.machine.condition import Condition
from duly.machine.native import Other, native
from duly.values.errors import DulyError

NAMES = ("args", "result", "facts")
FIELDS = ("a", "b", "c")

VALUES: Any = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**30]),
        st.floats(allow_nan=False, allow_infinity=False, width=32), st.sampled_from([0.0, 1.0, 2.5, -1.0]),
        st.sampled_from([Decimal("1"), Decimal("2.5"), Decimal("1e400")]),
        st.sampled_from(["", "a", "b", "ab", "aé", "1", "/x/y"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3)),
    max_leaves=4,
)  # fmt: skip
OBJECTS = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3)

PATHS = st.builds(
    lambda root, first, rest: root + "." + first + "".join(rest),
    st.sampled_from(NAMES), st.sampled_from(FIELDS),
    st.lists(st.sampled_from([".a", ".b", "[0]", "[1]", '["a"]']), max_size=2),
)  # fmt: skip
LITERALS = st.sampled_from(
    ["0", "1", "2", "2.5", "-1", "1.0", "'a'", "'ab'", '"b"', "''", "true", "false", "null", "9007199254740993", "'aé'"]
)
OPERANDS = st.one_of(PATHS, PATHS, LITERALS)
ATOMS = st.one_of(
    st.builds("{} {} {}".format, OPERANDS, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), OPERANDS),
    st.builds("{} in [{}]".format, PATHS, st.lists(LITERALS, max_size=3).map(", ".join)),
    st.builds("{} in {}".format, OPERANDS, PATHS),
    st.builds("has({})".format, st.builds("{}.{}".format, PATHS, st.sampled_from(FIELDS))),
    st.builds(
        "{}.{}({})".format, PATHS, st.sampled_from(["startsWith", "endsWith", "contains", "matches"]),
        st.sampled_from(["'a'", "'b'", "''", "'a|b'", "'^a'"]),
    ),
    PATHS,
)  # fmt: skip
CONDITIONS: Any = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("!({})".format, inner),
        st.builds("{} && {} || {}".format, inner, inner, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=20_000 if os.environ.get("DULY_SOAK") else 1_500, deadline=None)
@given(CONDITIONS, st.lists(st.tuples(OBJECTS, st.one_of(OBJECTS, VALUES), OBJECTS), min_size=4, max_size=8))
def test_a_condition_answers_as_cel_does(text: str, worlds: list[tuple[Any, Any, Any]]) -> None:
    try:
        quick = Condition(text, names=NAMES)
    except DulyError:
        assume(False)
        return
    slow = Condition(text, names=NAMES)
    slow._native = None
    for world in worlds:
        values = dict(zip(NAMES, world, strict=True))
        assert quick(values) is slow(values), (text, values)


@pytest.mark.parametrize(
    "text",
    [
        "args.a == 1", "args.a <= 2.5 && args.b != 'x'", "!(args.a in [1, 2]) || has(args.b)", "args.a.b[0] == 'x'",
        "args.path.startsWith('/tmp/') && !args.path.contains('..')", "result.ok == true", "args.n > -1",
    ],
)  # fmt: skip
def test_the_common_conditions_are_plain_functions(text: str) -> None:
    assert native(text, NAMES) is not None


@pytest.mark.parametrize(
    "text",
    [
        "size(args.a) > 1", "args.a + 1 > 2", "args.a.exists(x, x == 1)", "args.a == 'it\\'s'", "type(args.a) == int",
        "args == result", "other.a == 1", "args.a ? true : false", "args.a.matches(args.b)", "1u == args.a", "", "&&",
    ],
)  # fmt: skip
def test_whatever_else_there_is_is_left_to_cel(text: str) -> None:
    assert native(text, NAMES) is None


def test_a_value_that_cel_may_see_otherwise_is_left_to_it() -> None:
    check = native("args.a == 1", NAMES)
    assert check is not None
    for value in (2**63, {"b": 10**30}, [1], {"b": 1}):
        with pytest.raises(Other):
            check({"args": {"a": value}})
