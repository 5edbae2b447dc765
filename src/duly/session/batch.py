"""Siblings of a batch never permit: what their results have moved is put back before a sibling is judged.

Each result of a batch that moves a protocol is remembered with where it found the cursors and registers. An act of
the same batch is judged, and moves, as if those results had not come; then they wait, and are taken again.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from duly.machine.ir import Held, Line, Open, State, Waiting
from duly.values.expr import UNSET

from .move import unbind

Back = tuple[tuple[int, ...], dict[str, Any], tuple[Waiting, ...]]


def put_back(state: State, protocol: int, batch: str, cursors: tuple[int, ...], registers: dict[str, Any]) -> Back:
    """The cursors and registers without what results of this batch did to one protocol, and those results."""
    base, known = list(cursors), registers
    results: tuple[Waiting, ...] = ()
    for held in reversed(state.more.held):
        if held.protocol == protocol and held.batch == batch:
            for slot, position in held.cursors:
                base[slot] = position
            if held.bound:
                known = dict(known)
                for name, value in held.bound:
                    if value is UNSET:
                        known.pop(name, None)
                    else:
                        known[name] = value
            results = (*held.results, *results)
    return tuple(base), known, results


def remembered(line: Line, before: State, after: State, slots: Sequence[int], result: Waiting) -> State:
    """The state after a result has moved these cursors: its batch is remembered, what it moved on from is not."""
    held = after.more.held
    if result.batch is None and not held:
        return after
    mine = [kept for kept in held if kept.batch == result.batch and _meet(kept, line, slots)]
    others = tuple(kept for kept in held if not _meet(kept, line, slots))
    if result.batch is not None:
        cursors = {slot: before.cursors[slot] for slot in slots}
        bound = {
            name: before.registers.get(name, UNSET)
            for name in line.registers
            if after.registers.get(name, UNSET) is not before.registers.get(name, UNSET)
        }
        results: tuple[Waiting, ...] = (result,)
        for kept in reversed(mine):
            cursors.update(kept.cursors)
            bound.update(kept.bound)
            results = (*kept.results, *results)
        others += (Held(line.number, result.batch, tuple(cursors.items()), results, tuple(bound.items())),)
    elif len(others) == len(held):
        return after
    return structs.replace(after, more=structs.replace(after.more, held=others))


def moved_on(
    held: tuple[Held, ...], line: Line, slots: Sequence[int], batch: str | None
) -> tuple[tuple[Held, ...], tuple[Held, ...]]:
    """What is still remembered once an act or a message has moved these cursors, and what of other batches is not.

    Of the act's own batch nothing is kept: its results have been put back, and are remembered when taken again.
    """
    left = tuple(h for h in held if not (_meet(h, line, slots) or (h.protocol == line.number and h.batch == batch)))
    return left, tuple(h for h in held if h.batch != batch and _meet(h, line, slots))


def gone_back(state: State, line: Line, slots: Sequence[int], call: Open) -> State:
    """A protocol has gone back to before a call: what that had ended is remembered again."""
    again = tuple(
        kept
        for kept in call.held
        if _meet(kept, line, slots)
        and all(slot in slots or state.cursors[slot] == call.before[slot] for slot, _ in kept.cursors)
    )
    if not again:
        return state
    return structs.replace(state, more=structs.replace(state.more, held=(*again, *state.more.held)))


def unbound(state: State, call: Open) -> State:
    """The registers without what a call bound that is known not to have happened, wherever they are remembered."""
    bound = call.bound
    if not bound:
        return state
    old = {name: (new, before) for name, new, before in bound}

    def mended(name: str, value: Any) -> Any:
        new, before = old.get(name, (UNSET, UNSET))
        return before if name in old and value is new else value

    # a later binding that remembers this one is to go back behind it
    open = state.open
    if any(name in old for later in open.values() for name, _, _ in later.bound):
        open = {
            identity: structs.replace(later, bound=tuple((n, v, mended(n, was)) for n, v, was in later.bound))
            for identity, later in open.items()
        }
    more = state.more
    if more.held:
        held = tuple(structs.replace(h, bound=tuple((n, mended(n, v)) for n, v in h.bound)) for h in more.held)
        more = structs.replace(more, held=held)
    return structs.replace(state, open=open, more=more, registers=unbind(bound, state.registers))


def _meet(held: Held, line: Line, slots: Sequence[int]) -> bool:
    return held.protocol == line.number and any(slot in slots for slot, _ in held.cursors)
