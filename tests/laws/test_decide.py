"""Laws of deciding: pure, peek is step, refusals change nothing, snapshots change nothing, both readings agree."""

import copy
import json
import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from duly import Allowed, Called, Contract, Sent, Session, decide, observe
from duly.machine.ir import State
from duly.session.door import admit
from duly.session.snapshot import restore, save
from duly.values.event import Event
from duly.values.plain import Malformed
from duly.values.verdict import Verdict

from .given import EVENTS, HELD, RUNS
from .settings import tried


def walked(contract: Contract, events: list[Event], judge: Any = decide) -> State:
    state = contract.start
    for event in events:
        _, state = judge(contract, state, event)
    return state


def seen(state: State) -> Any:
    """What a rule, register, count, amount or protocol can see of a state."""
    more = structs.replace(
        state.more, tally={}, parked={}, over=None, origin=None, turn=None, run=None, turns=0, runs=0
    )
    return structs.replace(state, at=0.0, serial=0, more=more)


def bare(verdict: Verdict) -> Any:
    """What a verdict says, apart from whether it happened all the same."""
    reasons = tuple(structs.replace(reason, follow_on=False) for reason in verdict.reasons)
    return verdict.word, reasons


@tried(200, 4000)
@given(HELD, RUNS, EVENTS)
def test_deciding_is_a_function_and_leaves_its_inputs_alone(contract: Contract, run: list[Event], event: Event) -> None:
    for judge in (decide, observe):
        state = walked(contract, run, judge)
        before, told = copy.deepcopy(state), copy.deepcopy(event)
        first, second = judge(contract, state, event), judge(contract, state, event)
        assert first == second
        assert (state, event) == (before, told)
        assert type(first[0]).__name__ in {"Allowed", "NeedsApproval", "Violation", "Unrecognized", "Blocked"}
        assert not any(reason.kind == "internal" for reason in first[0].reasons)


@tried(200, 4000)
@given(HELD, RUNS, EVENTS)
def test_a_refused_act_changes_nothing_that_a_rule_can_see(contract: Contract, run: list[Event], event: Event) -> None:
    if not isinstance(event, Called | Sent):
        return
    event = structs.replace(event, turn=None, run=None)
    state = walked(contract, run)
    verdict, after = decide(contract, state, event)
    if not isinstance(verdict, Allowed) or verdict.replayed:
        assert seen(after) == seen(state)


@tried(200, 4000)
@given(HELD, RUNS, EVENTS)
def test_a_look_is_the_step_without_its_effects(contract: Contract, run: list[Event], event: Event) -> None:
    session = Session(contract)
    for earlier in run:
        session.step(earlier)
    before, entries = session.state, len(session.journal)
    looked = session.peek(event)
    assert (session.state is before, len(session.journal)) == (True, entries)
    assert session.step(event) == looked


@tried(150, 4000)
@given(HELD, RUNS, st.integers(0, 14), st.sampled_from([decide, observe]))
def test_a_snapshot_at_any_moment_changes_nothing(contract: Contract, run: list[Event], cut: int, judge: Any) -> None:
    straight = cut_short = contract.start
    for number, event in enumerate(run):
        if number == cut:
            cut_short = restore(contract, json.loads(json.dumps(save(contract, cut_short))))
        one, straight = judge(contract, straight, event)
        two, cut_short = judge(contract, cut_short, event)
        assert (one.word, one.reasons) == (two.word, two.reasons)
        assert save(contract, straight) == save(contract, cut_short)


@tried(100, 2000)
@given(HELD, RUNS, RUNS)
def test_copies_of_a_session_go_on_as_the_session_does(contract: Contract, run: list[Event], rest: list[Event]) -> None:
    session = Session(contract)
    for event in run:
        session.step(event)
    others = [pickle.loads(pickle.dumps(session)), copy.deepcopy(session), copy.copy(session)]
    assert [other.to_dict() for other in others] == [session.to_dict()] * 3
    assert [other.trace for other in others] == [session.trace] * 3
    for event in rest:
        verdict = session.step(event)
        assert [other.step(event) for other in others] == [verdict] * 3
    assert [other.to_dict() for other in others] == [session.to_dict()] * 3


@tried(200, 4000)
@given(HELD, RUNS, EVENTS)
def test_both_readings_say_the_same_of_an_event_in_the_same_state(
    contract: Contract, run: list[Event], event: Event
) -> None:
    for state in (contract.start, walked(contract, run), walked(contract, run, observe)):
        live, recorded = decide(contract, state, event)[0], observe(contract, state, event)[0]
        # a waiting act and the breaker's halt are answers of the live reading; the reasons are the same
        if live.word == "violation" and recorded.word == "violation":
            told = {reason.kind for reason in live.reasons}
            if told & {"frozen"}:
                assert set(bare(live)[1]) <= set(bare(recorded)[1])
                continue
        if live.word == "blocked":
            assert recorded.word == "blocked" or state.more.over is None
            continue
        assert bare(live) == bare(recorded)


@tried(200, 4000)
@given(HELD, RUNS)
def test_a_clean_run_is_read_alike_live_and_recorded(contract: Contract, run: list[Event]) -> None:
    live = recorded = contract.start
    for event in run:
        verdict, after = decide(contract, live, event)
        if not isinstance(verdict, Allowed):
            continue
        again, recorded = observe(contract, recorded, event)
        live = after
        assert again == verdict
        assert recorded == live


@tried(100, 2000)
@given(HELD, RUNS, EVENTS)
def test_nothing_that_comes_in_ever_raises(contract: Contract, run: list[Event], event: Event) -> None:
    session = Session(contract)
    for earlier in run:
        session.observe(earlier) if len(session.journal) % 3 == 0 else session.step(earlier)
    verdict = session.step(event)
    assert isinstance(verdict.text(), str)
    assert len(verdict.text().encode()) <= 2000
    assert isinstance(session.legal(), tuple)
    assert isinstance(session.owed(), tuple)
    try:
        admit(event)
    except Malformed:
        assert verdict.word == "unrecognized"
