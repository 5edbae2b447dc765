"""`duly tell`: what a person said, told by the host to a session in a journal."""

from enum import StrEnum
from typing import Annotated

import typer

from .store import Held, Json, Store, answer, gate_of, opened


class Kind(StrEnum):
    """What can be told."""

    received = "received"


def tell(
    session: Annotated[str, typer.Argument(help="The session's name.", show_default=False)],
    kind: Annotated[Kind, typer.Argument(help="What happened: a message was received.", show_default=False)],
    store: Store,
    contract: Held,
    label: Annotated[
        str | None, typer.Argument(help="Its label; else the contract's labels name the text.", show_default=False)
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="What was said.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """Tells a session what a person said. Whatever gate holds the session takes it into account from its next call on.

    Nothing that travels through tool calls can be a message of a person; this is the way in for the host that hears
    the person.

    \b
    Examples:
      duly tell desk-17 received Yes --text "yes, please" --store desk.sqlite --contract desk.yaml
      duly tell desk-17 received --text "yes, please" --store desk.sqlite --contract desk.yaml

    Exits with 4 if the message is a finding, with 6 if the journal cannot be used.
    """
    from duly.values.errors import suggest

    from .output import contract_of, usage

    if label is None and text is None:
        raise usage("nothing is told", "give a label, or what was said with `--text`")
    held = contract_of(contract, json=json)
    known = {name for name, rule in held.terms.labels.items() if rule.source != "agent"}
    if label is not None and known and label not in known:
        raise usage(f"unknown message `{label}`", suggest(label, known) or f"messages are {', '.join(sorted(known))}")
    with opened(store, json=json) as journal:
        gate = gate_of(journal, held, session)
        if label is None:
            verdict = gate.hear(text or "")
        else:
            verdict = gate.receive(label, {"text": text} if text is not None else None)
        gate.leave()
    raise answer(verdict, json=json)
