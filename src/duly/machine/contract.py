"""The contract: terms, compiled once, shared by any number of sessions; loaded, compared, pinned by its digest."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, get_type_hints

import msgspec
from msgspec import structs

from duly.values.errors import Diagnostic, DulyError
from duly.values.expr import exact, normal
from duly.values.plain import LONG, write_sorted
from duly.values.source import Span
from duly.values.verdict import SHOWN

from .build import build
from .condition import Condition
from .graph import Graph
from .prepare import Preparer
from .terms import Approval, Budget, LabelRule, OutsideGuard, Rule, Terms, Tool
from .watch.collect import Teacher
from .watch.outer import Outer, purse


class Contract:
    """Everything a session is held to, under one name and version.

    Built from parts (protocols and rules) or from ``Terms``; raises DulyError with every fault that leaves no clear
    meaning. Immutable; safe to share between threads; pickles and copies as its terms.
    """

    def __init__(
        self,
        *parts: Graph | Rule | Approval | OutsideGuard,
        name: str = "",
        version: str = "",
        tools: Iterable[Tool] | None = None,
        labels: Iterable[LabelRule] = (),
        **terms: Any,
    ) -> None:
        """``parts`` are protocols (``duly.protocol``), rules (``duly.must_precede`` …), approvals (``duly.Approval``)
        and guards (``duly.OutsideGuard``); ``tools`` closes the set of tools; ``terms`` are further fields of ``Terms``
        (``groups``, ``aliases``, ``outside``, ``breaker`` …)."""
        unknown = [part for part in parts if not isinstance(part, Graph | Rule | Approval | OutsideGuard)]
        wrong = [
            Diagnostic("contract", f"`{part!r:.60}` is neither a protocol nor a rule", help="use `duly.protocol(text)`")
            for part in unknown
        ]  # fmt: skip
        wrong += [
            Diagnostic("contract", f"unknown term `{key}`", help=f"terms are {', '.join(Terms.__struct_fields__)}")
            for key in terms
            if key not in Terms.__struct_fields__
        ]
        tools, labels = None if tools is None else tuple(tools), tuple(labels)
        for what, found in (("tool", tools or ()), ("label", labels)):
            names = [item.name for item in found]
            twice = dict.fromkeys(name for name in names if names.count(name) > 1)
            wrong += [Diagnostic("name", f"the {what} `{name}` is declared twice") for name in twice]
        for key, value in terms.items():
            if key in Terms.__struct_fields__:
                try:
                    terms[key] = msgspec.convert(value, get_type_hints(Terms)[key])
                except msgspec.ValidationError as error:
                    wrong.append(Diagnostic("contract", f"the term `{key}`: {str(error)[:1].lower()}{str(error)[1:]}"))
        if wrong:
            raise DulyError(wrong)
        for key, kind in (("approvals", Approval), ("guards", OutsideGuard)):
            given = tuple(part for part in parts if isinstance(part, kind))
            if given:
                terms[key] = (*terms.get(key, ()), *given)
        self._take(
            Terms(
                name=name,
                version=version,
                tools=None if tools is None else {tool.name: tool for tool in tools},
                labels={label.name: label for label in labels},
                protocols=tuple(part for part in parts if isinstance(part, Graph)),
                rules=tuple(part for part in parts if isinstance(part, Rule)),
                **terms,
            )
        )

    @classmethod
    def of(cls, terms: Terms) -> "Contract":
        """The contract that these terms state; raises DulyError."""
        contract = cls.__new__(cls)
        contract._take(terms)
        return contract

    def _take(self, terms: Terms) -> None:
        built = build(terms)
        self.terms = terms
        self.acts = built.acts
        self.hearings = built.hearings
        self.unnamed = built.unnamed
        self.lines = built.lines
        self.rules = built.rules
        self.bits = built.bits
        self.counts = built.counts
        self.scopes = tuple(count.scope for count in built.counts)
        self.turn_bits = built.turn_bits
        self.run_bits = built.run_bits
        self.start = built.start
        self.closed = built.closed
        # whether an act that nothing speaks of is admitted without a further question
        self.free = not built.closed and not built.owners and not built.everywhere
        # bare names and the full `server/name`s that they may mean
        self.owners = built.owners
        self.messages = frozenset(terms.labels)
        self.tools = terms.tools or {}
        self.tool_names = frozenset((*self.tools, *(a for a, name in terms.aliases.items() if name in self.tools)))
        # whether a new turn or run changes anything that a rule can see
        self.turned = built.turned
        # by label, who is asked while the definition of a pinned tool is not the accepted one
        self.pins = built.pins
        self.askers = {asker.id: asker for asker in (*built.askers, *built.pins.values())}
        self.asks = built.askers
        # rules that keep books, in the order of the books; those that time moves; those that look at every act
        self.watches = built.watches
        self.timed = tuple(number for number, watch in enumerate(built.watches) if watch.timed)
        self.everywhere = built.everywhere
        # those that are told of every observation
        self.heeds = built.heeds
        self.budgets = tuple((number, purse(watch)) for number, watch in enumerate(built.watches) if purse(watch))
        # rules that count beyond the session or by the calendar; those of a ledger, by the numbers of their books
        self.outer = tuple((number, watch) for number, watch in enumerate(built.watches) if isinstance(watch, Outer))
        self.ledgers = {number: watch.ledger for number, watch in self.outer if watch.ledger}
        # whether what time it is makes a difference
        self.clocked = any(watch.clocked for _, watch in self.outer)
        # what can be told to watch only, or to refuse: rules and budgets
        self.modal = frozenset((*built.rules, *(watch.id for watch in built.watches)))
        # by protocol: the fewest calls from each state to an end
        self.paces = built.paces
        # the rules that write facts, by the numbers of their books
        self.learns = tuple((number, watch) for number, watch in enumerate(built.watches) if isinstance(watch, Teacher))
        self.outcomes = _outcomes(terms)
        self.preparers = _preparers(terms)
        # whether a model may see all of a refusal
        self.shown = terms.show == SHOWN
        self.notes: dict[Any, Any] = {}
        self._digest: str | None = None

    def says(self, label: str) -> bool:
        """Whether this message is declared as one of the agent's own."""
        known = self.terms.labels.get(label)
        return known is not None and known.source == "agent"

    @property
    def name(self) -> str:
        return self.terms.name

    @property
    def version(self) -> str:
        return self.terms.version

    @property
    def digest(self) -> str:
        """``sha256:…`` over the canonical meaning: not over comments, layout, mode or texts for people."""
        if self._digest is None:
            from hashlib import sha256

            self._digest = "sha256:" + sha256(write_sorted(_meaning(self))).hexdigest()
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contract) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of, (self.terms,)

    def __repr__(self) -> str:
        return f"Contract({self.name or 'unnamed'!r}, version={self.version!r}, {self.digest[:19]})"


def _of(terms: Terms) -> Contract:
    return Contract.of(terms)


def _outcomes(terms: Terms) -> dict[str, tuple[tuple[str, Condition], ...]]:
    """Per tool the conditions that name an outcome, ``error`` first; ``~`` stands for uncertain."""
    found: dict[str, tuple[tuple[str, Condition], ...]] = {}
    faults: list[Diagnostic] = []
    for name, tool in (terms.tools or {}).items():
        texts = [*([("error", tool.error)] if tool.error else []), *tool.outcomes.items()]
        texts += [("~", tool.uncertain)] if tool.uncertain else []
        conditions = []
        for outcome, text in texts:
            key = {"~": "uncertain", "error": "error"}.get(outcome, f"outcomes.{outcome}")
            path = f"tools.{name}.{key}"
            try:
                conditions.append((outcome, _shared(text, tool.span, path)))
            except DulyError as error:
                faults.extend(error.diagnostics)
        if conditions:
            found[name] = tuple(conditions)
    if faults:
        raise DulyError(faults)
    return found


def _shared(text: str, span: Span | None, path: str) -> Condition:
    known = _CONDITIONS.get(text)
    if known is None:
        known = Condition(text, names=("args", "result", "facts"), span=span, path=path)
        if len(_CONDITIONS) > 1024:
            _CONDITIONS.clear()
        _CONDITIONS[text] = known
    return known


_CONDITIONS: dict[str, Condition] = {}


def _preparers(terms: Terms) -> dict[str, Preparer]:
    found: dict[str, Preparer] = {}
    faults: list[Diagnostic] = []
    for name, tool in (terms.tools or {}).items():
        if tool.schema or tool.paths or tool.clamp:
            try:
                found[name] = Preparer(tool)
            except DulyError as error:
                faults.extend(error.diagnostics)
    if faults:
        raise DulyError(faults)
    return found


def _meaning(contract: Contract) -> Any:
    """What the digest covers, as plain JSON: no spans, mode, comments, examples or texts for people."""
    terms = contract.terms
    tools = {name: _declared(tool) for name, tool in (terms.tools or {}).items()}
    return {
        "duly": 1,
        "name": terms.name,
        "version": terms.version,
        "tools": None if terms.tools is None else tools,
        "groups": _plain(terms.groups),
        "aliases": terms.aliases,
        "labels": [_plain(label) for label in terms.labels.values()],
        "facts": _plain(terms.facts),
        "outside": sorted(terms.outside),
        "breaker": _plain(terms.breaker),
        "on_violation": terms.on_violation,
        **({"forever": True} if terms.forever else {}),
        **({"view": terms.view} if terms.view != "agent" else {}),
        "protocols": [
            {
                "name": graph.name,
                "size": graph.size,
                "start": graph.start,
                "finals": sorted(graph.finals),
                "arcs": [_arc(arc) for arc in graph.arcs],
                "forks": {str(state): _plain(fork) for state, fork in graph.forks.items()},
                "regions": list(graph.regions),
                "view": graph.view,
                **({"forever": True} if graph.forever else {}),
            }
            for graph in terms.protocols
        ],
        "rules": {
            rule.id: _rule(rule)
            for rule in contract.rules.values()
        },
        **(
            {"approvals": {asker.id: _approval(asker.approval) for asker in contract.asks}}
            if contract.asks
            else {}
        ),
        **({"budget": [_budget(budget) for budget in terms.budget]} if terms.budget else {}),
        **({"pin": sorted(terms.pin)} if terms.pin else {}),
        **({"guards": [_plain(guard) for guard in terms.guards]} if terms.guards else {}),
        **({"withdraw_on": terms.withdraw_on} if terms.withdraw_on != "order" else {}),
    }


def _rule(rule: Rule) -> Any:
    """What a rule means: without its name, its mode, and options that are left as they are."""
    defaults: dict[str, Any] = {
        "same": None, "where": None, "on": None, "on_violation": "refuse", "on_excess": "refuse", "by": [],
    }  # fmt: skip
    if rule.template == "formula":
        from .formula.make import tidy

        rule = structs.replace(rule, args={**rule.args, "that": tidy(rule.args["that"])})
    return {
        name: value
        for name, value in _plain(rule).items()
        if name not in ("id", "span", "mode") and not (name in defaults and value == defaults[name])
    }


def _budget(budget: Budget) -> Any:
    """What a budget means, without options that are left as they are."""
    built = _plain(budget)
    return {name: value for name, value in built.items() if not (name in ("per", "zone") and value is None)}


def _approval(approval: Approval) -> Any:
    """What is asked, without the words in which people are asked."""
    said = {name: value for name, value in _plain(approval).items() if name not in ("id", "span", "ask")}
    if approval.above is None:
        del said["above"]
    return said


def _declared(tool: Tool) -> Any:
    built = _plain(tool)
    if not tool.pin:
        del built["pin"]
    if list(tool.outcomes) != sorted(tool.outcomes):
        # they are tried in listed order, which sorted keys would hide
        built["outcomes"] = [list(pair) for pair in tool.outcomes.items()]
    return built


def _plain(value: Any) -> Any:
    built = _exact(msgspec.to_builtins(value, builtin_types=(msgspec.Raw, Decimal), enc_hook=str))
    if hasattr(value, "span"):
        built.pop("span", None)
    return built


def _exact(value: Any) -> Any:
    """Decimals as numbers, which a text of the same digits is not; whole ones like the integers that they equal."""
    if type(value) is float:
        value = exact(value)
    if type(value) is Decimal:
        whole = value.adjusted() < LONG and value == value.to_integral_value()
        return int(value) if whole else normal(value)
    if type(value) is dict:
        return {key: _exact(item) for key, item in value.items()}
    return [_exact(item) for item in value] if type(value) in (list, tuple) else value


def _arc(arc: Any) -> list[Any]:
    built = [arc.origin, arc.side, arc.label, arc.target, arc.outcome]
    if arc.guards or arc.binds or arc.otherwise or arc.group:
        guards = [[list(g.path), g.op, _operand(g.operand)] for g in arc.guards]
        binds = [[list(b.path), b.register, b.maybe] for b in arc.binds]
        built += [guards, binds, arc.otherwise, arc.group]
    return built


def _operand(operand: Any) -> Any:
    if hasattr(operand, "name"):
        return {"register": operand.name}
    return {"literal": _exact(operand.value)}
