"""Many small values of a state: a tuple while they are few, a tuple of tuples once they are many.

So changing one of thousands costs no more than copying two short rows; a tuple of tuples behaves like one tuple.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

_SHIFT: Final = 7
_WIDTH: Final = 1 << _SHIFT
_MASK: Final = _WIDTH - 1


class Cells:
    """An immutable sequence in rows of 128."""

    __slots__ = ("_rows", "_size")

    def __init__(self, rows: tuple[tuple[Any, ...], ...], size: int) -> None:
        self._rows, self._size = rows, size

    def __getitem__(self, place: int) -> Any:
        return self._rows[place >> _SHIFT][place & _MASK]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (value for row in self._rows for value in row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and self._rows == other._rows

    def __hash__(self) -> int:
        return hash(self._rows)

    def __repr__(self) -> str:
        return f"Cells({self._size})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Cells, (self._rows, self._size)

    def put(self, changes: Mapping[int, Any]) -> "Cells":
        """The same with these places changed."""
        rows = list(self._rows)
        for place, value in changes.items():
            number = place >> _SHIFT
            row = list(rows[number])
            row[place & _MASK] = value
            rows[number] = tuple(row)
        return Cells(tuple(rows), self._size)


def cells(values: Iterable[Any]) -> Any:
    """The values as a tuple, or as Cells where they are many."""
    flat = tuple(values)
    if len(flat) <= _WIDTH:
        return flat
    return Cells(tuple(flat[at : at + _WIDTH] for at in range(0, len(flat), _WIDTH)), len(flat))


def put(held: Any, changes: Mapping[int, Any]) -> Any:
    """The cells with these places changed; the same ones where nothing is."""
    if not changes:
        return held
    if type(held) is not tuple:
        return held.put(changes)
    fresh = list(held)
    for place, value in changes.items():
        fresh[place] = value
    return tuple(fresh)


def taken(data: Any, slots: tuple[int, ...]) -> Any:
    """The counts after one more act of these."""
    if type(data) is not tuple:
        return put(data, {slot: data[slot] + 1 for slot in slots})
    counts = list(data)
    for slot in slots:
        counts[slot] += 1
    return tuple(counts)
