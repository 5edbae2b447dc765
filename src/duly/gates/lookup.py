"""What a stored session looks up, or says without a decision: calls of its journal, broken calls, and notes."""

from msgspec import structs

from duly.journal.journal import Journal
from duly.journal.record import Record, facts_of
from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.session.settle import answered
from duly.values.event import Called, Event, Failed, Returned
from duly.values.verdict import Refusal, Verdict


def looked_up(contract: Contract, store: Journal, session: str, state: State, event: Event) -> Event:
    """The event with what the journal holds of its key, or of the call that it answers."""
    if type(event) is Called:
        if event.key is None or event.found is not None:
            return event
        if any(call.key == event.key for call in state.open.values()):
            return event
        found = store.find_key(session, event.key)
        if found is None:
            return event
        # what has ended and is not known to have is nothing to be sure of
        return structs.replace(
            event, found=structs.replace(found, status="uncertain") if found.status == "open" else found
        )
    if type(event) is Returned and event.found is None:
        if event.id is None:
            identity = answered(contract, state, event)
            return structs.replace(event, id=identity) if identity is not None else event
        if event.id not in state.open:
            found = store.find_call(session, event.id)
            return structs.replace(event, found=found) if found is not None else event
    return event


def broken(contract: Contract, identity: str, label: str) -> Failed:
    """The end of a call whose process has ended: without effect only where its tool never has one."""
    tool = contract.tools.get(label)
    harmless = tool is not None and tool.effect == "none"
    return Failed(identity, "none" if harmless else "unknown", "the process that ran it has ended")


def unjudged(index: int, event: Event, verdict: Verdict, wall: float, mode: str, state: State) -> Record:
    """The record of what a gate said without a decision."""
    refusal = verdict if isinstance(verdict, Refusal) else None
    return Record(
        index, event, verdict.word, wall, mode, judged=False,
        reasons=facts_of(refusal.reasons) if refusal is not None else (),
        finding=refusal is not None and refusal.finding, over=state.more.over, open=len(state.open),
        uncertain=sum(call.uncertain for call in state.open.values()),
    )  # fmt: skip
