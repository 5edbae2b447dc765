"""From the text of a rule to its watch: names become labels, conditions are compiled, the machine is made once."""

from typing import TYPE_CHECKING, Final

from msgspec import structs

from duly.values.errors import Diagnostic, DulyError
from duly.values.source import Span

from ..condition import Condition
from ..watch.formula import Progressed
from ..watch.member import Member
from .alphabet import Alphabet, Said, alphabet
from .core import Core, TooLarge, core_of
from .node import Among, Atom, Count, Did, Formula, Node
from .parse import parse
from .progress import Automaton, Letter, automaton
from .text import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..templates import Maker

ON_ACTS: Final = ("args", "facts", "registers")
ON_RESULTS: Final = ("args", "result", "facts", "registers")
_KEPT: Final = 64
_MACHINES: Final[dict[tuple[Core, tuple[Letter, ...]], Automaton]] = {}
"""The latest machines: checking, merging and loading a contract ask for the same ones. Safe to lose at any moment."""


def progressed(make: "Maker") -> Progressed:
    """The watch of a `formula` rule. What is wrong with the formula goes to the faults of the contract."""
    text = make.args["that"]
    try:
        written = parse(text)
        core = core_of(written)
        said = _resolved(make, core)
        letters = alphabet(said)
        machine = _machine(core, letters)
    except DulyError as error:
        make.names.faults += [_placed(each, text, make.rule.span) for each in error.diagnostics]
        return _nothing(make)
    except (TooLarge, RecursionError) as error:
        why = str(error) if isinstance(error, TooLarge) else "nests too deep for a machine"
        make.fault(f"the formula {why}: `{text[:80]}`", "say it in several rules, or with a rule that counts")
        return _nothing(make)
    return Progressed(make.rule, text_of(written.formula), letters, machine)


def _nothing(make: "Maker") -> Progressed:
    """A stand-in where the formula has no meaning: its faults stop the load."""
    letters = Alphabet((frozenset(),), {}, {})
    return Progressed(make.rule, "true", letters, Automaton(((0,),), (True,), frozenset(), frozenset({0})))


def _machine(core: Core, letters: Alphabet) -> Automaton:
    key = (core, letters.letters)
    known = _MACHINES.get(key)
    if known is None:
        known = automaton(core, letters.letters)
        if len(_MACHINES) >= _KEPT:
            _MACHINES.clear()
        _MACHINES[key] = known
    return known


def _resolved(make: "Maker", core: Core) -> list[Said]:
    """Each atom with the labels that it means, and its condition."""
    found = []
    conditions: dict[tuple[str, str], Condition | None] = {}
    for atom in core.atoms:
        labels = make.labels(atom.name)
        where = None
        if atom.where is not None:
            key = (atom.side, atom.where)
            if key not in conditions:
                conditions[key] = make.condition(atom.where, ON_ACTS if atom.side == "!" else ON_RESULTS)
                make.founded(atom.where, Member(dict.fromkeys(sorted(labels), ()), atom.name))
            where = conditions[key]
        found.append(Said(atom, labels, where))
    return found


def _placed(fault: Diagnostic, text: str, span: Span | None) -> Diagnostic:
    """A fault of the text in the document that holds it, if its words stand there as they are, else at the rule."""
    if fault.span is None or fault.span.source.text != text or span is None:
        return structs.replace(fault, path=fault.path or "rules")
    at = span.source.text.find(text, span.start) if text else -1
    if at >= 0:
        return structs.replace(fault, span=Span(span.source, at + fault.span.start, at + fault.span.end))
    line, column = fault.span.source.position(fault.span.start)
    place = f"character {column}" if line == 1 else f"line {line}, character {column}"
    return structs.replace(fault, message=f"{fault.message} (at {place} of the formula)", span=span)


def tidy(text: str) -> str:
    """The canonical text of a formula; the text itself where it is none."""
    try:
        return text_of(parse(text).formula)
    except DulyError:
        return text


def renamed(text: str, name: "Callable[[str], str]") -> str:
    """The formula with other names; the text itself where it is none."""
    try:
        written = parse(text)
    except DulyError:
        return text

    def atom(old: Atom) -> Atom:
        return structs.replace(old, name=name(old.name))

    nodes: list[Node] = []
    for node in written.formula.nodes:
        match node:
            case Atom():
                nodes.append(atom(node))
            case Did(of) | Count(of=of):
                nodes.append(structs.replace(node, of=atom(of)))
            case Among(of=several):
                nodes.append(structs.replace(node, of=tuple(map(atom, several))))
            case _:
                nodes.append(node)
    return text_of(Formula(tuple(nodes)))


def names_of(text: str) -> list[str]:
    """The names, groups and globs that a formula speaks of, each once; none where the text is no formula."""
    try:
        return list(dict.fromkeys(atom.name for atom in parse(text).formula.atoms()))
    except DulyError:
        return []



