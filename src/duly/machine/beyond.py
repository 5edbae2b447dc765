"""Caps that count beyond one session (`scope: store`) or anew each day (`per: day`): what they count in."""

from msgspec import structs

from duly.values.errors import DulyError

from .rules import text_of
from .templates import Maker
from .terms import Rule
from .watch.calendar import zone_of
from .watch.outer import Outer
from .watch.watch import Watch


def beyond(make: Maker, watch: Watch, contract: str, lasting: str) -> Watch:
    """The rule, counted over a ledger where it says ``scope: store``, and anew each day where it says ``per: day``.

    The ledger is known by the names of ``contract`` and rule (``lasting``), not by versions.
    """
    rule = make.rule
    daily = rule.args.get("per") == "day"
    if rule.scope != "store" and not daily:
        return watch
    zone = None
    if daily:
        try:
            zone = zone_of(rule.args.get("zone", "UTC"))
        except DulyError as error:
            make.names.faults += [structs.replace(each, span=rule.span) for each in error.diagnostics]
    return Outer(watch, f"{contract}/{lasting}" if rule.scope == "store" else "", zone)


def lasting(rule: Rule) -> str:
    """What a ledger is known by: the rule's own id, else its text without limits, so that whoever changes a limit goes
    on counting."""
    if rule.id != text_of(structs.replace(rule, id="")):
        return rule.id
    return text_of(structs.replace(rule, args={k: v for k, v in rule.args.items() if k not in ("n", "limit")}))
