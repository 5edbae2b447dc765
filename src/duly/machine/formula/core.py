"""Formulas in few words: atoms, not, and, or, next, until, previous and since. All others are written with these.

On a finite trace ``G``, ``R``, ``WX``, ``WY`` and ``H`` are what is left when their duals are negated (De Giacomo and
Vardi 2013, "Linear temporal logic and linear dynamic logic on finite traces"). History terms become past operators.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from duly.values.errors import Diagnostic, DulyError

from .node import Among, Atom, Binary, Count, Did, Truth, Unary
from .parse import Written

Part = tuple[str, int, int]
"""(kind, and the places of its parts, or the number of an atom): ``true``, ``atom``, ``not``, ``and``, ``or``, and the
temporal ``X``, ``U``, ``Y``, ``S``."""

MOST_PARTS: Final = 100_000
"""Parts of a formula in few words; a count alone may have many."""


class TooLarge(Exception):
    """A formula has more parts, or leads to more states, than one rule may have; says which."""


class Core(Struct, frozen=True):
    """A formula in few words; equal parts are there once, parts stand before what they are parts of."""

    parts: tuple[Part, ...]
    root: int
    atoms: tuple[Atom, ...]


class _Writer:
    """Parts, each once."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.atoms: dict[Atom, int] = {}
        self._known: dict[Part, int] = {}
        self.true = self.put("true")
        self.false = self.negated(self.true)

    def put(self, kind: str, left: int = -1, right: int = -1) -> int:
        part = (kind, left, right)
        place = self._known.get(part)
        if place is None:
            if len(self.parts) >= MOST_PARTS:
                raise TooLarge(f"has more than {MOST_PARTS} parts")
            place = self._known[part] = len(self.parts)
            self.parts.append(part)
        return place

    def atom(self, atom: Atom) -> int:
        return self.put("atom", self.atoms.setdefault(atom, len(self.atoms)))

    def negated(self, of: int) -> int:
        kind, inner, _ = self.parts[of]
        return inner if kind == "not" else self.put("not", of)

    def both(self, left: int, right: int) -> int:
        return self.put("and", left, right)

    def either(self, left: int, right: int) -> int:
        return self.put("or", left, right)

    def until(self, left: int, right: int) -> int:
        return self.put("U", left, right)

    def once(self, of: int) -> int:
        return self.put("S", self.true, of)


def core_of(written: Written) -> Core:
    """A formula in few words; raises DulyError where an atom has no side, and TooLarge."""
    nodes = written.formula.nodes
    writer = _Writer()
    places: list[int] = []
    faults: list[Diagnostic] = []
    for at, node in enumerate(nodes):
        match node:
            case Truth(value):
                place = writer.true if value else writer.false
            case Unary(op, of):
                place = _UNARY[op](writer, places[of])
            case Binary(op, left, right):
                place = _BINARY[op](writer, places[left], places[right])
            case Did(of):
                place = writer.once(writer.atom(_sided(of)))
            case Count(of, sign, n):
                place = _counted(writer, writer.atom(_sided(of)), sign, n)
            case Among(kind, n, several):
                place = _among(writer, kind, n, [writer.once(writer.atom(_sided(each))) for each in several])
            case Atom() as atom:
                if atom.side == "":
                    message = f"`{atom.name[:80]}` needs its side"
                    faults.append(Diagnostic("side", message, span=written.span(at), help=f"write `!{atom.name[:80]}`"))
                place = writer.atom(atom)
        places.append(place)
    if faults:
        raise DulyError(faults)
    return Core(tuple(writer.parts), places[-1], tuple(writer.atoms))


def _sided(atom: Atom) -> Atom:
    """What has been done has succeeded, unless a side says what is meant."""
    return Atom("?", atom.name, atom.outcome, atom.where) if atom.side == "" else atom


def _counted(writer: _Writer, of: int, sign: str, n: int) -> int:
    """``count(x) >= 3`` is ``O(x and Y O(x and Y O x))``."""

    def least(n: int) -> int:
        if n <= 0:
            return writer.true
        place = writer.once(of)
        for _ in range(n - 1):
            place = writer.once(writer.both(of, writer.put("Y", place)))
        return place

    match sign:
        case ">=":
            return least(n)
        case ">":
            return least(n + 1)
        case "<":
            return writer.negated(least(n))
        case "<=":
            return writer.negated(least(n + 1))
        case "==":
            return writer.both(least(n), writer.negated(least(n + 1)))
    return writer.negated(writer.both(least(n), writer.negated(least(n + 1))))


def _among(writer: _Writer, kind: str, n: int, done: list[int]) -> int:
    """At least ``n`` of several: with each one more, either it is done and one less is wanted, or not."""
    if kind == "at_most":
        return writer.negated(_among(writer, "at_least", n + 1, done))
    if n > len(done):
        return writer.false
    row = [writer.true, *[writer.false] * n]
    for place in done:
        row = [
            writer.true,
            *(writer.either(row[at], writer.both(place, row[at - 1])) for at in range(1, n + 1)),
        ]
    return row[n]


def _strong_next(w: _Writer, a: int) -> int:
    return w.put("X", a)


_UNARY: Final[dict[str, Callable[[_Writer, int], int]]] = {
    "not": _Writer.negated,
    "X": _strong_next,
    "WX": lambda w, a: w.negated(w.put("X", w.negated(a))),
    "F": lambda w, a: w.until(w.true, a),
    "G": lambda w, a: w.negated(w.until(w.true, w.negated(a))),
    "Y": lambda w, a: w.put("Y", a),
    "WY": lambda w, a: w.negated(w.put("Y", w.negated(a))),
    "O": _Writer.once,
    "H": lambda w, a: w.negated(w.once(w.negated(a))),
}
_BINARY: Final[dict[str, Callable[[_Writer, int, int], int]]] = {
    "and": _Writer.both,
    "or": _Writer.either,
    "->": lambda w, a, b: w.either(w.negated(a), b),
    "<->": lambda w, a, b: w.either(w.both(a, b), w.both(w.negated(a), w.negated(b))),
    "U": _Writer.until,
    "R": lambda w, a, b: w.negated(w.until(w.negated(a), w.negated(b))),
    "W": lambda w, a, b: w.negated(w.until(w.negated(b), w.both(w.negated(a), w.negated(b)))),
    "S": lambda w, a, b: w.put("S", a, b),
}
