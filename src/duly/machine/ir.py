"""What a contract is compiled to: one plan per label, and the shape of a session's state.

A plan fuses every question that the contract asks of one label, so that the cost of a decision depends on the
machines that the label touches and not on how many rules there are.
"""

from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from duly.values.expr import Bind, Guard

from .edge import Go, Test
from .fuse import Fused
from .graph import Arc, Fork
from .terms import Tool


class Edge(Struct, frozen=True):
    """A way out of a state under conditions: all guards True, or (``otherwise``) every other edge's guards False."""

    target: int
    guards: tuple[Guard, ...]
    binds: tuple[Bind, ...]
    otherwise: bool
    arc: Arc
    test: Test | None
    go: Go


Move: TypeAlias = int | tuple[Edge, ...]
"""Where a label leads from one state: straight to a state, or over one of several edges."""

Turns: TypeAlias = Move | dict[str | None, Move]
"""Where a result leads from one state, by outcome; None stands for every outcome but ``error`` that is not named, and
so does a move alone."""


class Row(Struct, frozen=True):
    """What one protocol says of one label: for each region that mentions it (cursor slot, moves by position)."""

    protocol: int
    places: tuple[tuple[int, dict[int, Any]], ...]


class Line(Struct, frozen=True):
    """One protocol of the contract: its cursor slots and registers, forks by state, and which states have ended."""

    number: int
    id: str
    slots: tuple[int, ...]
    starts: dict[int, int]
    forks: dict[int, Fork]
    slot_of: dict[int, int]
    parents: dict[int, tuple[int, int]]
    finals: frozenset[int]
    acts: frozenset[str]
    results: frozenset[str]
    registers: frozenset[str]
    forever: bool


class Plan(Struct, frozen=True):
    """Every question about one act, fused.

    ``want`` are the bits it needs, ``wins`` those that its success sets; ``limits`` pairs of (count slot, tightest
    limit), ``takes`` the count slots it occupies. ``needs`` and ``caps`` name the rules, for refusals only.
    ``straight`` are the moves by position where the contract has one cursor and this label speaks of it. A ``plain``
    plan needs nothing looked up: no preparation of arguments, no search for uncertain calls, at most one cursor; a
    ``light`` one besides that only the rules with books.
    ``said`` are the same moves where the label may be a message, and nothing but the protocol asks about it; ``answer``
    those of its result, ``still`` says that its success sets bits and nothing else; ``judged`` that conditions name
    the outcome, ``reads`` that something looks into the result. ``asks`` are the numbers of the approvals that may
    want a person's yes, ``guards`` the names of those that a gate asks. ``fused`` has the rules with books, where
    several can be asked at once; ``heeds`` are those that are told how a call has come out.
    """

    label: str
    tool: Tool | None
    message: bool
    rows: tuple[Row, ...]
    silent: tuple[int, ...]
    want: int = 0
    wins: int = 0
    limits: tuple[tuple[int, int], ...] = ()
    takes: tuple[int, ...] = ()
    needs: tuple[tuple[int, str], ...] = ()
    caps: tuple[tuple[int, int, str], ...] = ()
    straight: dict[int, Any] | None = None
    plain: bool = False
    said: dict[int, Any] | None = None
    answer: dict[int, Any] | None = None
    still: bool = False
    judged: bool = False
    reads: bool = False
    moved: tuple[int, ...] = ()
    checked: bool = False
    once: bool = False
    asks: tuple[int, ...] = ()
    watches: tuple[int, ...] = ()
    ensured: tuple[int, ...] = ()
    guards: tuple[str, ...] = ()
    fused: Fused | None = None
    light: bool = False
    heeds: tuple[int, ...] = ()


class Hearing(Struct, frozen=True):
    """What an observation of one label moves: rows of protocols, and the bits that it sets."""

    label: str
    rows: tuple[Row, ...]
    wins: int = 0
    straight: dict[int, Any] | None = None
    said: dict[int, Any] | None = None
    watches: tuple[int, ...] = ()
    heeds: tuple[int, ...] = ()


class Waiting(Struct, frozen=True):
    """A result that its protocol cannot take yet; ``batch`` is its call's."""

    protocol: int
    label: str
    outcome: str
    payload: Any
    call: str
    batch: str | None = None


class Held(Struct, frozen=True):
    """Results of one batch that have moved one protocol, and where they found its cursors (slot, position) and
    registers (name, value)."""

    protocol: int
    batch: str
    cursors: tuple[tuple[int, int], ...]
    results: tuple[Waiting, ...]
    bound: tuple[tuple[str, Any], ...] = ()


class Open(Struct, frozen=True, gc=False):
    """A call that was admitted and has not ended.

    ``before`` and ``behind`` are the cursors and the movers before it moved the protocols ``moved``, and ``slots`` the
    cursors moved of protocols that have several; ``took`` the count slots it occupies, with the epoch in which it did;
    ``bound`` (register, new, old) for what it bound at admission; ``key`` is its idempotency key;
    ``held`` what it moved on from of other batches; ``shut`` the rules with books that said no to it.
    """

    label: str
    args: Any
    batch: str | None = None
    before: tuple[int, ...] = ()
    behind: tuple[str | None, ...] = ()
    moved: tuple[int, ...] = ()
    took: tuple[int, ...] = ()
    epoch: tuple[int, int] = (0, 0)
    bound: tuple[tuple[str, Any, Any], ...] = ()
    uncertain: bool = False
    slots: tuple[int, ...] = ()
    key: str | None = None
    held: tuple[Held, ...] = ()
    shut: tuple[int, ...] = ()


class Parked(Struct, frozen=True):
    """An act that waits: for the settlement of the uncertain call ``cause``, or for people.

    ``asks`` are the ids of its approvals, ``yes`` the names that have said yes, ``until`` is when it expires,
    ``granted`` says that it may run, ``edited`` what then runs instead; ``agent`` asked for it, and ``context`` is what
    he gave along. ``said`` is what those who were asked have said so far (name, ``approve`` or ``leave``, in which
    words), ``programs`` which of them were programs.
    """

    label: str
    args: Any
    ticket: str
    cause: str = ""
    asks: tuple[str, ...] = ()
    yes: tuple[str, ...] = ()
    until: float | None = None
    granted: bool = False
    edited: Any = None
    agent: str | None = None
    context: Any = None
    said: tuple[tuple[str, str, str], ...] = ()
    programs: tuple[str, ...] = ()

    @property
    def runs(self) -> Any:
        """The arguments that a yes is about."""
        return self.args if self.edited is None else self.edited


class Standing(Struct, frozen=True):
    """A standing yes of ``by`` to calls with these arguments; those under ``within`` may vary inside its glob."""

    id: str
    label: str
    args: Any
    asks: tuple[str, ...]
    by: str
    within: dict[str, str] = field(default_factory=dict)
    until: float | None = None


class More(Struct, frozen=True):
    """The seldom parts of a state; one shared value while nothing seldom has happened.

    ``fresh`` maps a bit to the one batch whose success set it; ``held`` are the results of batches, to be put back
    before a sibling is judged. ``tally`` are refusals for the breaker, by act. ``found`` names the machines that have
    had a finding in this run. ``origin`` is the instant (seconds since 1970) of elapsed time 0. ``issued`` counts
    tickets; ``denied`` (label, mark of its arguments) and ``shut`` (approvals) are refused until the next turn;
    ``past`` are the latest tickets that are open no more: call, ticket, and what became of it. ``mode`` is the
    session's where a person has ordered one, ``modes`` those of rules by their ids. ``pins`` has, by label, the digests
    of the accepted and of the listed definition of pinned tools. ``noes`` says of what is ``denied`` or ``shut``, where
    no person did it, what for: a kind of reason and its words. ``wall`` is the latest wall time (seconds since 1970),
    where a rule asks for it.
    """

    over: str | None = None
    frozen: bool = False
    turn: str | None = None
    run: str | None = None
    turns: int = 0
    runs: int = 0
    parked: dict[str, Parked] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    fresh: dict[int, str] = field(default_factory=dict)
    held: tuple[Held, ...] = ()
    tally: dict[str, int] = field(default_factory=dict)
    found: frozenset[str] = frozenset()
    origin: float | None = None
    mode: str | None = None
    issued: int = 0
    standing: tuple[Standing, ...] = ()
    denied: tuple[tuple[str, str], ...] = ()
    shut: frozenset[str] = frozenset()
    past: tuple[tuple[str, str, str], ...] = ()
    modes: dict[str, str] = field(default_factory=dict)
    pins: dict[str, tuple[str, str]] = field(default_factory=dict)
    noes: tuple[tuple[str, str, str], ...] = ()
    wall: float | None = None


NOTHING: Final = More()
EMPTY: Final[dict[str, Any]] = {}


class State(Struct, frozen=True, gc=False):
    """One session: a cursor per region, facts and counts, registers, open calls. A value; never changed in place.

    ``movers`` holds, per cursor, the call whose admission moved it last, while nothing else has moved it; ``books`` one
    plain value for each rule that keeps one.
    """

    cursors: tuple[int, ...]
    movers: tuple[str | None, ...]
    facts: int = 0
    data: tuple[int, ...] = ()
    registers: dict[str, Any] = EMPTY
    open: dict[str, Open] = EMPTY
    at: float = 0.0
    serial: int = 0
    more: More = NOTHING
    books: Any = ()
