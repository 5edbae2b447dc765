"""`duly freeze`, `unfreeze`, `withdraw`: orders of people to a session."""

from typing import Annotated, Any

import typer

from .store import By, Held, Json, Store, answer, gate_of, opened, person

Name = Annotated[str, typer.Argument(help="The session.", show_default=False)]


def freeze(session: Name, store: Store, contract: Held, by: By = None, json: Json = False) -> None:
    """Refuses from now on every call of a tool that may change something, until the session is unfrozen.

    \b
    Example:
      duly freeze s-1 --store desk.sqlite --contract desk.yaml --by ana

    Exits with 4 if the order is not taken.
    """
    _order("freeze", session, store, contract, by, json)


def unfreeze(session: Name, store: Store, contract: Held, by: By = None, json: Json = False) -> None:
    """Lets calls that may change something by again.

    \b
    Example:
      duly unfreeze s-1 --store desk.sqlite --contract desk.yaml --by ana

    Exits with 4 if the order is not taken.
    """
    _order("unfreeze", session, store, contract, by, json)


def withdraw(
    session: Name,
    what: Annotated[
        str, typer.Argument(help="A ticket or call that waits, a standing yes, or its tool.", show_default=False)
    ],
    store: Store,
    contract: Held,
    by: By = None,
    json: Json = False,
) -> None:
    """Takes back what waits for a decision, a yes that was not used yet, or a standing yes.

    \b
    Example:
      duly withdraw s-1 t1-c7 --store desk.sqlite --contract desk.yaml --by ana

    Exits with 4 if the order is not taken.
    """
    _order("withdraw", session, store, contract, by, json, target=what)


def _order(
    order: Any, session: str, store: str, contract: str, by: str | None, json: bool, target: str | None = None
) -> None:
    from duly.values.event import Ordered

    from .output import contract_of

    held = contract_of(contract, json=json)
    with opened(store, json=json) as journal:
        gate = gate_of(journal, held, session)
        verdict = gate.step(Ordered(order, target=target, by=person(by)))
        gate.leave()
    raise answer(verdict, json=json)
