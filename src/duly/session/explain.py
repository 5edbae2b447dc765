"""Why an act is refused, what is legal instead: worked out when somebody reads it, from facts kept by the refusal."""

from typing import Any

from msgspec import Struct, structs

from duly.machine.contract import Contract
from duly.machine.ir import Edge, Line, Plan, State
from duly.values.errors import suggest
from duly.values.event import Called, Sent
from duly.values.expr import UNSET, Guard, Literal, Register
from duly.values.plain import write_json
from duly.values.verdict import Legal, Reason, Repair

from .books import facts, in_force, mode_of
from .move import ended, find, span_of

REMEMBERED = 4096
"""Entries that a contract remembers of what is expected where; emptied when full."""


class Why(Struct, eq=False):
    """What stands behind a refusal. Holds the state before the event; works its answers out once, when read.

    ``extra`` are reasons that are known already; ``alone`` says that they are all, since no rule was asked.
    """

    contract: Contract
    state: State
    event: Called | Sent
    plan: Plan | None
    args: Any
    faults: Any = ()
    visible: int = 0
    shut: tuple[int, ...] = ()
    extra: tuple[Reason, ...] = ()
    alone: bool = False
    _reasons: tuple[Reason, ...] | None = None
    _legal: tuple[Legal, ...] | None = None
    _repair: Repair | None = None

    def reasons(self) -> tuple[Reason, ...]:
        if self._reasons is None:
            self._reasons = self.extra if self.alone else tuple(self._all())
        return self._reasons

    def legal(self) -> tuple[Legal, ...]:
        if self._legal is None:
            self._legal = legal(self.contract, self.state)
        return self._legal

    def repair(self) -> Repair | None:
        if self._repair is None:
            from .repair import repair

            plan = self.plan
            if plan is None or (plan.message and type(self.event) is Called):
                self._repair = Repair("none")
            else:
                more = self.state.more
                thawed = structs.replace(self.state, more=structs.replace(more, frozen=False)) if more.frozen else None
                self._repair = self._after(repair(self.contract, thawed or self.state, plan))
        return self._repair

    def _after(self, found: Repair) -> Repair:
        """The steps, behind what has to come first for the reasons that no search knows of."""
        frozen = any(reason.kind == "frozen" for reason in self.extra)
        first = ["a person unfreezes the session"] if frozen else []
        first += [f"a yes of the guard `{reason.rule}`" for reason in self.extra if self.alone and not frozen]
        first += ["wait for the next turn"] if any(reason.kind == "denied" for reason in self.extra) else []
        if not self.alone and self.plan is not None and self.plan.want & self.state.facts & ~self.visible:
            first.append("wait for the answers, and ask in a new message")
        if not first or found.answer == "none":
            return found
        return Repair(found.answer, (*first, *(step for step in found.steps if step not in first)))

    def owners(self) -> tuple[str, ...]:
        """The declared names that a bare name may mean, over all servers."""
        return self.contract.owners.get(self.event.label or "", ()) if type(self.event) is Called else ()

    def _all(self) -> list[Reason]:
        contract, plan = self.contract, self.plan
        server = self.event.server if type(self.event) is Called else None
        label = str(self.event.label) if server is None else f"{server}/{self.event.label}"
        got = f"!{label}"
        if plan is None:
            return [self._unknown(label, got)]
        if plan.message and type(self.event) is Called:
            says = plan.rows or contract.says(plan.label)
            help = "say it instead of calling it" if says else "a person says it; ask for it"
            return [Reason("contract", "kind", f"`{label}` is a message, not a tool", got=got, help=help)]
        declared = plan.tool.span if plan.tool is not None else None
        reasons = [
            Reason("schema", kind, message, got=got, help="correct the arguments", span=declared)
            for kind, message in self.faults
        ]
        if plan.silent:
            line = contract.lines[plan.silent[0]]
            help = "name it under `outside`, or give it a place in the protocol"
            message = f"the protocol does not speak of `{label}`"
            span = span_of(contract, line)
            reasons.append(Reason(line.id, "protocol", message, got=got, help=help, span=span))
        for protocol in self.shut:
            if protocol in plan.silent:
                continue
            reasons.append(self._protocol(contract.lines[protocol], label, got))
        for bit, rule in plan.needs:
            if not self.visible >> bit & 1:
                reasons.append(self._order(rule, bit, label, got))
        for slot, limit, rule in plan.caps:
            taken = self.state.data[slot]
            if taken >= limit:
                scope = contract.counts[slot].scope
                where = "" if scope == "session" else f" in this {scope}"
                most = "once" if limit == 1 else f"{limit} times"
                times = "1 time" if taken == 1 else f"{taken} times"
                message = f"`{label}` is allowed {most}, and was admitted {times}{where}"
                reasons.append(
                    Reason(rule, "count", message, got=got,
                           help="do not ask for it again" + ("" if scope == "session" else f" before the next {scope}"),
                           span=contract.rules[rule].span, severity=contract.rules[rule].severity)
                )  # fmt: skip
        return [*reasons, *self.extra]

    def watched(self, plan: Plan) -> list[Reason]:
        """What rules would have said that watch only since a person told them to: those that ``plan`` has no more."""
        whole = self.plan
        assert whole is not None
        needs = tuple(need for need in whole.needs if need not in plan.needs)
        caps = tuple(cap for cap in whole.caps if cap not in plan.caps)
        found = Why(
            self.contract, self.state, self.event, structs.replace(whole, needs=needs, caps=caps, silent=()), self.args,
            visible=self.visible,
        ).reasons()
        return [
            structs.replace(reason, follow_on=True) if reason.rule in self.state.more.found else reason
            for reason in found
        ]

    def _unknown(self, label: str, got: str) -> Reason:
        contract = self.contract
        owners = self.owners()
        if len(owners) > 1:
            message = f"`{label}` may be a tool of several servers"
            return Reason("contract", "ambiguous", message, got=got, expected=owners, help="name the server")
        kind = "tool" if type(self.event) is Called else "message"
        known = [name for name, plan in contract.acts.items() if (plan.message is False) == (kind == "tool")]
        help = suggest(label, known) or f"ask for one of the {kind}s that the contract knows"
        return Reason("contract", "unknown", f"unknown {kind} `{label}`", got=got, help=help)

    def _order(self, rule: str, bit: int, label: str, got: str) -> Reason:
        cell = self.contract.bits[bit]
        written = self.contract.rules[rule]
        scope = "" if cell.scope == "session" else f" in this {cell.scope}"
        sibling = bool(self.state.facts >> bit & 1)
        first = written.args["first"]
        message = f"`{label}` needs an earlier `{first}`{scope}"
        help = "wait for the answer, then ask in a new message" if sibling else f"`{first}` must have succeeded first"
        return Reason(
            rule, "order", message, got=got, expected=tuple(sorted(cell.names)), help=help, span=written.span,
            severity=written.severity,
        )  # fmt: skip

    def _protocol(self, line: Line, label: str, got: str) -> Reason:
        state = self.state
        assert self.plan is not None
        row = next(row for row in self.plan.rows if row.protocol == line.number)
        _, move = find(row, state.cursors)
        expected = ways(self.contract, state, line.number)
        if move is None and not expected and ended(line, state.cursors):
            message = f"`{label}` comes after the end of the protocol"
            help = "nothing more is to be done in this session"
            return Reason(line.id, "ended", message, got=got, help=help, span=span_of(self.contract, line))
        if move is None:
            where = state_name(self.contract, state, line)
            message = f"`{label}` has no place in the protocol {where}"
            return Reason(
                line.id, "protocol", message, got=got, expected=expected, help="take one of the expected steps",
                span=span_of(self.contract, line, state),
            )  # fmt: skip
        said = "; ".join(edge_text(edge) for edge in move) if type(move) is tuple else ""
        message = f"the arguments of `{label}` fit no edge here: {said}" if said else f"`{label}` is not legal here"
        span = self.contract.terms.protocols[line.number].span(move[0].arc) if type(move) is tuple else None
        return Reason(line.id, "guard", message, got=got, expected=expected, help="correct the arguments", span=span)


def state_name(contract: Contract, state: State, line: Line) -> str:
    graph = contract.terms.protocols[line.number]
    at = state.cursors[line.slots[0]]
    return f"in state `{graph.names[at]}`" if at in graph.names else f"in state {at}"


def ways(contract: Contract, state: State, protocol: int) -> tuple[str, ...]:
    """The labels that one protocol takes in this state, remembered per position."""
    line = contract.lines[protocol]
    position = tuple(state.cursors[slot] for slot in line.slots)
    known = contract.notes.get((protocol, position))
    if known is None:
        leaving = _leaving(contract, protocol)
        known = tuple(dict.fromkeys(sign for at in position if at >= 0 for sign in leaving.get(at, ())))
        if len(contract.notes) > REMEMBERED:
            contract.notes.clear()
        contract.notes[protocol, position] = known
    result: tuple[str, ...] = known
    return result


def _leaving(contract: Contract, protocol: int) -> dict[int, list[str]]:
    key = ("leaving", protocol)
    known = contract.notes.get(key)
    if known is None:
        known = {}
        for plan in contract.acts.values():
            for row in plan.rows:
                if row.protocol == protocol:
                    for _, column in row.places:
                        for origin in column:
                            known.setdefault(origin, []).append(f"!{plan.label}")
        for label, hearing in [*contract.hearings.items(), *([(None, contract.unnamed)] if contract.unnamed else [])]:
            for row in hearing.rows:
                if row.protocol == protocol:
                    for _, column in row.places:
                        for origin in column:
                            known.setdefault(origin, []).append(f"?{label}" if label is not None else "?Unrecognized")
        contract.notes[key] = known
    result: dict[int, list[str]] = known
    return result


def legal(contract: Contract, state: State) -> tuple[Legal, ...]:
    """The acts that are not refused for every payload, with the conditions that their arguments must meet."""
    if state.more.over is not None:
        return ()
    found = []
    known = facts(contract, state)
    for label, plan in contract.acts.items():
        if plan.label != label or (plan.message and not plan.rows):
            continue
        conditions = open_conditions(contract, state, plan, known)
        if conditions is not None:
            asks = [contract.asks[number] for number in plan.asks]
            sometimes = tuple(
                f"needs a yes from {asker.shown()} where {asker.when.text}" for asker in asks if asker.when is not None
            )
            accepted, now = state.more.pins.get(label, ("", ""))
            always = accepted != now or any(asker.when is None for asker in asks) or any(
                contract.watches[number].id in contract.askers
                and contract.watches[number].shut(state.books[number], label, state.at, known)
                for number in plan.watches
            )
            found.append(Legal(label, (*conditions, *sometimes), always))
    return tuple(found)


def open_conditions(
    contract: Contract, state: State, plan: Plan, known: dict[str, Any] | None = None
) -> tuple[str, ...] | None:
    """The conditions under which an act is admitted in this state; None where it is refused for every payload."""
    plan = in_force(contract, state.more, plan)
    if plan.silent or state.facts & plan.want != plan.want:
        return None
    if any(state.data[slot] >= limit for slot, limit in plan.limits):
        return None
    if known is None:
        known = facts(contract, state)
    for number in plan.watches:
        watch = contract.watches[number]
        holds = mode_of(state.more, watch.rule) == "enforce" and watch.id not in contract.askers
        if holds and watch.shut(state.books[number], plan.label, state.at, known):
            return None
    if state.more.shut and any(
        contract.asks[number].id in state.more.shut and contract.asks[number].when is None for number in plan.asks
    ):
        return None
    if state.more.frozen and not (plan.message or (plan.tool is not None and plan.tool.effect == "none")):
        return None
    conditions: tuple[str, ...] = tuple(f"the guard `{guard}` says yes" for guard in plan.guards)
    conditions += tuple(
        said for number in plan.watches if (said := contract.watches[number].says(state.books[number], plan.label))
    )
    for row in plan.rows:
        _, move = find(row, state.cursors)
        if move is None:
            return None
        if type(move) is int:
            continue
        ways = [edge for edge in move if all(_possible(guard, state) for guard in edge.guards)]
        if not ways:
            return None
        said = " or ".join(edge_text(edge) for edge in ways if edge.guards or edge.otherwise)
        if said and not any(not edge.guards and not edge.otherwise for edge in ways):
            conditions += (said,)
    return conditions


def _possible(guard: Guard, state: State) -> bool:
    """Whether some payload can meet the guard: not where its register is unbound, or an empty list must hold it."""
    value = (
        state.registers.get(guard.operand.name, UNSET) if isinstance(guard.operand, Register) else guard.operand.value
    )
    return value is not UNSET and not (guard.op == "in" and (not isinstance(value, (list, tuple)) or not value))


def edge_text(edge: Edge) -> str:
    if edge.otherwise:
        return "anything else"
    return " and ".join(f"{path_text(g.path)} {g.op} {_operand(g.operand)}" for g in edge.guards) or "any arguments"


def path_text(path: tuple[str | int, ...]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _operand(operand: Register | Literal) -> str:
    if isinstance(operand, Register):
        return operand.name
    value = operand.value
    return write_json(list(value) if isinstance(value, tuple) else value)
