"""Rule files of acel-core: templates with their arguments, read as a contract document.

What such a file says with a clear meaning is kept, place by place; what acel-core accepts and gives no meaning to (an
unknown key, a condition that never holds, a number that is none) is a fault with what to write instead.
"""

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct, structs

from duly.values.errors import nearest

from .examine import Found, note, noted, pattern_problem
from .foreign import ELEVEN, eleven, exact_name, isa, known, listed, mapped
from .keys import EDITION
from .node import Entry, Node, plain, shown

WHOSE: Final = "acel-core"
_TOP: Final = ("state", "initial_state", "groups", "contracts")
_SPEC: Final = ("template", "args", "kwargs")
_MATCHER: Final = ("tool", "matches", "field")


class _Template(Struct, frozen=True):
    """One of the eight: its parameters in order with their kinds, and what duly calls it and them.

    ``targets`` are keys of the rule's mapping, or for a rule that is written as a list the places in it.
    """

    rule: str
    parameters: tuple[tuple[str, str], ...]
    targets: tuple[str | int, ...]


_TOOL: Final = "tool"
_TEMPLATES: Final[dict[str, _Template]] = {
    "must_precede": _Template("must_precede", (("earlier", _TOOL), ("later", _TOOL)), (0, 1)),
    "cannot_follow_without": _Template("must_precede", (("action", _TOOL), ("prerequisite", _TOOL)), (1, 0)),
    "never_after": _Template("never_after", (("a", _TOOL), ("b", _TOOL)), (0, 1)),
    "mutually_exclusive": _Template("exclusive", (("a", _TOOL), ("b", _TOOL)), (0, 1)),
    "required_before_session_end": _Template("must_happen", (("tool", _TOOL),), ("of",)),
    "at_most_n_times": _Template("at_most", (("tool", _TOOL), ("n", "count")), ("of", "n")),
    "at_most_total": _Template(
        "at_most_total", (("tool", _TOOL), ("field", "field"), ("limit", "limit")), ("of", "field", "limit")
    ),
    "rate_limit": _Template(
        "rate_limit", (("tool", _TOOL), ("n", "positive"), ("window_seconds", "window")), ("of", "n", "per")
    ),
}
# What a rule about one tool twice comes to in acel-core, and what to write for it.
_TWICE: Final = {
    "must_precede": ("is always satisfied", "take it out, or name two tools"),
    "cannot_follow_without": ("is always satisfied", "take it out, or name two tools"),
    "mutually_exclusive": ("is always satisfied", "take it out, or name two tools"),
    "never_after": ("refuses every call", "write `at_most_n_times` with `n: 0`"),
}
_TRUTHS: Final = {"yes": "true", "on": "true", "no": "false", "off": "false"}
_OCTAL: Final = re.compile(r"[-+]?0[0-9_]+")


def is_rule_file(root: Node) -> bool:
    """Whether the document is a rule file of acel-core: it has its keys, or rules with a `template`, and no `duly`."""
    if root.kind != "object" or root.get("duly") is not None:
        return False
    if any(root.get(key) is not None for key in ("contracts", "state", "initial_state")):
        return True
    groups = root.get("groups")
    rows = [entry.node for entry in groups.value] if groups is not None and groups.kind == "object" else []
    rows += [entry.node for entry in root.value if entry.key not in _TOP]
    return any(row.kind == "list" and any(each.get("template") is not None for each in row.value) for row in rows)


def read_rule_file(root: Node, found: Found) -> Node:
    """The contract document that says what the rule file says; what has no clear meaning goes to ``found``."""
    known(root, _TOP, "a rule file of acel-core", found)
    entries = [Entry("duly", root.span, structs.replace(root, kind="number", value=EDITION, size=1))]
    state, old = root.get("state"), root.get("initial_state")
    if state is not None and old is not None:
        note(found, "key", "`state` and `initial_state` say the same, and one would be ignored", old, "keep `state`")
    state = state if state is not None else old
    if state is not None and isa("object", state, "`state`", "a mapping", found) and state.value:
        _facts(state, found)
        entries.append(Entry("facts", state.span, state))
    groups = _groups(root.get("groups"), found)
    rules: list[Node] = []
    contracts = root.get("contracts")
    if contracts is None:
        note(found, "missing", "the key `contracts` is missing, so no rule is in force", root,
             "write `contracts: [{template: must_precede, args: [a, b]}]`")  # fmt: skip
    elif isa("list", contracts, "`contracts`", "a list of rules", found):
        if not contracts.value:
            note(found, "missing", "`contracts` is empty, so no rule is in force", contracts, "write a rule")
        for spec in contracts.value:
            if spec.kind == "object" and spec.get("group") is not None:
                rules += _referred(spec, groups, found)
            elif (rule := _rule(spec, found)) is not None:
                rules.append(rule)
    if rules:
        entries.append(Entry("rules", contracts.span if contracts else None, listed(contracts or root, _once(rules))))
    size = 1 + sum(entry.node.size for entry in entries)
    return Node("object", tuple(entries), root.span, root.path, size=size)


def _groups(groups: Node | None, found: Found) -> dict[str, list[Node]]:
    """The rules of each group; all are looked at, also of groups that nothing refers to."""
    if groups is None or not isa("object", groups, "`groups`", "a mapping from a name to a list of rules", found):
        return {}
    read: dict[str, list[Node]] = {}
    for entry in groups.value:
        read[entry.key] = []
        if isa("list", entry.node, f"the group `{entry.key[:60]}`", "a list of rules", found):
            rules = [_rule(spec, found) for spec in entry.node.value]
            read[entry.key] = [rule for rule in rules if rule is not None]
    return read


def _referred(spec: Node, groups: dict[str, list[Node]], found: Found) -> list[Node]:
    for entry in spec.value:
        if entry.key != "group":
            message = f"`{entry.key[:60]}` beside `group` would be ignored"
            noted(found, "key", message, entry, "make it an item of its own")
    name = spec.get("group")
    if name is None or not isa("text", name, "`group`", "the name of a group", found):
        return []
    if name.value not in groups:
        near = nearest(name.value, groups)
        help = f"did you mean `{near}`?" if near else f"declared: {', '.join(groups) or 'none'}"
        note(found, "name", f"unknown group {shown(name)}", name, help)
    return groups.get(name.value, [])


def _rule(spec: Node, found: Found) -> Node | None:
    """One rule as a row of `rules`; None where it has no clear meaning."""
    before = len(found)
    if not isa("object", spec, "a rule", "a mapping with `template` and `args`", found):
        return None
    known(spec, _SPEC, "a rule of acel-core", found)
    name = spec.get("template")
    if name is None:
        note(found, "missing", "the rule has no `template`", spec, f"one of {', '.join(_TEMPLATES)}")
        return None
    template = _TEMPLATES.get(name.value) if name.kind == "text" else None
    if template is None:
        near = nearest(name.value, _TEMPLATES) if name.kind == "text" else None
        help = f"did you mean `{near}`?" if near else f"one of {', '.join(_TEMPLATES)}"
        note(found, "name", f"unknown template {shown(name)}", name, help)
        return None
    given = _given(spec, name, template, found)
    if given is None or len(found) > before:
        return None
    kinds = [kind for _, kind in template.parameters]
    values = [_VALUES[kind](each, parameter, found) for (parameter, kind), each in zip(template.parameters, given,
                                                                                      strict=True)]  # fmt: skip
    if len(found) > before:
        return None
    if kinds == [_TOOL, _TOOL] and plain(values[0]) == plain(values[1]):
        said, help = _TWICE[name.value]
        note(found, "value", f"`{name.value}` about {shown(given[0])} twice {said} in acel-core", spec, help)
        return None
    if isinstance(template.targets[0], int):
        ordered = [value for _, value in sorted(zip(template.targets, values, strict=True), key=lambda pair: pair[0])]
        said_node = listed(spec, ordered)
    else:
        said_node = mapped(spec, [(str(key), value) for key, value in zip(template.targets, values, strict=True)])
    row = mapped(spec, [(template.rule, said_node)])
    return structs.replace(row, value=(structs.replace(row.value[0], span=name.span),))


def _given(spec: Node, name: Node, template: _Template, found: Found) -> list[Node] | None:
    """The arguments in the order of the parameters, from the list and the mapping."""
    args, kwargs = spec.get("args"), spec.get("kwargs")
    before = len(found)
    if args is not None:
        isa("list", args, "`args`", "a list", found)
    if kwargs is not None:
        isa("object", kwargs, "`kwargs`", "a mapping", found)
    if len(found) > before:
        return None
    items: Sequence[Node] = args.value if args is not None else ()
    names = [parameter for parameter, _ in template.parameters]
    wants = f"`{name.value}` takes {', '.join(f'`{each}`' for each in names)}"
    for surplus in items[len(names) :]:
        note(found, "value", f"{shown(surplus)} is one argument too many", surplus, wants)
    given = dict(zip(names, items, strict=False))
    for entry in kwargs.value if kwargs is not None else ():
        if entry.key == "clock" and name.value == "rate_limit":
            if entry.node.kind != "null":
                help = "take it out: times come with the events"
                noted(found, "value", "a clock cannot stand in a file", entry, help)
        elif entry.key not in names:
            near = nearest(entry.key, names)
            noted(found, "key", f"unknown argument `{entry.key[:60]}` of `{name.value}`", entry,
                  f"did you mean `{near}`?" if near else wants)  # fmt: skip
        elif entry.key in given:
            noted(found, "repeated", f"`{entry.key}` stands in `args` already", entry, "say it once")
        elif entry.node.kind == "object":
            message = "a matcher under `kwargs` is never read as one by acel-core, and fails at the first call"
            noted(found, "value", message, entry, "write it in `args`")
        else:
            given[entry.key] = entry.node
    lacking = [each for each in names if each not in given]
    if lacking and len(found) == before:
        note(found, "missing", f"`{name.value}` lacks {', '.join(f'`{each}`' for each in lacking)}", spec, wants)
    return [given[each] for each in names] if len(found) == before else None


def _tool(node: Node, parameter: str, found: Found) -> Node:
    """A name as it is, or a matcher as a name with a condition."""
    if node.kind != "object":
        return exact_name(node, f"`{parameter}`", WHOSE, found)
    known(node, _MATCHER, "a matcher", found, {"pattern": "matches", "regex": "matches", "arg": "field"})
    tool, pattern, field = (node.get(key) for key in _MATCHER)
    for key, value in (("tool", tool), ("matches", pattern)):
        if value is None:
            help = "a matcher is `{tool: Bash, matches: \"git push\", field: command}`"
            note(found, "missing", f"the key `{key}` is missing in a matcher", node, help)
    if tool is None or pattern is None:
        return node
    tool = exact_name(tool, "`tool`", WHOSE, found)
    if not isa("text", pattern, "`matches`", "a pattern", found) or _elsewhere(pattern, found):
        return node
    if field is not None and (not isa("text", field, "`field`", "the name of an argument", found)
                              or eleven(field, "`field`", WHOSE, found)):  # fmt: skip
        return node
    where = structs.replace(pattern, value=_where("command" if field is None else field.value, pattern.value), size=1)
    return mapped(node, [("of", tool), ("where", where)])


def _elsewhere(pattern: Node, found: Found) -> bool:
    """Whether a pattern cannot be taken over; patterns here are RE2, there Python's."""
    problem = pattern_problem(pattern.value)
    if problem:
        help = "patterns are RE2: no look-around, no back-references; the end of a text is `\\z`"
        note(found, "pattern", f"the pattern does not compile: {problem}", pattern, help)
    elif re.search(r"(?<!\\)(?:\\\\)*\{,[0-9]+\}", pattern.value):
        note(found, "pattern", "`{,n}` is a repetition in Python and plain text in RE2", pattern, "write `{0,n}`")
        problem = "repetition"
    return bool(problem)


def _where(field: str, pattern: str) -> str:
    """The condition of a matcher: an argument that is missing or nothing does not match, any other is read as text."""
    where = f"args.{field}" if _FIELD.fullmatch(field) and field not in _RESERVED else f"args[{_quoted(field)}]"
    there = f"has({where})" if where.startswith("args.") else f"{_quoted(field)} in args"
    return f"{there} && {where} != null && string({where}).matches({_quoted(f'(?i){pattern}')})"


_FIELD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = frozenset({
    "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
    "namespace", "null", "package", "return", "true", "var", "void", "while",
})  # fmt: skip


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _field(node: Node, parameter: str, found: Found) -> Node:
    if isa("text", node, f"`{parameter}`", "the name of an argument", found) and not eleven(
        node, f"`{parameter}`", WHOSE, found
    ):
        if not node.value.strip():
            note(found, "value", f"expected a name under `{parameter}`, got an empty text", node, "name an argument")
        elif "." in node.value:
            message = f"{shown(node)} is one name for acel-core, and would be a path here"
            note(found, "value", message, node, "write a contract document")
    return node


def _number(node: Node, parameter: str, found: Found, least: str) -> Node:
    """A finite number in its range, written so that YAML 1.1 and 1.2 read the same."""
    raw = node.span.text() if node.span is not None and node.style == "plain" else ""
    if node.kind == "text" and node.style == "plain" and ELEVEN.fullmatch(node.value):
        note(found, "type", f"expected a number under `{parameter}`, got {shown(node)}", node,
             "write it with digits alone")  # fmt: skip
    elif node.kind != "number":
        help = "a cap needs a finite number" if str(node.value).lower() in (".nan", ".inf", "nan", "inf") else ""
        note(found, "type", f"expected a number under `{parameter}`, got {shown(node)}", node, help)
    elif _OCTAL.fullmatch(raw):
        message = f"`{raw[:40]}` is an octal number for acel-core, and a decimal one here"
        note(found, "value", message, node, f"write `{int(raw, 8) if set(raw) <= set('+-01234567') else node.value}`")
    elif node.value < 0 or (least == "above 0" and node.value == 0):
        note(found, "value", f"expected a number {least} under `{parameter}`, got {shown(node)}", node)
    return node


def _limit(node: Node, parameter: str, found: Found) -> Node:
    return _number(node, parameter, found, "from 0")


def _window(node: Node, parameter: str, found: Found) -> Node:
    return _number(node, parameter, found, "above 0")


def _count(node: Node, parameter: str, found: Found, least: str = "from 0") -> Node:
    before = len(found)
    _number(node, parameter, found, least)
    if len(found) > before:
        return node
    if type(node.value) is Decimal and node.value == node.value.to_integral_value() and node.value < 10**18:
        return structs.replace(node, value=int(node.value))
    if type(node.value) is not int:
        note(found, "value", f"expected a whole number under `{parameter}`, got {shown(node)}", node)
    return node


def _positive(node: Node, parameter: str, found: Found) -> Node:
    return _count(node, parameter, found, "above 0")


_VALUES: Final[dict[str, Any]] = {
    _TOOL: _tool, "field": _field, "limit": _limit, "window": _window, "count": _count, "positive": _positive,
}  # fmt: skip


def _facts(state: Node, found: Found) -> None:
    """The state's values are read as this version of YAML has them; those that the other has otherwise are said."""
    for entry in state.value:
        if not entry.key.strip():
            noted(found, "key", "an empty name in `state`", entry)
        node = entry.node
        if node.kind == "text" and node.value.lower() in _TRUTHS and node.style == "plain":
            said = _TRUTHS[node.value.lower()]
            note(found, "type", f"{shown(node)} is a truth value for {WHOSE}, and a text here", node,
                 f"write `{said}`")  # fmt: skip
        elif node.kind == "text":
            eleven(node, f"`{entry.key[:60]}`", WHOSE, found)
        elif node.kind == "number" and node.span is not None and _OCTAL.fullmatch(node.span.text()):
            _number(node, entry.key[:60], found, "from 0")


def _once(rules: list[Node]) -> list[Node]:
    """The rules without those that say again what another says: twice the same rule is that rule."""
    kept: list[Node] = []
    seen: set[str] = set()
    for rule in rules:
        said = json.dumps(plain(rule), default=_normal, sort_keys=True)
        if said not in seen:
            seen.add(said)
            kept.append(rule)
    return kept


def _normal(value: Decimal) -> str | int:
    return int(value) if value == value.to_integral_value() and value.adjusted() < 30 else str(value.normalize())


