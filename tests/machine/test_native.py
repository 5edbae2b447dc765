"""Conditions as plain functions give CEL's own answers, or leave it to CEL."""

import os
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from duly.machine.condition import Condition, fields_named
from duly.machine.native import Native, native
from duly.machine.operation import Other
from duly.values.errors import DulyError

SOAK = bool(os.environ.get("DULY_SOAK"))
NAMES = ("args", "result", "facts")
FIELDS = ("a", "b", "c")

NUMBERS = [
    0, 1, 2, -1, 3, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, 0.0, -0.0, 1.0, 2.5, -1.0, 1e300,
    float(2**53), float(2**63), 5e-324, Decimal("1"), Decimal("2.5"), Decimal("1e400"), Decimal("0.1"), Decimal("9007199254740993"),
]  # fmt: skip
TEXTS = ["", "a", "b", "ab", "ba", "aé", "é", "e\u0301", "1", "/x/y", "a\nb", "a\n", "\x00a", "\uffff", "\U0001f600", "a.b", "A", "\ud800"]
LITERALS = [
    "0", "1", "2", "2.5", "-1", "1.0", "'a'", "'ab'", '"b"', "''", "true", "false", "null", "9007199254740993", "'aé'", "-9223372036854775807",
    "9223372036854775807", "0.1", r"'a\nb'", r"r'a\n'", r"'\''", "'1'", "'\\\\'",
]  # fmt: skip
PATTERNS = [
    "'a'", "'b'", "''", "'a|b'", "'^a'", "'a$'", "'^ab$'", "'^$'", "'.'", "r'^a\\n?b$'", "'[^a]'", "'(?i)A'", "'é'", r"'a\\.b'", "'a.b'", "'^'", "'$'",
    r"r'\w+'", r"'\\bA'", "'(a'", "'a{2}'", "'\\\\'", "'^^a'", "'a$$'",
]  # fmt: skip
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
TESTS = ["startsWith", "endsWith", "contains", "matches"]


def value(draw: Random, depth: int = 0) -> Any:
    kind = draw.randrange(8 if depth < 2 else 5)
    if kind < 2:
        return draw.choice(NUMBERS)
    if kind < 4:
        return draw.choice(TEXTS if draw.random() < 0.05 else TEXTS[:-1])
    if kind == 4:
        return draw.choice([None, True, False])
    if kind < 6:
        return [value(draw, depth + 1) for _ in range(draw.randrange(4))]
    return mapping(draw, depth + 1)


def mapping(draw: Random, depth: int = 0) -> dict[str, Any]:
    return {name: value(draw, depth) for name in FIELDS if draw.random() < 0.6}


def path(draw: Random) -> str:
    rest = [draw.choice([".a", ".b", "[0]", "[1]", '["a"]', "['c']"]) for _ in range(draw.choice([0, 0, 0, 1, 2]))]
    return f"{draw.choice(NAMES)}.{draw.choice(FIELDS)}" + "".join(rest)


def operand(draw: Random) -> str:
    kind = draw.randrange(8)
    return path(draw) if kind < 4 else draw.choice(LITERALS) if kind < 7 else f"size({path(draw)})"


def atom(draw: Random) -> str:
    kind = draw.randrange(9)
    if kind < 3:
        return f"{operand(draw)} {draw.choice(COMPARISONS)} {operand(draw)}"
    if kind < 4:
        literals = (draw.sample([t for t in LITERALS if t[0] in "'"], 2), draw.sample(["0", "1", "2", "-1"], 2), draw.sample(LITERALS, draw.randrange(4)))
        return f"{path(draw)} in [{', '.join(draw.choice(literals))}]"
    if kind < 5:
        return f"{operand(draw)} in {path(draw)}"
    if kind < 6:
        return f"has({path(draw)}.{draw.choice(FIELDS)})" if draw.random() < 0.5 else f"has({draw.choice(NAMES)}.{draw.choice(FIELDS)})"
    if kind < 8:
        test = draw.choice(TESTS)
        at = path(draw)
        at = f"string({at})" if draw.random() < 0.3 else at
        return f"{at}.{test}({draw.choice(PATTERNS if test == 'matches' else PATTERNS[:6])})"
    return path(draw)


def condition(draw: Random, depth: int = 0) -> str:
    kind = draw.randrange(6 if depth < 3 else 2)
    if kind < 2:
        return atom(draw)
    if kind == 2:
        return f"!({condition(draw, depth + 1)})"
    return f"({condition(draw, depth + 1)} {draw.choice(['&&', '||'])} {condition(draw, depth + 1)})"


def disagreements(draw: Random, texts: int, worlds: int) -> tuple[int, list[Any]]:
    """How many pairs were compared in plain Python, and those with different answers."""
    compared, found = 0, []
    for _ in range(texts):
        text = condition(draw)
        try:
            quick, slow = Condition(text, names=NAMES), Condition(text, names=NAMES)
        except DulyError:
            continue
        if quick._native is None:
            continue
        slow._native = slow.quick = None
        for _ in range(worlds):
            values = {"args": mapping(draw), "result": value(draw) if draw.random() < 0.3 else mapping(draw), "facts": mapping(draw)}
            compared += 1
            if quick(values) is not slow(values):
                found.append((text, values, quick(values), slow(values)))
    return compared, found


@pytest.mark.parametrize("seed", range(200 if SOAK else 4))
def test_a_condition_answers_as_cel_does(seed: int) -> None:
    compared, found = disagreements(Random(seed), 600, 25)
    assert (compared > 10_000, found[:3]) == (True, [])


@settings(max_examples=10_000 if SOAK else 200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_condition_answers_as_cel_does_in_small(draw: Any) -> None:
    text = condition(draw)
    values = {name: mapping(draw) for name in NAMES}
    try:
        quick, slow = Condition(text, names=NAMES), Condition(text, names=NAMES)
    except DulyError:
        assume(False)
    slow._native = slow.quick = None
    assert quick(values) is slow(values)


def found(text: str) -> Native | None:
    return native(text, NAMES, fields_named(text, NAMES))


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("args.a == 1", True), ("args.a <= 2.5 && args.b != 'x'", False), ("!(args.a in [1, 2]) || has(args.b)", True),
        ("args.a.b[0] == 'x'", False), ("args.path.startsWith('/tmp/') && !args.path.contains('..')", True),
        ("result.ok == true", True), ("args.n > -1", True), ("5 >= args.n", True), ("size(args.xs) <= 3", False),
        ("args.path.matches('^/srv/')", True), ("string(args.path).matches('^/srv/')", True), ("args.a == 'it\\'s'", True), ("args.a == 'see args.b'", False),
    ],
)  # fmt: skip
def test_the_common_conditions_are_plain_functions_and_the_usual_ones_have_shortcuts(text: str, short: bool) -> None:
    parts = found(text)
    assert parts is not None
    assert (parts.quick is not None) is short


@pytest.mark.parametrize(
    "text",
    [
        "args.a + 1 > 2", "args.a.exists(x, x == 1)", "args.a == b'x'", "type(args.a) == int", "args == result",
        "other.a == 1", "args.a ? true : false", "args.a.matches(args.b)", "1u == args.a", "", "&&", "args.a == '\\x41'",
        "args.a == 0x1", "args.a == 1e3", "args.a == \"\"\"x\"\"\"", "size('x') == 1", "args.a -1 == 2",
        "string(args.a) == '1'", "string(args.a).x", "string(1).matches('1')",
    ],
)  # fmt: skip
def test_whatever_else_there_is_is_left_to_cel(text: str) -> None:
    assert found(text) is None


def test_a_value_that_cel_may_see_otherwise_is_left_to_it() -> None:
    parts = found("args.a == 1 || args.b == 2")
    assert parts is not None
    assert parts.quick is not None
    for odd in (2**63, {"b": 10**30}, [1], {"b": 1}, "\ud800", object(), (1,)):
        values = {"args": {"a": odd, "b": 1}}
        assert parts.quick(values) is None
        with pytest.raises(Other):
            parts.run(values)


def test_a_field_that_cel_cannot_read_leaves_the_whole_condition_open() -> None:
    check = Condition("args.a == 1 || args.b == 2", names=("args",))
    assert [check({"args": {"a": 1, "b": odd}}) for odd in (3, 10**30, "\ud800")] == [True, None, None]
