"""duly: typed sessions for LLM agents.

A contract says which acts an agent may take, in what order, how often and with whose approval; duly holds every run
to it: live, before a side effect, and later, over recorded runs.
"""

from typing import TYPE_CHECKING, Any

from .machine.contract import Contract
from .machine.graph import Graph
from .machine.history import Past, count, did, did_all, did_any, did_at_least, did_at_most
from .machine.merge import merge
from .machine.rule import (
    at_least,
    at_most,
    at_most_total,
    between,
    collects,
    cooldown,
    ensures,
    exclusive,
    forbid,
    formula,
    fresh,
    history,
    immediately_before,
    learns,
    must_follow,
    must_happen,
    must_precede,
    never_after,
    no_repeat,
    permit,
    rate_limit,
    requires,
    within,
)  # fmt: skip
from .machine.terms import Above, Approval, Breaker, Example, LabelRule, OutsideGuard, Rule, Stand, Terms, Tool
from .session.decide import decide, observe
from .session.ledger import Ledger
from .session.session import Session
from .values.definition import definition_digest
from .values.errors import Diagnostic, DulyError, Refused
from .values.event import (
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
from .values.verdict import Allowed, Blocked, Legal, NeedsApproval, Reason, Repair, Unrecognized, Verdict, Violation

if TYPE_CHECKING:
    from .gates.decider import Callback
    from .gates.files import load
    from .gates.gate import Gate
    from .gates.guard import guard
    from .gates.labels import Classifier
    from .gates.outside import Outside
    from .gates.program import Program
    from .journal.journal import JournalError, open_journal
    from .notation.packing import pack
    from .notation.protocol import blocks, protocol, transitions
    from .notation.transitions import Transition

__version__ = "0.1.0"

# What loads a parser, YAML or a gate is found on first use, so that `import duly` stays cheap.
_LATER = {
    "Callback": "gates.decider",
    "Classifier": "gates.labels",
    "Gate": "gates.gate",
    "Transition": "notation.transitions",
    "JournalError": "journal.journal",
    "Outside": "gates.outside",
    "Program": "gates.program",
    "blocks": "notation.protocol",
    "guard": "gates.guard",
    "load": "gates.files",
    "open_journal": "journal.journal",
    "pack": "notation.packing",
    "protocol": "notation.protocol",
    "transitions": "notation.protocol",
}

__all__ = [
    "Above", "Allowed", "Approval", "Blocked", "Breaker", "Callback", "Called", "Charged", "Classifier", "Closed",
    "Contract", "Decided", "Diagnostic", "DulyError", "Elapsed", "Event", "Example", "Failed", "Gate", "Graph",
    "JournalError", "LabelRule", "Ledger", "Legal", "Listed", "NeedsApproval", "Opened", "Ordered", "Outside",
    "OutsideGuard", "Past", "Program", "Reason", "Received", "Refused", "Repair", "Returned", "Rule", "Sent",
    "Session", "Stand", "Terms", "Tool", "Transition", "Unrecognized", "Verdict", "Violation", "at_least", "at_most",
    "at_most_total", "between", "blocks", "collects", "cooldown", "count", "decide", "definition_digest", "did",
    "did_all", "did_any", "did_at_least", "did_at_most", "ensures", "exclusive", "forbid", "formula", "fresh", "guard",
    "history", "immediately_before", "learns", "load", "merge", "must_follow", "must_happen", "must_precede",
    "never_after", "no_repeat", "observe", "open_journal", "pack", "permit", "protocol", "rate_limit", "requires",
    "transitions", "within",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    room = _LATER.get(name)
    if room is None:
        raise AttributeError(f"module 'duly' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"duly.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
