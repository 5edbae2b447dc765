"""What can be said of a whole contract: its protocols, its names, and what its rules leave possible together.

Errors are what cannot work, warnings what is suspicious (F6); a load does not ask any of this.
"""

from collections.abc import Iterable

from duly.machine.contract import Contract
from duly.machine.formula.make import names_of
from duly.machine.graph import Graph
from duly.machine.names import Names
from duly.machine.rules import TEMPLATES, text_of
from duly.machine.templates import Ask, Below, Maker, Needs, named
from duly.machine.terms import Rule, Terms
from duly.machine.watch.watch import Watch
from duly.values.errors import Diagnostic, suggest
from duly.values.source import Span

from .clash import clashes
from .fact import unlearnt
from .formula import hopeless
from .name import look_alikes
from .past import counted_short, past_names, unspoken
from .possible import Possible
from .run import arc_text
from .shape import check_outcomes, check_shape


def check_contract(contract: Contract) -> list[Diagnostic]:
    """All that is wrong or suspicious; the examples of labels are somebody else's, since they need a classifier."""
    terms = contract.terms
    names = Names(terms)
    learnt = frozenset(rule.args["fact"] for rule in contract.rules.values() if rule.template == "learns")
    asks = {rule.id: _asks(rule, names, contract, learnt) for rule in contract.rules.values()}
    found: list[Diagnostic] = []
    declared = {name: tuple(tool.outcomes) for name, tool in (terms.tools or {}).items()}
    for graph in terms.protocols:
        found += check_shape(graph, forever=terms.forever)
        found += check_outcomes(graph, declared)
    found += _silent(contract, names)
    found += _unknown(contract, names)
    found += _never(contract, names, asks)
    told = {each.message for each in found}
    found += [each for each in clashes(contract, asks) if each.message not in told]
    found += hopeless(contract, asks)
    found += _redundant(contract, asks)
    found += counted_short(contract, names)
    found += unspoken(contract, names)
    found += unlearnt(contract, names)
    found += _look_alikes(terms)
    found += _empty(terms)
    return found


def _asks(rule: Rule, names: Names, contract: Contract, learnt: frozenset[str]) -> tuple[Ask, ...]:
    return (TEMPLATES[rule.template].make(Maker(rule, names, contract.terms.facts, learnt)),)


def _silent(contract: Contract, names: Names) -> list[Diagnostic]:
    """Errors for declared tools that the protocol does not speak of and that are not outside (B11)."""
    terms = contract.terms
    if not terms.protocols:
        return []
    outside = frozenset().union(*(names.members(name) for name in terms.outside))
    spoken = {label for line in contract.lines for label in (*line.acts, *line.results)}
    return [
        Diagnostic(
            "silent", f"no protocol speaks of the tool `{name}`, so it is never allowed", span=tool.span,
            path=f"tools.{name}", help=f"name it under `outside`, or in the protocol; as in `outside: [{name}]`",
        )
        for name, tool in (terms.tools or {}).items()
        if name not in spoken and name not in outside
    ]  # fmt: skip


def _unknown(contract: Contract, names: Names) -> list[Diagnostic]:
    """Warnings for names that are declared nowhere, where the set of tools is closed."""
    terms = contract.terms
    if terms.tools is None:
        return []
    known = {*terms.tools, *terms.labels, *terms.aliases}
    found: list[Diagnostic] = []
    told: set[tuple[str, str]] = set()

    def look(name: str, what: str, span: Span | None, path: str) -> None:
        if name[:1] == "@" or "*" in name or name in known or (what, name) in told:
            return
        told.add((what, name))
        help = suggest(name, known) or "declare it under `tools`, or under `labels` if somebody says it"
        found.append(
            Diagnostic("unknown", f"{what} names `{name}`, which is not declared", "warning", span, path, help)
        )

    for rule in contract.rules.values():
        for argument in TEMPLATES[rule.template].arguments:
            if argument.kind in ("member", "members") and argument.name in rule.args:
                for name in named(rule.args[argument.name]):
                    look(name, f"the rule `{rule.id}`", rule.span, "rules")
            if argument.kind == "formula":
                for name in names_of(rule.args[argument.name]):
                    look(name, f"the rule `{rule.id}`", rule.span, "rules")
        for name in past_names(rule):
            look(name, f"the rule `{rule.id}`", rule.span, "rules")
        for name in rule.excepting:
            look(name, f"the rule `{rule.id}`", rule.span, "rules")
    for graph in terms.protocols:
        for arc in graph.arcs:
            if arc.label is not None and not arc.group:
                look(arc.label, _title(graph), graph.span(arc) if arc.end else None, "protocol")
    for name in terms.outside:
        look(name, "`outside`", terms.span, "outside")
    for alias, name in terms.aliases.items():
        look(name, f"the alias `{alias}`", terms.span, "aliases")
    return found


def _never(contract: Contract, names: Names, asks: dict[str, tuple[Ask, ...]]) -> list[Diagnostic]:
    """Errors for acts that are never allowed though no rule forbids them outright."""
    possible = Possible(contract, names, [ask for row in asks.values() for ask in row])
    found: list[Diagnostic] = []
    for rule in contract.rules.values():
        for ask in asks[rule.id]:
            if not isinstance(ask, Needs):
                continue
            stuck = sorted(name for name in ask.names if possible.waits_for(name, ask.bit))
            if stuck:
                first = ", ".join(f"`{name}`" for name in sorted(ask.bit.names)[:5]) or "nothing"
                found.append(Diagnostic(
                    "never", f"{_listed(stuck)} never allowed: `{rule.id}` waits for {first}, which never comes first",
                    span=rule.span, path="rules", help="change the rule; if that is meant, say `at_most` with `n: 0`",
                ))  # fmt: skip
    if found:
        return found
    for graph in contract.terms.protocols:
        for arc in possible.unoffered(graph):
            found.append(Diagnostic(
                "never", f"`{arc_text(arc)}` never happens: every way to it needs an act that is never allowed",
                span=graph.span(arc) if arc.end else None, path="protocol",
                help="let the protocol reach it without that act, or take it out",
            ))  # fmt: skip
            break
    return found


def _redundant(contract: Contract, asks: dict[str, tuple[Ask, ...]]) -> list[Diagnostic]:
    """Warnings for rules that say what another says, that others always go before, or that speak of nothing."""
    found: list[Diagnostic] = []
    seen: dict[object, Rule] = {}
    tightest: dict[tuple[object, ...], tuple[int, str]] = {}
    for rule in contract.rules.values():
        for ask in asks[rule.id]:
            if isinstance(ask, Below):
                key = (ask.names, ask.count)
                tightest[key] = min((ask.limit, rule.id), tightest.get(key, (ask.limit, rule.id)))
    for rule in contract.rules.values():
        row = asks[rule.id]
        twin = seen.setdefault(_meaning(rule) if any(isinstance(ask, Watch) for ask in row) else row, rule)
        if row and not any(ask.labels or ask.heeds if isinstance(ask, Watch) else ask.names for ask in row):
            found.append(_idle(rule, f"the rule `{rule.id}` speaks of nothing", "its exceptions leave no member"))
        elif twin is not rule:
            found.append(_idle(rule, f"the rule `{rule.id}` says the same as `{twin.id}`", "one of them can go"))
        else:
            for ask in row:
                if isinstance(ask, Below):
                    limit, other = tightest[ask.names, ask.count]
                    if limit < ask.limit:
                        message = f"the rule `{rule.id}` can never matter: `{other}` refuses earlier"
                        found.append(_idle(rule, message, "one of them can go"))
    return found


def _meaning(rule: Rule) -> object:
    """What two rules with books share that say the same."""
    members = rule.args.get("members")
    args = {**rule.args, "members": sorted(map(str, members))} if members is not None else rule.args
    plain = Rule(rule.template, args, excepting=tuple(sorted(rule.excepting)), scope=rule.scope, same=rule.same,
                 where=rule.where, on=rule.on)  # fmt: skip
    return text_of(plain), rule.mode, rule.on_violation, rule.on_excess, rule.by, rule.severity


def _idle(rule: Rule, message: str, help: str) -> Diagnostic:
    return Diagnostic("redundant", message, "warning", rule.span, "rules", help)


def _look_alikes(terms: Terms) -> list[Diagnostic]:
    spans = {name: item.span for part in (terms.tools or {}, terms.labels) for name, item in part.items()}
    return [
        Diagnostic(
            "look_alike", f"`{one}` and `{second}` differ only by {what}", "warning", spans[second], help="rename one"
        )
        for one, second, what in look_alikes(spans)
    ]


def _empty(terms: Terms) -> list[Diagnostic]:
    if terms.protocols or terms.rules or terms.tools is not None:
        return []
    return [
        Diagnostic("empty", "the contract says nothing: every act is allowed", "warning", terms.span, help="add a rule")
    ]


def _title(graph: Graph) -> str:
    return f"the protocol `{graph.name}`" if graph.name else "the protocol"


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(f"`{name}`" for name in found[:5]) + more + (" is" if len(found) == 1 else " are")
