"""`duly.protocol`: a protocol from its text."""

from duly.machine.graph import Graph

from .compile import compile_text


def protocol(text: str, *, name: str = "") -> Graph:
    """The protocol that a session-type string says; raises DulyError with every fault, each with its position."""
    from msgspec import structs

    graph = compile_text(text, name=name or "<protocol>")
    return structs.replace(graph, name=name)
