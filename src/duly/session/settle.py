"""Results and failures: they settle their calls and move every machine that can take them."""

from typing import Any, Final

from msgspec import structs

from duly.machine.cells import put
from duly.machine.condition import Condition
from duly.machine.contract import Contract
from duly.machine.ir import EMPTY, NOTHING, More, Open, Plan, Row, State, Waiting
from duly.values.event import Failed, Returned
from duly.values.expr import reach, same
from duly.values.plain import Malformed, as_data
from duly.values.verdict import ALLOWED, Reason, Verdict, Violation

from .batch import gone_back, remembered, unbound
from .books import beside, breaches, came_out, ended, noticed
from .move import find, hears, learn, span_of, turn
from .time import began

Answer = tuple[Verdict, State]
NOBODY: Final = (None,)


def returned(contract: Contract, state: State, event: Returned, happened: bool) -> Answer:
    """A result: settles its call by its outcome, then moves rules and protocols."""
    identity = event.id
    open = state.open
    if identity in open and event.server is None and state.more is NOTHING:
        asked = open[identity]
        plan = contract.acts.get(event.label)
        if plan is not None and plan.label == asked.label and asked.batch is None:
            outcome = event.outcome if event.outcome is not None or plan.judged else "ok"
            if plan.still and outcome == "ok":
                # no machine listens, and nothing seldom is going on
                return ALLOWED, State(
                    state.cursors, state.movers, state.facts | plan.wins, state.data, state.registers,
                    _without(open, identity), state.at, state.serial, NOTHING, state.books,
                )  # fmt: skip
            listens = plan.answer is not None and outcome == "ok" and (asked.moved or not plan.rows)
            move = plan.answer.get(state.cursors[0]) if listens else None  # type: ignore[union-attr]
            if type(move) is int:
                # at most one cursor listens
                return ALLOWED, State(
                    (move,), NOBODY, state.facts | plan.wins, state.data, state.registers, _without(open, identity),
                    state.at, state.serial, NOTHING, state.books,
                )  # fmt: skip
    if identity is None:
        identity = _paired(contract, state, event)
    call = state.open.get(identity) if identity is not None else None
    if call is None or identity is None:
        return _loose(state, event)
    label = event.label if event.server is None else f"{event.server}/{event.label}"
    plan = contract.acts.get(label)
    name = plan.label if plan is not None else label
    if call.label != name and not call.label.endswith("/" + name):
        raise Malformed(f"`{identity}` is a call of `{call.label[:80]}`, not of `{name[:80]}`")
    outcome = event.outcome
    if outcome is None:
        outcome = outcome_of(contract, call, event.payload)
    payload = as_data(event.payload) if plan is not None and plan.reads else event.payload
    return settled(contract, state, identity, call, outcome, payload)


def outcome_of(contract: Contract, call: Open, result: Any) -> str:
    """The outcome that the contract's conditions give a result: the first that is true, ``ok`` where none is.

    A text that is one JSON object or array is read as text first, then as that. A condition that cannot be worked out
    either way is ``error``; ``~`` stands for a result that leaves the call uncertain.
    """
    conditions = contract.outcomes.get(call.label)
    if conditions is None:
        return "ok"
    global _last
    known = _last
    if known[0] is contract and known[1] is call and known[2] is result:
        return known[3]
    outcome = _worked_out(contract, call, result, conditions)
    _last = (contract, call, result, outcome)
    return outcome


_last: tuple[Any, Any, Any, str] = (None, None, None, "")
"""The last outcome that was worked out: who decides and who records ask for the same one."""


def _worked_out(contract: Contract, call: Open, result: Any, conditions: tuple[tuple[str, Condition], ...]) -> str:
    values = {"args": call.args, "result": result, "facts": contract.terms.facts}
    for outcome, condition in conditions:
        answer = condition(values)
        if answer is None and type(result) is str:
            # a condition that makes no sense of the text may speak of the data that the text holds
            answer = condition({**values, "result": as_data(result)})
        if answer is True:
            return outcome
        if answer is None:
            return "error"
    return "ok"


def keeps(plan: Plan | None, outcome: str) -> bool:
    """Whether nobody knows after this outcome what the call did, so that it keeps what it holds."""
    if outcome == "error":
        return plan is not None and plan.tool is not None and plan.tool.on_error == "unknown"
    return outcome == "~"


def settled(contract: Contract, state: State, identity: str, call: Open, outcome: str, payload: Any) -> Answer:
    """The call has ended with this outcome."""
    plan = contract.acts.get(call.label)
    if keeps(plan, outcome):
        return _unsettled(contract, state, identity, call)
    if outcome == "error":
        return given_up(contract, state, identity, call, payload)
    left = _without(state.open, identity)
    if plan is None or plan.message:
        # what no contract admits, or no tool, moves nothing when it ends, but for rules that look at every act
        state = ended(contract, structs.replace(state, open=left), identity, call, "won", payload)
        return _told(*came_out(contract, state, identity, call, outcome, payload), [])
    if plan.watches:
        broken, noted = breaches(contract, state, identity, call, payload)
        state = noticed(state, noted)
        if broken:
            # it has happened, and is no success
            state = released(structs.replace(state, open=left), identity)
            state = ended(contract, state, identity, call, "spent", payload)
            verdict, after = _through(contract, state, identity, call, "error", payload)
            return beside(*finding(after, [*broken, *verdict.reasons]), [], [*noted, *verdict.noted])
        state = ended(contract, state, identity, call, "won", payload)
        if noted:
            state = won(released(structs.replace(state, open=left), identity), plan.wins, call.batch)
            return beside(*_through(contract, state, identity, call, outcome, payload), [], noted)
    hearing = contract.hearings.get(call.label)
    heeds = plan.heeds
    if hearing is None and not call.moved and state.more is NOTHING and call.batch is None and not heeds:
        return ALLOWED, State(
            state.cursors, state.movers, state.facts | plan.wins, state.data, state.registers, left, state.at,
            state.serial, NOTHING, state.books,
        )  # fmt: skip
    state = won(released(structs.replace(state, open=left), identity), plan.wins, call.batch)
    return _through(contract, state, identity, call, outcome, payload)


def _result(
    contract: Contract,
    state: State,
    protocol: int,
    row: Row | None,
    identity: str,
    call: Open,
    outcome: str,
    payload: Any,
) -> tuple[State, Reason | None]:
    """One protocol takes a result, lets it wait, goes back to before the call, or finds that nobody named it."""
    admitted = protocol in call.moved
    line = contract.lines[protocol]
    if row is not None:
        taken = learn(contract, state, row, outcome, payload)
        if taken is not None:
            result = Waiting(protocol, call.label, outcome, payload, identity, call.batch)
            return remembered(line, state, *taken, result), None
    if outcome == "error":
        if not admitted:
            return state, None
        slots = [slot for slot in call.slots if slot in line.slots] or line.slots
        if all(state.movers[slot] == identity for slot in slots):
            cursors, movers = list(state.cursors), list(state.movers)
            for slot in slots:
                cursors[slot], movers[slot] = call.before[slot], call.behind[slot]
            state = structs.replace(state, cursors=tuple(cursors), movers=tuple(movers))
            return gone_back(state, line, slots, call), None
        if row is not None and hears(contract, protocol, call.label, outcome) and find(row, state.cursors)[1] is None:
            return _wait(state, Waiting(protocol, call.label, outcome, payload, identity, call.batch)), None
        return state, Reason(
            line.id, "outcome", f"`{call.label}` failed after the protocol had moved on", got=f"?{call.label}=error",
            help="name the outcome `error` where the protocol waits for the result",
            span=span_of(contract, line, state),
        )  # fmt: skip
    if row is None:
        return state, None
    here = find(row, state.cursors)[1]
    if here is None and admitted and hears(contract, protocol, call.label, outcome):
        return _wait(state, Waiting(protocol, call.label, outcome, payload, identity, call.batch)), None
    if here is not None and turn(here, outcome) is not None:
        reason = Reason(
            line.id, "guard", f"the result of `{call.label}` fits no edge here", got=f"?{call.label}={outcome}",
            help="its guards do not hold, or a field that is bound is missing", span=span_of(contract, line, state),
        )  # fmt: skip
        return state, reason
    what = (
        f"no edge names the outcome `{outcome}` of `{call.label}`"
        if admitted
        else (f"`?{call.label}` is not expected here")
    )
    return state, Reason(
        line.id, "outcome", what, got=f"?{call.label}={outcome}", help="name the outcome in the protocol",
        span=span_of(contract, line, state),
    )  # fmt: skip


def failed(contract: Contract, state: State, event: Failed, happened: bool) -> Answer:
    """A call broke off: without effect it is given back; with unknown effect it stays, uncertain, until settled."""
    call = state.open.get(event.id)
    if call is None:
        reason = Reason(
            "call", "ungated", f"no open call `{event.id[:80]}`", help="a failure names the call that failed"
        )
        return Violation((reason,), finding=True), state
    if event.effect == "none":
        return given_up(contract, state, event.id, call)
    return _unsettled(contract, state, event.id, call)


def _unsettled(contract: Contract, state: State, identity: str, call: Open) -> Answer:
    """Nobody knows what the call did: it stays open, and what it holds is kept."""
    state = _with_open(state, identity, structs.replace(call, uncertain=True))
    return _told(*came_out(contract, state, identity, call, None, None), [])


def _told(state: State, found: list[Reason], noted: list[Reason], reasons: list[Reason]) -> Answer:
    """The verdict where rules and protocols find this."""
    every = [*found, *reasons]
    return beside(*(finding(state, every) if every else (ALLOWED, state)), [], noted)


def given_up(contract: Contract, state: State, identity: str, call: Open, payload: Any = None) -> Answer:
    """A call that is known not to have happened: what it holds is given back, protocols take ``error`` or go back."""
    left = _without(state.open, identity)
    state = _given_back(contract, released(structs.replace(state, open=left), identity), call)
    state = ended(contract, state, identity, call, "back")
    return _through(contract, state, identity, call, "error", payload)


def released(state: State, cause: str) -> State:
    """What waited until this call was settled waits no longer: asked again, it is decided anew."""
    more = state.more
    if not more.parked:
        return state
    left = {key: act for key, act in more.parked.items() if act.cause != cause}
    return structs.replace(state, more=structs.replace(more, parked=left))


def _through(contract: Contract, state: State, identity: str, call: Open, outcome: str, payload: Any) -> Answer:
    """Hands the end of a call to every protocol that did not refuse it."""
    hearing = contract.hearings.get(call.label)
    state, found, noted = came_out(contract, state, identity, call, outcome, payload)
    reasons: list[Reason] = []
    for line in contract.lines:
        if call.label in line.acts and line.number not in call.moved:
            continue  # this machine said no, so for it the call never was
        row = None
        if hearing is not None:
            row = next((row for row in hearing.rows if row.protocol == line.number), None)
        state, reason = _result(contract, state, line.number, row, identity, call, outcome, payload)
        if reason is not None:
            reasons.append(reason)
    if state.more.waiting:
        state = drained(contract, state)
    return _told(state, found, noted, reasons)


def _loose(state: State, event: Returned) -> Answer:
    """A result without an open call: again, against the record, or past the gate."""
    known = event.found
    if known is not None and known.status in ("finished", "failed"):
        # a call that broke off has no result, so that any is another one
        if known.outcome is not None and same(known.result, event.payload):
            return ALLOWED, state
        reason = Reason(
            "call", "contradiction", f"`{event.label}` was answered before with another result", got=f"?{event.label}",
            help="the first result stands",
        )  # fmt: skip
        return Violation((reason,), finding=True), state
    reason = Reason(
        "call", "ungated", f"`{event.label}` returned without an admitted call", got=f"?{event.label}",
        help="a tool ran past the gate",
    )  # fmt: skip
    return Violation((reason,), finding=True), state


def answered(contract: Contract, state: State, event: Returned) -> str | None:
    """The id of the call that a result without one answers; None where there is none, or it cannot be told."""
    try:
        return _paired(contract, state, event)
    except Malformed:
        return None


def _paired(contract: Contract, state: State, event: Returned) -> str | None:
    """The call that a result without an id answers: the only open one, or the only one that its fields pick out."""
    label = event.label if event.server is None else f"{event.server}/{event.label}"
    plan = contract.acts.get(label)
    name = plan.label if plan is not None else label
    mine = [key for key, call in state.open.items() if call.label == name or call.label.endswith("/" + name)]
    if len(mine) <= 1:
        return mine[0] if mine else None
    plan = contract.acts.get(state.open[mine[0]].label)
    fields = plan.tool.pairs if plan is not None and plan.tool is not None else ()
    if fields:
        told = as_data(event.payload)
        mine = [
            identity
            for identity in mine
            if all(same(reach(state.open[identity].args, (field,)), reach(told, (field,))) for field in fields)
        ]
    if len(mine) != 1 or not fields:
        raise Malformed(f"`{event.label}` has several open calls; a result names the one it answers by `id`")
    return mine[0]


def settle_act(state: State, plan: Plan, batch: str | None) -> State:
    """What is said has succeeded when it is admitted."""
    return won(state, plan.wins, batch)


def won(state: State, wins: int, batch: str | None) -> State:
    if not wins:
        return state
    more = state.more
    fresh = more.fresh
    gained = wins & ~state.facts
    stale = [bit for bit, owner in fresh.items() if bit & wins and owner != batch]
    if stale or (batch is not None and gained):
        fresh = {bit: owner for bit, owner in fresh.items() if bit not in stale}
        if batch is not None:
            while gained:
                bit = gained & -gained
                fresh[bit] = batch
                gained ^= bit
        more = structs.replace(more, fresh=fresh)
    return structs.replace(state, facts=state.facts | wins, more=more)


def _given_back(contract: Contract, state: State, call: Open) -> State:
    """The count, the place and the bindings of a call that is known not to have happened."""
    data = state.data
    if call.took:
        less = [slot for slot in call.took if not began(contract, state.more, contract.scopes[slot], call.epoch)]
        data = put(data, {slot: data[slot] - 1 for slot in less})
    return unbound(structs.replace(state, data=data), call)


def drained(contract: Contract, state: State) -> State:
    """Takes what waits, in the order of its arrival, for as long as something can be taken."""
    moved = True
    while moved and state.more.waiting:
        moved = False
        for index, waiting in enumerate(state.more.waiting):
            hearing = contract.hearings.get(waiting.label)
            row = (
                next((r for r in hearing.rows if r.protocol == waiting.protocol), None) if hearing is not None else None
            )
            taken = learn(contract, state, row, waiting.outcome, waiting.payload) if row is not None else None
            if taken is None:
                continue
            rest = (*state.more.waiting[:index], *state.more.waiting[index + 1 :])
            # like any other result of its batch, it permits nothing to a sibling
            state = remembered(contract.lines[waiting.protocol], state, *taken, waiting)
            state = structs.replace(state, more=structs.replace(state.more, waiting=rest))
            moved = True
            break
    return state


def _wait(state: State, waiting: Waiting) -> State:
    return structs.replace(state, more=structs.replace(state.more, waiting=(*state.more.waiting, waiting)))


def _without(open: dict[str, Open], identity: str) -> dict[str, Open]:
    if len(open) == 1:
        return EMPTY
    left = open.copy()
    del left[identity]
    return left


def _with_open(state: State, identity: str, call: Open) -> State:
    return structs.replace(state, open={**state.open, identity: call})


def finding(state: State, reasons: list[Reason]) -> Answer:
    more: More = state.more
    marked = tuple(
        structs.replace(reason, follow_on=True) if reason.rule in more.found else reason for reason in reasons
    )
    more = structs.replace(more, found=more.found | {reason.rule for reason in reasons})
    return Violation(marked, finding=True), structs.replace(state, more=more)
