"""Pinned tools: what a server lists is held against the definition that was accepted.

Acts of a tool whose definition differs wait for a person until the new one is accepted.

The first listing of a tool is accepted as it is, unless the contract names the digest.
"""

from typing import Any

from msgspec import structs

from duly.machine.approvals import Asker
from duly.machine.contract import Contract
from duly.machine.ir import More, Plan, State
from duly.values.definition import UNREADABLE, is_digest
from duly.values.event import Listed, Ordered
from duly.values.plain import Malformed
from duly.values.verdict import ALLOWED, Allowed, Reason, Verdict

from .park import dropped, granted, past, without
from .people import void

Answer = tuple[Verdict, State]


def changed(contract: Contract, more: More, plan: Plan | None) -> Asker | None:
    """Who must say yes to an act of a tool whose definition is another one than was accepted; None where it is not."""
    if not more.pins or plan is None:
        return None
    accepted, now = more.pins.get(plan.label, ("", ""))
    return contract.pins[plan.label] if accepted != now else None


def listed(contract: Contract, state: State, event: Listed, happened: bool) -> Answer:
    """A server has listed its tools. What has changed since it was accepted is noted; yeses to it are taken back."""
    if not all(type(name) is str and is_digest(digest) for name, digest in event.tools.items()):
        raise Malformed("`tools` maps names of tools to the digests of their definitions, `sha256:…`")
    if not contract.pins:
        return ALLOWED, state
    noted = []
    pins = dict(state.more.pins)
    for name, digest in event.tools.items():
        plan = contract.acts.get(f"{event.server}/{name}") or contract.acts.get(name)
        if plan is None or plan.label not in contract.pins or plan.tool is None:
            continue
        label, pin = plan.label, plan.tool.pin
        first = pin if type(pin) is str else digest if digest != UNREADABLE else ""
        accepted, before = pins.get(label, (first, ""))
        pins[label] = (accepted, digest)
        if digest != before:
            state = _taken_back(contract, state, label)
        if digest not in (accepted, before):
            noted.append(_differs(contract, label, accepted, digest))
    if pins != state.more.pins:
        state = structs.replace(state, more=structs.replace(state.more, pins=pins))
    return (Allowed(noted=tuple(noted)) if noted else ALLOWED), state


def accepted(contract: Contract, state: State, event: Ordered) -> Answer:
    """A person accepts what is listed now; with a ``scope`` only if that is the digest of it."""
    plan = contract.acts.get(event.target) if event.target is not None else None
    known = state.more.pins.get(plan.label) if plan is not None else None
    if plan is None or known is None or known[0] == known[1]:
        return void(f"nothing of `{str(event.target)[:80]}` waits to be accepted"), state
    now = known[1]
    if now == UNREADABLE:
        return void(f"the definition of `{plan.label}` cannot be read", help="have its server mended"), state
    if event.scope is not None and event.scope != now:
        message = f"the definition of `{plan.label}` is `{now}` by now, and not the one that was looked at"
        return void(message, help="look at it again"), state
    pins = {**state.more.pins, plan.label: (now, now)}
    state = structs.replace(state, more=structs.replace(state.more, pins=pins))
    return ALLOWED, _let_go(contract, state, contract.pins[plan.label].id)


def _differs(contract: Contract, label: str, accepted: str, now: str) -> Reason:
    asker = contract.pins[label]
    message = f"the definition of `{label}` has changed since it was accepted"
    return Reason(
        asker.id, "pin", message, got=f"listed {now}", expected=(accepted,), span=asker.approval.span,
        help="its acts wait for a yes until a person accepts the new definition",
    )  # fmt: skip


def _taken_back(contract: Contract, state: State, label: str) -> State:
    """A yes was about the definition that people knew then."""
    id = contract.pins[label].id
    for key, waits in list(state.more.parked.items()):
        if id in waits.asks:
            state = dropped(contract, state, key, "withdrawn")
    return state


def _let_go(contract: Contract, state: State, id: str) -> State:
    """Acts that waited for nothing else wait no longer; asked again, they are decided anew."""
    for key, waits in list(state.more.parked.items()):
        if id not in waits.asks:
            continue
        more, left = state.more, tuple(each for each in waits.asks if each != id)
        if left:
            asks: Any = tuple(contract.askers[each] for each in left)
            fresh = structs.replace(waits, asks=left, granted=granted(asks, waits.yes))
            more = structs.replace(more, parked={**more.parked, key: fresh})
        else:
            more = structs.replace(more, parked=without(more.parked, key), past=past(more, key, waits, "accepted"))
        state = structs.replace(state, more=more)
    return state
