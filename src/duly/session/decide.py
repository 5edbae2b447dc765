"""The one function that decides: ``decide(contract, state, event) -> (verdict, state)``.

Pure. Live, peek, shadow, replay and audit all come here; ``observe`` is the same judgement where the act happened all
the same. Acts are judged in ``act``, results in ``settle``, messages in ``hear``, people in ``people`` and ``orders``,
the end in ``close``.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.ir import Open, State
from duly.values.event import (
    Called,
    Charged,
    Closed,
    Decided,
    Elapsed,
    Event,
    Failed,
    Listed,
    Opened,
    Ordered,
    Received,
    Returned,
    Sent,
)  # fmt: skip
from duly.values.plain import Malformed
from duly.values.verdict import ALLOWED, Allowed, Reason, Unrecognized, Verdict, Violation

from .act import called, sent
from .books import beside, lapsed, learnt, noticed
from .charge import charged, opened
from .close import closed
from .hear import heard
from .ledger import Ledgers, stripped, supplied
from .orders import ordered
from .people import decided
from .pins import listed
from .refuse import malformed, named, told
from .settle import failed, returned
from .time import passed

Answer = tuple[Verdict, State]
_GIVEN: Final = object()
"""Stands for ledgers that are in the state already."""
SETTLING: Final = frozenset({Returned, Failed, Ordered})
_UNLABELLED: Final = frozenset({Decided, Ordered, Charged, Opened, Listed, Elapsed})


def decide(contract: Contract, state: State, event: Event, ledgers: Ledgers | None = None) -> Answer:
    """The verdict on an event, and the state after it: for a refused act one that no rule can tell from before.

    ``ledgers`` is what all sessions have used up of caps with ``scope: store``, by the names of their ledgers
    (``contract.ledgers``); without it such caps refuse.
    """
    return judge(contract, state, event, False, ledgers)


def observe(contract: Contract, state: State, event: Event, ledgers: Ledgers | None = None) -> Answer:
    """The same verdict where the act happened all the same (recorded runs, shadow).

    The machine that refused stays as if the act had not happened, every other goes on as if it had; counts take in
    what ran. Further findings of one machine in a run are marked ``follow_on``.
    """
    return judge(contract, state, event, True, ledgers)


def judge(contract: Contract, state: State, event: Event, happened: bool, ledgers: Any = None) -> Answer:
    """``decide``, or with ``happened`` ``observe``."""
    if contract.outer and ledgers is not _GIVEN:
        return _beyond(contract, state, event, happened, ledgers)
    before = state
    late: list[Reason] = []
    noted: list[Reason] = []
    try:
        if event.at is not None or event.turn is not None or event.run is not None:
            state = passed(contract, state, event)
            if contract.timed:
                state, late, noted = lapsed(contract, state)
        if not contract.timed and not contract.heeds:
            answer = _JUDGES[type(event)](contract, state, event, happened)
            return answer if contract.shown else told(contract, *answer)
        verdict, after = _JUDGES[type(event)](contract, state, event, happened)
        if contract.heeds and type(event) in _UNLABELLED and _counts(event, verdict):
            # it has happened, and is a position of every rule that counts them all
            after, more, unseen = learnt(contract, after, contract.heeds, None, None, None)
            after = noticed(after, more)
            late, noted = [*late, *more], [*noted, *unseen]
        if type(event) in SETTLING:
            # what a call was to do has not been done, now that it is known to have failed
            after, more, unseen = lapsed(contract, after)
            late, noted = [*late, *more], [*noted, *unseen]
        return told(contract, *beside(verdict, after, late, noted))
    except Malformed as error:
        if happened and type(event) is Called and event.id is not None and event.id not in state.open:
            # it ran all the same, so its result is awaited
            record = Open(named(event, contract.acts.get(named(event, None))), event.payload, event.batch)
            state = structs.replace(state, open={**state.open, event.id: record})
        return told(contract, *beside(Unrecognized((malformed(str(error)),)), state, late, noted))
    except Exception as error:
        # an error of ours is never a yes, and it leaves the state as it was
        return told(contract, _internal(error), before)


def _beyond(contract: Contract, state: State, event: Event, happened: bool, ledgers: Ledgers | None) -> Answer:
    """Rules that count beyond the session are handed what they count with, and keep none of it."""
    try:
        given = supplied(contract, state, ledgers, event)
    except Malformed as error:
        return told(contract, Unrecognized((malformed(str(error)),)), state)
    except Exception as error:
        return told(contract, _internal(error), state)
    verdict, after = judge(contract, given, event, happened, _GIVEN)
    return verdict, stripped(contract, after)


def _internal(error: Exception) -> Violation:
    message = f"the decision failed: {type(error).__name__}: {str(error)[:200]}"
    return Violation((Reason("duly", "internal", message, help="report this; the act was not admitted"),))


def _counts(event: Event, verdict: Verdict) -> bool:
    """Whether an observation without a label is a position: not where it is void. What is settled has one already, and
    a mode by order is the mode of the contract, which is none."""
    if type(event) is Ordered and event.order in ("settle", "mode"):
        return False
    return type(event) in (Charged, Listed) or type(verdict) is Allowed


def _noted(contract: Contract, state: State, event: Event, happened: bool) -> Answer:
    """Observations that no machine listens to: recorded, and nothing moves."""
    return ALLOWED, state


_JUDGES: dict[type, Callable[[Contract, State, Any, bool], Answer]] = {
    Called: called,
    Sent: sent,
    Returned: returned,
    Failed: failed,
    Received: heard,
    Decided: decided,
    Ordered: ordered,
    Charged: charged,
    Opened: opened,
    Listed: listed,
    Elapsed: _noted,
    Closed: closed,
}
