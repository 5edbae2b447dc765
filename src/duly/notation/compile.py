"""From the flat tree to the graph, in linear time and without recursion.

Compiled from right to left with the continuation in hand: for each list, `k` is the state where what follows it
begins. Each part of the text has exactly one continuation, so it is compiled once, and there are never more states
than steps and choices, plus one. Places that are not known yet (loops, groups, tails of branches) are slots: a
negative `k` stands for what the slot will hold.
"""

import gc
import itertools

from duly.check.guard import indistinguishable
from duly.machine.graph import Arc, Fork, Graph
from duly.values.errors import Diagnostic
from duly.values.protocol import Brackets, Jump, Loop, Mark, Step, brackets
from duly.values.source import Source

from .printing import protocol_text
from .resolve import check_clauses, check_sides, resolve
from .strings import Written, parse
from .word import raise_faults


def compile_text(text: str, *, name: str = "<protocol>", source: Source | None = None) -> Graph:
    """The graph of a session-type string; raises DulyError with every fault that leaves it without a clear meaning.

    What is merely suspicious (dead text, unused or shadowed `rec`) is kept in the graph's `notes`.
    """
    return compile_protocol(parse(text, name=name, source=source))


def compile_protocol(written: Written) -> Graph:
    """The graph of a parsed protocol; raises DulyError like `compile_text`."""
    collecting = gc.isenabled()
    gc.disable()  # as in parsing: everything that is made here stays
    try:
        structure = brackets(written.protocol.nodes)
        names = resolve(written, structure)
        found = names.found + check_clauses(written) + check_sides(written, structure)
        work = _Work(written, structure, names.loops)
        if not any(fault.code == "unbound" for fault in found):
            work.compile()
            found += work.found
        if any(fault.severity == "error" for fault in found):
            raise_faults(fault for fault in found if fault.severity == "error")
        graph = work.graph(found)
        unclear = indistinguishable(graph)
        if unclear:
            raise_faults(unclear)
        return graph
    finally:
        if collecting:
            gc.enable()


def _in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda fault: fault.span.start if fault.span else 0)


class _Work:
    """States, arcs and slots while they grow."""

    def __init__(self, written: Written, structure: Brackets, loops: dict[int, int]) -> None:
        self.written = written
        self.nodes = written.protocol.nodes
        self.structure = structure
        self.loops = loops
        self.found: list[Diagnostic] = []
        self.regions: list[int] = []  # per state
        self.first: list[int] = []  # per state: its first arc
        self.arcs: list[
            tuple[int, int, int]
        ] = []  # origin, place of its step, slot of its target; one state's arcs in a row
        self.slots: list[int] = [0]  # slot 0: where the protocol begins
        self.forks: dict[int, tuple[list[int], int]] = {}  # slots of the starts, slot of the join
        self.ended: list[int] = []  # per region
        self.loop_slots: dict[int, int] = {}
        self.dead: list[tuple[int, int]] = []
        self.merged: dict[int, int] = {}  # forks that do nothing: state to the slot of their join

    def _state(self, region: int) -> int:
        self.regions.append(region)
        self.first.append(len(self.arcs))
        return len(self.regions) - 1

    def _slot(self, k: int) -> int:
        self.slots.append(k)
        return len(self.slots) - 1

    def _loop_slot(self, place: int) -> int:
        if place not in self.loop_slots:
            self.loop_slots[place] = self._slot(0)
        return self.loop_slots[place]

    def compile(self) -> None:
        self.ended.append(self._state(0))
        work = [(0, len(self.nodes), self.ended[0], 0, 0)]
        while work:
            low, high, k, sink, region = work.pop()
            self.slots[sink] = self._list(low, high, k, region, work)
        self._check_loops()
        self._merge_idle_forks()

    def _list(self, low: int, high: int, k: int, region: int, work: list[tuple[int, int, int, int, int]]) -> int:
        """Compile one list from its right end; what nests is put on the work list. Returns where the list begins."""
        nodes, opens, parts = self.nodes, self.structure.opens, self.structure.parts
        at, leftmost = high - 1, high - 1
        while at >= low:
            node = nodes[at]
            if type(node) is Step:
                state = self._state(region)
                self.arcs.append((state, at, self._slot(k)))
                k = state
            elif type(node) is Loop:
                self.slots[self._loop_slot(at)] = k
            elif type(node) is Jump:
                k, leftmost = -1 - self._loop_slot(self.loops[at]), at
            elif node is Mark.END:
                k, leftmost = self.ended[region], at
            else:
                opened = opens[at]
                part = parts[opened]
                if nodes[opened] is Mark.GROUP:
                    slot = self._slot(0)
                    work.append((part[0], part[1] - 1, k, slot, region))
                    k = -1 - slot
                else:
                    state = self._state(region)
                    if nodes[opened] is Mark.CHOICE:
                        for begin, end in itertools.pairwise(part):
                            slot = self._slot(k)
                            self.arcs.append((state, begin, slot))
                            if end - 1 > begin + 1:
                                work.append((begin + 1, end - 1, k, slot, region))
                    else:
                        starts = []
                        for begin, end in itertools.pairwise(part):
                            inner = len(self.ended)
                            self.ended.append(self._state(inner))
                            starts.append(self._slot(0))
                            work.append((begin, end - 1, self.ended[inner], starts[-1], inner))
                        self.forks[state] = (starts, self._slot(k))
                    k = state
                at = opened
            at -= 1
        if leftmost < high - 1:
            self.dead.append((leftmost, high - 1))
        return k

    def _follow(self, k: int) -> int | None:
        """The state that `k` stands for, remembered in every slot on the way; None if it stands for itself."""
        trail: list[int] = []
        met: set[int] = set()
        while True:
            if k < 0:
                slot = -1 - k
            elif k in self.merged:
                slot = self.merged[k]
            else:
                break
            if slot in met:
                return None
            met.add(slot)
            trail.append(slot)
            k = self.slots[slot]
        for slot in trail:
            self.slots[slot] = k
        return k

    def _settled(self, k: int) -> int:
        state = self._follow(k)
        assert state is not None  # INVARIANT: loops that stand for themselves were reported and cut
        return state

    def _check_loops(self) -> None:
        """Report unguarded recursion, `rec X.X`; the loop then counts as ended, so that the rest can be looked at."""
        for place, slot in self.loop_slots.items():
            if self._follow(-1 - slot) is None and self._on_cycle(slot):
                name = self.nodes[place].name  # type: ignore[union-attr]
                message = f"`rec {name}` comes back to itself without a step"
                self.found.append(
                    Diagnostic(
                        code="unguarded",
                        message=message,
                        span=self.written.span(place),
                        help=f"put a step before `{name}`",
                    )
                )
        for slot in self.loop_slots.values():
            if self._follow(-1 - slot) is None:
                self.slots[slot] = self.ended[0]

    def _on_cycle(self, slot: int) -> bool:
        k, met = self.slots[slot], {slot}
        while k < 0 or k in self.merged:
            step = -1 - k if k < 0 else self.merged[k]
            if step == slot:
                return True
            if step in met:
                return False
            met.add(step)
            k = self.slots[step]
        return False

    def _merge_idle_forks(self) -> None:
        """A fork whose sides have all ended when they begin is no state. Inner forks were made after outer ones."""
        idle = False
        for state, (starts, join) in reversed(list(self.forks.items())):
            begun = [self._follow(-1 - slot) for slot in starts]
            if all(start is not None and start == self.ended[self.regions[start]] for start in begun):
                self.merged[state] = join
                idle = True
        if idle:
            self._check_loops()

    def graph(self, notes: list[Diagnostic]) -> Graph:
        """Number the states that can be reached, breadth first, and make the arcs."""
        start = self._settled(-1)
        order, number = [start], {start: 0}
        leaving: list[tuple[int, int, int]] = []
        arcs, ends = self.arcs, [*self.first[1:], len(self.arcs)]
        follow, slots, merged = self._settled, self.slots, self.merged
        forks: dict[int, Fork] = {}
        for state in order:
            if state in self.forks:
                starts, join = self.forks[state]
                to = [follow(-1 - slot) for slot in (*starts, join)]
                for target in to:
                    if target not in number:
                        number[target] = len(order)
                        order.append(target)
                forks[number[state]] = Fork(tuple(number[target] for target in to[:-1]), number[to[-1]])
                continue
            for origin, place, slot in arcs[self.first[state] : ends[state]]:
                target = slots[slot]
                if target < 0 or target in merged:
                    target = follow(target)
                if target not in number:
                    number[target] = len(order)
                    order.append(target)
                leaving.append((origin, place, target))
        written = self.written
        return Graph(
            source=written.source,
            size=len(order),
            start=0,
            finals=frozenset(number[state] for state in self.ended if state in number),
            arcs=tuple(self._arc(number[origin], place, number[target]) for origin, place, target in leaving),
            forks=forks,
            regions=self._regions(order) if forks else (),
            names=self._names(number),
            text=protocol_text(written.protocol, self.structure),
            notes=tuple(_in_order([*notes, *self._dead_text(leaving)])),
        )

    def _names(self, number: dict[int, int]) -> dict[int, str]:
        """A state that a `rec` begins is called as its variable; the outer one names it, and no name is given twice."""
        names: dict[int, str] = {}
        given: set[str] = set()
        for place in sorted(self.loop_slots):
            state = number.get(self._settled(-1 - self.loop_slots[place]))
            name: str = self.nodes[place].name  # type: ignore[union-attr]
            if state is not None and state not in names and name not in given:
                names[state] = name
                given.add(name)
        return names

    def _regions(self, order: list[int]) -> tuple[int, ...]:
        """Regions numbered anew, in the order in which their states are met."""
        numbers: dict[int, int] = {}
        return tuple(numbers.setdefault(self.regions[state], len(numbers)) for state in order)

    def _arc(self, origin: int, place: int, target: int) -> Arc:
        node = self.nodes[place]
        assert type(node) is Step
        return Arc(
            origin,
            node.side,
            node.label,
            target,
            node.outcome,
            node.guards,
            node.binds,
            node.otherwise,
            node.group,
            self.written.starts[place],
            self.written.ends[place],
        )

    def _dead_text(self, leaving: list[tuple[int, int, int]]) -> list[Diagnostic]:
        """Text that is never reached: behind `end` or a variable, or behind a choice that never goes on."""
        found = []
        covered: set[int] = set()
        for left, right in sorted(self.dead):
            if left in covered:
                continue
            covered.update(range(left, right + 1))
            node = self.nodes[left]
            word = f"`{node.name}` goes back" if type(node) is Jump else "`end` ends"
            found.append(self._swallowed(left + 1, right, f"{word}; what follows it never happens"))
        reached = {place for _, place, _ in leaving}
        if len(reached) + len(covered) < len(self.nodes):
            lost = [
                at
                for at, node in enumerate(self.nodes)
                if type(node) is Step and at not in reached and at not in covered
            ]
            at = 0
            while at < len(lost):
                last = at
                while last + 1 < len(lost) and not any(place in reached for place in range(lost[last], lost[last + 1])):
                    last += 1
                found.append(
                    self._swallowed(lost[at], lost[last], "nothing leads here: what comes before never goes on")
                )
                at = last + 1
        return found

    def _swallowed(self, left: int, right: int, message: str) -> Diagnostic:
        span = self.written.span(left)
        span = type(span)(span.source, span.start, max(span.end, self.written.ends[right]))
        help = "remove it, or let a branch before it go on without `end`"
        return Diagnostic(code="dead", message=message, severity="warning", span=span, help=help)
