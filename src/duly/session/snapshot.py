"""A session on paper: O(state) in size, bound to the contract's digest, checked field by field when it comes back."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct, field, structs

from duly.machine.cells import cells
from duly.machine.contract import Contract
from duly.machine.ir import EMPTY, NOTHING, Held, More, Open, Parked, State, Waiting
from duly.machine.watch.watch import Natural, Watch
from duly.values.errors import Diagnostic, DulyError, fault
from duly.values.expr import UNSET, normal
from duly.values.plain import Malformed, plain, read_json, write_json, write_sorted
from duly.values.verdict import Violation

from .orders import wide
from .park import granted
from .saved_ticket import SavedStanding, SavedTicket, read_standing, read_ticket, write_standing, write_ticket

FORMAT = 1


class SavedWaiting(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    protocol: int
    label: str
    outcome: str
    payload: str
    call: str
    batch: str | None = None


class SavedHeld(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    protocol: int
    batch: str
    cursors: list[tuple[int, int]]
    results: list[SavedWaiting]
    bound: list[tuple[str, str | None]] = field(default_factory=list)


class SavedOpen(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An open call; ``args`` and values of registers are JSON text, so that decimals stay exact."""

    label: str
    args: str
    batch: str | None = None
    before: list[int] = field(default_factory=list)
    behind: list[str | None] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    took: list[int] = field(default_factory=list)
    epoch: tuple[int, int] = (0, 0)
    bound: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    uncertain: bool = False
    slots: list[int] = field(default_factory=list)
    key: str | None = None
    held: list[SavedHeld] = field(default_factory=list)
    shut: list[int] = field(default_factory=list)


class SavedMore(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    over: str | None = None
    frozen: bool = False
    turn: str | None = None
    run: str | None = None
    turns: Natural = 0
    runs: Natural = 0
    parked: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)
    waiting: list[SavedWaiting] = field(default_factory=list)
    fresh: dict[str, str] = field(default_factory=dict)
    held: list[SavedHeld] = field(default_factory=list)
    tally: dict[str, Natural] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    origin: float | None = None
    mode: str | None = None
    tickets: dict[str, SavedTicket] = field(default_factory=dict)
    issued: Natural = 0
    standing: list[SavedStanding] = field(default_factory=list)
    denied: list[tuple[str, str]] = field(default_factory=list)
    shut: list[str] = field(default_factory=list)
    past: list[tuple[str, str, str]] = field(default_factory=list)
    modes: dict[str, Literal["enforce", "shadow"]] = field(default_factory=dict)
    pins: dict[str, tuple[str, str]] = field(default_factory=dict)
    noes: list[tuple[str, str, str]] = field(default_factory=list)
    wall: float | None = None


class Saved(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The whole snapshot."""

    duly: int
    contract: str
    digest: str
    cursors: list[int]
    facts: str = "0"
    data: list[int] = field(default_factory=list)
    movers: list[str | None] = field(default_factory=list)
    registers: str = "{}"
    open: dict[str, SavedOpen] = field(default_factory=dict)
    at: float = 0.0
    serial: int = 0
    more: SavedMore = field(default_factory=SavedMore)
    books: dict[str, str] = field(default_factory=dict)
    sum: str = ""


def save(contract: Contract, state: State) -> dict[str, Any]:
    """The state as a plain JSON object."""
    more = state.more
    saved = Saved(
        duly=FORMAT,
        contract=contract.name,
        digest=contract.digest,
        cursors=list(state.cursors),
        facts=f"{state.facts:x}",
        data=list(state.data),
        movers=list(state.movers),
        registers=write_json(state.registers),
        open={
            identity: SavedOpen(
                call.label, write_json(call.args), call.batch, list(call.before), list(call.behind), list(call.moved),
                list(call.took), call.epoch, [(name, _text(new), _text(old)) for name, new, old in call.bound],
                call.uncertain, list(call.slots), call.key, [_kept(held) for held in call.held],
                list(call.shut),
            )
            for identity, call in state.open.items()
        },
        at=state.at,
        serial=state.serial,
        more=SavedMore(
            more.over, more.frozen, more.turn, more.run, more.turns, more.runs,
            {key: (p.label, write_json(p.args), p.ticket, p.cause) for key, p in more.parked.items() if not p.asks},
            [_waiting(waiting) for waiting in more.waiting],
            {f"{bit:x}": batch for bit, batch in more.fresh.items()},
            [_kept(held) for held in more.held],
            dict(more.tally), sorted(more.found), more.origin, more.mode,
            {key: write_ticket(waits) for key, waits in more.parked.items() if waits.asks}, more.issued,
            [write_standing(stands) for stands in more.standing], list(more.denied), sorted(more.shut),
            list(more.past), dict(more.modes),  # type: ignore[arg-type]
            dict(more.pins), list(more.noes), more.wall,
        ),
    )  # fmt: skip
    # by the ids of their rules, and only where something has happened
    saved = structs.replace(
        saved,
        books={
            watch.id: write_json(book)
            for watch, book in zip(contract.watches, state.books, strict=True)
            if book != watch.start
        },
    )
    built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(saved))
    built["sum"] = _sum(built)
    return built


def restore(contract: Contract, data: Any) -> State:
    """The state that a snapshot holds; raises DulyError where it is none, or belongs to another contract."""
    try:
        # what is no plain value has no sum, either
        data = plain(data)
        saved = msgspec.convert(data, Saved)
        whole = saved.duly != FORMAT or saved.sum == _sum({key: data[key] for key in data if key != "sum"})
    except (msgspec.ValidationError, Malformed) as error:
        raise fault("snapshot", f"not a snapshot: {str(error).lower()}", help="give what `to_dict` returned") from None
    if saved.duly != FORMAT:
        raise fault(
            "snapshot", f"a snapshot of format {saved.duly}; this duly reads format {FORMAT}", help="use the newer duly"
        )
    if saved.digest != contract.digest:
        owner = f"`{saved.contract or 'another contract'}` ({saved.digest[:19]})"
        message = f"the snapshot belongs to {owner}, not to this contract ({contract.digest[:19]})"
        raise fault("snapshot", message, help="restore it with the contract it was made with, or migrate it")
    if not whole:
        message = "a damaged snapshot: its contents do not match their sum"
        raise fault("snapshot", message, help="go back to an earlier one")
    try:
        state = _state(contract, saved)
    except (Malformed, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise fault("snapshot", f"a damaged snapshot: {str(error).lower()}", help="go back to an earlier one") from None
    _check(contract, state)
    return state


def _state(contract: Contract, saved: Saved) -> State:
    more = saved.more
    registers = read_json(saved.registers)
    if type(registers) is not dict:
        raise Malformed("the registers are no object")
    # equal values are one value again, so that giving back finds what a call has bound
    values = {write_json(bound): bound for bound in registers.values()}

    def value(text: str | None) -> Any:
        return UNSET if text is None else values.setdefault(text, read_json(text))

    rest = More(
        over=more.over, frozen=more.frozen, turn=more.turn, run=more.run, turns=more.turns, runs=more.runs,
        parked={
            **{key: Parked(p[0], read_json(p[1]), p[2], p[3]) for key, p in more.parked.items()},
            **{key: read_ticket(saved) for key, saved in more.tickets.items()},
        },
        issued=more.issued, standing=tuple(read_standing(saved) for saved in more.standing),
        denied=tuple(more.denied), shut=frozenset(more.shut), past=tuple(more.past), wall=more.wall,
        waiting=tuple(_awaited(waiting) for waiting in more.waiting),
        fresh={int(bit, 16): batch for bit, batch in more.fresh.items()},
        held=tuple(_held(held, value) for held in more.held),
        tally=dict(more.tally), found=frozenset(more.found), origin=more.origin, mode=more.mode,
        modes=dict(more.modes), pins=dict(more.pins), noes=tuple(more.noes),
    )  # fmt: skip
    calls: dict[str, Open] = {}
    for identity, call in saved.open.items():
        bound = ((name, value(new), value(old)) for name, new, old in call.bound)
        calls[identity] = Open(
            call.label, read_json(call.args), call.batch, tuple(call.before), tuple(call.behind), tuple(call.moved),
            tuple(call.took), call.epoch, tuple(bound), call.uncertain, tuple(call.slots),
            call.key, tuple(_held(held, value) for held in call.held),
            tuple(call.shut),
        )  # fmt: skip
    return State(
        cursors=tuple(saved.cursors), movers=tuple(saved.movers), facts=int(saved.facts, 16), data=cells(saved.data),
        registers=registers or EMPTY, open=calls or EMPTY, at=saved.at, serial=saved.serial,
        more=NOTHING if rest == NOTHING else rest,
        books=cells(
            _book(watch, saved.books[watch.id]) if watch.id in saved.books else watch.start
            for watch in contract.watches
        ),
    )  # fmt: skip


def _check(contract: Contract, state: State) -> None:
    """What a digest cannot vouch for: a state that this contract could never be in."""
    start = contract.start
    wrong = []
    if len(state.cursors) != len(start.cursors) or len(state.movers) != len(start.movers):
        wrong.append("another number of protocols")
    else:
        for line, graph in zip(contract.lines, contract.terms.protocols, strict=True):
            for number, slot in enumerate(line.slots):
                at = state.cursors[slot]
                if not -1 <= at < graph.size or (at == -1 and number == 0):
                    wrong.append(f"a position that `{line.id}` does not have")
                elif at >= 0 and graph.regions and graph.regions[at] != number:
                    wrong.append(f"a position of another side of `{line.id}`")
    if len(state.data) != len(start.data) or any(count < 0 for count in state.data):
        wrong.append("counts that no run can have")
    if state.facts < 0 or state.facts >> len(contract.bits):
        wrong.append("facts that the contract does not know")
    for identity, call in state.open.items():
        if call.moved and not len(call.before) == len(call.behind) == len(start.cursors):
            wrong.append(f"an open call `{identity[:40]}` without the place it came from")
        if (
            any(not 0 <= p < len(contract.lines) for p in call.moved)
            or any(not 0 <= s < len(state.data) for s in call.took)
            or any(not 0 <= s < len(state.cursors) for s in call.slots)
        ):
            wrong.append(f"an open call `{identity[:40]}` that holds what does not exist")
    if any(not 0 <= w.protocol < len(contract.lines) for w in state.more.waiting):
        wrong.append("a result that waits in a protocol that does not exist")
    for held in (*state.more.held, *(held for call in state.open.values() for held in call.held)):
        if not 0 <= held.protocol < len(contract.lines):
            wrong.append("results of a batch that no protocol took")
            continue
        line, graph = contract.lines[held.protocol], contract.terms.protocols[held.protocol]
        if any(slot not in line.slots or not -1 <= at < graph.size for slot, at in held.cursors):
            wrong.append("results of a batch that no protocol took")
    asked = {id for waits in state.more.parked.values() for id in waits.asks}
    asked |= {id for stands in state.more.standing for id in stands.asks}
    if (asked | state.more.shut) - contract.askers.keys() or state.more.issued < 0:
        wrong.append("a ticket that no approval gives out")
    else:
        for waits in state.more.parked.values():
            asks = tuple(contract.askers[id] for id in waits.asks)
            if waits.granted and not (asks and granted(asks, waits.yes, waits.programs)):
                wrong.append("a yes that nobody gave who may")
            if set(waits.programs) - set(waits.yes):
                wrong.append("a program's yes that was not given")
            if waits.agent is not None and waits.agent in waits.yes:
                wrong.append("a yes of the one who asked")
        for stands in state.more.standing:
            mine = [contract.askers[id] for id in stands.asks]
            if not mine or not all(asker.admits(stands.by) for asker in mine):
                wrong.append("a yes that nobody gave who may")
            elif isinstance(wide(stands.within, mine), Violation):
                wrong.append("a standing yes that is wider than the contract lets one be")
    shown = [value for waits in state.more.parked.values() if waits.asks for value in (waits.args, waits.runs)]
    if any(type(args) is not dict for args in (*shown, *(stands.args for stands in state.more.standing))):
        wrong.append("arguments that are no object")
    names = [waits.ticket for waits in state.more.parked.values()]
    if len(set(names)) < len(names):
        wrong.append("two tickets of one name")
    wrong += [
        "a book that no rule keeps"
        for watch, book in zip(contract.watches, state.books, strict=True)
        if not watch.fits(book)
    ][:1]
    if any(not 0 <= number < len(contract.watches) for call in state.open.values() for number in call.shut):
        wrong.append("a call that a rule refused which does not exist")
    if state.more.modes.keys() - contract.modal:
        wrong.append("the mode of a rule that does not exist")
    if state.more.pins.keys() - contract.pins.keys():
        wrong.append("a definition of a tool that is not pinned")
    if state.at < 0 or state.at != state.at or state.serial < 0:
        wrong.append("a time that no session has")
    if wrong:
        help = "go back to an earlier one"
        raise DulyError(
            Diagnostic("snapshot", f"a damaged snapshot: it holds {what}", help=help) for what in dict.fromkeys(wrong)
        )


def _sum(built: dict[str, Any]) -> str:
    """Shows what was damaged by mistake; it is no seal, since whoever can write a snapshot can write its sum."""
    from hashlib import sha256

    return sha256(write_sorted(normal(built))).hexdigest()[:32]


def _text(value: Any) -> str | None:
    return None if value is UNSET else write_json(value)


def _waiting(waiting: Waiting) -> SavedWaiting:
    payload = write_json(waiting.payload)
    return SavedWaiting(waiting.protocol, waiting.label, waiting.outcome, payload, waiting.call, waiting.batch)


def _awaited(saved: SavedWaiting) -> Waiting:
    return Waiting(saved.protocol, saved.label, saved.outcome, read_json(saved.payload), saved.call, saved.batch)


def _book(watch: Watch, text: str) -> Any:
    book = read_json(text)
    return watch.thaw(book) if watch.fits(book) else book


def _kept(held: Held) -> SavedHeld:
    bound = [(name, _text(value)) for name, value in held.bound]
    return SavedHeld(held.protocol, held.batch, list(held.cursors), [_waiting(w) for w in held.results], bound)


def _held(saved: SavedHeld, value: Callable[[str | None], Any]) -> Held:
    bound = tuple((name, value(text)) for name, text in saved.bound)
    results = tuple(_awaited(waiting) for waiting in saved.results)
    return Held(saved.protocol, saved.batch, tuple(saved.cursors), results, bound)
