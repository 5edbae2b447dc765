"""Names of a session-type string: which `rec` a variable means, which registers are bound, what clauses ask."""

import itertools

from msgspec import Struct

from duly.values.errors import Diagnostic, suggest
from duly.values.expr import Literal, Register, kind
from duly.values.protocol import Brackets, Jump, Loop, Mark, Protocol, Step
from duly.values.source import Source, Span

from .scan import Scanner
from .strings import Written
from .word import MOST_FAULTS


class Names(Struct):
    """For each `Jump` the place of its `Loop`, and the faults and notes found on the way."""

    loops: dict[int, int]
    found: list[Diagnostic]


def resolve(written: Written, structure: Brackets) -> Names:
    """Bind recursion variables to their loops, left to right, with a stack of our own."""
    nodes = written.protocol.nodes
    loops: dict[int, int] = {}
    found: list[Diagnostic] = []
    scope: dict[str, list[int]] = {}
    frames: list[list[str]] = [[]]  # the names that each open list binds: undone when it ends
    sides: list[int] = []
    used: set[int] = set()
    for at, node in enumerate(nodes):
        if type(node) is Step:
            continue
        if type(node) is Loop:
            outer = scope.setdefault(node.name, [])
            if outer:
                found.append(
                    _note(
                        written,
                        at,
                        "shadowed",
                        f"`rec {node.name}` hides the outer `{node.name}`",
                        "give the inner loop another name",
                    )
                )
            outer.append(at)
            frames[-1].append(node.name)
        elif type(node) is Jump:
            binders = scope.get(node.name)
            if not binders:
                known = [name for name, places in scope.items() if places] if len(found) < MOST_FAULTS else []
                found.append(_unbound(written, at, node.name, known))
                continue
            used.add(binders[-1])
            loops[at] = binders[-1]
            if sides and sides[-1] > binders[-1]:
                message = f"`{node.name}` crosses `||`: its `rec` stands outside of this side"
                help = "close the loop within the side, or write the `rec` inside it"
                found.append(Diagnostic(code="crossing", message=message, span=written.span(at), help=help))
        elif node is Mark.NEXT or node is Mark.CLOSE:
            for name in frames.pop():
                scope[name].pop()
            if node is Mark.NEXT:
                frames.append([])
            elif sides and sides[-1] == structure.opens[at]:
                sides.pop()
        elif node is not Mark.END:
            frames.append([])
            if node is Mark.SIDES:
                sides.append(at)
    for at, node in enumerate(nodes):
        if type(node) is Loop and at not in used:
            found.append(
                _note(
                    written,
                    at,
                    "unused",
                    f"nothing goes back to `rec {node.name}`",
                    "remove it, or end a branch with its name",
                )
            )
    return Names(loops=loops, found=found)


def check_clauses(written: Written) -> list[Diagnostic]:
    """Faults of clauses: registers that nothing binds, comparisons that can never hold, `else` beside guards."""
    nodes = written.protocol.nodes
    bound = {bind.register for node in nodes if type(node) is Step for bind in node.binds}
    found: list[Diagnostic] = []
    for at, node in enumerate(nodes):
        if type(node) is not Step or not (node.guards or node.binds):
            continue
        for guard in node.guards:
            operand = guard.operand
            if type(operand) is Register:
                if operand.name not in bound:
                    message = f"register `{operand.name}` is never bound"
                    help = (
                        suggest(operand.name, bound) if len(found) < MOST_FAULTS else ""
                    ) or f"bind it before, as in `(field as {operand.name})`, or quote a text"
                    span = _operand_span(written, at, operand.name)
                    found.append(Diagnostic(code="unbound_register", message=message, span=span, help=help))
            elif (
                type(operand) is Literal
                and (guard.op == "in") != (type(operand.value) is tuple)
                and guard.op not in ("==", "!=")
            ):
                help = "as in `x in [1, 2]`" if guard.op == "in" else "`<` and its kin compare numbers or texts"
                found.append(
                    Diagnostic(
                        code="comparison", message=f"`{guard.op}` can never hold here", span=written.span(at), help=help
                    )
                )
            elif type(operand) is Literal and guard.op[0] in "<>" and kind(operand.value) not in ("number", "text"):
                help = "`<` and its kin compare numbers or texts"
                found.append(
                    Diagnostic(
                        code="comparison", message=f"`{guard.op}` can never hold here", span=written.span(at), help=help
                    )
                )
        names = [bind.register for bind in node.binds]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            found.append(
                Diagnostic(
                    code="bound_twice",
                    message=f"one event binds `{twice}` twice",
                    span=written.span(at),
                    help="use two registers",
                )
            )
        if node.otherwise and node.guards:
            help = "`else` holds when no guard of a branch of the same label does"
            found.append(
                Diagnostic(code="else", message="`else` stands beside a guard", span=written.span(at), help=help)
            )
    return found


def check_sides(written: Written, structure: Brackets) -> list[Diagnostic]:
    """B6: the sides of ``||`` speak of different labels. Small sets go into large ones, so that nesting stays cheap."""
    nodes = written.protocol.nodes
    if Mark.SIDES not in nodes:
        return []
    found: list[Diagnostic] = []
    here: dict[tuple[str, str | None, bool], int] = {}  # labels of the current part, each with its first place
    stack: list[tuple[dict[tuple[str, str | None, bool], int], dict[tuple[str, str | None, bool], int]]] = []
    opens: list[int] = []
    for at, node in enumerate(nodes):
        if type(node) is Step:
            here.setdefault((node.side, node.label, node.group), at)
        elif node is Mark.SIDES:
            stack.append((here, {}))
            opens.append(at)
            here = {}
        elif opens and (node is Mark.NEXT or node is Mark.CLOSE) and _ends(structure, opens[-1], at):
            outer, before = stack.pop()
            small, large = sorted((here, before), key=len)
            for key in small.keys() & large.keys():
                label = "Unrecognized" if key[1] is None else ("@" if key[2] else "") + key[1]
                first, again = sorted((small[key], large[key]))
                message = f"`{key[0]}{label}` stands on both sides of `||`"
                help = f"the sides must speak of different labels; the other one is at {written.span(first).where()}"
                found.append(Diagnostic(code="shared_label", message=message, span=written.span(again), help=help))
            for key, place in small.items():
                large.setdefault(key, place)
            if node is Mark.NEXT:
                stack.append((outer, large))
                here = {}
            else:
                opens.pop()
                small, here = sorted((outer, large), key=len)
                for key, place in small.items():
                    here[key] = min(place, here.get(key, place))
    return found


def _ends(structure: Brackets, opened: int, at: int) -> bool:
    """Whether a NEXT or CLOSE belongs to this opening: it ends one of its parts."""
    parts = structure.parts[opened]
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high) // 2
        if parts[middle] < at + 1:
            low = middle + 1
        else:
            high = middle
    return low < len(parts) and parts[low] == at + 1


def _unbound(written: Written, at: int, name: str, known: list[str]) -> Diagnostic:
    span = written.span(at)
    help = suggest(name, known)
    before = written.source.text[: span.start].rstrip()
    if not help and before.endswith(".") and at and type(written.protocol.nodes[at - 1]) is Step:
        label = written.protocol.nodes[at - 1].label  # type: ignore[union-attr]
        help = f'write `rec {name}.` before; if `{label}.{name}` is one label, quote it: `"{label}.{name}"`'
    if not help:
        help = f"write `rec {name}.` before, or `!{name}` or `?{name}` for a step"
    return Diagnostic(code="unbound", message=f"unbound recursion variable `{name}`", span=span, help=help)


def _operand_span(written: Written, at: int, name: str) -> Span:
    """Where the register stands inside its step."""
    span = written.span(at)
    side = "" if span.text()[:1] in "!?" else "!"
    words = Scanner(Source("", side + span.text())).scan()
    for before, word in itertools.pairwise(words):
        if before.type == "OP" and word.type == "NAME" and word.value == name:
            start = span.start - len(side)
            return Span(written.source, start + word.start, start + word.end)
    return span


def _note(written: Written, at: int, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code=code, message=message, severity="warning", span=written.span(at), help=help)


def labels_of(protocol: Protocol) -> list[str]:
    """Every label of the tree once, in order of appearance."""
    return list(dict.fromkeys(node.label for node in protocol.nodes if type(node) is Step and node.label is not None))
