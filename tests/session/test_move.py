"""Edges: which is taken, what it binds, and what is undone."""

import pytest

from duly.machine.edge import all_of, go_of
from duly.machine.graph import Arc
from duly.machine.ir import Edge
from duly.session.move import bind, pick, touched, turn, unbind
from duly.values.expr import UNSET, Bind, Guard, Literal, Register


def edge(target: int, *guards: Guard, binds: tuple[Bind, ...] = (), otherwise: bool = False) -> Edge:
    arc = Arc(0, "!", "a", target, guards=guards, binds=binds, otherwise=otherwise)
    return Edge(target, guards, binds, otherwise, arc, all_of(guards), go_of(guards, binds))


LOW = edge(1, Guard(("n",), "<=", Literal(10)))
SAME = edge(2, Guard(("n",), "==", Register("r")))
ELSE = edge(3, otherwise=True)


@pytest.mark.parametrize(
    ("payload", "registers", "taken"),
    [
        ({"n": 5}, {"r": 6}, 1),
        ({"n": 50}, {"r": 50}, 2),
        ({"n": 50}, {"r": 6}, 3),
        ({"n": 5}, {"r": 5}, None),  # two are enabled
        ({"n": 50}, {}, None),  # the register is unbound, so that nobody knows whether `else` is meant
        ({"n": 5}, {}, 1),
        ({}, {"r": 5}, None),
        ({"n": "5"}, {"r": 5}, None),
        (None, {"r": 5}, None),
    ],
)
def test_one_edge_is_taken_or_none(payload: object, registers: dict[str, object], taken: int | None) -> None:
    found = pick((LOW, SAME, ELSE), payload, registers)
    assert (found.target if found is not None else None) == taken


def test_an_edge_whose_bound_field_is_missing_is_not_enabled() -> None:
    needs, may = edge(1, binds=(Bind(("id",), "r"),)), edge(1, binds=(Bind(("id",), "r", maybe=True),))
    assert (pick((needs,), {}, {}), pick((may,), {}, {})) == (None, may)


def test_else_with_a_missing_field_to_bind_is_not_taken() -> None:
    other = edge(3, binds=(Bind(("id",), "r"),), otherwise=True)
    assert pick((LOW, other), {"n": 50}, {}) is None
    assert pick((LOW, other), {"n": 50, "id": 1}, {}) is other


def test_a_binding_is_undone_where_nothing_has_overwritten_it() -> None:
    way = edge(1, binds=(Bind(("id",), "r"), Bind(("x",), "s", maybe=True)))
    old = {"r": "old", "s": "kept"}
    new, bound = bind(way, {"id": "new"}, old)
    assert (new, bound) == ({"r": "new"}, (("r", "new", "old"), ("s", UNSET, "kept")))
    assert unbind(bound, new) == old
    assert unbind(bound, {"r": "later"}) == {"r": "later", "s": "kept"}


def test_a_bare_move_takes_every_outcome_but_error_that_none_names() -> None:
    moves = {None: 1, "denied": 2}
    assert [turn(moves, outcome) for outcome in ("ok", "denied", "odd", "error")] == [1, 2, 1, None]
    assert [turn(7, outcome) for outcome in ("ok", "error")] == [7, None]
    assert turn({"error": 4}, "error") == 4
    assert turn({"error": 4}, "ok") is None


def test_a_step_back_to_the_same_state_counts_as_a_step() -> None:
    from steps import held

    line = held("(rec A.!a.A || !b).!c").contract.lines[0]
    assert touched(line, (0, 1, 2), (0, 1, 2), 1) == (1,)
    assert touched(line, (0, 1, 2), (3, -1, -1), 2) == (0, 1, 2)
