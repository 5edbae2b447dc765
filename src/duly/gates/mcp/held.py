"""A session that is held to a contract, as the proxy uses it: asked before each call, told how each ended."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar

from anyio import to_thread

from duly.journal.journal import Journal
from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.session.session import Session
from duly.values.errors import DulyError, Refused
from duly.values.event import Called, Event, Listed
from duly.values.verdict import Reason, Refusal, Unrecognized, Verdict, Violation

from ..decider import Decider
from ..gate import Gate, Pass
from ..stored import StoredSession

T = TypeVar("T")

SHOWN = 50
"""Sessions whose uncertain calls are named when a gate starts."""
STATELESS = frozenset({"requires", "ensures", "forbid", "permit"})
"""Rules that look at one call only."""


def stateful(contract: Contract) -> bool:
    """Whether what a contract says of a call may depend on what happened before."""
    terms = contract.terms
    return bool(
        terms.protocols
        or terms.breaker
        or terms.on_violation == "halt"
        or terms.approvals
        or contract.pins
        or any(rule.template not in STATELESS for rule in contract.rules.values())
    )


class Held:
    """One session behind its gate. ``named`` says that somebody gave it its id, so that it can be gone on with.

    ``alone`` says that the process serves nobody else: then it decides where it stands, which takes a third of a
    millisecond, and does not wake a thread for it, which takes longer. Waiting for a store is bounded either way.
    """

    def __init__(self, gate: Gate, id: str, *, named: bool, alone: bool) -> None:
        self.gate = gate
        self.id = id
        self.named = named
        self._alone = alone

    @property
    def contract(self) -> Contract:
        return self.gate.session.contract

    @property
    def shadow(self) -> bool:
        return self.gate.mode == "shadow"

    async def begin(self, label: str, args: dict[str, Any], *, key: str | None = None) -> Pass:
        """Asks for a call; raises Refused."""
        if self._alone:
            return self.gate.begin(label, args, key=key)
        return await self.gate.abegin(label, args, key=key)

    async def settle(self, call: Pass, result: Any, outcome: str | None) -> Verdict:
        if self._alone:
            return self._said(self.gate.settle(call, result, outcome=outcome))
        return self._said(await self.gate.asettle(call, result, outcome=outcome))

    async def fail(self, call: Pass, effect: Literal["none", "unknown"], error: str) -> Verdict:
        if self._alone:
            return self._said(self.gate.fail(call, effect, error))
        return self._said(await self.gate.afail(call, effect, error))

    async def refuse(self, label: str, args: dict[str, Any], reason: Reason) -> Refused:
        """A refusal that no rule of the contract gave, kept in the record all the same."""
        verdict = Violation((reason,), show=self.contract.terms.show)
        await self._off(partial(self.gate.session.note, Called(label, args), verdict))
        return Refused(verdict)

    async def hear(self, text: str, label: str | None) -> Verdict:
        """What a person said, named by the host, or by the contract's labels where the host leaves that to them."""
        if label is None:
            return await self.gate.ahear(text)
        return await self.gate.areceive(label, {"text": text})

    async def decide(self, event: Event) -> Verdict:
        """A person's decision or order."""
        return self._said(self.gate.step(event) if self._alone else await self.gate.astep(event))

    async def listed(self, server: str, digests: dict[str, str]) -> None:
        """What the server lists now, where that is not what it listed last of the pinned tools."""
        known = self.gate.session.state.more.pins
        contract = self.contract
        mine = {}
        for name, digest in digests.items():
            plan = contract.acts.get(f"{server}/{name}") or contract.acts.get(name)
            if plan is not None and plan.label in contract.pins:
                mine[plan.label] = digest
        if any(label not in known or known[label][1] != digest for label, digest in mine.items()):
            verdict = await self.decide(Listed(server, digests))
            for reason in verdict.noted:
                print(f"duly: {self.id}: {reason.text()}", file=sys.stderr, flush=True)

    async def news(self) -> State:
        """The state, with what other processes have recorded."""
        session = self.gate.session
        if isinstance(session, StoredSession):
            await self._off(session.refresh)
        return session.state

    async def legal(self) -> frozenset[str]:
        """The labels of the acts that are not refused whatever their arguments are, others' news included."""
        return frozenset(act.label for act in await self._off(self.gate.session.legal))

    async def close(self) -> None:
        """Nobody uses the session here any more; one that nobody can come back to has ended."""
        if not self.named:
            self._said(await self.gate.aclose())
        else:
            await self._off(self.gate.leave)

    async def _off(self, work: Callable[[], T]) -> T:
        """A store may make one wait, and nobody else is to wait with him."""
        return work() if self._alone else await to_thread.run_sync(work)

    def _said(self, verdict: Verdict) -> Verdict:
        if isinstance(verdict, Refusal):
            word = "not understood" if isinstance(verdict, Unrecognized) else "finding"
            for reason in verdict.reasons[:5]:
                print(f"duly: {self.id}: {word}: {reason.text()}", file=sys.stderr, flush=True)
        return verdict


async def hold(
    contract: Contract, id: str, *, named: bool, shadow: bool, journal: Journal | None = None, alone: bool = False,
    deciders: Mapping[str, Decider] | None = None,
) -> Held:  # fmt: skip
    """The session of this id: gone on with where the journal knows it. Raises DulyError."""
    # a decider takes its time, and nobody else is to wait with it
    alone = alone and not deciders
    mode: Literal["shadow"] | None = "shadow" if shadow else None
    if journal is None:
        gate = Gate(Session(contract), mode=mode, deciders=deciders)
        return Held(gate, id, named=named, alone=not deciders)
    gate = await to_thread.run_sync(partial(Gate.open, contract, journal, id, mode=mode, deciders=deciders))
    _uncertain(gate, id)
    return Held(gate, id, named=named, alone=alone)


def left(contract: Contract, journal: Journal, but: str | None) -> None:
    """Says which calls of other sessions nobody knows the end of, also where no client will come back to them."""
    try:
        found = [
            summary.session
            for summary in journal.sessions()
            if summary.open and summary.meta.digest == contract.digest and summary.session != but
        ]
        for session in found[:SHOWN]:
            gate = Gate.open(contract, journal, session, guards=None)
            _uncertain(gate, session)
            gate.leave()
    except DulyError as error:
        print(f"duly: the store was not looked through: {error.diagnostics[0].message}", file=sys.stderr, flush=True)
        return
    if len(found) > SHOWN:
        text = f"{len(found) - SHOWN} further sessions have open calls; `duly pending` lists what is uncertain"
        print(f"duly: {text}", file=sys.stderr, flush=True)


def _uncertain(gate: Gate, id: str) -> None:
    for number, call in gate.session.state.open.items():
        if call.uncertain:
            text = f"nobody knows whether the call {number} of `{call.label}` ran; it waits to be settled"
            print(f"duly: {id}: {text}", file=sys.stderr, flush=True)
