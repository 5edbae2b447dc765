"""Deciders: callbacks and programs that a gate asks about acts that wait, before anybody else has to be asked.

They are asked outside the session's lock, each once for a ticket, and what they say is an event like a person's
decision: it counts only while the ticket is open, whoever else decides in the meantime. Silence, a crash and rubbish
are a no with a reason of its own.
"""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct, structs

from duly.machine.contract import Contract
from duly.machine.ir import Parked, State
from duly.session.session import Session
from duly.session.ticket import ticket
from duly.values.errors import fault, suggest
from duly.values.event import Called, Decided, Event
from duly.values.plain import Malformed, own, plain
from duly.values.verdict import NeedsApproval, Verdict, one_line

from . import program
from .asking import Asking
from .program import Program
from .question import Put, put
from .stored import Taken


class Callback(Struct, frozen=True):
    """Python that decides on tickets: ``run`` gets the ticket as a plain JSON object and returns True (yes), False
    (no) or `{"decision": …}`, or a coroutine of one, within ``within`` seconds."""

    run: Callable[[dict[str, Any]], Any]
    within: float = 300.0


Decider: TypeAlias = Callback | Program

ROUNDS: Final = 3
"""Tickets that one call can be given while it is asked for: each time a decider has changed its arguments."""
_WORDS: Final = ("approve", "deny", "edit", "leave")
_KEYS: Final = frozenset({"decision", "reason", "recommendation", "args"})
_TEXT: Final = 2000


class Once(Protocol):
    """How a gate decides events and records them, without asking anybody."""

    def __call__(self, events: list[Event], *, asking: Asking | None = None) -> list[Taken]: ...


class Deciders:
    """The deciders of one gate, by their names, which are what `by` of a contract lists."""

    def __init__(self, given: "Mapping[str, Decider]", contract: Contract) -> None:
        """Raises DulyError for one that cannot be asked, or that nothing in the contract lets decide."""
        self._given = dict(given)
        self._lock = Lock()
        self._out: set[tuple[str, str]] = set()
        for name, decider in self._given.items():
            _checked(name, decider, contract)

    def consulted(
        self, session: Session, event: Event, taken: Taken, once: Once, asking: Asking | None
    ) -> Taken:
        """What became of an event once those were asked who may decide on it: ``taken`` where nothing has."""
        unwanted = None if asking is None else lambda: asking.unwanted
        for _ in range(ROUNDS):
            verdict = taken.verdict
            if type(event) is not Called or type(verdict) is not NeedsApproval or taken.happened:
                break
            found = None if verdict.ticket is None else self._open(session.state, verdict.ticket)
            if verdict.ticket is None or (found is None and event.id is None):
                break
            event = structs.replace(event, id=found[0] if found is not None and event.id is None else event.id)
            if not self._decided(session, verdict.ticket, lambda said: once([said])[0].verdict, unwanted):
                break
            again = once([event], asking=asking)
            if not again:
                break  # given up in the meantime
            taken = again[0]
        return taken

    def _decided(
        self, session: Session, name: str, tell: Callable[[Event], Verdict], unwanted: Callable[[], bool] | None
    ) -> bool:
        """Asks about the ticket ``name`` those who may decide it and have not said anything yet, until it is decided.

        ``tell`` steps a decision. Whether the call is to be asked for again: the ticket has been decided, by them or
        by others.
        """
        for decider in self._given:
            found = self._open(session.state, name)
            if found is None or found[1].granted:
                break
            key, waits = found
            if not self._asks(session.contract, waits, decider) or not self._claim(name, decider):
                continue
            try:
                # asked again by another thread, it may have answered in the meantime
                found = self._open(session.state, name)
                if found is None or not self._asks(session.contract, found[1], decider):
                    continue
                decision = self._asked(session, key, name, decider, unwanted)
                if decision is None:
                    return False
                verdict = tell(decision)
                if not verdict and decision.decision == "edit":
                    # what cannot run is no answer
                    tell(_no(decision, Put("rubbish", text=verdict.text())))
            finally:
                with self._lock:
                    self._out.discard((name, decider))
        found = self._open(session.state, name)
        if found is None:
            how = next((how for _, known, how in reversed(session.state.more.past) if known == name), "")
            return how not in ("withdrawn", "expired")
        return found[1].granted

    def _asks(self, contract: Contract, waits: Parked, name: str) -> bool:
        is_program = isinstance(self._given[name], Program)
        asks = [contract.askers[id] for id in waits.asks]
        spoken = {*waits.yes, *(said[0] for said in waits.said)}
        return name != waits.agent and name not in spoken and any(asker.admits(name, is_program) for asker in asks)

    def _claim(self, ticket: str, name: str) -> bool:
        with self._lock:
            if (ticket, name) in self._out:
                return False
            self._out.add((ticket, name))
            return True

    def _open(self, state: State, name: str) -> tuple[str, Parked] | None:
        parked = state.more.parked.items()
        return next(((key, waits) for key, waits in parked if waits.ticket == name and waits.asks), None)

    def _asked(
        self, session: Session, key: str, name: str, decider: str, unwanted: Callable[[], bool] | None
    ) -> Decided | None:
        given = self._given[decider]
        try:
            shown = ticket(session.contract, session.state, key).plain()
        except KeyError:
            return None  # somebody has decided it just now
        question = {**shown, "session": getattr(session, "name", None), "decider": decider}
        if isinstance(given, Program):
            told = program.ask(given, question, unwanted=unwanted)
            channel = Decided("deny", ticket=name, by=decider, channel="program")
        else:
            told = put(given.run, own(question), within=given.within, name=decider, unwanted=unwanted)
            channel = Decided("deny", ticket=name, by=decider, channel="callback")
        if told.how == "unwanted":
            return None
        return _read(channel, told.value) if told.how == "answered" else _no(channel, told)


def _no(event: Decided, told: Put) -> Decided:
    """The no that stands for an answer that is none."""
    return Decided(
        "deny", ticket=event.ticket, by=event.by, reason=one_line(told.text, _TEXT) or None, channel=event.channel,
        fault=told.how,  # type: ignore[arg-type]
    )  # fmt: skip


def _read(event: Decided, answer: Any) -> Decided:
    """The decision that an answer states; whatever states none is a no."""
    if answer is True or answer is False:
        answer = {"decision": "approve" if answer else "deny"}
    try:
        if not isinstance(answer, dict):
            raise Malformed(f"a `{type(answer).__name__}` is no decision")
        answer = plain(answer)
        strange = [key for key in answer if key not in _KEYS]
        if strange:
            raise Malformed(f"an answer has no `{strange[0][:40]}`")
        word = answer.get("decision")
        if word not in _WORDS:
            raise Malformed(f"`decision` is one of {', '.join(_WORDS)}")
        for key in ("reason", "recommendation"):
            if answer.get(key) is not None and not isinstance(answer[key], str):
                raise Malformed(f"`{key}` is text")
        args = answer.get("args")
        if (word == "edit") != isinstance(args, dict) or (args is not None and word != "edit"):
            raise Malformed("`edit` gives the new `args` as one object, and nothing else does")
    except Malformed as error:
        return _no(event, Put("rubbish", text=str(error)))
    texts = {key: one_line(answer[key], _TEXT) for key in ("reason", "recommendation") if answer.get(key)}
    return Decided(
        word, ticket=event.ticket, by=event.by, payload=args, reason=texts.get("reason"),
        recommendation=texts.get("recommendation"), channel=event.channel,
    )  # fmt: skip


def _checked(name: str, decider: Any, contract: Contract) -> None:
    if not isinstance(name, str) or not name.strip():
        raise fault("gate", "a decider without a name", help="deciders={'policy': duly.Callback(…)}")
    if not isinstance(decider, Callback | Program):
        help = "duly.Callback(function), or duly.Program(command, within=seconds)"
        raise fault("gate", f"the decider `{name}` cannot be asked", help=help)
    if not decider.within > 0:
        raise fault("gate", f"the decider `{name}` has no time to answer", help="`within` is a positive time")
    if isinstance(decider, Callback) and not callable(decider.run):
        raise fault("gate", f"the decider `{name}` cannot be called", help="duly.Callback(function)")
    if isinstance(decider, Program):
        words = decider.command
        if isinstance(words, str) or not words or not all(isinstance(word, str) and word for word in words):
            raise fault("gate", f"the decider `{name}` names no program", help="duly.Program(('python', 'decide.py'))")
    is_program = isinstance(decider, Program)
    if not any(asker.admits(name, is_program) for asker in contract.askers.values()):
        known = sorted({by for asker in contract.askers.values() for by in asker.approval.by})
        help = suggest(name, known) or f"name it under `by` of an approval{': ' + ', '.join(known) if known else ''}"
        raise fault("gate", f"nothing in the contract lets `{name}` decide", help=help)
