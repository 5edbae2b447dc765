"""Calls that wait for a person: the user of the client is asked, by a request or by an interim result as the era wants.

Who answers is known from the channel and never from a payload. What waits lies in the session, so that a question can
be put again after a restart, and be answered on any other way as well.
"""

from typing import Any, Final

import anyio
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from duly.session.ticket import Ticket, ticket
from duly.values.event import Decided, Event, Ordered
from duly.values.plain import seen, write_json
from duly.values.verdict import NeedsApproval, Verdict, shorten

from . import era
from .answer import sendable
from .flight import ASKED, MARK, Context, bare, fresh_state
from .held import Held
from .raw import ask, connection_of

KEPT: Final = 10_000
"""Open questions that are remembered; one that was forgotten is put again."""
METHOD: Final = "elicitation/create"
WHOLE: Final = 4000
"""Bytes up to which arguments are shown in one piece."""
PIECE: Final = 200
"""Bytes that are shown of each argument where they are longer."""


class Asking(Struct, frozen=True):
    """A question that a client has been given: in which session, about which ticket, and for which call."""

    key: str | None
    ticket: str
    params: dict[str, Any]


class People:
    """Asks the user of the client, who is known as ``user``; an empty name asks nobody."""

    def __init__(self, user: str) -> None:
        self._user = user
        self._open: dict[str, Asking] = {}

    def may(self, held: Held, verdict: Verdict, context: Context) -> Ticket | None:
        """The ticket that the client's user can decide, where the client can ask him."""
        if not self._user or not isinstance(verdict, NeedsApproval) or verdict.ticket is None:
            return None
        able = _abilities(context).get("elicitation")
        if not isinstance(able, dict) or ("url" in able and "form" not in able):
            return None
        found = self._ticket(held, verdict.ticket)
        if found is None or found.granted or (found.by and self._user not in found.by) or self._user in found.yes:
            return None
        return found

    def _ticket(self, held: Held, name: str) -> Ticket | None:
        session = held.gate.session
        state = session.state
        for key, waits in state.more.parked.items():
            if waits.ticket == name and waits.asks:
                return ticket(session.contract, state, key)
        return None

    def _stands(self, held: Held, name: str) -> bool:
        found = self._ticket(held, name)
        return found is None or bool(found.stand)

    async def ask(self, held: Held, waits: Ticket, context: Context) -> bool:
        """Asks by a request to a client of the older era; the person may take any time. False: left open."""
        try:
            answer = await ask(context.session, METHOD, question(waits), context.request_id)
        except MCPError:
            return False
        return await self._take(held, waits.ticket, answer)

    def put(self, key: str | None, waits: Ticket, params: dict[str, Any]) -> dict[str, Any]:
        """The question as an interim result, which a client of the newer era answers by asking for the call again."""
        state = ASKED + fresh_state().removeprefix(MARK)
        if len(self._open) >= KEPT:
            self._open.pop(next(iter(self._open)))
        self._open[state] = Asking(key, waits.ticket, bare(params))
        wanted = {waits.ticket: {"method": METHOD, "params": question(waits)}}
        return {"resultType": "input_required", "inputRequests": wanted, "requestState": state}

    async def answered(self, held: Held, key: str | None, params: dict[str, Any]) -> bool:
        """Takes the answer that comes with a call; False where the person has left the question open.

        An answer to no question that was put to this very call, for instance before a restart, says nothing.
        """
        asked = self._open.get(str(params.get("requestState")))
        if asked is None or asked.key != key or asked.params != bare(params):
            return True
        del self._open[str(params.get("requestState"))]
        answers = params.get("inputResponses")
        answer = answers.get(asked.ticket) if isinstance(answers, dict) else None
        return await self._take(held, asked.ticket, answer) if isinstance(answer, dict) else False

    async def _take(self, held: Held, name: str, answer: dict[str, Any]) -> bool:
        action, content = answer.get("action"), answer.get("content")
        content = content if isinstance(content, dict) else {}
        said = content.get("decision")
        reason = content.get("reason")
        reason = shorten(reason, 2000) if isinstance(reason, str) and reason else None
        event: Event
        if action == "decline" or (action == "accept" and said == "deny"):
            event = Decided("deny", ticket=name, by=self._user, reason=reason)
        elif action == "accept" and said == "approve":
            event = Decided("approve", ticket=name, by=self._user, reason=reason)
        elif action == "accept" and said == "always" and self._stands(held, name):
            event = Ordered("stand", target=name, by=self._user)
        else:
            return False  # put away without an answer: it still waits
        await held.decide(event)
        return True


def question(waits: Ticket) -> dict[str, Any]:
    """The form in which a person is asked: what would run, word for word, and what can be answered."""
    choices = ["approve", "deny", *(["always"] if waits.stand else [])]
    about = f"{shorten(waits.question, WHOLE)}\n\n{seen(waits.label)} {_shown(sendable(waits.args))}"
    if waits.need > 1:
        about += f"\n\n{len(waits.yes)} of {waits.need} have said yes."
    for by, what, words in waits.said:
        about += f"\n\n{seen(by)} said {what}{': ' + seen(shorten(words, PIECE)) if words else ''}."
    if waits.left is not None:
        about += f"\n\nOpen for {max(0, round(waits.left))} more seconds."
    decision = {"type": "string", "title": "Decision", "enum": choices}
    if waits.stand:
        decision["description"] = f"always: from now on also for {waits.stand[0]}"
    why = {"type": "string", "title": "Reason", "description": "Kept for the record."}
    schema = {"type": "object", "properties": {"decision": decision, "reason": why}, "required": ["decision"]}
    return {"mode": "form", "message": about, "requestedSchema": schema}


def _shown(args: Any) -> str:
    """Arguments as they would run; of long ones a piece of each, the short ones first, so that none hides another."""
    whole = seen(write_json(args))
    if len(whole.encode("utf-8", "replace")) <= WHOLE or not isinstance(args, dict):
        return shorten(whole, WHOLE)
    each = sorted((seen(f"{write_json(name)}: {write_json(value)}") for name, value in args.items()), key=len)
    lines: list[str] = []
    room = WHOLE
    for line in each:
        piece = shorten(line, PIECE)
        room -= len(piece.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        lines.append(piece)
    about = f"(not all is shown: {len(whole)} characters, {len(lines)} of {len(each)} arguments)"
    return "\n".join([about, *lines])


def _abilities(context: Context) -> dict[str, Any]:
    if era.is_modern(context.protocol_version):
        return era.client_of(context.params)[1]
    known: Any = connection_of(context).state.get("duly")
    found: dict[str, Any] = known[1] if known is not None else {}
    return found


async def decided(held: Held, name: str, until: float) -> bool:
    """Waits until a ticket has been decided on whatever way; False where it was not in time, and will not be."""
    while True:
        more = (await held.news()).more
        waits = next((each for each in more.parked.values() if each.ticket == name), None)
        if waits is None:
            return not any(ticket == name and how in ("withdrawn", "expired") for _, ticket, how in more.past)
        if waits.granted or more.over is not None:
            return True
        left = until - anyio.current_time()
        if left <= 0:
            return False
        await anyio.sleep(min(0.5, left))
