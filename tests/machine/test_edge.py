"""Compiled guards and bindings say what the plain ones say."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from duly.machine.edge import all_of, go_of
from duly.machine.edge import test_of as compiled
from duly.values.expr import UNSET, Bind, Guard, Literal, Register, holds, reach
from laws.settings import tried

SOME = [0, 1, 1.0, -1, 10**20, "a", "1", "", True, False, None, [1], ["a", 1], {"x": 1}, {}]
VALUES = st.sampled_from(SOME)
FIELDS = st.sampled_from([("n",), ("m",), ("n", "x"), ("n", 0)])
OPERANDS = st.one_of(st.builds(Register, st.sampled_from("rs")), st.builds(Literal, VALUES | st.just(("a", 1))))
GUARDS = st.builds(Guard, FIELDS, st.sampled_from(["==", "!=", "<", ">=", "in"]), OPERANDS)
BINDS = st.builds(Bind, FIELDS, st.sampled_from("rs"), st.booleans())
PAYLOADS = st.dictionaries(st.sampled_from("nm"), VALUES | st.just({"x": 1}) | st.just([1])) | VALUES
REGISTERS = st.dictionaries(st.sampled_from("rs"), VALUES)


@tried(300, 6000)
@given(GUARDS, PAYLOADS, REGISTERS)
def test_a_compiled_guard_answers_as_the_guard(guard: Guard, payload: Any, registers: dict[str, Any]) -> None:
    assert compiled(guard)(payload, registers) is holds(guard, payload, registers)


@tried(300, 6000)
@given(st.lists(GUARDS, max_size=3), PAYLOADS, REGISTERS)
def test_several_guards_are_joined_by_the_and_of_three_values(
    guards: list[Guard], payload: Any, registers: dict[str, Any]
) -> None:
    test = all_of(tuple(guards))
    answers = [holds(guard, payload, registers) for guard in guards]
    expected = False if False in answers else None if None in answers else True
    assert (test(payload, registers) if test is not None else True) is expected


@tried(300, 6000)
@given(st.lists(GUARDS, max_size=2), st.lists(BINDS, max_size=2), PAYLOADS, REGISTERS)
def test_an_edge_is_gone_only_where_its_guards_hold_and_its_fields_are_there(
    guards: list[Guard], binds: list[Bind], payload: Any, registers: dict[str, Any]
) -> None:
    went = go_of(tuple(guards), tuple(binds))(payload, registers)
    values = [(bind, reach(payload, bind.path)) for bind in binds]
    open_ = all(holds(guard, payload, registers) is True for guard in guards)
    if not open_ or any(value is UNSET and not bind.maybe for bind, value in values):
        assert went is None
        return
    expected = dict(registers)
    for bind, value in values:
        if value is UNSET:
            expected.pop(bind.register, None)
        else:
            expected[bind.register] = value
    assert went == expected
