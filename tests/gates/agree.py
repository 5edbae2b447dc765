"""Whether what a journal holds is what a gate has decided."""

from typing import Any

from duly import Contract, Gate
from duly.journal.journal import Journal
from duly.journal.replay import again
from duly.machine.ir import State
from duly.session.snapshot import save
from duly.values.expr import normal
from duly.values.plain import read_json


def meant(contract: Contract, state: State) -> Any:
    """A state on paper, with numbers by value: 5e-324 and 5E-324 are the same."""
    data = save(contract, state)
    calls = {id: {**call, "args": normal(read_json(call["args"]))} for id, call in data.get("open", {}).items()}
    return {**data, "open": calls, "sum": ""}


def agrees(journal: Journal, gate: Gate, session: str = "s") -> bool:
    """Whether the journal, decided again from its start, says what it said and leads to the gate's state."""
    contract = gate.session.contract
    steps = list(again(contract, journal.read(session)))
    return all(step.agrees for step in steps) and meant(contract, steps[-1].state) == meant(
        contract, gate.session.state
    )
