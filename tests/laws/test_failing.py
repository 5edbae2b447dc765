"""Failing calls leave no trace, whatever they are interleaved with; results may come in any order."""

import random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from duly import Called, Contract, Failed, Returned, at_most, decide, must_precede, protocol
from duly.machine.ir import State
from duly.values.event import Event

from .settings import SOAK, tried

INTERLEAVINGS = 20_000 if SOAK else 1500

SIDES = "abcd"
CONTRACTS = [
    # each side has one call at a time, so that a failure goes back whatever the other sides have done
    Contract(
        protocol(" || ".join(f"(rec {side.upper()}.!{side}(n as {side}r).?{side}(m as {side}s).{side.upper()})" for side in SIDES)),
        *(at_most(side, 50) for side in SIDES), must_precede("a", "z"), forever=True,
    ),
    Contract(*(at_most(side, 50) for side in SIDES), at_most("a", 60, id="more"), must_precede("a", "z")),
    Contract(
        *(protocol(f"rec L.!{side}(n as r).?{side}(m as s).L") for side in SIDES), must_precede("b", "z"), forever=True
    ),
]  # fmt: skip


def allowed(contract: Contract, state: State, event: Event) -> State:
    verdict, after = decide(contract, state, event)
    assert verdict.word == "allowed", (event, verdict)
    return after


def test_random_interleavings_of_failing_calls_leave_no_trace() -> None:
    chance = random.Random(7)
    for number in range(INTERLEAVINGS):
        contract = CONTRACTS[number % len(CONTRACTS)]
        plan: list[tuple[str, str]] = []  # per step (side, "good" or "bad"); each side's calls one after the other
        for _ in range(chance.randint(1, 6)):
            plan.append((chance.choice(SIDES), chance.choice(("good", "bad", "bad"))))
        queues = {side: [kind for at, kind in plan if at == side] for side in SIDES}
        events: list[tuple[Event, bool]] = []
        running: dict[str, tuple[str, str]] = {}
        serial = 0
        while any(queues.values()) or running:
            side = chance.choice([side for side in SIDES if queues[side] or side in running])
            if side in running:
                identity, kind = running.pop(side)
                if kind == "good":
                    events.append((Returned(side, {"m": serial}, id=identity), True))
                elif chance.random() < 0.5:
                    events.append((Failed(identity, "none"), False))
                else:
                    events.append((Returned(side, {"m": -1}, id=identity, outcome="error"), False))
            else:
                serial += 1
                kind = queues[side].pop()
                running[side] = (f"c{serial}", kind)
                events.append((Called(side, {"n": serial}, id=f"c{serial}"), kind == "good"))
        whole = without = contract.start
        for event, kept in events:
            whole = allowed(contract, whole, event)
            if kept:
                without = allowed(contract, without, event)
        assert whole == without, [event for event, _ in events]


@tried(100, 2000)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.booleans())
def test_calls_that_fail_in_reverse_order_go_back_to_the_start(labels: list[str], returned: bool) -> None:
    contract = Contract(protocol("rec L.!{a(n as r).L, b(n as s).L, c.L}"), at_most("a", 9), must_precede("a", "z"))
    states = [contract.start]
    for number, label in enumerate(labels):
        states.append(allowed(contract, states[-1], Called(label, {"n": number}, id=f"c{number}")))
    state = states[-1]
    for number, label in reversed(list(enumerate(labels))):
        end: Event = (
            Returned(label, None, id=f"c{number}", outcome="error") if returned else Failed(f"c{number}", "none")
        )
        state = allowed(contract, state, end)
        assert structs.replace(state, open={}) == structs.replace(states[number], open={})
        assert state.open.keys() == states[number].open.keys()


ORDER = Contract(
    protocol("!a.!b.!c.!d.?a(v as w).?b(v as x).?c(v as y).?d(v as z).!end"),
    protocol("(rec A.!a.?a.A || rec B.!b.?b.B || rec C.!c.?c.C || rec D.!d.?d.D)"),
    at_most("a", 1), must_precede("a", "end"), forever=True, outside=["end"],
)  # fmt: skip


@tried(100, 1000)
@given(st.permutations("abcd"))
def test_any_interleaving_of_results_gives_the_same_final_state(order: list[str]) -> None:
    def walked(names: list[str]) -> State:
        state = ORDER.start
        for name in "abcd":
            state = allowed(ORDER, state, Called(name, {}, id=name))
        for name in names:
            state = allowed(ORDER, state, Returned(name, {"v": name}, id=name))
        return state

    assert walked(order) == walked(list("abcd"))


@tried(100, 1000)
@given(st.permutations([(side, part) for side in "abcd" for part in (0, 1)]))
def test_results_between_calls_of_one_batch_change_nothing(order: list[tuple[str, int]]) -> None:
    """The calls come in the order of the protocol; each result at any moment after its call."""
    events: list[Event] = []
    waiting = iter("abcd")
    called: set[str] = set()
    pending: list[str] = []
    for side, part in order:
        if part == 0:
            name = next(waiting)
            called.add(name)
            events.append(Called(name, {}, id=name, batch="b"))
            events += [Returned(late, {"v": late}, id=late) for late in pending if late in called]
            pending = [late for late in pending if late not in called]
        elif side in called:
            events.append(Returned(side, {"v": side}, id=side))
        else:
            pending.append(side)
    assert len(events) == 8
    contract = Contract(protocol("!a.!b.!c.!d.?a(v as w).?b(v as x).?c(v as y).?d(v as z).!end"))
    state = contract.start
    for event in events:
        state = allowed(contract, state, event)
    assert state.registers == {"w": "a", "x": "b", "y": "c", "z": "d"}
    assert decide(contract, state, Called("end", {}, id="e"))[0].word == "allowed"
    assert decide(contract, state, Called("end", {}, id="e", batch="b"))[0].word == "violation"
