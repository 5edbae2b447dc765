"""What would make a refused act legal: breadth first over protocols and facts, successes assumed, within a bound.

Guards are taken to be met, counts stay as they are; so "none" is sure, and steps are a plan, not a promise.
"""

from collections import deque
from typing import Final

from duly.machine.contract import Contract
from duly.machine.ir import Plan, Row, State
from duly.values.verdict import Repair

from .books import facts, in_force, mode_of
from .explain import open_conditions
from .move import find, place, turn

BOUND: Final = 2000
"""States that are looked at before the answer is "undecided"."""

Point = tuple[tuple[int, ...], int]


def repair(contract: Contract, state: State, plan: Plan) -> Repair:
    """The shortest steps after which an act of this plan is legal, for some arguments.

    Steps are acts (`call x`), messages (`ask for x`), and the next turn or run where a count begins anew.
    """
    plan = in_force(contract, state.more, plan)
    if state.more.over is not None or plan.silent or (plan.message and not plan.rows):
        return Repair("none")
    if any(state.data[slot] >= limit for slot, limit in plan.limits):
        return _spent(contract, state, plan)
    before = _watched(contract, state, plan)
    if before is None:
        return Repair("none")
    if not before and open_conditions(contract, state, plan) is not None:
        # nothing has to come first, so it is the arguments that are refused
        return Repair("steps", _asked(contract, state, plan))
    start: Point = (state.cursors, state.facts)
    if before and _opens(plan, start):
        return Repair("steps", tuple(dict.fromkeys((*before, *_asked(contract, state, plan)))))
    seen = {start}
    queue: deque[tuple[Point, tuple[str, ...]]] = deque([(start, ())])
    looked = 0
    while queue:
        point, steps = queue.popleft()
        if steps and _opens(plan, point):
            return Repair("steps", tuple(dict.fromkeys((*before, *steps, *_asked(contract, state, plan)))))
        looked += 1
        if looked > BOUND or len(seen) > 20 * BOUND:
            return Repair("undecided")
        for step, after in _steps(contract, state, point):
            if after not in seen:
                seen.add(after)
                queue.append((after, (*steps, step)))
    if _opens(plan, start):
        return Repair("steps", (*before, *_asked(contract, state, plan)))
    return Repair("none") if not state.open else Repair("undecided")


def _watched(contract: Contract, state: State, plan: Plan) -> tuple[str, ...] | None:
    """What the rules with books want first; None where one refuses for good."""
    steps: list[str] = []
    known = facts(contract, state)
    for number in plan.watches:
        watch, book = contract.watches[number], state.books[number]
        if not watch.shut(book, plan.label, state.at, known) or mode_of(state.more, watch.rule) == "shadow":
            continue
        if watch.id in contract.askers:
            steps.append(f"approval by {contract.askers[watch.id].shown()}")
            continue
        lacks = watch.lacks(book, plan.label)
        wait = watch.waits(book, plan.label, state.at, known)
        if lacks:
            for needs, times in lacks:
                first = next((name for name in needs if _sayable(contract, name)), needs[0])
                step = f"ask for `{first}`" if first in contract.messages else f"call `{first}`"
                steps.append(step if times == 1 else f"{step} {times} times")
        elif wait is not None:
            steps.append(f"wait {wait:g} s")
        elif watch.scope in ("turn", "run"):
            steps.append(f"wait for the next {watch.scope}")
        elif not any(number not in call.shut and call.label in watch.labels for call in state.open.values()):
            return None
    return tuple(dict.fromkeys(steps))


def _sayable(contract: Contract, name: str) -> bool:
    return name in contract.messages or name in contract.acts


def _asked(contract: Contract, state: State, plan: Plan) -> tuple[str, ...]:
    """Approvals that every call needs, whatever its arguments."""
    asks = [contract.asks[number] for number in plan.asks]
    accepted, now = state.more.pins.get(plan.label, ("", ""))
    asks += [contract.pins[plan.label]] if accepted != now else []
    return tuple(f"approval by {asker.shown()}" for asker in asks if asker.when is None)


def _spent(contract: Contract, state: State, plan: Plan) -> Repair:
    scopes = {contract.counts[slot].scope for slot, limit in plan.limits if state.data[slot] >= limit}
    if "session" not in scopes:
        return Repair("steps", ("wait for the next run" if "run" in scopes else "wait for the next turn",))
    taking = {slot for slot, limit in plan.limits if state.data[slot] >= limit}
    # a call that is still open may fail and give its place back
    may_return = any(set(call.took) & taking for call in state.open.values())
    return Repair("undecided") if may_return else Repair("none")


def _opens(plan: Plan, point: Point) -> bool:
    cursors, facts = point
    return facts & plan.want == plan.want and all(find(row, cursors)[1] is not None for row in plan.rows)


def _steps(contract: Contract, state: State, point: Point) -> list[tuple[str, Point]]:
    cursors, facts = point
    found: list[tuple[str, Point]] = []
    for label, plan in contract.acts.items():
        if plan.label != label or plan.silent or (plan.message and not plan.rows and not contract.says(label)):
            continue
        plan = in_force(contract, state.more, plan)
        if facts & plan.want != plan.want or any(state.data[slot] >= limit for slot, limit in plan.limits):
            continue
        verb = "say" if plan.message else "call"
        for at in _acted(contract, plan.rows, cursors):
            for after in _answered(contract, label, at):
                found.append((f"{verb} `{label}`", (after, facts | plan.wins)))
    for label, hearing in contract.hearings.items():
        if contract.says(label) or (label not in contract.messages and not hearing.rows):
            continue
        if label not in contract.messages and label in contract.acts and not _heard_only(contract, label):
            continue
        for at in _heard(contract, hearing.rows, cursors):
            found.append((f"ask for `{label}`", (at, facts | hearing.wins)))
    return found


def _heard_only(contract: Contract, label: str) -> bool:
    return not any(label in line.acts for line in contract.lines) and label not in contract.tools


def _acted(contract: Contract, rows: tuple[Row, ...], cursors: tuple[int, ...]) -> list[tuple[int, ...]]:
    points = [cursors]
    for row in rows:
        following = []
        for at in points:
            slot, move = find(row, at)
            if move is None:
                continue
            targets = {move} if type(move) is int else {edge.target for edge in move}
            following += [place(contract, row.protocol, at, slot, target) for target in sorted(targets)]
        points = following
    return points


def _answered(contract: Contract, label: str, cursors: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Where the protocols may stand after a success; a protocol that does not wait for the result stays."""
    hearing = contract.hearings.get(label)
    points = [cursors]
    for row in hearing.rows if hearing is not None else ():
        following = []
        for at in points:
            slot, moves = find(row, at)
            if moves is None:
                following.append(at)
                continue
            outcomes = [name or "ok" for name in moves if name != "error"] if type(moves) is dict else ["ok"]
            for outcome in outcomes:
                move = turn(moves, outcome)
                if move is None:
                    continue
                targets = {move} if type(move) is int else {edge.target for edge in move}
                following += [place(contract, row.protocol, at, slot, target) for target in sorted(targets)]
        points = following
    return points


def _heard(contract: Contract, rows: tuple[Row, ...], cursors: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Where the protocols stand after a message; one that cannot take it stays, as live."""
    points = [cursors]
    for row in rows:
        following = []
        for at in points:
            slot, moves = find(row, at)
            move = turn(moves, "ok") if type(moves) is dict else moves
            if move is None:
                following.append(at)
                continue
            targets = {move} if type(move) is int else {edge.target for edge in move}
            following += [place(contract, row.protocol, at, slot, target) for target in sorted(targets)]
        points = following
    return points
