"""What a formula is made of: a flat row of nodes, parts before what they are parts of, so that depth is no limit."""

from typing import Final, Literal, TypeAlias

from msgspec import Struct

Side: TypeAlias = Literal["!", "?", ""]

UNARY: Final = ("not", "X", "WX", "F", "G", "Y", "WY", "O", "H")
BINARY: Final = ("U", "R", "W", "S")
JOINS: Final = ("and", "or", "->", "<->")
TERMS: Final = ("did", "count", "all", "any_of", "at_least", "at_most")
COMPARISONS: Final = ("==", "!=", "<=", ">=", "<", ">")


class Atom(Struct, frozen=True):
    """A label: ``!refund``, ``?verify=denied``, ``!refund{args.amount > 5}``; in history terms also without a side.

    ``name`` is as written: a name, a glob (with ``*``) or a group (``@change``). ``where`` is CEL.
    """

    side: Side
    name: str
    outcome: str | None = None
    where: str | None = None


class Truth(Struct, frozen=True):
    """``true`` or ``false``."""

    value: bool


class Unary(Struct, frozen=True):
    """``not`` or a temporal operator before one formula; ``of`` is the place of its node."""

    op: str
    of: int


class Binary(Struct, frozen=True):
    """An operator between two formulas; ``left`` and ``right`` are the places of their nodes."""

    op: str
    left: int
    right: int


class Did(Struct, frozen=True):
    """``did(x)``: an ``x`` has occurred."""

    of: Atom


class Count(Struct, frozen=True):
    """``count(x) >= n``: how many have occurred, compared with a number."""

    of: Atom
    sign: str
    n: int


class Among(Struct, frozen=True):
    """``all``, ``any_of``, ``at_least`` or ``at_most`` ``n`` different ones of these have occurred."""

    kind: Literal["all", "any_of", "at_least", "at_most"]
    n: int
    of: tuple[Atom, ...]


Node: TypeAlias = Atom | Truth | Unary | Binary | Did | Count | Among


class Formula(Struct, frozen=True):
    """A formula as a row of nodes in the order in which their texts end; the last one is the whole."""

    nodes: tuple[Node, ...]

    @property
    def root(self) -> Node:
        return self.nodes[-1]

    def atoms(self) -> list[Atom]:
        """The labels that it speaks of, each once, in the order of the text."""
        found: dict[Atom, None] = {}
        for node in self.nodes:
            match node:
                case Atom():
                    found.setdefault(node)
                case Did(of) | Count(of=of):
                    found.setdefault(of)
                case Among(of=several):
                    found.update(dict.fromkeys(several))
        return list(found)
