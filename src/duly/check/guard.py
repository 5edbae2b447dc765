"""Can two guarded edges be open at once? Decided for comparisons of one path with literals, else with `else`.

Nothing is approximated: the values that could tell two sets of comparisons apart are finitely many (each literal,
a value right behind it, one between each two numbers, one of every other kind), and each is asked the very
comparison that runs in a session.
"""

import itertools
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from typing import Any, Final

from duly.machine.graph import Arc, Graph
from duly.values.errors import Diagnostic
from duly.values.expr import Guard, Literal, Register, compare, kind

# Numbers between two literals are found in exact arithmetic: literals have 1,000 digits and exponents to 10,000.
_EXACT: Final = Context(prec=25_000, Emax=999_999, Emin=-999_999)
Buckets = dict[tuple[str, Any], list[int]]
MOST: Final = 500
"""Branches of one label that are compared each with each."""

# What two values can be to each other, for each operator; `a < r` and `a >= r` have nothing in common.
_ORDERS: Final = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}  # as sets of characters


def indistinguishable(graph: Graph) -> list[Diagnostic]:
    """Errors for edges of one state, with one label and outcome, of which two can be open at once (B7)."""
    found: list[Diagnostic] = []
    rivals: dict[tuple[int, str, str | None, str | None, bool], list[Arc]] = {}
    for arc in graph.arcs:
        key = (arc.origin, arc.side, arc.label, arc.outcome, arc.group)
        if key in rivals:
            rivals[key].append(arc)
        else:
            rivals[key] = [arc]
    if len(rivals) == len(graph.arcs):
        return found
    for arcs in rivals.values():
        if len(arcs) > 1:
            found += _rivals(graph, arcs)
    return found


def _rivals(graph: Graph, arcs: list[Arc]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    others = [arc for arc in arcs if arc.otherwise]
    for arc in others[1:]:
        found.append(_fault(graph, arc, "has two branches with `else`", "keep one of them"))
    firsts: dict[tuple[Guard, ...], Arc] = {}
    for arc in arcs:
        if not arc.otherwise and firsts.setdefault(arc.guards, arc) is not arc:
            # those with equal guards are compared with the first of them, and only that with all others
            found += _clash(graph, firsts[arc.guards], arc, others)
    pairs = _candidates(list(firsts.values()))
    if pairs is None:
        help = "let one field tell them apart, as in `n == 1`, or give them different labels"
        return [*found, _fault(graph, arcs[-1], f"has more than {MOST} branches that no field tells apart", help)]
    told: set[int] = set()
    for first, second in pairs:
        if id(second) not in told and (clash := _clash(graph, first, second, others)):
            told.add(id(second))
            found += clash
    return found


def _clash(graph: Graph, first: Arc, second: Arc, others: list[Arc]) -> list[Diagnostic]:
    apart = disjoint(first.guards, second.guards)
    if apart or (apart is None and others):
        return []
    place = graph.span(first).where() if first.end else "another branch"
    if apart is None:
        problem, help = "has guards that cannot be told apart", "write `else` for one of the branches"
    elif first.guards or second.guards:
        problem, help = "has guards that can both hold", "make them exclude each other, or write `else`"
    else:
        problem, help = "stands twice in one choice", "give the branches different labels, or guards"
    return [_fault(graph, second, problem, f"{help}; the other one is at {place}")]


def _candidates(arcs: list[Arc]) -> Iterable[tuple[Arc, Arc]] | None:
    """The pairs to look at: where every edge wants one path to be of a few values, only those that share one.

    None where they are too many to be looked at.
    """
    shared = set.intersection(*({g.path for g in arc.guards if _values(g)} for arc in arcs)) if arcs else set()
    if not shared:
        return None if len(arcs) > MOST else itertools.combinations(arcs, 2)
    # the path that leaves the fewest to compare
    least = min((_buckets(arcs, path) for path in sorted(shared, key=str)), key=_pairs)
    if _pairs(least) > MOST**2:
        return None
    pairs = {pair for places in least.values() for pair in itertools.combinations(places, 2)}
    return ((arcs[i], arcs[j]) for i, j in sorted(pairs))


def _buckets(arcs: list[Arc], path: tuple[str | int, ...]) -> Buckets:
    buckets: Buckets = {}
    for at, arc in enumerate(arcs):
        guard = next(g for g in arc.guards if g.path == path and _values(g))
        for key in {(kind(value), _hashed(value)) for value in _values(guard)}:
            buckets.setdefault(key, []).append(at)
    return buckets


def _pairs(buckets: Buckets) -> int:
    return sum(len(places) * (len(places) - 1) for places in buckets.values())


def _hashed(value: Any) -> Any:
    return repr(value) if type(value) is tuple else value


def _values(guard: Guard) -> tuple[Any, ...]:
    """The values that the guard lets through, if it names them."""
    if type(guard.operand) is not Literal:
        return ()
    value = guard.operand.value
    if guard.op == "in" and type(value) is tuple:
        return value
    return (value,) if guard.op == "==" and type(value) is not tuple else ()


def disjoint(first: Sequence[Guard], second: Sequence[Guard]) -> bool | None:
    """True if no payload opens both, False if some does, None if it hangs on what only a session knows."""
    paths = {guard.path for guard in first} & {guard.path for guard in second}
    for path in paths:
        mine = [guard for guard in first if guard.path == path]
        theirs = [guard for guard in second if guard.path == path]
        if _opposed(mine, theirs) or not satisfiable([*mine, *theirs]):
            return True
    if not (satisfiable(first) and satisfiable(second)):
        return True
    return None if any(type(guard.operand) is Register for guard in (*first, *second)) else False


def _opposed(first: Iterable[Guard], second: Iterable[Guard]) -> bool:
    """`x == r` against `x != r`: both read the same old value of the register."""
    return any(
        type(mine.operand) is Register
        and mine.operand == other.operand
        and mine.op in _ORDERS
        and other.op in _ORDERS
        and not set(_ORDERS[mine.op]) & set(_ORDERS[other.op])
        for mine in first
        for other in second
    )


def satisfiable(guards: Sequence[Guard]) -> bool:
    """Whether some payload can open all of these, as far as literals say."""
    by_path: dict[tuple[str | int, ...], list[tuple[str, Any]]] = {}
    for guard in guards:
        if type(guard.operand) is Literal:
            by_path.setdefault(guard.path, []).append((guard.op, guard.operand.value))
    return all(
        any(all(compare(value, op, literal) is True for op, literal in asked) for value in _trials(asked))
        for asked in by_path.values()
    )


def _trials(asked: list[tuple[str, Any]]) -> list[Any]:
    """Values such that, if any value meets all comparisons, one of these does."""
    for op, literal in asked:
        if op == "in" and type(literal) is tuple:
            return list(literal)
        if op == "==":
            return [literal]
    literals = [literal for _, literal in asked]
    trials: list[Any] = [*literals, None, True, False, [], [[]], {}, "", 0]
    # Right behind a text stands the text with the least character added: nothing lies between.
    trials += [literal + "\0" for literal in literals if type(literal) is str]
    numbers = sorted(Decimal(literal) for literal in literals if kind(literal) == "number")
    if numbers:
        trials += [_EXACT.subtract(numbers[0], Decimal(1)), _EXACT.add(numbers[-1], Decimal(1))]
        trials += [_EXACT.divide(_EXACT.add(a, b), Decimal(2)) for a, b in itertools.pairwise(numbers)]
    return trials


def _fault(graph: Graph, arc: Arc, problem: str, help: str) -> Diagnostic:
    label = "Unrecognized" if arc.label is None else ("@" if arc.group else "") + arc.label
    label += f"={arc.outcome}" if arc.outcome else ""
    span = graph.span(arc) if arc.end else None
    return Diagnostic(code="indistinguishable", message=f"`{arc.side}{label}` {problem}", span=span, help=help)
