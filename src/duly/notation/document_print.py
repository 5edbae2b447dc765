"""`Terms` back into the one form of a contract document; reading it gives the same terms."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from duly.machine.graph import Graph
from duly.machine.rules import TEMPLATES
from duly.machine.terms import Approval, Budget, Example, LabelRule, OutsideGuard, Rule, Stand, Terms, Tool
from duly.values.errors import fault

from .document import Page
from .duration import duration
from .emit import Block, emit
from .keys import DOCUMENT, EDITION
from .transitions import to_transitions


def print_terms(terms: Terms) -> str:
    """The canonical YAML of a contract: keys in one order, defaults left out, protocols as blocks of text."""
    return emit(document_of(terms))


def print_page(page: Page, *, text: str) -> str:
    """One document in canonical YAML, its includes left as they are; of its comments the leading ones are kept."""
    return leading_comments(text) + emit(document_of(page.terms, include=page.include))


def leading_comments(text: str) -> str:
    """The comment lines that a YAML or TOML document begins with, each with its line end."""
    kept: list[str] = []
    for line in text.removeprefix("\ufeff").split("\n"):
        if line.strip() and not line.startswith("#"):
            break
        kept.append(line.strip())
    while kept and not kept[-1]:
        kept.pop()
    return "".join(f"{line}\n" for line in kept)


def document_of(terms: Terms, *, include: Sequence[str] = ()) -> dict[str, Any]:
    """The terms as the plain value of a document, keys in the order of the table."""
    said = {
        "duly": EDITION,
        "contract": terms.name,
        "version": terms.version,
        "include": list(include),
        "groups": terms.groups,
        "aliases": terms.aliases,
        "labels": {name: _label(label) for name, label in terms.labels.items()},
        "facts": terms.facts,
        **_protocols(terms.protocols),
        "rules": [_rule(rule) for rule in terms.rules],
        "approvals": [_approval(approval) for approval in terms.approvals],
        "guards": [_guard(guard) for guard in terms.guards],
        "budget": _budget(terms.budget),
        "outside": list(terms.outside),
        "breaker": None if terms.breaker is None else _changed(terms.breaker, {"of": "in_a_row", "per": "session"}),
        "audit": {"count": terms.count} if terms.count != "attempted" else {},
        "forever": terms.forever,
        "pin": True if "*" in terms.pin else list(terms.pin),
        "examples": [_example(example) for example in terms.examples],
    }
    settings = {
        "mode": "enforce", "withdraw_on": "order", "on_violation": "refuse", "view": "agent", "undeclared": "error",
    }  # fmt: skip
    said.update({name: getattr(terms, name) for name, default in settings.items() if getattr(terms, name) != default})
    document = {name: value for name, value in said.items() if value or value == EDITION}
    # an empty set of tools is closed, and an empty `show` says nothing: both mean something
    if terms.tools is not None:
        document["tools"] = {name: _tool(tool) for name, tool in terms.tools.items()}
    if terms.show != ("reasons", "legal", "repair"):
        document["show"] = list(terms.show)
    return {key.name: document[key.name] for key in DOCUMENT.keys if key.name in document}


def _changed(value: Struct, defaults: dict[str, Any], spelled: dict[str, str] | None = None) -> dict[str, Any]:
    """The fields that differ from their defaults, under the names of documents."""
    names = spelled or {}
    return {
        names.get(name, name): _listed(getattr(value, name))
        for name in value.__struct_fields__
        if name not in ("name", "span") and not (name in defaults and getattr(value, name) == defaults[name])
    }


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _tool(tool: Tool) -> dict[str, Any]:
    return _changed(
        tool,
        {
            "effect": None, "error": None, "outcomes": {}, "uncertain": None, "on_error": "back", "idempotent": False,
            "schema": None, "paths": {}, "clamp": {}, "pairs": (), "pin": False,
        },
    )  # fmt: skip


def _label(label: LabelRule) -> dict[str, Any]:
    return _changed(label, {"source": "user", "matches": None, "unless": None, "otherwise": False}, {"source": "from"})


def _example(example: Example) -> dict[str, Any]:
    return {"text": example.text, "label": example.label}


def _rule(rule: Rule) -> dict[str, Any]:
    template = TEMPLATES[rule.template]
    args = {argument.name: rule.args[argument.name] for argument in template.arguments if argument.name in rule.args}
    for argument in template.arguments:
        if argument.kind in ("time", "within") and not isinstance(args.get(argument.name, {}), dict):
            args[argument.name] = duration(args[argument.name])
    said: Any = list(args.values()) if template.form == "list" else args
    if template.form == "members":
        said = list(args["members"])
    if template.form == "text":
        (said,) = args.values()
    defaults = {
        "id": "", "excepting": (), "scope": "session", "severity": "error", "same": None, "where": None, "on": None,
        "mode": "enforce", "on_violation": "refuse", "on_excess": "refuse", "by": (),
    }  # fmt: skip
    options = _changed(rule, defaults, {"excepting": "except"})
    return {rule.template: said, **{name: options[name] for name in options if name not in ("template", "args")}}


def _budget(budgets: tuple[Budget, ...]) -> Any:
    said = [
        {
            **each.limits,
            **({"of": each.of} if each.of is not None else {}),
            **({"except": list(each.excepting)} if each.excepting else {}),
            **({"scope": each.scope} if each.scope != "session" else {}),
            **({"per": each.per} if each.per is not None else {}),
            **({"zone": each.zone} if each.zone is not None else {}),
            **({"id": each.id} if each.id else {}),
        }
        for each in budgets
    ]
    return said[0] if len(said) == 1 else said


def _approval(approval: Approval) -> dict[str, Any]:
    defaults = {
        "when": None, "ask": "", "by": (), "need": 1, "expires": None, "no": "call", "stand": "exact", "id": "",
        "excepting": (), "above": None,
    }  # fmt: skip
    said = _changed(approval, defaults, {"excepting": "except"})
    if approval.expires is not None:
        said["expires"] = duration(approval.expires)
    if approval.above is not None:
        said["above"] = _changed(approval.above, {"same": None})
    if isinstance(approval.stand, Stand):
        within, lasts = approval.stand.within, approval.stand.lasts
        said["stand"] = {
            **({"within": within} if within else {}), **({} if lasts is None else {"lasts": duration(lasts)}),
        }  # fmt: skip
    return said


def _guard(guard: OutsideGuard) -> dict[str, Any]:
    said = _changed(guard, {"within": 5.0})
    return {**said, "within": duration(guard.within)} if "within" in said else said


def _protocols(graphs: tuple[Graph, ...]) -> dict[str, Any]:
    unnamed = [graph for graph in graphs if not graph.name]
    named = [graph for graph in graphs if graph.name]
    if len(unnamed) > 1:
        raise fault("name", f"{len(unnamed)} protocols have no name", help="give each a name of its own")
    said: dict[str, Any] = {}
    if unnamed:
        said["protocol"] = _written(unnamed[0])
    elif named and all(graph.notation == "blocks" for graph in named):
        return {"protocol": Block("\n\n".join(graph.text.strip("\n") for graph in named))}
    if named:
        said["protocols"] = {graph.name: _written(graph) for graph in named}
    return said


def _written(graph: Graph) -> Any:
    return _table(graph) if graph.notation == "transitions" else Block(graph.text)


def _table(graph: Graph) -> dict[str, Any]:
    table = to_transitions(graph)
    rows = [
        {"source": row.source, "event": row.event, "target": row.target}
        | ({"guards": row.guards} if row.guards else {})
        for row in table.rows
    ]
    said: dict[str, Any] = {"initial": table.initial, "terminal": list(table.terminal), "transitions": rows}
    if table.partings:
        said["partings"] = [
            {"source": each.source, "starts": list(each.starts), "join": each.join} for each in table.partings
        ]
    return said | ({"payloads": dict(table.payloads)} if table.payloads else {})
