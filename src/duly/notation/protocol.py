"""The public entries: a protocol from a session-type string, from state blocks, from transitions as data."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import structs

from duly.machine.graph import Graph

from .blocks import parse_blocks
from .compile import compile_text
from .transitions import Transition, from_transitions


def protocol(text: str, *, name: str = "") -> Graph:
    """The protocol that a session-type string says; raises DulyError with every fault, each with its position."""
    return structs.replace(compile_text(text, name=name or "<protocol>"), name=name)


def blocks(text: str, *, undeclared: Literal["error", "terminal"] = "error") -> dict[str, Graph]:
    """The protocols that a text of state blocks says, by name; raises DulyError with every fault.

    A target without a line of its own is an error, or with `undeclared="terminal"` a state without payload that ends.
    """
    return parse_blocks(text, undeclared=undeclared)


def transitions(
    rows: Iterable[Transition | Mapping[str, Any]], *, initial: str, terminal: Sequence[str] = (), name: str = ""
) -> Graph:
    """The protocol that transitions say: rows of ``source``, ``event`` (`!label`, `?label=outcome`), ``target``.

    Raises DulyError with every fault.
    """
    return structs.replace(from_transitions(rows, initial=initial, terminal=terminal, name=name or "<rows>"), name=name)
