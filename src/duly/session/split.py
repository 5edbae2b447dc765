"""A part of a session's budget for a child session, and back: what was there before is there after."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.terms import Budget as Purse
from duly.machine.watch.amount import EXACT, amount_of
from duly.machine.watch.budget import CALLS
from duly.values.errors import Refused, fault
from duly.values.event import Charged, Opened
from duly.values.verdict import Refusal, Verdict

from .charge import left as of
from .session import Session


def left(session: Session) -> dict[str, Decimal]:
    """What is left of each unit of a session's budgets, as exact decimals; units are ``calls`` or the contract's."""
    return of(session.contract, session._view())


def split(session: Session, name: str, budget: Mapping[str, Any], contract: Contract | None = None) -> Session:
    """A child session of this name that may use up ``budget`` (amounts by unit), which is set aside here.

    Every unit of the parent's budgets is named, since what is not lent could not be counted. It is held to
    ``contract``, by default to the parent's. Raises ``duly.Refused`` where more is asked for than is left, and
    DulyError for what is no amount; give the child back with ``rejoin``.
    """
    amounts = {unit: amount_of(value) for unit, value in budget.items()}
    wrong = [unit for unit, amount in amounts.items() if amount is None or amount < 0]
    missing = sorted(left(session).keys() - budget.keys())
    if wrong or missing:
        message = f"`{wrong[0]}` is lent no amount from 0" if wrong else f"nothing is said of `{missing[0]}`"
        raise fault("budget", message, help="name an amount of each unit, for example 0")
    verdict = session.step(Opened(name, budget=dict(budget)))
    if isinstance(verdict, Refusal):
        raise Refused(verdict)
    terms = (contract if contract is not None else session.contract).terms
    return Session(Contract.of(structs.replace(terms, budget=(Purse(dict(amounts)),))), ledger=session.ledger)


def rejoin(session: Session, name: str, child: Session) -> Verdict:
    """The child has ended: what it has used is charged here, and the rest of what it was lent is free again.

    Calls of it that have not ended, and what it has lent to children of its own, count as used.
    """
    usage: dict[str, Any] = {}
    for number, watch in child.contract.budgets:
        book = child.state.books[number]
        for unit in watch.limits:
            used = EXACT.subtract(watch.limits[unit], watch.left(book, unit))
            usage[unit] = max(used, amount_of(usage.get(unit, 0)) or Decimal(0))
    if CALLS in usage:
        usage[CALLS] = int(usage[CALLS])
    return session.step(Charged(usage, id=name))
