"""Formula to text: with as few brackets as read back to the same formula."""

import re
from typing import Final

from .node import Among, Atom, Binary, Count, Did, Formula, Truth, Unary
from .scan import bare

_LEVEL: Final = {"<->": 1, "->": 2, "or": 3, "and": 4, "U": 5, "R": 5, "W": 5, "S": 5}
_RIGHT: Final = frozenset({"->", "U", "R", "W", "S"})
_OUTCOME: Final = re.compile(r"[\w\-:]+")
_BEFORE: Final = 6


def text_of(formula: Formula) -> str:
    """The canonical text of a formula; ``parse`` gives the same formula back."""
    pieces: list[str] = []
    # on a list of our own, so that no formula is too deep
    todo: list[tuple[int, int] | str] = [(len(formula.nodes) - 1, 0)]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            pieces.append(each)
            continue
        place, least = each
        match formula.nodes[place]:
            case Unary(op, of):
                inner = formula.nodes[of]
                tight = op != "not" and isinstance(inner, Binary)
                todo += [(of, _BEFORE), op if tight else f"{op} "]
            case Binary(op, left, right):
                level = _LEVEL[op]
                to_right = op in _RIGHT
                parts: list[tuple[int, int] | str] = [
                    (right, level + (not to_right)), f" {op} ", (left, level + to_right),
                ]  # fmt: skip
                todo += [")", *parts, "("] if level < least else parts
            case Truth(value):
                pieces.append("true" if value else "false")
            case Did(of):
                pieces.append(f"did({atom_text(of)})")
            case Count(of, sign, n):
                pieces.append(f"count({atom_text(of)}) {sign} {n}")
            case Among(kind, n, several):
                names = ", ".join(map(atom_text, several))
                pieces.append(f"{kind}({n}, {names})" if kind in ("at_least", "at_most") else f"{kind}({names})")
            case Atom() as atom:
                pieces.append(atom_text(atom))
    return "".join(pieces)


def atom_text(atom: Atom) -> str:
    """An atom as it is written: ``!@change``, ``?verify=denied``, ``!"a b"{args.n > 1}``."""
    group = "@" if atom.name.startswith("@") else ""
    name = atom.name.removeprefix("@")
    text = f"{atom.side}{group}{name if bare(name) else _quoted(name)}"
    if atom.outcome is not None:
        text += "=" + (atom.outcome if _OUTCOME.fullmatch(atom.outcome) else _quoted(atom.outcome))
    return text if atom.where is None else f"{text}{{{atom.where}}}"


def _quoted(name: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        name = name.replace(plain, escaped)
    return f'"{name}"'
