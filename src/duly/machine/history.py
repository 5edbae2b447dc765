"""What must have happened before an act: terms such as ``did(a)`` and ``count(b) >= 2``, joined by and, or, not.

`Past` builds them in Python; `history_of` reads them from text. Both are the formulas of ``formula``, of which a
history has no operator of time.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from msgspec import Struct, structs

from duly.values.errors import Diagnostic, DulyError, fault
from duly.values.source import Source

from .formula.node import Among, Atom, Binary, Count, Did, Formula, Node, Truth, Unary
from .formula.text import text_of
from .watch.history import History
from .watch.value import Permit
from .watch.watch import Watch

if TYPE_CHECKING:
    from .templates import Maker

MOST: Final = 10_000
"""How far a history counts: what permits is told apart by batch until there is enough of it."""
MOST_NAMES: Final = 1000
"""Names that one ``all``, ``any_of``, ``at_least`` or ``at_most`` may list."""
_JOINS: Final = ("and", "or", "->", "<->")


class Past(Struct, frozen=True, eq=False):
    """A condition on what has happened; ``&``, ``|`` and ``~`` join it, ``str`` writes it as text."""

    nodes: tuple[Node, ...]

    def __and__(self, other: "Past") -> "Past":
        return self._joined("and", other)

    def __or__(self, other: "Past") -> "Past":
        return self._joined("or", other)

    def __invert__(self) -> "Past":
        return Past((*self.nodes, Unary("not", len(self.nodes) - 1)))

    def __bool__(self) -> bool:
        raise TypeError("what has happened is not known yet: join with `&`, `|` and `~`, not with and, or, not")

    def __str__(self) -> str:
        return text_of(Formula(self.nodes))

    def _joined(self, op: str, other: "Past") -> "Past":
        if not isinstance(other, Past):
            return NotImplemented
        more = len(self.nodes)
        moved = [_moved(node, more) for node in other.nodes]
        return Past((*self.nodes, *moved, Binary(op, more - 1, more + len(moved) - 1)))


class Counted(Struct, frozen=True, eq=False):
    """How often something has happened; compared with a whole number it is a `Past`."""

    of: Atom

    def _compared(self, sign: str, n: SupportsIndex) -> Past:
        if isinstance(n, bool) or not isinstance(n, int):
            raise TypeError(f"a count is compared with a whole number, not with {n!r:.40}")
        if n < 0:
            message = f"a count is never below 0, and is compared with {n}"
            raise fault("number", message, help="compare it with 0 or more")
        return Past((Count(self.of, sign, n),))

    def __eq__(self, n: SupportsIndex) -> Past:  # type: ignore[override]
        return self._compared("==", n)

    def __ne__(self, n: SupportsIndex) -> Past:  # type: ignore[override]
        return self._compared("!=", n)

    def __lt__(self, n: SupportsIndex) -> Past:
        return self._compared("<", n)

    def __le__(self, n: SupportsIndex) -> Past:
        return self._compared("<=", n)

    def __gt__(self, n: SupportsIndex) -> Past:
        return self._compared(">", n)

    def __ge__(self, n: SupportsIndex) -> Past:
        return self._compared(">=", n)

    def __bool__(self) -> bool:
        raise TypeError("a count is compared: `duly.count(x) >= 2`")

    __hash__ = None  # type: ignore[assignment]


def did(of: str, *, where: str | None = None) -> Past:
    """``of`` (a name, a group or a glob; ``where`` in CEL over ``args``) has happened."""
    return Past((Did(Atom("", of, None, where)),))


def count(of: str, *, where: str | None = None) -> Counted:
    """How often ``of`` has happened, to be compared: ``count("check") >= 2``."""
    return Counted(Atom("", of, None, where))


def did_all(*of: str) -> Past:
    """Each of these has happened."""
    return _among("all", len(of), of)


def did_any(*of: str) -> Past:
    """One of these has happened."""
    return _among("any_of", 1, of)


def did_at_least(n: int, *of: str) -> Past:
    """``n`` different ones of these have happened."""
    return _among("at_least", n, of)


def did_at_most(n: int, *of: str) -> Past:
    """No more than ``n`` different ones of these have happened."""
    return _among("at_most", n, of)


def _among(kind: Any, n: int, of: tuple[str, ...]) -> Past:
    return Past((Among(kind, n, tuple(Atom("", name) for name in of)),))


def _moved(node: Node, by: int) -> Node:
    """A node whose parts stand further back."""
    match node:
        case Unary(op, of):
            return Unary(op, of + by)
        case Binary(op, left, right):
            return Binary(op, left + by, right + by)
    return node


def history_of(text: str, *, source: Source | None = None) -> Formula:
    """The history of a text; raises DulyError with every fault, each at its place."""
    from .formula.parse import parse  # what it loads is not for `import duly`

    written = parse(text, name="<history>", source=source)
    said = sorted(faults(written.formula), key=lambda each: written.starts[each[0]])
    found = [Diagnostic("history", message, span=written.span(at), help=help) for at, message, help in said]
    if found:
        raise DulyError(found)
    return written.formula


def canonical(that: "str | Past") -> str:
    """A history in its one form as text; raises DulyError with what has no meaning."""
    if isinstance(that, Past):
        formula = Formula(that.nodes)
        found = [Diagnostic("history", message, path=text_of(formula)[:60], help=help)
                 for _, message, help in faults(formula)]  # fmt: skip
        if found:
            raise DulyError(found)
        return text_of(formula)
    return text_of(history_of(that))


def renamed(text: str, change: Callable[[str], str]) -> str:
    """The same history over other names."""

    def atom(said: Atom) -> Atom:
        return Atom(said.side, change(said.name), said.outcome, said.where)

    nodes: list[Node] = []
    for node in history_of(text).nodes:
        match node:
            case Did(of):
                node = Did(atom(of))
            case Count(of, sign, n):
                node = Count(atom(of), sign, n)
            case Among(kind, n, several):
                node = Among(kind, n, tuple(map(atom, several)))
        nodes.append(node)
    return text_of(Formula(tuple(nodes)))


def names_of(text: str) -> list[str]:
    """The names, groups and globs that a history speaks of."""
    return list(dict.fromkeys(atom.name for atom in history_of(text).atoms()))


def make_history(make: "Maker") -> Watch:
    """The rule of a contract; what has no meaning goes to the faults of its names."""
    of = make.member(make.args["of"], judged=True)
    try:
        found = History(make.rule, of, history_of(make.args["that"]), make.member)
    except DulyError as error:
        make.names.faults += [structs.replace(each, span=make.rule.span) for each in error.diagnostics]
        return Permit(make.rule, of)
    make.learning |= found.learning
    return found


def faults(formula: Formula) -> Iterator[tuple[int, str, str]]:
    """What a history cannot mean: the place of the node, what is wrong, what to write."""
    for at, node in enumerate(formula.nodes):
        match node:
            case Unary(op) | Binary(op) if op != "not" and op not in _JOINS:
                yield at, f"a history has no `{op}`", "it looks at what has happened: `did(x)`, `count(x) >= 2`"
            case Truth(value):
                yield at, f"`{str(value).lower()}` says nothing of what has happened", "take it out"
            case Atom():
                yield at, "a label by itself says nothing of what has happened", f"write `did({node.name[:60]})`"
            case Count(of, sign, n):
                always = {(">=", 0): "always", ("<", 0): "never"}.get((sign, n))
                if always:
                    yield at, f"`count(…) {sign} 0` is {always} true", "compare it with another number"
                if n > MOST:
                    yield at, f"a history counts to {MOST:,}, not to {n}", "compare it with a smaller number"
                yield from ((at, *said) for said in _named(of))
            case Did(of):
                yield from ((at, *said) for said in _named(of))
            case Among(kind, n, several):
                yield from ((at, *said) for said in _listed(kind, n, several))


def _named(atom: Atom) -> Iterator[tuple[str, str]]:
    if atom.outcome is not None:
        yield f"a history does not tell outcomes apart: `={atom.outcome[:60]}`", "name the tool alone"
    if not atom.name.removeprefix("@").strip():
        yield "an empty name stands for nothing", "name a tool or a message"


def _listed(kind: str, n: int, several: tuple[Atom, ...]) -> Iterator[tuple[str, str]]:
    for atom in several:
        yield from _named(atom)
    most = len(several)
    if len({*several}) < most:
        yield f"a name stands twice in `{kind}`", "different ones are counted; say each once"
    elif most == 0:
        yield f"`{kind}` lists no names", f"as in `{kind}({'' if kind in ('all', 'any_of') else '1, '}a, b)`"
    elif most > MOST_NAMES:
        yield f"`{kind}` lists {most} names; at most {MOST_NAMES} are read", "name a group"
    elif isinstance(n, bool) or not isinstance(n, int) or n < 0:
        yield f"`{kind}` counts from 0, and is given `{n!r:.40}`", "write a whole number"
    elif kind == "at_least" and n == 0:
        yield "`at_least(0, …)` is always true", "write a number from 1"
    elif kind == "at_least" and n > most:
        yield f"`at_least` asks for {n} of {most} names, which is never true", f"write a number from 1 to {most}"
    elif kind == "at_most" and n >= most:
        yield f"`at_most` allows {n} of {most} names, which is always true", f"write a number below {most}"
