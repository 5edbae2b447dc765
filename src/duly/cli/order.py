"""`duly freeze`, `unfreeze`, `withdraw`, `mode`, `accept`: orders of people to a session."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from .store import By, Held, Json, Store, answer, gate_of, opened, person

Name = Annotated[str, typer.Argument(help="The session.", show_default=False)]


class Which(StrEnum):
    """A mode."""

    enforce = "enforce"
    shadow = "shadow"


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


def accept(
    session: Name,
    tool: Annotated[str, typer.Argument(help="The tool, as the contract calls it.", show_default=False)],
    store: Store,
    contract: Held,
    digest: Annotated[
        str | None,
        typer.Option("--digest", help="Only if this is the digest of what is listed now.", show_default=False),
    ] = None,
    by: By = None,
    json: Json = False,
) -> None:
    """Accepts the definition of a pinned tool that its server lists now. Until then its calls wait for a yes each.

    `duly log` shows what was listed, with the digests.

    \b
    Examples:
      duly accept s-1 search --store desk.sqlite --contract desk.yaml --by ana
      duly accept s-1 fs/read --digest sha256:9f86d0... --store desk.sqlite --contract desk.yaml

    Exits with 4 if the order is not taken.
    """
    _order("accept", session, store, contract, by, json, target=tool, scope=digest)


def mode(
    session: Name,
    which: Annotated[Which, typer.Argument(metavar="enforce|shadow", help="The mode.", show_default=False)],
    store: Store,
    contract: Held,
    rule: Annotated[
        str | None, typer.Option("--rule", help="Only for the rule of this id.", show_default=False)
    ] = None,
    by: By = None,
    json: Json = False,
) -> None:
    """Says whether a session, or one of its rules, refuses from now on (enforce) or only watches (shadow).

    The order goes before the contract's own mode and a gate's `--shadow`. A gate in another process obeys it from its
    next decision on; what was used up under watch stays used up.

    \b
    Examples:
      duly mode s-1 shadow --store desk.sqlite --contract desk.yaml --by ana
      duly mode s-1 enforce --rule refunds --store desk.sqlite --contract desk.yaml

    Exits with 4 if the order is not taken.
    """
    _order("mode", session, store, contract, by, json, target=rule, scope=which.value)


def _order(
    order: Any,
    session: str,
    store: str,
    contract: str,
    by: str | None,
    json: bool,
    target: str | None = None,
    scope: str | None = None,
) -> None:
    from duly.values.event import Ordered

    from .output import contract_of

    held = contract_of(contract, json=json)
    with opened(store, json=json) as journal:
        gate = gate_of(journal, held, session)
        verdict = gate.step(Ordered(order, target=target, by=person(by), scope=scope))
        gate.leave()
    raise answer(verdict, json=json)
