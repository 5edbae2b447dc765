"""Cells: a tuple while they are few, rows of them once they are many, and no difference to see."""

import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from duly.machine.cells import Cells, cells, put


@given(st.integers(0, 1000), st.data())
def test_cells_are_what_a_list_would_be(size: int, data: Any) -> None:
    model = list(range(size))
    held = cells(model)
    assert isinstance(held, tuple) is (size <= 128)
    for _ in range(3 if size else 0):
        before, copied = held, list(model)
        changes = data.draw(st.dictionaries(st.integers(0, size - 1), st.integers(), max_size=4))
        for place, value in changes.items():
            model[place] = value
        held = put(held, changes)
        assert list(before) == copied
        assert list(held) == model
        assert [held[place] for place in range(size)] == model
        assert len(held) == size
        assert held == cells(model)
        assert hash(held) == hash(cells(model))
    assert pickle.loads(pickle.dumps(held)) == held


def test_nothing_changed_is_the_same_object() -> None:
    for size in (3, 300):
        held = cells(range(size))
        assert put(held, {}) is held
    assert "300" in repr(Cells((), 300))
