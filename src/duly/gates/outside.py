"""Guards outside the contract: Python that is asked before a call is decided, with a deadline.

Their answers go into the event, so that deciding stays pure and replay never asks again. Whatever is not a plain True
is written down as what it was: False, or a word for why there is no answer.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from duly.machine.contract import Contract
from duly.machine.terms import OutsideGuard
from duly.values.errors import fault
from duly.values.event import Called
from duly.values.plain import Malformed, plain

from .question import put, text_of


class Outside(Struct, frozen=True):
    """A guard over the tools ``of``: ``run`` gets a copy of the arguments and must answer True within ``within``
    seconds. ``name`` is what refusals call it."""

    of: tuple[str, ...]
    run: Callable[[dict[str, Any]], Any]
    within: float = 5.0
    name: str = ""

    @property
    def shown(self) -> str:
        return self.name or str(getattr(self.run, "__name__", "guard"))


def named(contract: Contract) -> tuple[Outside, ...]:
    """The guards that a contract names, looked up now; raises DulyError where one cannot be found."""
    return tuple(
        Outside(
            tuple(label for label, plan in contract.acts.items() if plan.label == label and said.run in plan.guards),
            _found(said), min(each.within for each in contract.terms.guards if each.run == said.run), said.run,
        )
        for said in {guard.run: guard for guard in contract.terms.guards}.values()
    )  # fmt: skip


def _found(said: OutsideGuard) -> Callable[[dict[str, Any]], Any]:
    from importlib import import_module

    module, _, name = said.run.partition(":")
    try:
        found: Any = import_module(module)
        for step in name.split("."):
            found = getattr(found, step)
    except (Exception, SystemExit) as error:
        message = f"the guard `{said.run}` cannot be found: {type(error).__name__}: {text_of(error)}"
        raise fault("guard", message, span=said.span, help="its module must be where Python looks for it") from None
    if not callable(found):
        raise fault("guard", f"the guard `{said.run}` cannot be called", span=said.span, help="name a function")
    guard: Callable[[dict[str, Any]], Any] = found
    return guard


def checked(guards: Sequence[Outside], contract: Contract) -> tuple[Outside, ...]:
    """Guards that can be asked, each under a name of its own; raises DulyError."""
    names = [guard.shown for guard in guards]
    for guard in guards:
        if not callable(guard.run) or not guard.within > 0:
            help = "Outside(of, run, within=seconds)"
            raise fault("guard", f"the guard `{guard.shown}` cannot be asked", help=help)
        if names.count(guard.shown) > 1:
            raise fault("guard", f"two guards are called `{guard.shown}`", help="give each a `name`")
        for label in guard.of:
            if contract.closed and label not in contract.tool_names:
                raise fault("guard", f"the guard `{guard.shown}` names an unknown tool `{label}`", help="declare it")
    return tuple(guards)


def answered(guards: Sequence[Outside], contract: Contract, event: Called) -> dict[str, Any] | None:
    """What the guards of this call say; None where it has none. The first that does not say True is the last asked."""
    label = event.label if event.server is None else f"{event.server}/{event.label}"
    plan = contract.acts.get(label)
    names = {event.label, label, plan.label if plan is not None else label}
    mine = [guard for guard in guards if not names.isdisjoint(guard.of)]
    if not mine:
        return None
    answers = dict(event.answers or {})
    args = _prepared(contract, plan.label if plan is not None and plan.checked else None, event)
    for guard in mine:
        answers[guard.shown] = "missing: the arguments cannot be judged" if args is None else _ask(guard, args)
        if answers[guard.shown] is not True:
            break
    return answers


def _prepared(contract: Contract, label: str | None, event: Called) -> dict[str, Any] | None:
    """The arguments as they would run; None where there are none that could be judged."""
    from duly.values.plain import read_json

    try:
        value = read_json(event.raw) if event.raw is not None and event.raw.strip() else event.payload
        args = plain(value if value is not None else {})
        if label is not None and type(args) is dict:
            args, faults = contract.preparers[label](args)
            if faults:
                return None
    except Malformed:
        return None
    return args if type(args) is dict else None


def _ask(guard: Outside, args: dict[str, Any]) -> Any:
    """One guard's answer: True, False, or a word for why there is none."""
    told = put(guard.run, plain(args), within=guard.within, name=guard.shown)
    if told.how != "answered":
        return f"{told.how}: {told.text}"
    answer = told.value
    return answer if answer is True or answer is False else f"rubbish: a `{type(answer).__name__}`"
