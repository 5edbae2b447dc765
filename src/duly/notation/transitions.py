"""Notation 4, transitions as data: rows of source, event and target, as graph tools keep them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from duly.check.guard import indistinguishable
from duly.machine.graph import Arc, Fork, Graph
from duly.values.errors import Diagnostic, DulyError, suggest
from duly.values.protocol import Step
from duly.values.source import Source

from .printing import clauses_text, step_text
from .strings import parse
from .word import MOST_FAULTS, quoted, raise_faults


class Transition(Struct, frozen=True):
    """One row: in `source`, the event (`!label`, `?label=outcome`) leads to `target`, if its clauses allow it."""

    source: str
    event: str
    target: str
    guards: str = ""


class Parting(Struct, frozen=True):
    """In `source` several sides begin, each at one of `starts`; when all have ended, `join` is entered."""

    source: str
    starts: tuple[str, ...]
    join: str


class Table(Struct, frozen=True):
    """A whole protocol as data."""

    rows: tuple[Transition, ...]
    initial: str
    terminal: tuple[str, ...]
    name: str = ""
    partings: tuple[Parting, ...] = ()
    payloads: dict[str, str] = field(default_factory=dict)


_FIELDS: Final = ("source", "event", "target", "guards")


def from_transitions(
    rows: Iterable[Transition | Mapping[str, Any]],
    *,
    initial: str,
    terminal: Sequence[str] = (),
    name: str = "<transitions>",
    partings: Sequence[Parting] = (),
    payloads: Mapping[str, str] | None = None,
    forever: bool = False,
) -> Graph:
    """The graph of these rows; raises DulyError with every fault of them.

    Labels are written as in session-type strings (`!"fs.read"`), `guards` holds clauses in the same notation. A state
    is declared by being a source, terminal, or the start of a side. `forever` allows a protocol without a terminal.
    """
    found: list[Diagnostic] = []
    read: list[tuple[int, Transition]] = []
    for at, given in enumerate(rows):
        row = _row(at, given, found)
        if row is not None:
            read.append((at, row))
    steps = [_step(at, row, found) for at, row in read]
    states = {row.source for _, row in read} | {parting.source for parting in partings} | set(terminal)
    places = [(f"transitions[{at}].target", row.target) for at, row in read] + [("initial", initial)]
    for at, parting in enumerate(partings):
        states.update(start for start in parting.starts)
        places.append((f"partings[{at}].join", parting.join))
    for path, state in places:
        if state not in states:
            near = suggest(state, states) if len(found) < MOST_FAULTS else ""
            help = near or "add a transition that begins there, or name it as terminal"
            found.append(Diagnostic(code="undeclared", message=f"undeclared state `{state}`", path=path, help=help))
    if not terminal and not forever:
        message, help = "no terminal state", "name the states in which the session may end, or say `forever`"
        found.append(Diagnostic(code="no_end", message=message, path="terminal", help=help))
    met: dict[tuple[Any, ...], int] = {}
    for (at, row), step in zip(read, steps, strict=True):
        key = (row.source, repr(step), row.target)
        if step is not None and key in met:
            message = f"the transition `{row.source} {row.event} {row.target}` stands twice"
            found.append(_fault(f"transitions[{at}]", "duplicate", message, f"it is transitions[{met[key]}] already"))
        met.setdefault(key, at)
    if found:
        raise_faults(found)
    table = Table(tuple(row for _, row in read), initial, tuple(terminal), name, tuple(partings), dict(payloads or {}))
    return _Numbering(table, [step for step in steps if step is not None]).graph()


def to_transitions(graph: Graph) -> Table:
    """The rows of any graph, whatever notation it came from; states without a name are called `s0`, `s1`, …"""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for state in range(graph.size):
        name = plain = graph.names.get(state, f"s{state}")
        again = 2
        while name in taken:
            name, again = f"{plain}~{again}", again + 1
        names[state] = name
        taken.add(name)
    rows = tuple(
        Transition(
            names[arc.origin],
            step_text(Step(arc.side, arc.label, arc.outcome, arc.group)),
            names[arc.target],
            clauses_text(arc.guards, arc.binds, otherwise=arc.otherwise)[1:-1],
        )
        for arc in graph.arcs
    )
    partings = tuple(
        Parting(names[state], tuple(names[start] for start in fork.starts), names[fork.join])
        for state, fork in graph.forks.items()
    )
    terminal = tuple(names[state] for state in sorted(graph.finals))
    return Table(rows, names[graph.start], terminal, graph.name, partings, dict(graph.payloads))


def table_text(table: Table) -> str:
    """The rows as lines for a person: `source !event(guards) -> target`."""
    lines = [f"initial {_state(table.initial)}", *map(_line, table.rows)]
    for each in table.partings:
        lines.append(f"{_state(each.source)} || {' || '.join(map(_state, each.starts))} -> {_state(each.join)}")
    return "\n".join([*lines, f"terminal {' '.join(map(_state, table.terminal))}".rstrip()]) + "\n"


def _line(row: Transition) -> str:
    return f"{_state(row.source)} {_event(row)} -> {_state(row.target)}"


def _state(name: str) -> str:
    return quoted(name) if not name.isprintable() or " " in name or not name else name


def _event(row: Transition) -> str:
    return row.event + (f"({row.guards})" if row.guards else "")


def _row(at: int, given: Transition | Mapping[str, Any], found: list[Diagnostic]) -> Transition | None:
    path = f"transitions[{at}]"
    if isinstance(given, Transition):
        return given
    if not isinstance(given, Mapping):
        found.append(_fault(path, "type", "a transition must be a mapping", "give source, event and target"))
        return None
    before = len(found)
    for key in given:
        if key not in _FIELDS:
            help = suggest(str(key), _FIELDS) or f"known are {', '.join(_FIELDS)}"
            found.append(_fault(f"{path}.{key}", "unknown_key", f"unknown key `{key}`", help))
    for key in _FIELDS[:3]:
        if key not in given:
            found.append(_fault(path, "missing", f"`{key}` is missing", "give source, event and target"))
    texts = {key: given[key] for key in _FIELDS if key in given}
    if isinstance(texts.get("guards"), list | tuple):
        texts["guards"] = ", ".join(map(str, texts["guards"]))
    for key, value in texts.items():
        if not isinstance(value, str) or (not value and key != "guards"):
            found.append(_fault(f"{path}.{key}", "type", f"`{key}` must be a text", "write it in quotes"))
    return Transition(**texts) if len(found) == before else None


def _step(at: int, row: Transition, found: list[Diagnostic]) -> Step | None:
    """The event and the clauses of a row, read by the grammar of session-type strings."""
    path = f"transitions[{at}].event"
    try:
        nodes = parse(_event(row), name=path).protocol.nodes
    except DulyError as error:
        found += [replace(each, path=path) for each in error.diagnostics]
        return None
    if len(nodes) == 1 and type(nodes[0]) is Step:
        return nodes[0]
    found.append(
        _fault(path, "event", f"`{row.event}` is not one event", 'as in `!label`, `?label=outcome` or `!"fs.read"`')
    )
    return None


def _fault(path: str, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code=code, message=message, path=path, help=help)


class _Numbering:
    """Numbers states breadth first, as the compiler of strings does, so that its graphs come back as they were."""

    def __init__(self, table: Table, steps: list[Step]) -> None:
        self.table = table
        self.steps = steps
        self.found: list[Diagnostic] = []
        self.partings = {parting.source: parting for parting in table.partings}
        self.rows: dict[str, list[int]] = {}
        for at, row in enumerate(table.rows):
            self.rows.setdefault(row.source, []).append(at)
        self.number: dict[str, int] = {}
        self.region: dict[str, str] = {}  # each state's region, named by the state in which it begins

    def graph(self) -> Graph:
        table = self.table
        roots = [table.initial, *self.rows, *self.partings, *table.terminal]
        for root in dict.fromkeys(roots):
            self._walk(root)
        text = table_text(table)
        lines = [_line(row) for row in table.rows]
        starts = [len(f"initial {_state(table.initial)}\n")]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        source = Source(table.name, text)
        arcs = tuple(
            Arc(
                self.number[row.source], step.side, step.label, self.number[row.target], step.outcome, step.guards,
                step.binds, step.otherwise, step.group, start, start + len(line),
            )
            for row, step, line, start in zip(table.rows, self.steps, lines, starts[:-1], strict=True)
        )  # fmt: skip
        numbers: dict[str, int] = {}
        regions = tuple(numbers.setdefault(self.region[state], len(numbers)) for state in self.number)
        graph = Graph(
            source=source,
            size=len(self.number),
            start=self.number[table.initial],
            finals=frozenset(self.number[state] for state in table.terminal),
            arcs=arcs,
            forks={
                self.number[each.source]: Fork(
                    tuple(self.number[start] for start in each.starts), self.number[each.join]
                )
                for each in sorted(table.partings, key=lambda each: self.number[each.source])
            },
            regions=regions if table.partings else (),
            names={number: state for state, number in self.number.items()},
            payloads=table.payloads,
            name=table.name,
            notation="transitions",
            text=text,
        )
        self._check_partings(graph)
        found = self.found + indistinguishable(graph)
        if found:
            raise_faults(found)
        return graph

    def _walk(self, root: str) -> None:
        if root in self.number:
            return
        self._meet(root, root if root == self.table.initial else self.table.initial)
        order = [root]
        for state in order:
            parting = self.partings.get(state)
            here = self.region[state]
            leading = [(self.table.rows[at].target, here) for at in self.rows.get(state, ())]
            if parting is not None:
                leading += [*((start, start) for start in parting.starts), (parting.join, here)]
            for target, region in leading:
                if target not in self.number:
                    self._meet(target, region)
                    order.append(target)
                elif self.region[target] != region:
                    message = f"`{state}` leads to `{target}` across the sides of a parting"
                    self.found.append(_fault("transitions", "crossing", message, "a side has states of its own"))

    def _meet(self, state: str, region: str) -> None:
        self.number[state] = len(self.number)
        self.region[state] = region

    def _check_partings(self, graph: Graph) -> None:
        """A state that parts has no transitions of its own, and its sides speak of different labels (B6)."""
        labels: dict[str, set[str]] = {}
        for row, step in zip(self.table.rows, self.steps, strict=True):
            label = step_text(Step(step.side, step.label, group=step.group))
            labels.setdefault(self.region[row.source], set()).add(label)
            if row.source in self.partings:
                message = f"`{row.source}` parts and has a transition of its own"
                self.found.append(
                    _fault("partings", "parting", message, "let the transition start in one of the sides")
                )
        # Inner sides are met after outer ones: seen from the back, each side already holds what its own sides say.
        for parting in sorted(self.table.partings, key=lambda each: -self.number[each.source]):
            met: set[str] = set()
            for start in parting.starts:
                for label in sorted(met & labels.get(start, set())):
                    message = f"`{label}` stands on two sides of `{parting.source}`"
                    self.found.append(
                        _fault("partings", "shared_label", message, "the sides must speak of different labels")
                    )
                met |= labels.get(start, set())
            labels.setdefault(self.region[parting.source], set()).update(met)
