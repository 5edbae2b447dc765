"""A session that is held to a contract, as the proxy uses it: asked before each call, told how each ended."""

import sys
from typing import Any, Literal

from duly.gates.gate import Gate, Pass
from duly.machine.contract import Contract
from duly.session.session import Session
from duly.values.errors import Refused
from duly.values.event import Called, Closed, Received
from duly.values.verdict import Reason, Refusal, Unrecognized, Verdict, Violation

STATELESS = frozenset({"requires", "ensures", "forbid", "permit"})
"""Rules that look at one call only."""


def stateful(contract: Contract) -> bool:
    """Whether what a contract says of a call may depend on what happened before."""
    terms = contract.terms
    return bool(
        terms.protocols
        or terms.breaker
        or terms.on_violation == "halt"
        or any(rule.template not in STATELESS for rule in contract.rules.values())
    )


class Held:
    """One session behind its gate. ``named`` says that somebody gave it its id, so that it can be gone on with."""

    def __init__(self, gate: Gate, id: str, *, named: bool) -> None:
        self.gate = gate
        self.id = id
        self.named = named

    @property
    def contract(self) -> Contract:
        return self.gate.session.contract

    @property
    def shadow(self) -> bool:
        return self.gate.mode == "shadow"

    async def begin(self, label: str, args: dict[str, Any]) -> Pass:
        """Asks for a call; raises Refused."""
        return self.gate.begin(label, args)

    async def settle(self, call: Pass, result: Any, outcome: str | None) -> Verdict:
        return self._said(self.gate.settle(call, result, outcome=outcome))

    async def fail(self, call: Pass, effect: Literal["none", "unknown"], error: str) -> Verdict:
        return self._said(self.gate.fail(call, effect, error))

    async def refuse(self, label: str, args: dict[str, Any], reason: Reason) -> Refused:
        """A refusal that no rule of the contract gave, kept in the record all the same."""
        verdict = Violation((reason,))
        self.gate.session.note(Called(label, args), verdict)
        return Refused(verdict)

    async def hear(self, text: str, label: str | None) -> Verdict:
        """What a person said, named by the host, or by the contract's labels where the host leaves that to them."""
        if label is None:
            return self.gate.hear(text)
        return self.gate.step(Received(label, {"text": text}))

    async def catch_up(self) -> None:
        """Takes in what others have told the session meanwhile."""

    async def legal(self) -> frozenset[str]:
        """The labels of the acts that are not refused whatever their arguments are."""
        return frozenset(act.label for act in self.gate.session.legal())

    async def close(self) -> None:
        """Nobody can come back to this session."""
        if not self.named:
            self._said(self.gate.step(Closed()))

    def _said(self, verdict: Verdict) -> Verdict:
        if isinstance(verdict, Refusal):
            word = "not understood" if isinstance(verdict, Unrecognized) else "finding"
            for reason in verdict.reasons[:5]:
                print(f"duly: {self.id}: {word}: {reason.text()}", file=sys.stderr, flush=True)
        return verdict


def hold(contract: Contract, id: str, *, named: bool, shadow: bool) -> Held:
    """A new session of this contract."""
    return Held(Gate(Session(contract), mode="shadow" if shadow else None), id, named=named)
