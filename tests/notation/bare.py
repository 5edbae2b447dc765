"""Terms without what only says where they were written: what two equal contracts have in common."""

from msgspec import structs

from duly.machine.graph import Graph
from duly.machine.terms import Terms
from duly.values.source import Source

NOWHERE = Source("", "")


def bare(terms: Terms) -> Terms:
    """The terms without spans, sources and notes."""
    return structs.replace(
        terms,
        span=None,
        tools=None if terms.tools is None else {k: structs.replace(v, span=None) for k, v in terms.tools.items()},
        labels={name: structs.replace(label, span=None) for name, label in terms.labels.items()},
        rules=tuple(structs.replace(rule, span=None) for rule in terms.rules),
        approvals=tuple(structs.replace(approval, span=None) for approval in terms.approvals),
        guards=tuple(structs.replace(guard, span=None) for guard in terms.guards),
        examples=tuple(structs.replace(example, span=None) for example in terms.examples),
        protocols=tuple(map(bare_graph, terms.protocols)),
    )


def bare_graph(graph: Graph) -> Graph:
    arcs = tuple(structs.replace(arc, start=0, end=0) for arc in graph.arcs)
    return structs.replace(graph, source=NOWHERE, arcs=arcs, notes=())
