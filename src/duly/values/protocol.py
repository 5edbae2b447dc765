"""The flat protocol tree: what a session-type string says, without its layout.

A tree is one tuple of nodes in the order of the text, with marks for where brackets open, change side and close, as
in ``!{ a . P , b }``. Nothing nests, so hashing, comparing, printing, pickling and freeing a tree that is 200,000
brackets deep is a walk along a tuple. What a tree means is said by the compiler, how it is written by the printer.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

from msgspec import Struct

from .errors import Diagnostic, DulyError
from .expr import Bind, Guard


class Step(Struct, frozen=True, gc=False):
    """``!label`` or ``?label=outcome``, with its clauses.

    ``label`` None is the branch for messages that nobody could name. ``group`` marks the name of a group of the
    contract, or a glob. ``otherwise`` is the guard ``else``.
    """

    side: str
    label: str | None
    outcome: str | None = None
    group: bool = False
    guards: tuple[Guard, ...] = ()
    binds: tuple[Bind, ...] = ()
    otherwise: bool = False


class Loop(Struct, frozen=True, gc=False):
    """``rec name``: what follows in the same list can be entered again by a `Jump` of that name."""

    name: str


class Jump(Struct, frozen=True, gc=False):
    """A recursion variable: go back to the innermost `Loop` of that name."""

    name: str


class Mark(Enum):
    """``end``, and the brackets: a mark of these three opens, ``NEXT`` begins the next part, ``CLOSE`` closes."""

    END = "end"
    CHOICE = "choice"
    GROUP = "group"
    SIDES = "sides"
    NEXT = "next"
    CLOSE = "close"


Node = Step | Loop | Jump | Mark
OPENING: Final = frozenset({Mark.CHOICE, Mark.GROUP, Mark.SIDES})


class Protocol(Struct, frozen=True):
    """A well-formed tree in normal form; make one with `protocol_of`, which checks and normalises."""

    nodes: tuple[Node, ...]


class Brackets(Struct, frozen=True):
    """Where the brackets of a row of nodes belong.

    ``opens`` gives for the place of each ``CLOSE`` the place of its opening mark; ``parts`` for each opening mark
    where its parts begin and, last, one behind its ``CLOSE``: part i is ``nodes[parts[i] : parts[i + 1] - 1]``.
    """

    opens: dict[int, int]
    parts: dict[int, list[int]]


def brackets(nodes: Sequence[Node]) -> Brackets:
    """The bracket structure of well-formed nodes, found in one pass."""
    opens: dict[int, int] = {}
    parts: dict[int, list[int]] = {}
    stack: list[int] = []
    for at, node in enumerate(nodes):
        if type(node) is not Mark or node is Mark.END:
            continue
        if node is Mark.NEXT:
            parts[stack[-1]].append(at + 1)
        elif node is Mark.CLOSE:
            opens[at] = stack.pop()
            parts[opens[at]].append(at + 1)
        else:
            stack.append(at)
            parts[at] = [at + 1]
    return Brackets(opens=opens, parts=parts)


def protocol_of(nodes: Iterable[Node]) -> Protocol:
    """The tree of these nodes in normal form; raises DulyError where they do not form a protocol."""
    row = list(nodes)
    found = misformed(row)
    if found:
        raise DulyError(found)
    return Protocol(tuple(row[at] for at in kept(row)))


def misformed(nodes: Sequence[Node]) -> list[Diagnostic]:
    """What keeps these nodes from being a protocol: brackets, empty parts, branches without a head."""
    found: list[Diagnostic] = []
    stack: list[Mark] = []
    several: list[bool] = []
    empty, head = True, False
    for at, node in enumerate(nodes):
        opening = type(node) is Mark and node in OPENING
        separator = node is Mark.NEXT or node is Mark.CLOSE
        if separator and empty:
            found.append(_at(at, "an empty part", "write at least one step, or `end`"))
        if head and type(node) is not Step and not separator:
            found.append(_at(at, "a branch must begin with a step", "begin it with the label that picks it"))
        head = False
        if opening:
            stack.append(node)  # type: ignore[arg-type]
            if node is Mark.SIDES:
                several.append(False)
            empty, head = True, node is Mark.CHOICE
        elif separator:
            if not stack:
                found.append(_at(at, "a bracket that nothing opened", "remove it"))
            elif node is Mark.CLOSE:
                if stack.pop() is Mark.SIDES and not several.pop():
                    found.append(_at(at, "sides need two parts at least", "use GROUP around a single part"))
                empty = False
            elif stack[-1] is Mark.GROUP:
                found.append(_at(at, "a group has one part", "use SIDES for parts that run side by side"))
            else:
                empty, head = True, stack[-1] is Mark.CHOICE
                if stack[-1] is Mark.SIDES:
                    several[-1] = True
        else:
            empty = False
            if type(node) is Loop and (at + 1 == len(nodes) or nodes[at + 1] in (Mark.NEXT, Mark.CLOSE)):
                found.append(_at(at, f"nothing follows `rec {node.name}`", "write the loop's body after it"))
    if stack:
        found.append(_at(len(nodes), "a bracket that is never closed", "close it"))
    if not nodes:
        found.append(_at(0, "an empty protocol", "write at least one step, or `end`"))
    return found


def kept(nodes: Sequence[Node]) -> list[int]:
    """The places of the nodes that stay in normal form.

    A group stays only where it keeps a ``rec`` from swallowing what follows; sides with one part are a group; sides
    that are all of a part of other sides are further parts of those; an ``end`` that is all of a branch goes where the
    protocol ends behind the choice anyway. So a tree and its print say one thing in one way.
    """
    structure = brackets(nodes)
    gone: set[int] = set()
    loops: list[bool] = [False]  # per open bracket: does a `rec` stand in the current list of its own level?
    for at, node in enumerate(nodes):
        if type(node) is Loop:
            loops[-1] = True
        elif type(node) is not Mark or node is Mark.END:
            continue
        elif node in OPENING:
            loops.append(False)
        elif node is Mark.CLOSE:
            looped = loops.pop()
            start = structure.opens[at]
            opened = nodes[start]
            last = at + 1 == len(nodes) or nodes[at + 1] in (Mark.NEXT, Mark.CLOSE)
            if opened is Mark.GROUP and (not looped or last):
                gone.update((start, at))
                loops[-1] = loops[-1] or looped
        elif node is Mark.NEXT:
            loops[-1] = False
    rest = [at for at in range(len(nodes)) if at not in gone]
    if Mark.CHOICE in nodes and Mark.END in nodes:
        row = [nodes[at] for at in rest]
        idle = _idle_ends(row, brackets(row))
        rest = [at for place, at in enumerate(rest) if place not in idle]
    return _flattened(nodes, rest) if Mark.SIDES in nodes else rest


def _idle_ends(nodes: Sequence[Node], structure: Brackets) -> set[int]:
    """The places of ``end`` that say nothing: alone in a branch, where what follows the choice is the end."""
    found: set[int] = set()
    outer: list[tuple[Mark, bool]] = []
    ends = True  # is what stands right of here, up to the end of everything, nothing but the end?
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if type(node) is Step or type(node) is Jump:
            ends = False
        elif node is Mark.CLOSE:
            opened = nodes[structure.opens[at]]
            ends = ends or opened is Mark.SIDES
            outer.append((opened, ends))  # type: ignore[arg-type]
        elif node is Mark.NEXT:
            ends = outer[-1][1]
        elif node is Mark.END:
            alone = (
                nodes[at - 1 : at]
                and type(nodes[at - 1]) is Step
                and at > 1
                and nodes[at - 2] in (Mark.CHOICE, Mark.NEXT)
            )
            last = at + 1 < len(nodes) and nodes[at + 1] in (Mark.NEXT, Mark.CLOSE)
            if alone and last and outer[-1] == (Mark.CHOICE, True):
                found.add(at)
            ends = True
        elif node in OPENING:
            outer.pop()
            ends = ends and node is Mark.GROUP
    return found


def _flattened(nodes: Sequence[Node], rest: list[int]) -> list[int]:
    """Join sides that are all of a part of other sides: `(P || Q) || R` is `P || Q || R`."""
    gone: set[int] = set()
    enclosing: list[int] = []
    for place, at in enumerate(rest):
        node = nodes[at]
        if type(node) is not Mark:
            continue
        if node in OPENING:
            enclosing.append(place)
        elif node is Mark.CLOSE:
            start = enclosing.pop()
            if not enclosing or nodes[rest[start]] is not Mark.SIDES or nodes[rest[enclosing[-1]]] is not Mark.SIDES:
                continue
            begins = start - 1 == enclosing[-1] or nodes[rest[start - 1]] is Mark.NEXT
            if begins and nodes[rest[place + 1]] in (Mark.NEXT, Mark.CLOSE):
                gone.update((rest[start], at))
    return [at for at in rest if at not in gone]


def _at(place: int, message: str, help: str) -> Diagnostic:
    return Diagnostic(code="tree", message=message, path=f"nodes[{place}]", help=help)
