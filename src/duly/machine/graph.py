"""A protocol as a flat graph: what every notation compiles to, and all that shape checks and sessions read.

States are numbers counted over the whole graph. A graph without interleaving has one region; every operand of
``||`` is a region of its own, with a cursor of its own.
"""

from msgspec import Struct, field

from duly.values.errors import Diagnostic
from duly.values.expr import Bind, Guard
from duly.values.source import Source, Span


class Arc(Struct, frozen=True, gc=False):
    """One edge. ``label`` None is the branch for messages that nobody could name.

    ``outcome`` None on a ``?`` arc stands for every outcome but ``error`` that its source state does not name.
    ``group`` marks a label that names a group (or a glob) of the contract instead of a tool or a message; it
    stands for one arc per member. ``otherwise`` is the guard ``else``. ``start`` and ``end`` are offsets in the
    graph's source.
    """

    origin: int
    side: str
    label: str | None
    target: int
    outcome: str | None = None
    guards: tuple[Guard, ...] = ()
    binds: tuple[Bind, ...] = ()
    otherwise: bool = False
    group: bool = False
    start: int = 0
    end: int = 0


class Fork(Struct, frozen=True):
    """A state in which the regions that start at ``starts`` run side by side; ``join`` follows when all have ended."""

    starts: tuple[int, ...]
    join: int


class Graph(Struct, frozen=True):
    """A compiled protocol.

    ``size`` states, numbered from 0; ``start`` is the first state of region 0. ``finals`` are the states in which
    the session may end; a final state without arcs has ended. ``regions`` gives for each state the number of its
    region (empty where there is only one region), ``names`` the names of states where the notation has them,
    ``payloads`` the type name of a label's payload. ``text`` is the canonical print in the notation it came from, and
    ``notes`` are the warnings about the text that the graph itself no longer shows (dead text, unused loops). One that
    is meant to run ``forever`` owes no end.
    """

    source: Source
    size: int
    start: int
    finals: frozenset[int]
    arcs: tuple[Arc, ...]
    forks: dict[int, Fork] = field(default_factory=dict)
    regions: tuple[int, ...] = ()
    names: dict[int, str] = field(default_factory=dict)
    payloads: dict[str, str] = field(default_factory=dict)
    view: str = "agent"
    name: str = ""
    notation: str = "strings"
    text: str = ""
    notes: tuple[Diagnostic, ...] = ()
    forever: bool = False

    def span(self, arc: Arc) -> Span:
        return Span(self.source, arc.start, arc.end)
