"""The compiled graph and the derivative semantics agree on every legal event and on every end."""

import os
import random

import oracle
from duly.machine.graph import Graph
from duly.notation.compile import compile_protocol
from duly.notation.printing import protocol_text
from duly.notation.strings import Written, parse
from duly.values.errors import DulyError
from duly.values.expr import Guard, Literal
from duly.values.protocol import Jump, Loop, Mark, Node, Protocol, Step, protocol_of

COUNT = 60_000 if os.environ.get("DULY_SOAK") else 6_000


def _nodes(dice: random.Random, depth: int, scope: tuple[str, ...], labels: list[str]) -> list[Node]:
    out: list[Node] = []
    for _ in range(dice.randint(1, 3)):
        kind = dice.random()
        if kind < 0.45 or depth == 0:
            out.append(_step(dice, labels))
        elif kind < 0.7:
            out += _choice(dice, depth, scope, labels)
        elif kind < 0.8 and len(labels) >= 4:
            half = len(labels) // 2
            left = _nodes(dice, depth - 1, (), labels[:half])
            right = _nodes(dice, depth - 1, (), labels[half:])
            out += [Mark.SIDES, *left, Mark.NEXT, *right, Mark.CLOSE]
        elif kind < 0.87:
            name = dice.choice("XYZ")
            out += [Mark.GROUP, Loop(name), *_nodes(dice, depth - 1, (*scope, name), labels), Mark.CLOSE]
        else:
            name = dice.choice("XYZ")
            scope = (*scope, name)
            out += [Loop(name), _step(dice, labels)]
    ending = dice.random()
    if scope and ending < 0.45:
        out.append(Jump(dice.choice(scope)))
    elif ending < 0.6:
        out.append(Mark.END)
    return out


def _step(dice: random.Random, labels: list[str]) -> Step:
    side = dice.choice("!?")
    return Step(side, dice.choice(labels), dice.choice([None, None, "no"]) if side == "?" else None)


def _choice(dice: random.Random, depth: int, scope: tuple[str, ...], labels: list[str]) -> list[Node]:
    out: list[Node] = [Mark.CHOICE]
    heads: dict[Step, None] = {}
    for _ in range(dice.randint(1, 3)):
        if dice.random() < 0.2:
            label = dice.choice(labels)
            if not any(head.label == label for head in heads):
                heads |= {Step("!", label, guards=(Guard(("n",), "==", Literal(value)),)): None for value in (1, 2)}
        elif (step := _step(dice, labels)) and not any(head.label == step.label for head in heads):
            heads[step] = None
    for head in heads or {Step("!", labels[0]): None}:
        out += [Mark.NEXT] if len(out) > 1 else []
        out.append(head)
        if dice.random() < 0.7:
            out += _nodes(dice, depth - 1, scope, labels)
    return [*out, Mark.CLOSE]


def _enter(graph: Graph, state: int) -> tuple[int, tuple]:
    """A cursor in a graph: its state, and the cursors of the sides that run in it."""
    fork = graph.forks.get(state)
    if fork is None:
        return state, ()
    return _joined(graph, state, tuple(_enter(graph, start) for start in fork.starts))


def _joined(graph: Graph, state: int, sides: tuple) -> tuple[int, tuple]:
    if all(not inner and side in graph.finals for side, inner in sides):
        return _enter(graph, graph.forks[state].join)
    return state, sides


def _moves(graph: Graph, leaving: dict, cursor: tuple[int, tuple]) -> dict[Step, tuple]:
    state, sides = cursor
    if sides:
        return {
            step: _joined(graph, state, (*sides[:at], to, *sides[at + 1 :]))
            for at, side in enumerate(sides)
            for step, to in _moves(graph, leaving, side).items()
        }
    return {
        Step(arc.side, arc.label, arc.outcome, arc.group, arc.guards): _enter(graph, arc.target)
        for arc in leaving.get(state, ())
    }


def _agree(tree: Protocol, graph: Graph, dice: random.Random) -> None:
    leaving: dict[int, list] = {}
    for arc in graph.arcs:
        leaving.setdefault(arc.origin, []).append(arc)
    for _ in range(2):
        config, cursor = oracle.begin(tree), _enter(graph, graph.start)
        for _ in range(12):
            wanted, got = oracle.moves(config), _moves(graph, leaving, cursor)
            assert wanted.keys() == got.keys(), protocol_text(tree)
            assert (config is None) == (not cursor[1] and cursor[0] in graph.finals), protocol_text(tree)
            if not wanted:
                break
            step = dice.choice(list(wanted))
            config, cursor = wanted[step], got[step]


def _compiled(written: Written) -> Graph | None:
    """The graph, or None for a protocol with unguarded recursion, the only fault the dice can make."""
    try:
        return compile_protocol(written)
    except DulyError as error:
        if {fault.code for fault in error.diagnostics} != {"unguarded"}:
            raise
        return None


def test_graphs_and_derivatives_agree_on_random_protocols():
    dice = random.Random(2026)
    agreed = refused = 0
    while agreed < COUNT:
        tree = protocol_of(_nodes(dice, 3, (), list("abcdefgh")))
        text = protocol_text(tree)
        written = parse(text)
        assert written.protocol == tree
        graph = _compiled(written)
        if graph is None:
            refused += 1
            continue
        steps = sum(type(node) is Step for node in tree.nodes)
        choices = sum(node is Mark.CHOICE for node in tree.nodes)
        if not graph.forks:
            assert graph.size <= steps + choices + 1
        _agree(tree, graph, dice)
        agreed += 1
    assert refused < COUNT // 4
