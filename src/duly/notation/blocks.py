"""Notation 2, state blocks: `protocol Review:` and lines `state: Payload -> target | target`.

Being in a state, the next event is the act named like the target, and it leads there. A state without targets is
terminal. `-> a | b by field decision` lets the payload with which the state is entered pick the branch.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from duly.machine.graph import Arc, Graph
from duly.values.errors import Diagnostic, DulyError, fault, suggest
from duly.values.expr import Guard
from duly.values.expr import Literal as Value
from duly.values.source import Source, Span

from .word import MOST_FAULTS, check_writable, mark_end, quoted, raise_faults, read_quoted

END: Final = "end"
_NAME: Final = re.compile(r"(?:[\w.]++|-(?!>))++")
_BLANK: Final = re.compile(r"[^\S\n]*+(?:#[^\n]*+)?+")
_PAYLOAD: Final = re.compile(r"(?:[^\n#-]++|-(?!>))*+")


class Name(Struct, frozen=True):
    text: str
    start: int
    end: int


class Line(Struct, frozen=True):
    """`state: payload -> targets by field …` as it stands in the text."""

    state: Name
    payload: str = ""
    targets: tuple[Name, ...] = ()
    field: tuple[str, ...] = ()


class Block(Struct):
    name: Name
    lines: list[Line]


def parse_blocks(
    text: str,
    *,
    name: str = "<blocks>",
    undeclared: Literal["error", "terminal"] = "error",
    source: Source | None = None,
) -> dict[str, Graph]:
    """The protocols of a text by name; raises DulyError with every fault of it.

    A target that has no line of its own is an error, or with `undeclared="terminal"` a terminal state, and then a
    warning in the graph's notes.
    """
    source = source if source is not None else Source(name, text)
    check_writable(source)
    reader = _Reader(source)
    blocks = reader.read()
    graphs: dict[str, Graph] = {}
    found = reader.found
    for block in blocks:
        if block.name.text in graphs:
            found.append(
                _fault(
                    source,
                    block.name,
                    "duplicate",
                    f"protocol `{block.name.text}` stands twice",
                    "give one of them another name",
                )
            )
            continue
        graphs[block.name.text] = _graph(source, block, found, undeclared)
    if not blocks and not found:
        whole = Name("", 0, 1)
        found.append(_fault(source, whole, "empty", "no protocol in this text", "begin with `protocol Name:`"))
    if found:
        raise_faults(found)
    return graphs


def print_blocks(graphs: Mapping[str, Graph] | Iterable[Graph]) -> str:
    """The canonical text of protocols in this notation; raises DulyError for a graph that it cannot say."""
    each = graphs.values() if isinstance(graphs, Mapping) else graphs
    return "\n".join(block_text(graph) for graph in each)


def block_text(graph: Graph) -> str:
    """One protocol: the initial state's line first, then the others in order."""
    if graph.forks or any(state not in graph.names for state in range(graph.size)):
        raise _unsayable(graph, "its states have no names, or run side by side")
    states: dict[str, list[int]] = {graph.names[graph.start]: []}
    for state in range(graph.size):
        states.setdefault(graph.names[state], []).append(state)
    targets: dict[int, dict[str, None]] = {state: {} for state in range(graph.size)}
    picked: dict[str, tuple[str | int, ...]] = {}
    for arc in graph.arcs:
        target = graph.names[arc.target]
        plain = (
            arc.side == "!"
            and arc.label == target
            and not (arc.binds or arc.otherwise or arc.group or len(arc.guards) > 1)
        )
        if not plain:
            raise _unsayable(graph, f"`{arc.side}{arc.label}` does not lead to a state of that name")
        targets[arc.origin][target] = None
        for guard in arc.guards:
            picked[target] = guard.path
    lines = [f"protocol {_written(graph.name or 'Protocol')}:"]
    for name, places in states.items():
        leading = list(dict.fromkeys(target for place in places for target in targets[place]))
        payload = graph.payloads.get(name, "")
        if name == END and not leading and not payload:
            continue
        if (len(places) > 1 and name not in picked) or any(
            (place in graph.finals) == bool(leading) for place in places
        ):
            raise _unsayable(graph, f"state `{name}` is terminal and goes on, or stands twice")
        line = "    " + _written(name) + (f": {payload}" if payload else "" if leading else ":")
        if leading:
            line += " -> " + " | ".join(map(_written, leading))
        if name in picked:
            line += " by field " + _path(graph, picked[name])
        lines.append(line)
    return "\n".join(lines) + "\n"


def _path(graph: Graph, path: tuple[str | int, ...]) -> str:
    parts = [part for part in path if type(part) is str and _NAME.fullmatch(part) and "." not in part]
    if len(parts) == len(path):
        return ".".join(parts)
    if len(path) == 1:
        return quoted(str(path[0]))
    raise _unsayable(graph, "a field that picks a branch is named by an index")


def _unsayable(graph: Graph, why: str) -> DulyError:
    help = "print it as a session-type string or as transitions"
    return fault("notation", f"`{graph.name or 'the protocol'}` cannot be written as state blocks: {why}", help=help)


def _written(name: str) -> str:
    return name if _NAME.fullmatch(name) and name != "by" else quoted(name)


def _graph(source: Source, block: Block, found: list[Diagnostic], undeclared: str) -> Graph:
    """Check one block and compile it; a faulty one yields some graph, which nobody gets to see."""
    lines: dict[str, Line] = {}
    for line in block.lines:
        if line.state.text in lines:
            found.append(
                _fault(source, line.state, "duplicate", f"state `{line.state.text}` stands twice", "join the two lines")
            )
        lines.setdefault(line.state.text, line)
    if not lines:
        found.append(
            _fault(
                source,
                block.name,
                "empty",
                f"protocol `{block.name.text}` has no states",
                "write `state: Payload -> target`",
            )
        )
        return Graph(source=source, size=1, start=0, finals=frozenset((0,)), arcs=())
    notes: list[Diagnostic] = []
    for line in list(lines.values()):
        found.extend(_doubled(source, line))
        for target in line.targets:
            if target.text in lines:
                continue
            if target.text != END:
                near = suggest(target.text, lines) if len(found) + len(notes) < MOST_FAULTS else ""
                help = near or f"write a line `{target.text}:` for it, or lead to `{END}`"
                fault = _fault(source, target, "undeclared", f"undeclared state `{target.text}`", help)
                if undeclared == "error":
                    found.append(fault)
                else:
                    notes.append(
                        Diagnostic("undeclared", f"{fault.message}, read as terminal", "warning", fault.span, help=help)
                    )
            lines[target.text] = Line(target)
    first = block.lines[0]
    if first.field:
        message = f"no event enters the initial state `{first.state.text}`, so no field can pick a branch there"
        found.append(_fault(source, first.state, "initial", message, "put a state before it"))
    if END in lines and lines[END].targets:
        found.append(
            _fault(source, lines[END].state, "end", f"`{END}` is terminal and leads nowhere", "remove its targets")
        )
    graph = _compiled(source, block.name.text, lines, tuple(notes))
    return graph if found else _with_text(graph)


def _doubled(source: Source, line: Line) -> list[Diagnostic]:
    met: set[str] = set()
    found = []
    for target in line.targets:
        if target.text in met:
            found.append(
                _fault(source, target, "duplicate", f"target `{target.text}` stands twice", "remove one of them")
            )
        met.add(target.text)
    return found


def _with_text(graph: Graph) -> Graph:
    return replace(graph, text=block_text(graph))


def _compiled(source: Source, name: str, lines: dict[str, Line], notes: tuple[Diagnostic, ...]) -> Graph:
    """States in the order of their lines; one whose branch a field picks becomes one state per branch."""
    entries: dict[str, list[tuple[int, tuple[Guard, ...]]]] = {}
    names: dict[int, str] = {}
    leading: list[tuple[int, tuple[Name, ...]]] = []
    for state, line in lines.items():
        branches: list[tuple[tuple[Name, ...], tuple[Guard, ...]]] = [(line.targets, ())]
        if line.field:
            branches = [((target,), (Guard(line.field, "==", Value(target.text)),)) for target in line.targets]
        for targets, guards in branches:
            entries.setdefault(state, []).append((len(names), guards))
            leading.append((len(names), targets))
            names[len(names)] = state
    arcs = tuple(
        Arc(origin, "!", target.text, entry, guards=guards, start=target.start, end=target.end)
        for origin, targets in leading
        for target in targets
        for entry, guards in entries[target.text]
    )
    return Graph(
        source=source,
        size=len(names),
        start=0,
        finals=frozenset(state for state, targets in leading if not targets),
        arcs=arcs,
        names=names,
        payloads={state: line.payload for state, line in lines.items() if line.payload},
        name=name,
        notation="blocks",
        notes=notes,
    )


def _fault(source: Source, name: Name, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code=code, message=message, span=Span(source, name.start, name.end), help=help)


class _Reader:
    """Reads line by line; a faulty line is reported and left out."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.found: list[Diagnostic] = []
        self.at = 0

    def read(self) -> list[Block]:
        blocks: list[Block] = []
        lost = False
        if self.text.startswith("\ufeff"):
            self.at = 1
        while self.at < len(self.text):
            start = self._space()
            if self._ends():
                self._next()
                continue
            header = self._header()
            if header is not None:
                blocks.append(Block(header, []))
            else:
                self.at = start
                line = self._line()
                if line is not None and blocks:
                    blocks[-1].lines.append(line)
                elif line is not None and not lost:
                    lost = True  # once is enough: the header is missing
                    self._fault(line.state, "a state outside of any protocol", "begin with `protocol Name:`")
            self._next()
        return blocks

    def _space(self) -> int:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def _ends(self) -> bool:
        return self.at >= len(self.text) or self.text[self.at] == "\n"

    def _next(self) -> None:
        newline = self.text.find("\n", self.at)
        self.at = len(self.text) if newline < 0 else newline + 1

    def _takes(self, sign: str) -> bool:
        self._space()
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def _name(self) -> Name | None:
        start = self._space()
        if self.text[start : start + 1] in ('"', "'") and start < len(self.text):
            said, self.at = read_quoted(self.source, start, self.found)
            return Name(said, start, self.at) if said else None
        end = start
        while found := _NAME.match(self.text, end):
            end = mark_end(self.text, found.end())
        if end == start:
            return None
        self.at = end
        return Name(self.text[start:end], start, end)

    def _header(self) -> Name | None:
        word = self._name()
        if word is None or word.text != "protocol" or self.text[word.start] in "\"'":
            return None
        name = self._name()
        if name is None:
            return None  # a state that is called `protocol`
        if not self._takes(":"):
            self._fault(name, f"`:` is missing behind `protocol {name.text}`", "as in `protocol Review:`")
        self._rest("a state's line follows on a line of its own")
        return name

    def _line(self) -> Line | None:
        state = self._name()
        if state is None:
            self._stray("a line must begin with the name of a state", "as in `draft: Text -> review | end`")
            return None
        payload = ""
        if self._takes(":"):
            found = _PAYLOAD.match(self.text, self.at)
            assert found is not None
            payload = found[0].strip()
            self.at = found.end()
        targets: list[Name] = []
        field: tuple[str, ...] = ()
        if self._takes("->"):
            while True:
                target = self._name()
                if target is None:
                    self._stray("the name of a state must follow", "as in `-> review | end`")
                    return None
                targets.append(target)
                if not self._takes("|"):
                    break
            field = self._field()
        self._rest("targets are separated by `|`" if targets else "targets follow `->`")
        return Line(state, payload, tuple(targets), field)

    def _field(self) -> tuple[str, ...]:
        start = self._space()
        words = (self._name(), self._name())
        if [word.text if word else "" for word in words] != ["by", "field"]:
            self.at = start
            return ()
        name = self._name()
        if name is None:
            self._stray("the name of a field must follow `by field`", "as in `-> a | b by field decision`")
            return ()
        return (name.text,) if self.text[name.start] in "\"'" else tuple(name.text.split("."))

    def _rest(self, help: str) -> None:
        self._space()
        if not self._ends():
            self._stray("", help)

    def _stray(self, message: str, help: str) -> None:
        start = min(self.at, max(len(self.text) - 1, 0))
        newline = self.text.find("\n", start)
        end = len(self.text) if newline < 0 else newline
        shown = self.text[start:end].split("#")[0].strip()
        self._fault(Name(shown, start, start + max(len(shown), 1)), message or f"`{shown}` means nothing here", help)

    def _fault(self, name: Name, message: str, help: str) -> None:
        self.found.append(_fault(self.source, name, "syntax", message, help))
