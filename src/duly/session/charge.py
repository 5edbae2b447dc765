"""What is used up, and what is lent to child sessions: both move the budgets."""

from typing import Any

from msgspec import structs

from duly.machine.cells import put
from duly.machine.contract import Contract
from duly.machine.ir import Plan, State
from duly.machine.watch.amount import amount_of
from duly.machine.watch.budget import CALLS
from duly.values.event import Charged, Opened
from duly.values.plain import Malformed
from duly.values.verdict import ALLOWED, Reason, Verdict, Violation

from .books import beside, mode_of, noticed
from .settle import finding

Answer = tuple[Verdict, State]


def charged(contract: Contract, state: State, event: Charged, happened: bool) -> Answer:
    """Something was used up. That more was used than there was is a finding; the next act is refused."""
    if type(event.usage) is not dict:
        raise Malformed("`usage` maps units to amounts")
    for unit, value in event.usage.items():
        amount = amount_of(value)
        if amount is None or amount < 0:
            raise Malformed(f"`{unit[:80]}` is charged no amount from 0")
    reasons: list[Reason] = []
    noted: list[Reason] = []
    for number, watch in contract.budgets:
        book, over = watch.charge(state.books[number], event.usage, event.id)
        state = _with(state, number, book)
        said = noted if mode_of(state.more, watch.rule) == "shadow" else reasons
        said += [
            Reason(
                watch.id, "budget", f"more {unit} were used than the budget of {watch.limits[unit]:f}", got="charged",
                help="acts that need it are refused", span=watch.rule.span,
            )
            for unit in over
        ]  # fmt: skip
    return beside(*(finding(state, reasons) if reasons else (ALLOWED, noticed(state, noted))), [], noted)


def opened(contract: Contract, state: State, event: Opened, happened: bool) -> Answer:
    """A child session is lent a part of the budgets; one that asks for more than is left gets nothing."""
    if event.budget is None or not contract.budgets:
        return ALLOWED, state
    if type(event.budget) is not dict:
        raise Malformed("`budget` maps units to amounts")
    after, reasons = state, []
    for number, watch in contract.budgets:
        book, why = watch.lend(after.books[number], event.session, event.budget)
        after = _with(after, number, book)
        if why:
            help = "ask for less"
            reasons.append(Reason(watch.id, "budget", why, got="opened", help=help, span=watch.rule.span))
    if reasons:
        # nothing is lent unless everything is
        return Violation(tuple(reasons), finding=True), state
    return ALLOWED, after


def left(contract: Contract, state: State) -> dict[str, Any]:
    """What is left of each unit: the least over all budgets that limit it."""
    found: dict[str, Any] = {}
    for number, watch in contract.budgets:
        for unit in watch.limits:
            amount = watch.left(state.books[number], unit)
            found[unit] = min(amount, found.get(unit, amount))
    return found


def stranded(contract: Contract, state: State, plan: Plan, cursors: tuple[int, ...]) -> list[Reason]:
    """Why an act may not be taken after which no end could be reached with the calls that are left."""
    reasons = []
    needed, line = max(
        ((steps[cursors[contract.lines[number].slots[0]]], number) for number, steps in contract.paces.items()),
        default=(0, 0),
    )
    for number, watch in contract.budgets if needed else ():
        if CALLS not in watch.limits or (watch.labels and plan.label not in watch.labels) or watch.of is not None:
            continue
        remains = watch.left(state.books[number], CALLS) - 1
        if remains < needed:
            way = f"`{contract.lines[line].id}` needs {needed} more calls to end, and {remains:f} are left"
            message, help = f"after `{plan.label}`, {way}", "take a shorter way"
            reasons.append(
                Reason(watch.id, "budget", message, got=f"!{plan.label}", help=help, span=watch.rule.span)
            )
    return reasons


def _with(state: State, number: int, book: Any) -> State:
    if book is state.books[number]:
        return state
    return structs.replace(state, books=put(state.books, {number: book}))
