"""Orders of people: freeze, unfreeze, stand, withdraw, settle, mode, accept."""

from typing import Any

from msgspec import structs

from duly.machine.approvals import Asker
from duly.machine.contract import Contract
from duly.machine.glob import inside, within
from duly.machine.ir import Standing, State
from duly.machine.terms import Stand
from duly.values.errors import suggest
from duly.values.event import Ordered
from duly.values.verdict import ALLOWED, Verdict, Violation

from .park import dropped
from .people import is_ticket, may_not, meant, said_yes, void
from .pins import accepted
from .settle import given_up, settled

Answer = tuple[Verdict, State]


def ordered(contract: Contract, state: State, event: Ordered, happened: bool) -> Answer:
    """Freeze, unfreeze, stand, withdraw, settle, mode (of the session, or of the rule that it names).

    An order needs somebody who may give it.
    """
    if not event.by:
        return void(f"the order `{event.order}` names nobody who gives it"), state
    if contract.asks and not any(asker.admits(event.by) for asker in contract.asks):
        who = ", ".join(dict.fromkeys(name for asker in contract.asks for name in asker.approval.by))
        return void(f"`{event.by}` gives no orders here", help=f"{who} may"), state
    if event.by == event.agent:
        return void(f"`{event.by}` is held to the contract and gives no orders"), state
    more = state.more
    match event.order:
        case "freeze" | "unfreeze":
            frozen = event.order == "freeze"
            return ALLOWED, structs.replace(state, more=structs.replace(more, frozen=frozen))
        case "settle":
            return _settle(contract, state, event)
        case "mode":
            mode = event.scope if event.scope is not None else (event.payload or {}).get("mode")
            if mode not in ("enforce", "shadow"):
                return void(f"`{str(mode)[:40]}` is no mode", help="a mode is `enforce` or `shadow`"), state
            if event.target is None:
                return ALLOWED, structs.replace(state, more=structs.replace(more, mode=mode))
            if event.target not in contract.modal:
                help = suggest(event.target, sorted(contract.modal)) or "name a rule by its id"
                return void(f"no rule `{event.target[:80]}`", help=help), state
            modes = {**more.modes, event.target: mode}
            return ALLOWED, structs.replace(state, more=structs.replace(more, modes=modes))
        case "stand":
            return _stand(contract, state, event, event.by)
        case "withdraw":
            return _withdraw(contract, state, event)
        case "accept":
            return accepted(contract, state, event)
        case _:
            return void(f"`{str(event.order)[:40]}` is no order"), state


def _stand(contract: Contract, state: State, event: Ordered, by: str) -> Answer:
    """A yes to the act that waits, and to acts like it from now on, as far as its approvals let one go."""
    if state.more.over is not None:
        return void(f"the session is {state.more.over}, and nothing waits in it any more"), state
    found = meant(state, event.target, None)
    if isinstance(found, Violation):
        return found, state
    key, waits = found
    asks = [contract.askers[id] for id in waits.asks]
    wrong = may_not(asks, waits, by)
    if wrong is not None:
        return wrong, state
    mine = [asker for asker in asks if asker.admits(by)]
    scope = wide(event.scope, mine)
    if isinstance(scope, Violation):
        return scope, state
    args = waits.runs
    if any(type(args.get(name)) is not str or not inside(glob, args[name]) for name, glob in scope.items()):
        return void(f"`{waits.ticket}` lies outside what is to stand", help="name a scope that it lies in"), state
    widths = [asker.approval.stand for asker in mine]
    lives = [width.lasts for width in widths if isinstance(width, Stand) and width.lasts is not None]
    stands = Standing(
        f"s{state.more.issued + 1}", waits.label, waits.runs, tuple(asker.id for asker in mine), by, scope,
        state.at + min(lives) if lives else None,
    )  # fmt: skip
    more = state.more
    more = structs.replace(more, standing=(*more.standing, stands), issued=more.issued + 1)
    state = structs.replace(state, more=more)
    return ALLOWED, state if by in waits.yes else said_yes(state, key, waits, by, asks)


def wide(scope: Any, asks: list[Asker]) -> dict[str, str] | Violation:
    """The arguments that may vary, each with its glob, where every approval lets them vary that far."""
    if any(asker.approval.stand == "none" for asker in asks):
        return void("there is no standing yes for such an act", help="say yes to each act")
    if scope is None or scope == {} or scope == "exact":
        return {}
    offers = [asker.approval.stand.within if isinstance(asker.approval.stand, Stand) else {} for asker in asks]
    if type(scope) is str:
        names = {name for offer in offers for name in offer}
        if len(names) != 1:
            return void("the scope names no argument", help='say for example {"path": "/srv/**"}')
        scope = {names.pop(): scope}
    if type(scope) is not dict or any(type(glob) is not str for glob in scope.values()):
        return void("a scope maps arguments to globs", help='say for example {"path": "/srv/**"}')
    for name, glob in scope.items():
        if not all(name in offer and within(glob, offer[name]) for offer in offers):
            return void(f"a standing yes may not let `{name[:40]}` vary inside `{glob[:80]}`")
    return dict(scope)


def _withdraw(contract: Contract, state: State, event: Ordered) -> Answer:
    """Takes back a ticket by its name or call, or standing yeses by their name, tool or scope."""
    more = state.more
    ticketed = is_ticket(more, event.target)
    for key, waits in more.parked.items():
        if waits.asks and event.target is not None and event.target == (waits.ticket if ticketed else key):
            return ALLOWED, dropped(contract, state, key, "withdrawn")
    wanted = event.scope
    globs = [wanted] if type(wanted) is str else [*wanted.values()] if type(wanted) is dict else []
    left = tuple(
        stands
        for stands in more.standing
        if not (
            (event.target is None or event.target in (stands.id, stands.label))
            and (event.target is not None or globs)
            and all(glob in stands.within.values() for glob in globs)
        )
    )
    if len(left) == len(more.standing):
        name = event.target or (globs[0] if globs else "")
        return void(f"no open ticket `{str(name)[:80]}`, and no standing yes of that name"), state
    return ALLOWED, structs.replace(state, more=structs.replace(more, standing=left))


def _settle(contract: Contract, state: State, event: Ordered) -> Answer:
    call = state.open.get(event.target) if event.target is not None else None
    if call is None or event.target is None or not call.uncertain:
        return void(f"`{event.target}` is no uncertain call"), state
    told = event.payload if isinstance(event.payload, dict) else {}
    how = told.get("as", event.scope)
    if how not in ("done", "failed", "retry"):
        return void(f"`{str(how)[:40]}` is no settlement", help="settle a call as `done`, `failed` or `retry`"), state
    # what waited for this call is withdrawn (done), or decided anew when it is asked again (failed, retry)
    parked = {key: waiting for key, waiting in state.more.parked.items() if waiting.cause != event.target}
    state = structs.replace(state, more=structs.replace(state.more, parked=parked))
    plain = structs.replace(call, uncertain=False)
    if how == "done":
        return settled(contract, state, event.target, plain, "ok", told.get("result"))
    return given_up(contract, state, event.target, plain)
