"""What a formula means, written a second time and straight from the definitions; nothing here is duly's.

A formula is a nested tuple: ``("atom", 0)``, ``("true",)``, ``("not", f)``, ``("U", f, g)`` … ``values`` evaluates it over
many traces of one length at once: bit ``t`` of an integer speaks of trace ``t``.
"""

import random
from functools import reduce
from operator import and_, or_
from typing import Any

Tree = tuple[Any, ...]

ONE = ("not", "X", "WX", "F", "G", "Y", "WY", "O", "H")
TWO = ("and", "or", "->", "<->", "U", "R", "W", "S")
FUTURE = ("X", "WX", "F", "G", "U", "R", "W")
PAST = ("Y", "WY", "O", "H", "S")


def tree(rng: random.Random, size: int, atoms: int, ones: tuple[str, ...] = ONE, twos: tuple[str, ...] = TWO) -> Tree:
    """A random formula with about this many nodes."""
    if size <= 1:
        return ("true",) if rng.random() < 0.05 else ("atom", rng.randrange(atoms))
    if size == 2 or rng.random() < 0.45:
        return (rng.choice(ones), tree(rng, size - 1, atoms, ones, twos))
    left = rng.randrange(1, size - 1)
    return (rng.choice(twos), tree(rng, left, atoms, ones, twos), tree(rng, size - 1 - left, atoms, ones, twos))


def text(formula: Tree, names: tuple[str, ...]) -> str:
    """The formula as it is written, with all its brackets."""
    kind, *parts = formula
    if kind == "true":
        return "true"
    if kind == "atom":
        return names[parts[0]]
    if len(parts) == 1:
        return f"{kind}({text(parts[0], names)})"
    return f"({text(parts[0], names)} {kind} {text(parts[1], names)})"


def values(formula: Tree, atoms: list[list[int]], length: int, every: int) -> list[int]:
    """For each position, in which of the traces the formula is true there; ``atoms[k][i]`` says so of atom ``k``, and
    ``every`` has the bit of each trace."""
    kind, *parts = formula
    places = range(length)
    if kind == "true":
        return [every] * length
    if kind == "atom":
        return atoms[parts[0]]
    f = values(parts[0], atoms, length, every)
    g = values(parts[1], atoms, length, every) if len(parts) == 2 else f

    def some(found: Any) -> int:
        return reduce(or_, found, 0)

    def each(found: Any) -> int:
        return reduce(and_, found, every)

    def until(i: int) -> int:
        return some(g[j] & each(f[k] for k in range(i, j)) for j in range(i, length))

    match kind:
        case "not":
            return [every & ~v for v in f]
        case "and":
            return [v & w for v, w in zip(f, g, strict=True)]
        case "or":
            return [v | w for v, w in zip(f, g, strict=True)]
        case "->":
            return [every & ~v | w for v, w in zip(f, g, strict=True)]
        case "<->":
            return [every & ~(v ^ w) for v, w in zip(f, g, strict=True)]
        case "X":
            return [f[i + 1] if i + 1 < length else 0 for i in places]
        case "WX":
            return [f[i + 1] if i + 1 < length else every for i in places]
        case "F":
            return [some(f[i:]) for i in places]
        case "G":
            return [each(f[i:]) for i in places]
        case "Y":
            return [f[i - 1] if i > 0 else 0 for i in places]
        case "WY":
            return [f[i - 1] if i > 0 else every for i in places]
        case "O":
            return [some(f[: i + 1]) for i in places]
        case "H":
            return [each(f[: i + 1]) for i in places]
        case "U":
            return [until(i) for i in places]
        case "W":
            return [until(i) | each(f[i:]) for i in places]
        case "R":
            # g up to and including the first f, or for ever
            return [each(g[i:]) | some(f[j] & each(g[i : j + 1]) for j in range(i, length)) for i in places]
        case "S":
            return [some(g[j] & each(f[j + 1 : i + 1]) for j in range(i + 1)) for i in places]
    raise AssertionError(kind)


def truths(formula: Tree, traces: list[list[int | None]], atoms: int) -> list[bool]:
    """Whether the formula is true of each trace, at its first position; a position is the atom that holds there, None
    where none does. Traces of one length, of at least one position."""
    length = len(traces[0])
    columns = [
        [sum(1 << number for number, trace in enumerate(traces) if trace[i] == atom) for i in range(length)]
        for atom in range(atoms)
    ]
    found = values(formula, columns, length, (1 << len(traces)) - 1)[0]
    return [bool(found >> number & 1) for number in range(len(traces))]
