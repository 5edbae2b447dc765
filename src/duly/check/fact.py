"""Facts that are named before they are sure to be learnt: until then every act judged by them is refused."""

from collections.abc import Iterator
from typing import Any

from duly.machine.contract import Contract
from duly.machine.fields import paths
from duly.machine.names import Names
from duly.machine.rules import TEMPLATES
from duly.machine.templates import named
from duly.machine.terms import Rule
from duly.values.errors import Diagnostic
from duly.values.source import Span

Place = tuple[str, frozenset[str], Span | None, str]
"""Who names a fact, in words; the acts that are judged by it; where it stands."""


def unlearnt(contract: Contract, names: Names) -> list[Diagnostic]:
    """Warnings for facts without a first value that something names which may be asked before they are learnt."""
    writers = {
        str(rule.args["fact"]): _members(rule.args["of"], names)
        for rule in contract.rules.values()
        if rule.template == "learns" and rule.args["fact"] not in contract.terms.facts
    }
    if not writers:
        return []
    found: dict[tuple[str, str], Diagnostic] = {}
    for fact, (who, labels, span, path) in _uses(contract, names):
        teachers = writers.get(fact)
        if teachers is None or (fact, who) in found or _ordered(contract, names, teachers, labels):
            continue
        message = f"{who} names the fact `{fact}`, which may be unlearnt then, and refuses where it is"
        help = f"give it a first value under `facts`, or let `must_precede` ask for {_shown(teachers)}"
        found[fact, who] = Diagnostic("unlearnt", message, "warning", span, path, help)
    return list(found.values())


def _uses(contract: Contract, names: Names) -> Iterator[tuple[str, Place]]:
    """The facts that are named, each with its place."""
    for rule in contract.rules.values():
        labels = _judged(rule, names)
        place = f"the rule `{rule.id}`", labels, rule.span, "rules"
        for text in _texts(rule):
            yield from ((fact, place) for fact in _named(text))
        for name in ("n", "limit"):
            said = rule.args.get(name)
            for each in said.values() if isinstance(said, dict) else (said,):
                if isinstance(each, str):
                    yield each.removeprefix("facts."), place
    for asker in contract.asks:
        if asker.when is not None:
            place = f"the approval `{asker.id}`", asker.names, asker.approval.span, "approvals"
            yield from ((fact, place) for fact in _named(asker.when.text))
    for label, outcomes in contract.outcomes.items():
        span = contract.tools[label].span
        for outcome, condition in outcomes:
            name = "uncertain" if outcome == "~" else outcome
            place = f"`{name}` of the tool `{label}`", frozenset((label,)), span, f"tools.{label}"
            yield from ((fact, place) for fact in _named(condition.text))


def _texts(rule: Rule) -> Iterator[str]:
    """The conditions of a rule; what a fact is learnt from is none, since without it nothing is learnt."""
    if rule.where is not None:
        yield rule.where
    if "that" in rule.args:
        yield str(rule.args["that"])
    todo: list[Any] = list(rule.args.values())
    while todo:
        said = todo.pop()
        if isinstance(said, dict):
            if isinstance(said.get("where"), str):
                yield said["where"]
            todo += said.values()
        elif isinstance(said, list | tuple):
            todo += said


def _judged(rule: Rule, names: Names) -> frozenset[str]:
    said = [
        rule.args[argument.name]
        for argument in TEMPLATES[rule.template].arguments
        if argument.kind in ("member", "members") and argument.name in rule.args
    ]
    return frozenset().union(*(_members(each, names) for each in said))


def _ordered(contract: Contract, names: Names, teachers: frozenset[str], labels: frozenset[str]) -> bool:
    """Whether the acts come after a teacher: by a rule, or by a protocol that speaks of both, taken to do so."""
    for rule in contract.rules.values():
        if rule.template == "must_precede" and rule.scope == "session" and rule.where is None and rule.same is None:
            first, then = _members(rule.args["first"], names), _members(rule.args["then"], names)
            if first <= teachers and labels - teachers <= then:
                return True
    return any(
        all(label in {*line.acts, *line.results} for label in labels)
        and any(label in {*line.acts, *line.results} for label in teachers)
        for line in contract.lines
    )


def _members(said: Any, names: Names) -> frozenset[str]:
    return frozenset().union(*(names.members(name) for name in named(said)))


def _named(text: str) -> Iterator[str]:
    return (str(steps[0]) for steps in paths(text, "facts"))


def _shown(labels: frozenset[str]) -> str:
    return " or ".join(f"`{label}`" for label in sorted(labels)[:3])
