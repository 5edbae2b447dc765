"""The books of rules: asked before an act, moved by what was admitted, given back, won, or has lapsed."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from duly.machine.approvals import Asker
from duly.machine.cells import put
from duly.machine.contract import Contract
from duly.machine.fuse import Fused
from duly.machine.ir import NOTHING, More, Open, Plan, State
from duly.machine.terms import Rule
from duly.machine.watch.member import Act
from duly.machine.watch.watch import Book, Owed, Refusal, Watch
from duly.values.expr import UNSET
from duly.values.verdict import ALLOWED, Reason, Verdict, Violation

Judged = tuple[list[Reason], tuple[int, ...], list[Reason], list[Asker]]


def facts(contract: Contract, state: State, batch: str | None = None) -> dict[str, Any]:
    """The facts that conditions see: those of the contract, and what was learnt outside of this batch."""
    if not contract.learns:
        return contract.terms.facts
    known = dict(contract.terms.facts)
    for number, watch in contract.learns:
        found = watch.holds(state.books[number], batch, known.pop(watch.name, UNSET))
        if found is not UNSET:
            known[watch.name] = found
    return known


def act_of(contract: Contract, state: State, label: str, args: Any, id: str | None, batch: str | None) -> Act:
    """An act as rules see it."""
    known = facts(contract, state, batch) if contract.learns else contract.terms.facts
    values = {"facts": known, "registers": state.registers}
    return Act(label, args, state.at, batch, id, values, {})


def judged(contract: Contract, state: State, plan: Plan, act: Act) -> Judged:
    """What the rules with books say of an act: why it is refused, which rules said no, what rules in shadow would have
    said, and which caps ask a person instead."""
    refused: list[Reason] = []
    noted: list[Reason] = []
    asks: list[Asker] = []
    shut: tuple[int, ...] = ()
    for number in plan.watches if plan.fused is None else plan.fused.asked(state.books, act):
        watch = contract.watches[number]
        refusal = watch.refuse(state.books[number], act)
        if refusal is None:
            continue
        if not watch.counts:
            shut += (number,)
        if mode_of(state.more, watch.rule) == "shadow":
            noted.append(reason_of(watch, refusal, act.label, state))
        elif watch.id in contract.askers and refusal.excess and act.id is not None:
            asks.append(contract.askers[watch.id])
        else:
            refused.append(reason_of(watch, refusal, act.label, state))
    return refused, shut, noted, asks


def mode_of(more: More, rule: Rule) -> str:
    """The mode of a rule: the one that a person has ordered, else its own."""
    return more.modes.get(rule.id, rule.mode) if more.modes else rule.mode


def in_force(contract: Contract, more: More, plan: Plan) -> Plan:
    """The plan without what rules ask that have been told to watch only; the plan itself where there are none."""
    if not more.modes:
        return plan
    needs = tuple(need for need in plan.needs if more.modes.get(need[1]) != "shadow")
    caps = tuple(cap for cap in plan.caps if more.modes.get(cap[2]) != "shadow")
    if len(needs) == len(plan.needs) and len(caps) == len(plan.caps):
        return plan
    tightest: dict[int, int] = {}
    for slot, limit, _ in caps:
        tightest[slot] = min(limit, tightest.get(slot, limit))
    want = sum(1 << bit for bit in {bit for bit, _ in needs})
    return structs.replace(plan, needs=needs, caps=caps, want=want, limits=tuple(tightest.items()))


def leads(contract: Contract, state: State, act: Act, askers: Iterable[Asker]) -> dict[str, str]:
    """What an act would lead to now, by the ids of the approvals that have a total."""
    ids = {asker.id for asker in askers}
    if not ids:
        return {}
    found = {
        watch.id: watch.leads(book, act) for watch, book in zip(contract.watches, state.books, strict=True)
        if watch.id in ids
    }  # fmt: skip
    return {id: text for id, text in found.items() if text}


def reason_of(watch: Watch, refusal: Refusal | Owed, label: str, state: State) -> Reason:
    rule = watch.rule
    got = f"!{label}" if isinstance(refusal, Refusal) else label
    return Reason(
        watch.id, refusal.kind, refusal.message, got=got, expected=refusal.expected, help=refusal.help,
        span=rule.span, severity=rule.severity, follow_on=watch.id in state.more.found,
        untimed=refusal.kind == "clock",
    )  # fmt: skip


def admitted(contract: Contract, state: State, plan: Plan, act: Act, shut: tuple[int, ...]) -> Any:
    """The books after an admission; a rule that said no goes on as if the act had not happened."""

    def move(watch: Watch, book: Book) -> Book:
        after = watch.admit(book, act)
        return after if act.id is not None else watch.win(after, act, None)

    return _moved(contract, state.books, plan.fused, plan.watches, act, shut, move)


def _moved(
    contract: Contract,
    books: Any,
    fused: Fused | None,
    numbers: tuple[int, ...],
    act: Act,
    shut: tuple[int, ...],
    move: Callable[[Watch, Book], Book],
) -> Any:
    """The books after a move; the same ones where it changes none."""
    fresh: dict[int, Book] = {}
    if fused is not None:
        numbers = fused.kept
        if fused.twins:
            books, numbers = fused.moved(books, act.known, move)
        if not numbers:
            return books
    watches = contract.watches
    for number in numbers:
        if number not in shut:
            book = books[number]
            after = move(watches[number], book)
            if after is not book:
                fresh[number] = after
    return put(books, fresh)


def ended(contract: Contract, state: State, identity: str, call: Open, how: str, result: Any = None) -> State:
    """The books after a call has ended: ``won``, ``spent`` (it happened, and is no success) or given ``back``."""
    plan = contract.acts.get(call.label)
    watches = plan.watches if plan is not None else contract.everywhere
    if not watches:
        return state
    act = act_of(contract, state, call.label, call.args, identity, call.batch)

    def move(watch: Watch, book: Book) -> Book:
        if how == "won":
            return watch.win(book, act, result)
        return watch.spent(book, act, result) if how == "spent" else watch.back(book, act)

    books = _moved(contract, state.books, None if plan is None else plan.fused, watches, act, call.shut, move)
    return structs.replace(state, books=books) if books is not state.books else state


def breaches(
    contract: Contract, state: State, identity: str, call: Open, result: Any
) -> tuple[list[Reason], list[Reason]]:
    """What is wrong with a result, by the rules about results; and what those in shadow say of it."""
    found: list[Reason] = []
    noted: list[Reason] = []
    plan = contract.acts.get(call.label)
    if plan is None or not plan.ensured:
        return found, noted
    act = act_of(contract, state, call.label, call.args, identity, call.batch)
    for number in plan.ensured:
        watch = contract.watches[number]
        refusal = watch.breach(state.books[number], act, result)
        if refusal is not None:
            reason = structs.replace(reason_of(watch, refusal, call.label, state), got=f"?{call.label}")
            (noted if mode_of(state.more, watch.rule) == "shadow" else found).append(reason)
    return found, noted


def heard(contract: Contract, state: State, watches: tuple[int, ...], label: str, payload: Any) -> State:
    """The books after a message was received, which has succeeded with that."""
    act = act_of(contract, state, label, payload if type(payload) is dict else {}, None, None)
    fresh: dict[int, Any] = {}
    for number in watches:
        watch, book = contract.watches[number], state.books[number]
        after = watch.win(watch.admit(book, act), act, None)
        if after is not book:
            fresh[number] = after
    return structs.replace(state, books=put(state.books, fresh)) if fresh else state


def learnt(
    contract: Contract, state: State, numbers: tuple[int, ...], act: Act | None, outcome: str | None, result: Any
) -> tuple[State, list[Reason], list[Reason]]:
    """The state once these rules were told of something that has happened; what they find, and those in shadow."""
    found: list[Reason] = []
    noted: list[Reason] = []
    fresh: dict[int, Any] = {}
    for number in numbers:
        watch, book = contract.watches[number], state.books[number]
        after, wrong = watch.learn(book, act, outcome, result)
        if after is not book:
            fresh[number] = after
        if wrong is not None:
            label = "observed" if act is None else f"?{act.label}"
            reason = structs.replace(reason_of(watch, wrong, label, state), got=label)
            (noted if mode_of(state.more, watch.rule) == "shadow" else found).append(reason)
    if fresh:
        state = structs.replace(state, books=put(state.books, fresh))
    return noticed(state, noted), found, noted


def came_out(
    contract: Contract, state: State, identity: str, call: Open, outcome: str | None, result: Any
) -> tuple[State, list[Reason], list[Reason]]:
    """``learnt`` for the end of a call; rules that refused it are not told, since for them it never was."""
    plan = contract.acts.get(call.label)
    heeds = plan.heeds if plan is not None else contract.heeds
    if not heeds:
        return state, [], []
    act = act_of(contract, state, call.label, call.args, identity, call.batch)
    return learnt(contract, state, tuple(n for n in heeds if n not in call.shut), act, outcome, result)


def lapsed(contract: Contract, state: State) -> tuple[State, list[Reason], list[Reason]]:
    """What was to be done before now, once: then it is no longer owed. What rules in shadow say of it stands apart."""
    found: list[Reason] = []
    noted: list[Reason] = []
    books = state.books
    for number in contract.timed:
        watch, book = contract.watches[number], books[number]
        if book is watch.start:
            continue
        after, late = watch.lapse(book, state.at)
        if after is not book:
            books = put(books, {number: after})
        said = noted if mode_of(state.more, watch.rule) == "shadow" else found
        said += [reason_of(watch, owed, "elapsed", state) for owed in late]
    if books is not state.books:
        state = noticed(structs.replace(state, books=books), [*found, *noted])
    return state, found, noted


def renewed(contract: Contract, books: Any, ends: tuple[str, ...]) -> Any:
    """The books once a turn, or a turn and a run, begins anew."""
    if not any(watch.scope in ends for watch in contract.watches):
        return books
    return put(
        books, {number: watch.start for number, watch in enumerate(contract.watches) if watch.scope in ends}
    )


def owed(contract: Contract, state: State, mode: str = "enforce") -> list[Reason]:
    """What rules in this mode still want done when the session ends."""
    known = facts(contract, state)
    return [
        reason_of(watch, each, "closed", state)
        for watch, book in zip(contract.watches, state.books, strict=True)
        if mode_of(state.more, watch.rule) == mode
        for each in watch.owed(book, known)
    ]


def beside(
    verdict: Verdict, state: State, late: list[Reason], noted: list[Reason]
) -> tuple[Verdict, State]:
    """A verdict with what was not done in time, a finding of an observation and a note beside an act; and with what
    rules in shadow have said."""
    if not late and not noted:
        return verdict, state
    if verdict is ALLOWED and late:
        return Violation(tuple(late), finding=True, noted=tuple(noted)), state
    return structs.replace(verdict, noted=(*verdict.noted, *late, *noted)), state


def noticed(state: State, reasons: list[Reason]) -> State:
    """The state once rules in shadow have spoken: their next word is a follow-on."""
    if not reasons:
        return state
    more = state.more if state.more is not NOTHING else NOTHING
    return structs.replace(state, more=structs.replace(more, found=more.found | {r.rule for r in reasons}))
