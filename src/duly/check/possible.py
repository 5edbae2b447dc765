"""Which acts can ever be admitted, over protocols and rules together: a least fixed point, found in one pass.

Guards and results are taken to go well, so what is called impossible here is impossible.
"""

from collections.abc import Callable, Iterable

from duly.machine.contract import Contract
from duly.machine.graph import Arc, Graph
from duly.machine.names import Names
from duly.machine.templates import Ask, Below, Bit, Needs

from .run import arcs_by_origin, region_of, shortest_runs

_Flows = Callable[[str, str], bool]


class Possible:
    """The acts that some run admits.

    An act is possible once every protocol that speaks of it offers it in a state that some run reaches, some name of
    each bit that it needs can succeed, and no cap of 0 forbids it.
    """

    def __init__(self, contract: Contract, names: Names, asks: Iterable[Ask]) -> None:
        self.acts: set[str] = set()
        self._contract = contract
        self._names = names
        self._messages = set(contract.terms.labels)
        self._closed = contract.terms.tools is not None
        self._spoken = {label for line in contract.lines for label in line.acts}
        self._needs: dict[str, list[Bit]] = {}
        self._forbidden: set[str] = set()
        self._speaking: dict[str, int] = {}
        for ask in asks:
            if isinstance(ask, Needs):
                for name in ask.names:
                    self._needs.setdefault(name, []).append(ask.bit)
            elif isinstance(ask, Below) and ask.limit == 0:
                self._forbidden |= ask.names
        self._waiting: dict[str, list[str]] = {}
        for name, bits in self._needs.items():
            for first in {first for bit in bits for first in bit.names}:
                self._waiting.setdefault(first, []).append(name)
        self._walks = [_Walk(graph, names) for graph in contract.terms.protocols]
        for walk in self._walks:
            for label in walk.acts:
                self._speaking[label] = self._speaking.get(label, 0) + 1
        self._grow()

    def waits_for(self, name: str, bit: Bit) -> bool:
        """Whether this act is offered and the bit is what keeps it from ever being admitted."""
        return name not in self._forbidden and self._offered(name) and not self._can_be_set(bit)

    def unoffered(self, graph: Graph) -> list[Arc]:
        """The acts of the protocol that its shape alone would let a run reach, and no run reaches."""
        walk = next(walk for walk in self._walks if walk.graph is graph)
        cost = shortest_runs(graph).cost
        return [arc for arc in graph.arcs if arc.side == "!" and arc.origin in cost and arc.origin not in walk.reached]

    def _grow(self) -> None:
        todo: list[str] = [*self._needs, *self._contract.acts]
        for walk in self._walks:
            todo += walk.reach(walk.graph.start, self._flows)
        while todo:
            name = todo.pop()
            if name in self.acts or not self._admissible(name):
                continue
            self.acts.add(name)
            todo += self._waiting.get(name, ())
            for walk in self._walks:
                todo += walk.go(name, self._flows)

    def _admissible(self, name: str) -> bool:
        if name in self._forbidden or not self._offered(name):
            return False
        return all(self._can_be_set(bit) for bit in self._needs.get(name, ()))

    def _offered(self, name: str) -> bool:
        if (
            self._closed
            and name not in self._contract.tools
            and name not in self._messages
            and name not in self._spoken
        ):
            return False
        return sum(name in walk.offered for walk in self._walks) == self._speaking.get(name, 0)

    def _can_be_set(self, bit: Bit) -> bool:
        return any(name in self.acts or name in self._messages for name in bit.names)

    def _flows(self, side: str, name: str) -> bool:
        """Whether this name can pass an arc: what is learnt of nobody's act can always come."""
        return name in self.acts or (side == "?" and name not in self._spoken and name not in self._contract.tools)


class _Walk:
    """One protocol while it is walked: states reached, acts offered, arcs that wait for a name."""

    def __init__(self, graph: Graph, names: Names) -> None:
        self.graph = graph
        self.reached: set[int] = set()
        self.offered: set[str] = set()
        self._leaving = arcs_by_origin(graph)
        self._members = {
            arc.label: names.members("@" + arc.label.removeprefix("@"))
            if arc.group
            else frozenset({names.canonical(arc.label)})
            for arc in graph.arcs
            if arc.label is not None
        }
        self.acts = {
            name for arc in graph.arcs if arc.side == "!" and arc.label is not None for name in self._members[arc.label]
        }
        self._waiting: dict[str, list[Arc]] = {}
        self._ended: set[int] = set()
        self._fork_of = {region_of(graph, start): state for state, fork in graph.forks.items() for start in fork.starts}

    def reach(self, state: int, flows: _Flows) -> list[str]:
        """Enters a state and all behind it that nothing keeps; gives the acts that are offered anew."""
        news: list[str] = []
        todo = [state]
        while todo:
            state = todo.pop()
            if state in self.reached:
                continue
            self.reached.add(state)
            fork = self.graph.forks.get(state)
            if fork is not None:
                todo += fork.starts
            if state in self.graph.finals:
                todo += self._joined(region_of(self.graph, state))
            for arc in self._leaving.get(state, ()):
                if arc.label is None:
                    todo.append(arc.target)
                    continue
                for name in self._members[arc.label]:
                    if arc.side == "!" and name not in self.offered:
                        self.offered.add(name)
                        news.append(name)
                    if flows(arc.side, name):
                        todo.append(arc.target)
                    else:
                        self._waiting.setdefault(name, []).append(arc)
        return news

    def go(self, name: str, flows: _Flows) -> list[str]:
        """The arcs that waited for this name."""
        return [new for arc in self._waiting.pop(name, ()) for new in self.reach(arc.target, flows)]

    def _joined(self, region: int) -> list[int]:
        self._ended.add(region)
        state = self._fork_of.get(region)
        if state is None:
            return []
        fork = self.graph.forks[state]
        ended = all(region_of(self.graph, start) in self._ended for start in fork.starts)
        return [fork.join] if ended else []
