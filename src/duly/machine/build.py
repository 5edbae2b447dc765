"""Compiles the terms of a contract: protocols to rows, rules to bits and counts, one plan per label.

Joint products are never built; equal questions of several rules become one cell.
"""

from typing import Any

from msgspec import Struct, structs

from duly.values.errors import Diagnostic, DulyError
from duly.values.expr import Bind, Guard, Register

from .edge import all_of, go_of
from .graph import Arc, Graph
from .ir import EMPTY, NOTHING, Edge, Hearing, Line, Move, Plan, Row, State, Turns
from .names import Names
from .rules import TEMPLATES, Below, Bit, Count, Needs, misfits, text_of
from .terms import Rule, Terms


class Built(Struct):
    """The compiled parts of a contract."""

    acts: dict[str, Plan]
    hearings: dict[str, Hearing]
    unnamed: Hearing | None
    lines: tuple[Line, ...]
    rules: dict[str, Rule]
    bits: tuple[Bit, ...]
    counts: tuple[Count, ...]
    turn_bits: int
    run_bits: int
    start: State
    closed: bool
    owners: dict[str, tuple[str, ...]]
    turned: bool


def build(terms: Terms) -> Built:
    """Raises DulyError with everything that has no clear meaning."""
    names = Names(terms)
    faults = names.faults
    rules = _ids(terms.rules, faults)
    graphs = [_expanded(graph, names) for graph in _renamed(terms.protocols)]
    rows, lines, cursors = _protocols(graphs, names, terms)
    bits, counts, needs, caps = _cells(rules, names)
    closed = terms.tools is not None or bool(terms.protocols)
    if terms.breaker is not None and (type(terms.breaker.refusals) is not int or terms.breaker.refusals < 1):
        faults.append(Diagnostic("breaker", "a breaker halts at a refusal from the first on", span=terms.span))
    for declared in names.tools.values():
        for outcome in {"error", "~"} & declared.outcomes.keys():
            message = f"`{outcome}` is no outcome that `{declared.name}` can name"
            help = "what is an error is said under `error`" if outcome == "error" else "say it under `uncertain`"
            faults.append(Diagnostic("tool", message, span=declared.span, help=help))
    if faults:
        raise DulyError(faults)

    spoken = {label for line in lines for label in line.acts}
    outside = {name for pattern in terms.outside for name in names.members(pattern)}
    asked = {name for need in needs for name in need[0]} | {name for cap in caps for name in cap[0]}
    heard = {label for line in lines for label in line.results}
    won = {name for bit in bits for name in bit.names}
    # what protocols only ever learn is a message, unless it is declared a tool; nobody can call it, even if rules ask
    learnt = heard - spoken - outside
    labels = set(names.tools) | ((spoken | outside | asked | won) - set(names.messages) - learnt)
    results = {
        label: tuple(rows[key] for key in (("?", label, line.number) for line in lines) if key in rows)
        for label in heard
    }
    turned = terms.breaker is not None or any(cell.scope != "session" for cell in bits)
    turned = turned or any(count.scope != "session" for count in counts)
    asks = _by_label(bits, counts, needs, caps)
    acts: dict[str, Plan] = {}
    for label in sorted(labels | set(names.messages)):
        mine = tuple(rows[key] for key in (("!", label, line.number) for line in lines) if key in rows)
        ask = asks.get(label, _NOTHING)
        tightest: dict[int, int] = {}
        for slot, limit, _ in ask.caps:
            tightest[slot] = min(limit, tightest.get(slot, limit))
        tool = names.tools.get(label)
        # a declared tool that no protocol speaks of, and that is not outside, is closed out by every protocol
        closed_out = tool is not None and not mine and label not in outside and label not in heard
        straight = _straight(mine, lines)
        acts[label] = Plan(
            label=label,
            tool=tool,
            message=label in names.messages,
            rows=mine,
            silent=tuple(line.number for line in lines) if closed_out else (),
            want=sum(1 << number for number in {bit for bit, _ in ask.needs}),
            wins=ask.wins,
            limits=tuple(tightest.items()),
            takes=tuple(ask.takes),
            needs=tuple(ask.needs),
            caps=tuple(ask.caps),
            straight=straight,
            plain=not closed_out
            and label not in names.messages
            and (straight is not None or not mine)
            and not (tool is not None and (tool.schema or tool.paths or tool.clamp))
            and not (tool is not None and tool.effect == "write" and not tool.idempotent),
            said=_said(straight) if tool is None and not (ask.needs or ask.caps or ask.takes) else None,
            answer=None if label in names.messages else _straight(results.get(label, ()), lines),
            judged=tool is not None and bool(tool.error or tool.outcomes or tool.uncertain),
            moved=tuple(row.protocol for row in mine),
            checked=tool is not None and bool(tool.schema or tool.paths or tool.clamp),
            once=tool is not None and tool.effect == "write" and not tool.idempotent,
        )
    hearings = {}
    for label in sorted(heard | set(names.messages) | won):
        mine = results.get(label, ())
        straight = _straight(mine, lines)
        said = None if turned or label in names.tools else _said(straight)
        hearings[label] = Hearing(label, mine, asks.get(label, _NOTHING).wins, straight, said)
    unnamed = tuple(rows[key] for key in (("?", None, line.number) for line in lines) if key in rows)
    for alias, name in terms.aliases.items():
        if name in acts:
            acts[alias] = acts[name]
        if name in hearings:
            hearings[alias] = hearings[name]
    owners: dict[str, tuple[str, ...]] = {}
    for label in acts:
        bare = label.rpartition("/")[2]
        if bare != label:
            owners[bare] = (*owners.get(bare, ()), label)
    return Built(
        acts=acts,
        hearings=hearings,
        unnamed=Hearing("Unrecognized", unnamed) if unnamed else None,
        lines=lines,
        rules={rule.id: rule for rule in rules},
        bits=bits,
        counts=counts,
        turn_bits=sum(1 << number for number, bit in enumerate(bits) if bit.scope == "turn"),
        run_bits=sum(1 << number for number, bit in enumerate(bits) if bit.scope != "session"),
        start=State(
            cursors=cursors, movers=(None,) * len(cursors), facts=0, data=(0,) * len(counts),
            registers=EMPTY, open=EMPTY, at=0.0, serial=0, more=NOTHING,
        ),
        closed=closed,
        owners=owners,
        turned=turned,
    )  # fmt: skip


class Asked(Struct):
    """What bits and counts have to do with one label."""

    needs: list[tuple[int, str]] = []
    caps: list[tuple[int, int, str]] = []
    takes: list[int] = []
    wins: int = 0


_NOTHING = Asked()


def _by_label(
    bits: tuple[Bit, ...],
    counts: tuple[Count, ...],
    needs: list[tuple[frozenset[str], Bit, str]],
    caps: list[tuple[frozenset[str], Count, int, str]],
) -> dict[str, Asked]:
    """One pass over the rules, so that building stays linear in what they name."""
    asks: dict[str, Asked] = {}
    for number, bit in enumerate(bits):
        for label in bit.names:
            asks.setdefault(label, Asked()).wins |= 1 << number
    for number, count in enumerate(counts):
        for label in count.names:
            asks.setdefault(label, Asked()).takes.append(number)
    numbers: dict[Bit | Count, int] = {bit: number for number, bit in enumerate(bits)}
    numbers.update((count, number) for number, count in enumerate(counts))
    for of, bit, rule in needs:
        for label in of:
            asks.setdefault(label, Asked()).needs.append((numbers[bit], rule))
    for of, count, limit, rule in caps:
        for label in of:
            asks.setdefault(label, Asked()).caps.append((numbers[count], limit, rule))
    return asks


def _ids(rules: tuple[Rule, ...], faults: list[Diagnostic]) -> list[Rule]:
    named: list[Rule] = []
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.template not in TEMPLATES:
            faults.append(Diagnostic("rule", f"unknown rule `{rule.template}`", span=rule.span))
            continue
        wrong = misfits(rule)
        if wrong:
            faults += [Diagnostic("rule", message, span=rule.span) for message in wrong]
            continue
        text = rule.id or text_of(rule)
        if text in seen:
            same = structs.replace(seen[text], span=None) == structs.replace(rule, id=text, span=None)
            help = "one of them can go" if same else "give one of them another `id`"
            faults.append(Diagnostic("rule", f"two rules are called `{text}`", span=rule.span, help=help))
            continue
        seen[text] = structs.replace(rule, id=text)
        named.append(seen[text])
    return named


def _cells(
    rules: list[Rule], names: Names
) -> tuple[
    tuple[Bit, ...],
    tuple[Count, ...],
    list[tuple[frozenset[str], Bit, str]],
    list[tuple[frozenset[str], Count, int, str]],
]:
    bits: dict[Bit, None] = {}
    counts: dict[Count, None] = {}
    needs: list[tuple[frozenset[str], Bit, str]] = []
    caps: list[tuple[frozenset[str], Count, int, str]] = []
    for rule in rules:
        without = frozenset().union(*(names.members(name, rule.span) for name in rule.excepting))

        def members(name: str, rule: Rule = rule, without: frozenset[str] = without) -> frozenset[str]:
            return names.members(name, rule.span) - without

        for ask in TEMPLATES[rule.template].asks(rule, members):
            match ask:
                case Needs(of, bit):
                    bits.setdefault(bit)
                    needs.append((of, bit, rule.id))
                case Below(of, count, limit):
                    counts.setdefault(count)
                    caps.append((of, count, limit, rule.id))
    return tuple(bits), tuple(counts), needs, caps


def _renamed(graphs: tuple[Graph, ...]) -> list[Graph]:
    """Registers are the contract's; where two protocols use one name, the later one's gets its number."""
    seen: set[str] = set()
    renamed = []
    for number, graph in enumerate(graphs):
        mine = {bind.register for arc in graph.arcs for bind in arc.binds} | {
            guard.operand.name for arc in graph.arcs for guard in arc.guards if isinstance(guard.operand, Register)
        }
        clash = mine & seen
        seen |= mine
        renamed.append(_with_registers(graph, {name: f"{name}~{number + 1}" for name in clash}) if clash else graph)
    return renamed


def _with_registers(graph: Graph, new: dict[str, str]) -> Graph:
    def guard(old: Guard) -> Guard:
        operand = old.operand
        if isinstance(operand, Register) and operand.name in new:
            return Guard(old.path, old.op, Register(new[operand.name]))
        return old

    def bind(old: Bind) -> Bind:
        return Bind(old.path, new.get(old.register, old.register), old.maybe)

    arcs = tuple(
        structs.replace(arc, guards=tuple(map(guard, arc.guards)), binds=tuple(map(bind, arc.binds)))
        if arc.guards or arc.binds
        else arc
        for arc in graph.arcs
    )
    return structs.replace(graph, arcs=arcs)


def _expanded(graph: Graph, names: Names) -> Graph:
    """Arcs over groups become one arc per member; aliases become names; what a client receives, its agent asks for."""
    if graph.view == "client" or names.terms.view == "client":
        turned = {"!": "?", "?": "!"}
        graph = structs.replace(
            graph,
            arcs=tuple(
                structs.replace(arc, side=turned[arc.side]) if arc.label is not None else arc for arc in graph.arcs
            ),
        )
    if not names.terms.aliases and not any(arc.group for arc in graph.arcs):
        return graph
    arcs: list[Arc] = []
    for arc in graph.arcs:
        if arc.group and arc.label is not None:
            for name in sorted(names.members("@" + arc.label.removeprefix("@"), graph.span(arc))):
                arcs.append(structs.replace(arc, label=name, group=False))
        elif arc.label is not None and arc.label in names.terms.aliases:
            arcs.append(structs.replace(arc, label=names.canonical(arc.label)))
        else:
            arcs.append(arc)
    return structs.replace(graph, arcs=tuple(arcs))


def _protocols(
    graphs: list[Graph], names: Names, terms: Terms
) -> tuple[dict[tuple[str, str | None, int], Row], tuple[Line, ...], tuple[int, ...]]:
    rows: dict[tuple[str, str | None, int], Row] = {}
    lines: list[Line] = []
    cursors: list[int] = []
    for number, graph in enumerate(graphs):
        base = len(cursors)
        regions = max(graph.regions, default=0) + 1
        columns: dict[tuple[str, str | None, int], dict[int, list[Arc]]] = {}
        for arc in graph.arcs:
            slot = base + (graph.regions[arc.origin] if graph.regions else 0)
            columns.setdefault((arc.side, arc.label, slot), {}).setdefault(arc.origin, []).append(arc)
        places: dict[tuple[str, str | None], list[tuple[int, dict[int, Turns]]]] = {}
        for (side, label, slot), column in columns.items():
            message = side == "?" and (label is None or label in names.messages)
            compiled = {origin: _moves(arcs, side == "?" and not message) for origin, arcs in column.items()}
            places.setdefault((side, label), []).append((slot, compiled))
        for (side, label), spots in places.items():
            rows[side, label, number] = Row(number, tuple(spots))
        leaving = {arc.origin for arc in graph.arcs}
        line = Line(
            number=number,
            id=graph.name or ("protocol" if len(graphs) == 1 else f"protocol {number + 1}"),
            slots=tuple(range(base, base + regions)),
            starts={base + graph.regions[start]: start for fork in graph.forks.values() for start in fork.starts}
            if graph.forks
            else {},
            forks=graph.forks,
            slot_of={state: base + region for state, region in enumerate(graph.regions)} if graph.forks else {},
            parents={
                base + graph.regions[start]: (state, base + graph.regions[state])
                for state, fork in graph.forks.items()
                for start in fork.starts
            },
            finals=frozenset(state for state in graph.finals if state not in leaving) if graph.forks else graph.finals,
            acts=frozenset(label for side, label in places if side == "!" and label is not None),
            results=frozenset(label for side, label in places if side == "?" and label is not None),
            registers=frozenset(bind.register for arc in graph.arcs for bind in arc.binds),
            forever=terms.forever,
        )
        lines.append(line)
        first = [graph.start] + [-1] * (regions - 1)
        cursors.extend(first)
        if graph.forks:
            enter(line, cursors, graph.start)
    return rows, tuple(lines), tuple(cursors)


def enter(line: Line, cursors: list[int], state: int) -> None:
    """Puts the cursor of the state's region there; opens the regions of a fork, and leaves it when all have ended.

    Works on a list of states still to enter, since forks may stand inside forks.
    """
    todo = [state]
    while todo:
        state = todo.pop()
        slot = line.slot_of[state]
        cursors[slot] = state
        fork = line.forks.get(state)
        if fork is not None:
            todo.extend(fork.starts)
            continue
        while state in line.finals and slot in line.parents:
            origin, parent = line.parents[slot]
            children = [line.slot_of[start] for start in line.forks[origin].starts]
            if cursors[parent] != origin or not all(cursors[child] in line.finals for child in children):
                break
            for child in children:
                cursors[child] = -1
            state, slot = line.forks[origin].join, parent
            cursors[slot] = state
            if state in line.forks:
                todo.extend(line.forks[state].starts)
                break


def _moves(arcs: list[Arc], result: bool) -> Turns:
    if not result:
        return _move(arcs)
    by_outcome: dict[str | None, list[Arc]] = {}
    for arc in arcs:
        by_outcome.setdefault(arc.outcome, []).append(arc)
    if by_outcome.keys() == {None}:
        return _move(arcs)
    return {outcome: _move(group) for outcome, group in by_outcome.items()}


def _move(arcs: list[Arc]) -> Move:
    first = arcs[0]
    if len(arcs) == 1 and not first.guards and not first.binds and not first.otherwise:
        return first.target
    return tuple(
        Edge(arc.target, arc.guards, arc.binds, arc.otherwise, arc, all_of(arc.guards), go_of(arc.guards, arc.binds))
        for arc in arcs
    )


def _said(straight: dict[int, Any] | None) -> dict[int, Any] | None:
    """The same moves, an edge that stands alone by itself."""
    if straight is None:
        return None
    return {at: move[0] if type(move) is tuple and len(move) == 1 else move for at, move in straight.items()}


def _straight(rows: tuple[Row, ...], lines: tuple[Line, ...]) -> dict[int, Any] | None:
    """The moves of a label where the whole contract has one cursor, and this one row speaks of the label."""
    alone = len(lines) == 1 and len(lines[0].slots) == 1 and len(rows) == 1 and len(rows[0].places) == 1
    return rows[0].places[0][1] if alone else None
