"""Histories that are read as they are written, and may be meant otherwise."""

from collections.abc import Iterator

from duly.machine.contract import Contract
from duly.machine.formula.node import Count
from duly.machine.history import history_of, names_of
from duly.machine.names import Names
from duly.machine.templates import named
from duly.machine.terms import Rule
from duly.values.errors import Diagnostic, suggest


def past_names(rule: Rule) -> list[str]:
    """The names, groups and globs in the history of a rule."""
    return names_of(rule.args["that"]) if rule.template == "history" else []


def counted_short(contract: Contract, names: Names) -> Iterator[Diagnostic]:
    """Warnings for `count(x) <= n` that judges x itself: it looks at what came before, so one more is allowed."""
    for rule in contract.rules.values():
        if rule.template != "history":
            continue
        judged = frozenset().union(*(names.members(name) for name in named(rule.args["of"])))
        for node in history_of(rule.args["that"]).nodes:
            if isinstance(node, Count) and node.sign == "<=" and judged & names.members(node.of.name):
                said = f"count({node.of.name}) <= {node.n}"
                yield Diagnostic(
                    "count", f"`{said}` looks at what came before the act, so {node.n + 1} are allowed", "warning",
                    rule.span, "rules", f"write `count({node.of.name}) < {node.n}` for at most {node.n}",
                )  # fmt: skip


def unspoken(contract: Contract, names: Names) -> Iterator[Diagnostic]:
    """Warnings for acts that a history judges and no protocol speaks of, where nothing else declares them."""
    terms = contract.terms
    if terms.tools is not None or not terms.protocols:
        return
    spoken = {label for line in contract.lines for label in (*line.acts, *line.results)}
    declared = spoken | {*terms.labels} | {name for pattern in terms.outside for name in names.members(pattern)}
    for rule in contract.rules.values():
        for name in named(rule.args["of"]) if rule.template == "history" else ():
            if name[:1] != "@" and "*" not in name and names.canonical(name) not in declared:
                help = suggest(name, declared) or f"name it in the protocol, or say `outside: [{name}]`"
                message = f"`{rule.id}` is about `{name}`, of which no protocol speaks"
                yield Diagnostic("unknown", message, "warning", rule.span, "rules", help)
