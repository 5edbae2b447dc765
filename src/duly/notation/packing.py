"""Contracts as packs of llmcontract, where a pack can say all that the contract says."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import structs

from duly.machine.contract import Contract
from duly.machine.formula.node import Among, Atom, Binary, Count, Did, Formula, Unary
from duly.machine.formula.node import Node as Part
from duly.machine.graph import Graph
from duly.machine.history import history_of
from duly.machine.rules import text_of
from duly.machine.terms import Rule, Terms
from duly.values.errors import Diagnostic, DulyError
from duly.values.plain import DEPTH

from .pack import VERSION

_AMONG: Final = {"all": "All", "any_of": "AnyOf", "at_least": "AtLeast", "at_most": "AtMost"}
_HELP: Final = "a pack has a protocol as a string, and requirements over what came before"
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<word>(?:\w|-(?![\d.])|:)[\w:-]*)|(?P<number>-?\d+(?:\.\d+)?(?![\w.]))|(?P<text>'[^'\\\n]*'|"[^"\\\n]*")"""
    r"""|(?P<sign>[!=]=|[!?{}(),.]))"""
)


def pack(contract: Contract) -> str:
    """The contract as a pack of llmcontract, in JSON; raises DulyError with all that a pack cannot say."""
    return print_pack(contract.terms)


def print_pack(terms: Terms) -> str:
    """The pack as canonical JSON; reading it gives the same meaning."""
    return json.dumps(pack_of(terms), indent=2, ensure_ascii=False) + "\n"


def pack_of(terms: Terms) -> dict[str, Any]:
    """The pack as a plain value, keys in llmcontract's order; raises DulyError with all that a pack cannot say."""
    found = [Diagnostic("pack", f"a pack cannot say `{name}`", span=terms.span, help=_HELP) for name in _more(terms)]
    protocol = ""
    for graph in terms.protocols:
        said = _unsayable(graph)
        if said or len(terms.protocols) > 1:
            message = said or f"a pack has one protocol, not {len(terms.protocols)}"
            found.append(Diagnostic("pack", message, span=terms.span, help=_HELP))
            break
        protocol = graph.text.strip()
    requirements = []
    for rule in terms.rules:
        requirement = _requirement(rule)
        if isinstance(requirement, str):
            message = f"a pack cannot say the rule `{(rule.id or text_of(rule))[:200]}`: {requirement}"
            found.append(Diagnostic("pack", message, span=rule.span, help=_HELP))
        else:
            requirements.append(requirement)
    if found:
        raise DulyError(found)
    return {
        "pack_version": VERSION, "name": terms.name, "description": "", "protocol": protocol,
        "requirements": requirements, "layout": {},
    }  # fmt: skip


def _more(terms: Terms) -> Iterator[str]:
    """The parts of a contract beside those of a pack."""
    spelled = {"count": "audit"}
    for name in Terms.__struct_fields__:
        default = getattr(Terms(), name)
        if name not in ("name", "protocols", "rules", "span") and getattr(terms, name) != default:
            yield spelled.get(name, name)


def _unsayable(graph: Graph) -> str:
    """Why a protocol is none of llmcontract's strings; empty where it is one."""
    if graph.name:
        return f"a pack's protocol has no name, and this one is called `{graph.name[:60]}`"
    if graph.notation != "strings":
        return f"a pack's protocol is a string, and this one is written as {graph.notation}"
    text, at, inside, heads = graph.text.strip(), 0, False, []
    before: list[str] = ["."]
    while at < len(text):
        token = _TOKEN.match(text, at)
        word = token[0].strip() if token is not None else text[at : at + 20].strip()
        wrong = token is None
        if token is not None:
            kind, last = token.lastgroup, before[-1]
            if word == "{":
                # a choice is all of one side there
                wrong = inside or last not in "!?"
                heads.append(True)
            elif word == "}":
                heads = heads[:-1]
            elif word == "(":
                # what follows the head of a branch has no clauses there
                wrong = inside or len(before) < 2 or before[-2] not in "!?" or before[-2] == ""
                inside = True
            elif word == ")":
                inside = False
            elif kind == "text" or kind == "number":
                wrong = not inside or last not in ("==", "!=")
            elif kind == "word" and inside:
                wrong = word in ("true", "false", "null", "maybe", "else", "in", "not")
            elif kind == "word":
                wrong = last == "!" and word == "Unrecognized"
            elif word in ("==", "!="):
                wrong = not inside
            elif word == ".":
                wrong = inside
            at = token.end()
            before.append(word)
        if wrong:
            return f"llmcontract's strings have no `{word[:40]}` where it stands in `{text[:80]}`"
    return ""


def _requirement(rule: Rule) -> dict[str, Any] | str:
    """The requirement that says what a rule says; a text says why there is none."""
    plain = Rule(rule.template, rule.args)
    if structs.replace(rule, id="", span=None) != plain:
        return "requirements have no options"
    args = rule.args
    match rule.template:
        case "history":
            action, require = args["of"], _predicate(history_of(args["that"]))
        case "must_precede":
            action, require = args["then"], _did(args["first"])
        case "never_after":
            first = _did(args["after"])
            action, require = args["never"], first if isinstance(first, str) else {"type": "Not", "inner": first}
        case "at_most" if args.keys() == {"of", "n"} and type(args["n"]) is int and args["n"] > 0:
            action, require = args["of"], {"type": "Count", "label": args["of"], "op": "<", "k": args["n"]}
        case _:
            return "it is no requirement over what came before"
    if not _exact(action):
        return "requirements are about one name"
    if isinstance(require, str):
        return require
    return {"action": action, "require": require, "message": rule.id if rule.id != text_of(plain) else ""}


def _exact(name: Any) -> bool:
    return isinstance(name, str) and not name.startswith("@") and "*" not in name


def _did(name: Any) -> dict[str, Any] | str:
    return {"type": "Did", "label": name} if _exact(name) else "predicates are about one name each"


def _predicate(formula: Formula) -> dict[str, Any] | str:
    """The nodes as predicates; what stands in a row of `and` or `or` becomes one."""
    made: list[dict[str, Any]] = []
    deep: list[int] = []

    def negated(part: dict[str, Any]) -> dict[str, Any]:
        return {"type": "Not", "inner": part}

    def joined(op: str, *parts: dict[str, Any]) -> dict[str, Any]:
        head = parts[0]["parts"] if parts[0]["type"] == op else [parts[0]]
        return {"type": op, "parts": [*head, *parts[1:]]}

    for atom in formula.atoms():
        if not _plain(atom):
            return "predicates are about one name each, without side and condition"
    for node in formula.nodes:
        match node:
            case Did(of):
                made.append({"type": "Did", "label": of.name})
            case Count(of, sign, n):
                made.append({"type": "Count", "label": of.name, "op": sign, "k": n})
            case Among(kind, n, several):
                more = {"k": n} if kind in ("at_least", "at_most") else {}
                made.append({"type": _AMONG[kind], **more, "labels": [atom.name for atom in several]})
            case Unary(_, of=place):
                made.append(negated(made[place]))
            case Binary(op, left, right):
                yes, also = made[left], made[right]
                if op == "->":
                    made.append(joined("Or", negated(yes), also))
                elif op == "<->":
                    return "predicates have no `<->`; write it with `and`, `or` and `not`"
                else:
                    made.append(joined(op.title(), yes, also))
        deep.append(_depth(node, deep))
    # the requirement itself stands three levels deep
    return made[-1] if deep[-1] + 3 <= DEPTH else "it is nested too deeply for a pack"


def _depth(node: Part, deep: list[int]) -> int:
    """The levels of JSON that a node takes: a list and a mapping for what is joined."""
    match node:
        case Unary(of=place):
            return 1 + deep[place]
        case Binary(left=left, right=right):
            return 2 + max(deep[left], deep[right])
    return 2


def _plain(atom: Atom) -> bool:
    return atom.side == "" and atom.where is None and _exact(atom.name)
