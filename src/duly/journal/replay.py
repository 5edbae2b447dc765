"""What a journal means: its events decided again, from the start or from a snapshot."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct

from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.session.decide import judge
from duly.session.ledger import recorded
from duly.session.snapshot import restore
from duly.values.errors import DulyError, fault
from duly.values.verdict import Verdict

from .journal import Journal
from .record import Record


class Again(Struct, frozen=True):
    """A record, what deciding its event again says (None: no decision was made on it), and the state after it."""

    record: Record
    verdict: Verdict | None
    state: State

    @property
    def agrees(self) -> bool:
        """Whether the verdict is the one that was recorded."""
        return self.verdict is None or self.verdict.word == self.record.verdict


def again(contract: Contract, records: Iterable[Record], state: State | None = None) -> Iterator[Again]:
    """Decides recorded events again, from a state on (the contract's first one where none is given)."""
    state = contract.start if state is None else state
    for record in records:
        verdict = None
        if record.judged:
            verdict, state = judge(
                contract, state, record.event, record.happened, recorded(record.ledgers)
            )
        yield Again(record, verdict, state)


def state_of(contract: Contract, journal: Journal, session: str) -> tuple[State, int]:
    """The state of a session and how many records it rests on: the latest snapshot that fits, and what came after.

    Raises JournalError where the journal cannot be read, and DulyError where the session is held to another contract.
    """
    held(contract, journal, session)
    state, length = contract.start, 0
    saved = journal.snapshot(session, contract.digest)
    if saved is not None:
        # a damaged snapshot only costs work: the records say the same
        with suppress(DulyError):
            state, length = restore(contract, saved.data), saved.index
    for step in again(contract, journal.read(session, length), state):
        state, length = step.state, step.record.index + 1
    return state, length


def held(contract: Contract, journal: Journal, session: str) -> None:
    """Raises DulyError where a session is noted under another contract."""
    meta = journal.meta(session)
    if meta is not None and meta.digest != contract.digest:
        owner = f"`{meta.contract or 'another contract'}` {meta.version} ({meta.digest[:19]})".replace("  ", " ")
        message = f"the session `{session[:80]}` is held to {owner}, not to this contract ({contract.digest[:19]})"
        raise fault("journal", message, help="open it with the contract it was begun with, or migrate it")
