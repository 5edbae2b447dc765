"""From the nodes of a document to `Terms`; a section without its shape is left out, since it is reported already."""

from typing import Any, Final

from msgspec import structs

from duly.machine.formula.text import text_of
from duly.machine.history import history_of
from duly.machine.rules import SCOPES, SPELLINGS, TEMPLATES
from duly.machine.terms import (
    Above,
    Approval,
    Breaker,
    Budget,
    Example,
    LabelRule,
    OutsideGuard,
    Rule,
    Stand,
    Terms,
    Tool,
)
from duly.values.errors import DulyError, suggest
from duly.values.source import Source, Span

from .document_protocol import Reading, embedded, read_protocols
from .duration import seconds
from .examine import Found, examine, note, noted
from .keys import DOCUMENT, LABEL, RULE_OPTIONS, TOOL
from .node import Node, plain


def build(root: Node, source: Source, found: Found) -> Terms:
    """What the document says; ``found`` gets what is wrong beyond the shape of single values."""
    view = _word(root, "view", "agent")
    undeclared = _word(root, "undeclared", "error")
    forever = _plain(root, "forever", False)
    audit = _good(root, "audit")
    breaker = _good(root, "breaker")
    return Terms(
        name=_word(root, "contract", ""),
        version=_word(root, "version", ""),
        mode=_word(root, "mode", "enforce"),
        tools=_tools(root, found),
        groups=_plain(root, "groups", {}),
        aliases=_plain(root, "aliases", {}),
        labels=_labels(root, found),
        facts=_plain(root, "facts", {}),
        protocols=read_protocols(root, source, found, Reading(view, undeclared, forever)),
        rules=_rules(root, source, found),
        budget=_budgets(root, found),
        approvals=_approvals(root),
        withdraw_on=_word(root, "withdraw_on", "order"),
        guards=_guards(root),
        outside=tuple(_plain(root, "outside", ())),
        breaker=Breaker(**plain(breaker)) if breaker is not None else None,
        on_violation=_word(root, "on_violation", "refuse"),
        show=tuple(_plain(root, "show", ("reasons", "legal", "repair"))),
        count=(plain(audit) if audit is not None else {}).get("count", "attempted"),
        pin=_pinned(root),
        forever=forever,
        view=view,
        undeclared=undeclared,
        examples=_examples(root),
        span=root.span,
    )


def check_examples(root: Node, labels: dict[str, LabelRule], found: Found) -> None:
    """Examples name declared labels."""
    examples = root.get("examples")
    declared = root.get("labels")
    names = {*labels, *(entry.key for entry in declared.value)} if declared and declared.kind == "object" else {*labels}
    for example in examples.value if examples is not None and examples.kind == "list" else ():
        label = example.get("label")
        if label is not None and label.kind == "text" and label.value not in names:
            help = suggest(label.value, names) or "declare it under `labels`, or write `null`"
            note(found, "name", f"unknown label `{label.value}`", label, help)


def _good(root: Node, name: str) -> Node | None:
    """The section if it is there and has its shape."""
    node, key = root.get(name), DOCUMENT.key(name)
    return node if node is not None and key is not None and examine(key.shape, node, []) else None


def _plain(root: Node, name: str, default: Any) -> Any:
    node = _good(root, name)
    return default if node is None else plain(node)


def _pinned(root: Node) -> tuple[str, ...]:
    said = _plain(root, "pin", False)
    return ("*",) if said is True else tuple(said or ())


def _word(root: Node, name: str, default: str) -> Any:
    return _plain(root, name, default)


def _tools(root: Node, found: Found) -> dict[str, Tool] | None:
    section = root.get("tools")
    if section is None or section.kind != "object":
        return None
    tools: dict[str, Tool] = {}
    for entry in section.value:
        if not examine(TOOL, entry.node, []):
            continue
        said = plain(entry.node)
        said["pairs"] = tuple(said.get("pairs", ()))
        tools[entry.key] = Tool(name=entry.key, span=entry.span, **said)
        for argument, bounds in tools[entry.key].clamp.items():
            if not bounds:
                noted(found, "value", f"the clamp of `{argument}` has neither `min` nor `max`", entry)
            elif "min" in bounds and "max" in bounds and bounds["min"] > bounds["max"]:
                noted(found, "value", f"the clamp of `{argument}` has a `min` above its `max`", entry)
    return tools


def _labels(root: Node, found: Found) -> dict[str, LabelRule]:
    section = root.get("labels")
    labels: dict[str, LabelRule] = {}
    rest: dict[str, str] = {}
    for entry in section.value if section is not None and section.kind == "object" else ():
        if not examine(LABEL, entry.node, []):
            continue
        said = plain(entry.node)
        label = LabelRule(name=entry.key, source=said.pop("from", "user"), span=entry.span, **said)
        labels[entry.key] = label
        if label.otherwise and label.matches is not None:
            noted(found, "value", f"`{entry.key}` has `matches` and `otherwise`", entry, "keep one of them")
        elif label.otherwise and label.source in rest:
            message = f"`{rest[label.source]}` and `{entry.key}` both take what is left"
            noted(found, "value", message, entry, "let one label of a source say `otherwise`")
        elif label.unless is not None and label.matches is None and not label.otherwise:
            noted(found, "value", f"`{entry.key}` has `unless` without `matches`", entry, "say what it matches")
        if label.otherwise:
            rest.setdefault(label.source, entry.key)
    return labels


def _rules(root: Node, source: Source, found: Found) -> tuple[Rule, ...]:
    section = _good(root, "rules")
    return tuple(_rule(row, source, found) for row in (section.value if section is not None else ()))


def _rule(row: Node, source: Source, found: Found) -> Rule:
    said = plain(row)
    head = written = next(name for name in said if name in TEMPLATES or name in SPELLINGS)
    value = said.pop(head)
    if head in SPELLINGS:
        spelling = SPELLINGS[head]
        head = spelling.template
        value = value if spelling.arguments == ("members",) else dict(zip(spelling.arguments, value, strict=True))
    template = TEMPLATES[head]
    names = [argument.name for argument in template.arguments]
    args: dict[str, Any] = {"members": value} if template.form == "members" else value
    if template.form == "list" and isinstance(value, list):
        args = dict(zip(names, value, strict=True))
    if template.form == "text":
        inner = value if isinstance(value, dict) else {names[0]: value}
        args = {names[0]: inner.pop(names[0])}
        said = {**inner, **said}
    for argument in template.arguments:
        if argument.kind in ("time", "within") and not isinstance(args.get(argument.name, {}), dict):
            args[argument.name] = seconds(args[argument.name])
        elif argument.kind == "history":
            args[argument.name] = _history(row.get(written), argument.name, source, found)
    options = {name: said[name] for name in said if RULE_OPTIONS.key(name) is not None}
    excepting = tuple(options.pop("except", ()))
    options["by"] = tuple(options.get("by", ()))
    span = next(entry.span for entry in row.value if entry.key == written)
    return Rule(head, args, excepting=excepting, span=span, **options)


def _history(head: Node | None, name: str, document: Source, found: Found) -> str:
    """A history in its one form; what is wrong with it is pointed at where it stands."""
    node = None if head is None else head.get(name)
    if node is None:
        return ""
    source, exact = embedded(document, node)
    try:
        return text_of(history_of(node.value, source=source))
    except DulyError as error:
        found += [each if exact else structs.replace(each, span=node.span) for each in error.diagnostics]
    return str(node.value)


def _approvals(root: Node) -> tuple[Approval, ...]:
    section = _good(root, "approvals")
    return tuple(_approval(row) for row in (section.value if section is not None else ()))


def _approval(row: Node) -> Approval:
    said = plain(row)
    said["by"] = tuple(said.get("by", ()))
    said["excepting"] = tuple(said.pop("except", ()))
    if "expires" in said:
        said["expires"] = seconds(said["expires"])
    if "above" in said:
        said["above"] = Above(**said["above"])
    stand = said.get("stand")
    if isinstance(stand, dict):
        lasts = seconds(stand["lasts"]) if "lasts" in stand else None
        said["stand"] = Stand(stand.get("within", {}), lasts)
    return Approval(span=_place(row), **said)


_BUDGET_TEXTS: Final = ("of", "id", "scope", "per", "zone")


def _budgets(root: Node, found: Found) -> tuple[Budget, ...]:
    section = _good(root, "budget")
    if section is None:
        return ()
    return tuple(_budget(row, found) for row in (section.value if section.kind == "list" else [section]))


def _budget(row: Node, found: Found) -> Budget:
    limits: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for entry in row.value:
        kind = "list" if entry.key == "except" else "text" if entry.key in _BUDGET_TEXTS else "number"
        if entry.node.kind != kind:
            noted(found, "type", f"expected a {kind} for `{entry.key[:60]}`", entry, "units have numbers from 0")
        elif kind == "number":
            limits[entry.key] = plain(entry.node)
        elif entry.key == "scope" and entry.node.value not in SCOPES:
            noted(found, "value", "expected `session`, `turn`, `run` or `store` for `scope`", entry)
        elif entry.key == "per" and entry.node.value != "day":
            noted(found, "value", "expected `day` for `per`", entry)
        else:
            more[entry.key] = plain(entry.node)
    return Budget(limits, excepting=tuple(more.pop("except", ())), span=row.span, **more)


def _guards(root: Node) -> tuple[OutsideGuard, ...]:
    section = _good(root, "guards")
    found = []
    for row in section.value if section is not None else ():
        said = plain(row)
        if "within" in said:
            said["within"] = seconds(said["within"])
        found.append(OutsideGuard(span=_place(row), **said))
    return tuple(found)


def _place(row: Node) -> Span | None:
    span: Span | None = next(entry.span for entry in row.value if entry.key == "of")
    return span


def _examples(root: Node) -> tuple[Example, ...]:
    section = _good(root, "examples")
    return tuple(
        Example(text=plain(row)["text"], label=plain(row)["label"], span=row.span)
        for row in (section.value if section is not None else ())
    )
