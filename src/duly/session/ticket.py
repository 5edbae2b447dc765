"""What a person, or a program that decides, is shown of an act that waits: worked out when it is shown."""

from typing import Any

from msgspec import Struct

from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.machine.terms import Stand

from .books import act_of, leads


class Ticket(Struct, frozen=True):
    """What a person is shown of an act that waits: worked out when it is shown.

    ``left`` are the seconds until it expires; ``stand`` says how wide a standing yes may be, and is empty where there
    can be none. ``agent`` asked for it and gave ``context`` along; ``said`` is what others have said of it (name,
    decision, words); ``digest`` is that of the contract that asks.
    """

    ticket: str
    call: str
    label: str
    args: Any
    question: str
    by: tuple[str, ...]
    need: int
    yes: tuple[str, ...]
    granted: bool
    left: float | None
    stand: tuple[str, ...]
    agent: str | None = None
    context: Any = None
    said: tuple[tuple[str, str, str], ...] = ()
    digest: str = ""

    def plain(self) -> dict[str, Any]:
        """The ticket as a plain JSON object."""
        said = [{"by": by, "decision": what, "words": words} for by, what, words in self.said]
        return {
            "ticket": self.ticket, "call": self.call, "label": self.label, "args": self.args,
            "question": self.question, "by": list(self.by), "need": self.need, "yes": list(self.yes),
            "granted": self.granted, "left": self.left, "stand": list(self.stand), "agent": self.agent,
            "context": self.context, "said": said, "digest": self.digest,
        }  # fmt: skip


def ticket(contract: Contract, state: State, key: str) -> Ticket:
    """The ticket of a parked act; raises KeyError where none waits under this id."""
    waits = state.more.parked[key]
    asks = [contract.askers[id] for id in waits.asks if id in contract.askers]
    questions = [filled(asker.approval.ask, waits.runs) for asker in asks if asker.approval.ask]
    act = act_of(contract, state, waits.label, waits.runs, key, None)
    led = tuple(leads(contract, state, act, asks).values())
    widths: list[str] = []
    if asks and all(asker.approval.stand != "none" for asker in asks):
        widths = ["exactly these arguments"]
        widths += [
            f"{name} inside {glob}"
            for asker in asks
            if isinstance(asker.approval.stand, Stand)
            for name, glob in asker.approval.stand.within.items()
        ]
    return Ticket(
        waits.ticket, key, waits.label, waits.runs,
        " ".join((
            *(questions or [f"Allow `{waits.label}`?" if asks else f"What became of `{waits.cause}`?"]),
            *(f"{text[:1].upper()}{text[1:]}." for text in led),
        )),
        tuple(dict.fromkeys(name for asker in asks for name in asker.approval.by)),
        max((asker.approval.need for asker in asks), default=1), waits.yes, waits.granted,
        None if waits.until is None else waits.until - state.at, tuple(widths), waits.agent, waits.context, waits.said,
        contract.digest,
    )  # fmt: skip


def filled(text: str, args: Any) -> str:
    """A question with ``{args.name}`` replaced by the values that would run; what is not there stays as written.

    What the agent wrote cannot look like words of the contract: it stays in its line.
    """
    import re

    from duly.values.expr import UNSET, reach
    from duly.values.plain import seen, write_json

    def value(match: "re.Match[str]") -> str:
        found = reach(args, tuple(match[1].split(".")))
        return match[0] if found is UNSET else seen(found if type(found) is str else write_json(found))

    return re.sub(r"\{args\.([A-Za-z_][\w.]*)\}", value, text)
