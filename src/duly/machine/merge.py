"""Several contracts as one: rules together, protocols side by side, each over its own names."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from msgspec import structs

from duly.values.errors import Diagnostic, DulyError

from .contract import Contract
from .graph import Graph
from .names import Names
from .rules import TEMPLATES
from .terms import Approval, Budget, OutsideGuard, Rule, Terms

T = TypeVar("T", Rule, Approval)
S = TypeVar("S", Approval, OutsideGuard)

KINDS = {"tools": "tool", "aliases": "alias", "labels": "label", "facts": "fact"}


def merge(contracts: Iterable[Contract]) -> Contract:
    """One contract that holds a session to all of them: it refuses what one of them refuses.

    Groups and globs mean the tools of the contract that writes them. Raises DulyError where declarations conflict.
    """
    found = list(contracts)
    if len(found) == 1:
        return found[0]
    faults: list[Diagnostic] = []
    merged: dict[str, dict[str, Any]] = {part: {} for part in KINDS}
    for contract in found:
        for part, into in merged.items():
            for name, value in (getattr(contract.terms, part) or {}).items():
                if _bare(into.setdefault(name, value)) != _bare(value):
                    message, span = f"the {KINDS[part]} `{name}` is declared in two ways", getattr(value, "span", None)
                    faults.append(Diagnostic("merge", message, help="declare it once, or equally", span=span))
    breakers = {contract.terms.breaker for contract in found} - {None}
    if len(breakers) > 1:
        faults.append(Diagnostic("merge", "two contracts set different breakers", help="set it in one of them"))
    groups: dict[str, list[str]] = {}
    graphs: list[Graph] = []
    rules: _Union[Rule] = _Union()
    approvals: _Union[Approval] = _Union()
    purses: list[Budget] = []
    guards: list[OutsideGuard] = []
    for contract in found:
        own = _Own(contract, groups)
        graphs += [own.graph(graph) for graph in contract.terms.protocols]
        for rule in contract.rules.values():
            rules.add(rule, own.rule(rule))
        for asker in contract.asks:
            said = structs.replace(asker.approval, id=asker.id)
            approvals.add(said, own.member(said))
        purses += [own.purse(purse) for purse in contract.terms.budget]
        guards += [own.member(guard) for guard in contract.terms.guards]
    outside, torn = _outside(found)
    faults += [
        Diagnostic("merge", f"`{name}` has a place in one contract, and another closes it out", help="say `outside`")
        for name in torn
    ]
    if faults:
        raise DulyError(faults)
    terms = [contract.terms for contract in found]
    return Contract.of(
        Terms(
            name=" + ".join(term.name for term in terms if term.name),
            version=" + ".join(term.version for term in terms if term.version),
            mode="enforce" if any(term.mode == "enforce" for term in terms) else "shadow",
            tools=merged["tools"] if any(term.tools is not None for term in terms) else None,
            groups=groups,
            aliases=merged["aliases"],
            labels=merged["labels"],
            facts=merged["facts"],
            protocols=tuple(graphs),
            rules=rules.all(),
            approvals=approvals.all(),
            withdraw_on="message" if any(term.withdraw_on == "message" for term in terms) else "order",
            budget=tuple({repr(_bare(purse)): purse for purse in purses}.values()),
            guards=tuple({repr(_bare(guard)): guard for guard in guards}.values()),
            outside=outside if graphs else (),
            breaker=next(iter(breakers), None),
            on_violation="halt" if any(term.on_violation == "halt" for term in terms) else "refuse",
            show=tuple(part for part in terms[0].show if all(part in term.show for term in terms)),
            pin=tuple(dict.fromkeys(server for term in terms for server in term.pin)),
            count="effective" if any(term.count == "effective" for term in terms) else "attempted",
            examples=tuple(example for term in terms for example in term.examples),
        )
    )


class _Union(Generic[T]):
    """Rules, or approvals, of several contracts by their ids: the same one is there once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[T, T]] = {}
        self._doubles: list[T] = []

    def add(self, said: T, mine: T) -> None:
        """``mine`` is what ``said`` means in the merged contract."""
        id, number = said.id, 1
        while id in self._known and _bare(self._known[id][1]) != _bare(structs.replace(mine, id=id)):
            if _bare(self._known[id][0]) != _bare(said):
                # another one of that name: building says so
                self._doubles.append(mine)
                return
            number += 1
            id = f"{said.id}~{number}"
        self._known.setdefault(id, (said, structs.replace(mine, id=id)))

    def all(self) -> tuple[T, ...]:
        return tuple([mine for _, mine in self._known.values()] + self._doubles)


class _Own:
    """One contract's groups and globs, written out, so that the tools of the others do not join them."""

    def __init__(self, contract: Contract, groups: dict[str, list[str]]) -> None:
        self._terms = contract.terms
        self._names = Names(contract.terms)
        self._groups = groups
        for name in contract.terms.groups:
            self._written(f"@{name}")

    def _written(self, name: str) -> str:
        """The member under the name that it has in the merged contract."""
        if not name.startswith("@") and "*" not in name:
            return name
        base, number = name.removeprefix("@"), 1
        members, key = sorted(self._names.members(name)), base
        while self._groups.setdefault(key, members) != members:
            number += 1
            key = f"{base}~{number}"
        return f"@{key}"

    def rule(self, rule: Rule) -> Rule:
        kinds = {part.name: part.kind for part in TEMPLATES[rule.template].arguments}
        args = {name: self._argument(kinds[name], value) for name, value in rule.args.items()}
        same = rule.same
        if isinstance(same, dict):
            same = {self._written(name): path for name, path in same.items()}
        return structs.replace(rule, args=args, same=same, excepting=tuple(map(self._written, rule.excepting)))

    def _argument(self, kind: str, value: Any) -> Any:
        if kind in ("member", "members"):
            return self._said(value)
        if kind == "formula":
            from .formula.make import renamed

            return renamed(value, self._written)
        if kind == "weights":
            return {self._written(name): weight for name, weight in value.items()}
        if kind == "history":
            from .history import renamed as retold

            return retold(value, self._written)
        return {**value, "of": self._said(value["of"])} if kind == "back" else value

    def _said(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {**value, "of": self._said(value["of"])}
        if isinstance(value, list | tuple):
            return [self._said(each) for each in value]
        return self._written(value)

    def member(self, said: S) -> S:
        """An approval or a guard, over the tools of its own contract."""
        changes: dict[str, Any] = {"of": self._written(said.of)}
        if isinstance(said, Approval):
            changes["excepting"] = tuple(map(self._written, said.excepting))
        return structs.replace(said, **changes)

    def purse(self, said: Budget) -> Budget:
        """A budget over the tools of its own contract; several of them hold side by side, the smallest first."""
        of = None if said.of is None else self._written(said.of)
        return structs.replace(said, of=of, excepting=tuple(map(self._written, said.excepting)))

    def graph(self, graph: Graph) -> Graph:
        arcs = tuple(
            structs.replace(arc, label=self._written(f"@{arc.label.removeprefix('@')}").removeprefix("@"))
            if arc.group and arc.label is not None
            else arc
            for arc in graph.arcs
        )
        view = "client" if self._terms.view == "client" else graph.view
        return structs.replace(graph, arcs=arcs, view=view, forever=graph.forever or self._terms.forever)


def _outside(found: list[Contract]) -> tuple[tuple[str, ...], list[str]]:
    """The tools that no protocol speaks of and none closes out; and those that one speaks of and another closes out."""
    plans = [plan for contract in found for plan in contract.acts.values()]
    shut = {plan.label for plan in plans if plan.silent}
    spoken = {plan.label for plan in plans if plan.rows}
    free = {name for contract in found for name in contract.tools}
    for contract in found:
        names = Names(contract.terms)
        free.update(name for text in contract.terms.outside for name in names.members(text))
    return tuple(sorted(free - shut - spoken)), sorted(shut & spoken)


def _bare(value: Any) -> Any:
    return structs.replace(value, span=None) if hasattr(value, "span") else value
