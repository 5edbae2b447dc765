"""Packs of llmcontract: a bundle of protocol, requirements and drawing, read as a contract document.

A requirement becomes a rule ``history``, its message the rule's id, under which refusals cite it. What a pack says and
its own library gives no meaning to is a fault with what to write instead.
"""

from typing import Final, Literal

from msgspec import structs

from duly.machine.formula.node import Among, Atom, Binary, Count, Did, Formula, Unary
from duly.machine.formula.node import Node as Part
from duly.machine.formula.text import text_of
from duly.machine.history import MOST, faults
from duly.values.errors import nearest

from .examine import Found, note, noted
from .foreign import exact_name, isa, known, listed, mapped
from .keys import EDITION
from .node import Entry, Node, plain, shown

WHOSE: Final = "llmcontract"
VERSION: Final = "1.0"
_KEYS: Final = ("pack_version", "name", "description", "protocol", "requirements", "layout")
_REQUIREMENT: Final = ("action", "require", "message")
_PREDICATES: Final[dict[str, tuple[str, ...]]] = {
    "Did": ("label",), "Count": ("label", "op", "k"), "All": ("labels",), "AnyOf": ("labels",),
    "AtLeast": ("k", "labels"), "AtMost": ("k", "labels"), "Not": ("inner",), "And": ("parts",), "Or": ("parts",),
}  # fmt: skip
_AMONG: Final[dict[str, Literal["all", "any_of", "at_least", "at_most"]]] = {
    "All": "all", "AnyOf": "any_of", "AtLeast": "at_least", "AtMost": "at_most",
}  # fmt: skip
_SIGNS: Final = ("==", "!=", "<", "<=", ">", ">=")


def is_pack(root: Node) -> bool:
    """Whether the document is a pack: it has a pack's version or requirements, and does not say `duly`."""
    return root.kind == "object" and root.get("duly") is None and (
        root.get("pack_version") is not None or root.get("requirements") is not None
    )


def read_pack(root: Node, found: Found) -> Node:
    """The contract document that says what the pack says; drawing and description are for people and do not count."""
    entries = [Entry("duly", root.span, structs.replace(root, kind="number", value=EDITION, size=1))]
    for entry in root.value:
        node = entry.node
        if entry.key not in _KEYS:
            near = nearest(entry.key, _KEYS)
            message = f"unknown key `{entry.key[:60]}` in a pack of llmcontract"
            noted(found, "key", message, entry, f"did you mean `{near}`?" if near else f"known: {', '.join(_KEYS)}")
        elif entry.key == "pack_version":
            if node.value != VERSION:
                help = "write it in quotes" if str(node.value) == VERSION else "this version of duly reads packs of 1.0"
                note(found, "value", f"expected the pack version `{VERSION}`, got {shown(node)}", node, help)
        elif entry.key in ("name", "protocol"):
            if node.kind not in ("text", "null"):
                note(found, "type", f"expected a text under `{entry.key}`, got {shown(node)}", node)
            elif node.value:
                entries.append(Entry("contract" if entry.key == "name" else "protocol", entry.span, node))
        elif entry.key == "requirements" and node.kind != "null" and isa(
            "list", node, "`requirements`", "a list of requirements", found
        ):
            rules = _rules(node, found)
            if rules:
                entries.append(Entry("rules", entry.span, listed(node, rules)))
    return Node("object", tuple(entries), root.span, root.path, size=1 + sum(entry.node.size for entry in entries))


def _rules(requirements: Node, found: Found) -> list[Node]:
    """One rule for each requirement; one that is said twice is said once."""
    rules: list[Node] = []
    ids: dict[str, int] = {}
    seen: list[object] = []
    for said in requirements.value:
        rule = _rule(said, found)
        if rule is None or plain(rule) in seen:
            continue
        seen.append(plain(rule))
        id = rule.get("id")
        if id is not None:
            ids[id.value] = ids.get(id.value, 0) + 1
            if ids[id.value] > 1:
                # two rules cannot have one name
                again = structs.replace(id, value=f"{id.value} ({ids[id.value]})")
                rule = structs.replace(rule, value=(rule.value[0], Entry("id", id.span, again)))
        rules.append(rule)
    return rules


def _rule(said: Node, found: Found) -> Node | None:
    before = len(found)
    if not isa("object", said, "a requirement", "a mapping with `action` and `require`", found):
        return None
    known(said, _REQUIREMENT, "a requirement", found)
    action, require, message = (said.get(key) for key in _REQUIREMENT)
    for key, value in (("action", action), ("require", require)):
        if value is None:
            note(found, "missing", f"the key `{key}` is missing in a requirement", said,
                 "a requirement is `{\"action\": …, \"require\": {\"type\": \"Did\", \"label\": …}}`")  # fmt: skip
    if message is not None and message.kind != "null":
        isa("text", message, "`message`", "a text", found)
    parts: list[Part] = []
    places: list[Node] = []
    if action is not None:
        exact_name(action, "`action`", WHOSE, found)
    if require is not None:
        _part(require, parts, places, found)
    if len(found) > before or action is None or require is None:
        return None
    formula = Formula(tuple(parts))
    for at, wrong, help in faults(formula):
        note(found, "history", wrong, places[at], help)
    if len(found) > before:
        return None
    that = structs.replace(require, kind="text", value=text_of(formula), size=1)
    row = [("history", mapped(said, [("of", action), ("that", that)]))]
    if message is not None and message.value and message.value.strip():
        row.append(("id", message))
    return mapped(said, row)


def _part(said: Node, parts: list[Part], places: list[Node], found: Found) -> int:
    """Appends the nodes of a predicate, with where they stand; the place of the last one, or 0 where it is faulty."""

    def put(part: Part) -> int:
        parts.append(part)
        places.append(said)
        return len(parts) - 1

    if not isa("object", said, "a requirement", "a predicate", found):
        return 0
    name = said.get("type")
    if name is None or name.value not in _PREDICATES or name.kind != "text":
        near = nearest(str(name.value), _PREDICATES) if name is not None else None
        message = "the predicate has no `type`" if name is None else f"unknown predicate {shown(name)}"
        help = f"did you mean `{near}`?" if near else f"one of {', '.join(_PREDICATES)}"
        note(found, "name", message, name or said, help)
        return 0
    keys = _PREDICATES[name.value]
    known(said, ("type", *keys), f"`{name.value}`", found)
    values = {key: said.get(key) for key in keys}
    lacking = [key for key, value in values.items() if value is None]
    if lacking:
        note(found, "missing", f"`{name.value}` lacks {', '.join(f'`{key}`' for key in lacking)}", said,
             f"it has {', '.join(f'`{key}`' for key in keys)}")  # fmt: skip
        return 0
    given = {key: value for key, value in values.items() if value is not None}
    match name.value:
        case "Did":
            return put(Did(_atom(given["label"], "label", found)))
        case "Count":
            op = given["op"]
            if op.value not in _SIGNS:
                help = "did you mean `==`?" if op.value in ("=", "=~") else f"one of {', '.join(_SIGNS)}"
                note(found, "value", f"unknown comparison {shown(op)}", op, help)
            return put(Count(_atom(given["label"], "label", found), str(op.value), _number(given["k"], found)))
        case "Not":
            return put(Unary("not", _part(given["inner"], parts, places, found)))
        case "And" | "Or":
            return _joined(name.value.lower(), given["parts"], parts, places, found)
    n = _number(given["k"], found) if "k" in given else 1
    names = given["labels"]
    if not isa("list", names, "`labels`", "a list of labels", found):
        return 0
    atoms = tuple(_atom(each, "labels", found) for each in names.value)
    return put(Among(_AMONG[name.value], len(atoms) if name.value == "All" else n, atoms))


def _joined(op: str, several: Node, parts: list[Part], places: list[Node], found: Found) -> int:
    if not isa("list", several, "`parts`", "a list of predicates", found):
        return 0
    if not several.value:
        truth = "always" if op == "and" else "never"
        message = f"`{op.title()}` of nothing is {truth} true"
        note(found, "value", message, several, "name what must hold, or take it out")
        return 0
    last = _part(several.value[0], parts, places, found)
    for each in several.value[1:]:
        right = _part(each, parts, places, found)
        parts.append(Binary(op, last, right))
        places.append(several)
        last = len(parts) - 1
    return last


def _atom(node: Node, key: str, found: Found) -> Atom:
    exact_name(node, f"`{key}`", WHOSE, found)
    return Atom("", str(node.value))


def _number(node: Node, found: Found) -> int:
    if type(node.value) is not int or not 0 <= node.value <= MOST:
        message = f"expected a whole number from 0 to {MOST:,} under `k`, got {shown(node)}"
        help = "write it without quotes" if node.kind == "text" and node.value.isdecimal() else ""
        note(found, "value", message, node, help)
        return 1
    return node.value
