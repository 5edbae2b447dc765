"""Budgets, compiled; and how many calls each state of a protocol is from an end, so that none is begun in vain."""

from typing import Any

from duly.values.errors import Diagnostic

from .beyond import beyond
from .ir import Line, Plan
from .names import Names
from .templates import Maker
from .terms import Rule, Terms
from .watch.amount import amount_of
from .watch.budget import Budget


def budgets(terms: Terms, names: Names, taken: frozenset[str]) -> tuple[Any, ...]:
    """The budgets of a contract; what has no clear meaning is appended to the faults of ``names``."""
    found: list[Any] = []
    for said in terms.budget:
        id = said.id or "budget" + (f" {len(found) + 1}" if len(terms.budget) > 1 else "")
        args = {} if said.per is None else {"per": said.per} | ({} if said.zone is None else {"zone": said.zone})
        rule = Rule("budget", args, id=id, excepting=said.excepting, scope=said.scope, span=said.span)
        make = Maker(rule, names, terms.facts, frozenset())
        limits = {}
        for unit, limit in said.limits.items():
            amount = amount_of(limit) if type(limit) is not str else None
            if amount is None or amount < 0:
                make.fault(f"the budget of `{unit[:40]}` is a number from 0, not `{limit!s:.40}`")
            else:
                limits[unit] = amount
        if not said.limits:
            make.fault("a budget without a unit", "say for example `calls: 40`")
        if id in taken or any(id == other.id for other in found):
            names.faults.append(Diagnostic("rule", f"two budgets or rules are called `{id}`", span=said.span))
        if said.per == "day" and said.scope in ("turn", "run"):
            make.fault(f"`per: day` and `scope: {said.scope}` exclude one another")
        if said.zone is not None and said.per is None:
            make.fault("`zone` says whose days are meant, and belongs to `per: day`")
        of = make.member(said.of) if said.of is not None else None
        found.append(beyond(make, Budget(rule, of, limits, make.without), terms.name, id))
    return tuple(found)


def paces(
    lines: tuple[Line, ...], acts: dict[str, Plan], hearings: dict[str, Any], unnamed: Any
) -> dict[int, list[int]]:
    """For each protocol of one region, the fewest calls from each state to an end; a state without an end counts 0,
    since `duly check` speaks of it. Zero-one breadth first, backwards from the ends."""
    found: dict[int, list[int]] = {}
    for line in lines:
        if line.forks or line.forever or not line.finals:
            continue
        back: dict[int, list[tuple[int, int]]] = {}
        for label, plan in acts.items():
            weight = 0 if plan.message else 1
            for row in plan.rows if plan.label == label else ():
                if row.protocol == line.number:
                    for origin, target in _moves(row):
                        back.setdefault(target, []).append((origin, weight))
        for hearing in [*hearings.values(), *([unnamed] if unnamed is not None else [])]:
            for row in hearing.rows:
                if row.protocol == line.number:
                    for origin, target in _moves(row):
                        back.setdefault(target, []).append((origin, 0))
        steps: dict[int, int] = {}
        near: list[int] = list(line.finals)
        far: list[int] = []
        depth = 0
        while near or far:
            while near:
                at = near.pop()
                if at in steps:
                    continue
                steps[at] = depth
                for origin, weight in back.get(at, ()):
                    if origin not in steps:
                        (far if weight else near).append(origin)
            near, far, depth = far, [], depth + 1
        size = max([*steps, *back, *(origin for ways in back.values() for origin, _ in ways)], default=0) + 1
        found[line.number] = [steps.get(at, 0) for at in range(size)]
    return found


def _moves(row: Any) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for _, column in row.places:
        for origin, moves in column.items():
            for move in moves.values() if type(moves) is dict else (moves,):
                found += [(origin, move)] if type(move) is int else [(origin, edge.target) for edge in move]
    return found
