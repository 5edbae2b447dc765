"""The contract between client and server: which tools are shown, which calls pass, and what became of each."""

import sys
from collections.abc import Mapping
from secrets import token_hex
from typing import Any, Final

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from duly.journal.journal import Journal
from duly.machine.contract import Contract
from duly.values.errors import DulyError, Refused
from duly.values.verdict import NeedsApproval, Reason, Verdict

from ..decider import Decider
from ..gate import Pass
from . import era
from .answer import recorded, refusal, sendable, trouble
from .call import Call
from .flight import ROUNDS, Context, bare, is_question
from .held import Held, hold, stateful
from .key import Keys, key_of
from .link import Link
from .listing import Listing, fetch
from .people import People, decided
from .upstream import Upstream

LISTING: Final = 60.0
"""Seconds that a server has for one page of its list of tools."""
NEWS: Final = 1.0
"""Seconds after which a store is asked whether others have told a session something."""
CALM: Final = 0.02
"""Seconds after which clients are told what a call has changed, so that its answer goes first."""
AGAIN: Final = 1.0
"""Seconds after which a list that lacks a tool is read anew."""


class Keeper:
    """Holds the calls of every session to one contract."""

    def __init__(
        self,
        contract: Contract,
        keys: Keys,
        *,
        shadow: bool = False,
        named: bool = False,
        server: str = "",
        journal: Journal | None = None,
        alone: bool = False,
        user: str = "user",
        patience: float = 0.0,
        deciders: Mapping[str, Decider] | None = None,
    ) -> None:
        """``user`` is who sits at the client and is asked there; ``patience`` are the seconds that a call waits for a
        decision on another way before it is answered; ``deciders`` are asked before him."""
        self.contract = contract
        self.people = People(user)
        self._patience = patience
        self._deciders = deciders
        self.shadow = shadow
        self._keys = keys
        self._named = named or keys.header is not None or keys.field is not None
        self._server = server
        self._journal = journal
        self._alone = alone
        self._opening = anyio.Lock()
        self._stateful = stateful(contract)
        self._held: dict[str | None, Held] = {}
        self._listings: dict[str | None, tuple[Listing, float]] = {}
        self._news: set[str | None] = set()
        self._stirred = anyio.Event()
        self._shown: dict[str | None, tuple[Link, frozenset[str]]] = {}

    async def held(self, key: str | None) -> Held:
        """The session of a key; raises MCPError where the contract needs a session and nobody names one."""
        known = self._held.get(key)
        if known is not None:
            return known
        if key is None and self._stateful:
            message = f"the contract looks back, and this request belongs to no session: {self._keys.help()}"
            raise MCPError(code=INVALID_PARAMS, message=message)
        async with self._opening:
            known = self._held.get(key)
            if known is None:
                id = key if key is not None else f"mcp-{token_hex(6)}"
                try:
                    known = await hold(
                        self.contract, id, named=key is not None and self._named, shadow=self.shadow,
                        journal=self._journal, alone=self._alone, deciders=self._deciders,
                    )  # fmt: skip
                except DulyError as error:
                    message = f"the session cannot be opened: {error.diagnostics[0].message}"
                    raise MCPError(code=INTERNAL_ERROR, message=message) from error
                self._held[key] = known
        return known

    def abilities(self, capabilities: dict[str, Any]) -> dict[str, Any]:
        """What the server can do as far as the gate can hold it to the contract."""
        out = {name: value for name, value in capabilities.items() if name != "tasks"}
        if "tools" in out:
            out["tools"] = {**(out["tools"] or {}), "listChanged": True}
        return out

    async def closed(self, link: Link) -> None:
        self._shown.pop(link.key, None)
        self._listings.pop(link.key, None)
        held = self._held.pop(link.key, None)
        if held is not None:
            await held.close()

    def label(self, name: str) -> str:
        """The contract's name of a tool: with the server's where the contract writes it so."""
        full = f"{self._server}/{name}"
        return full if self._server and full in self.contract.acts else name

    async def tools(self, link: Link, upstream: Upstream, context: Context) -> dict[str, Any]:
        """The tools that may be called now, all in one page."""
        link.stale = link.stale or not (upstream.capabilities.get("tools") or {}).get("listChanged")
        listing = await self._listing(link, upstream)
        shown = await self._visible(link, listing)
        self._shown[link.key] = (link, shown)
        tools = [tool for name, tool in listing.tools.items() if name in shown]
        return {**listing.rest, "tools": tools, "ttlMs": 0, "cacheScope": "private"}

    async def _listing(self, link: Link, upstream: Upstream, name: str | None = None) -> Listing:
        known = self._listings.get(link.key)
        now = anyio.current_time()
        if known is not None and not link.stale:
            listing, read = known
            if name is None or name in listing.tools or now - read < AGAIN:
                return listing
        link.stale = False
        try:
            listing = await fetch(upstream, LISTING)
        except BaseException:
            link.stale = True
            raise
        self._listings[link.key] = (listing, now)
        if self.contract.pins and link.key is not None:
            await (await self.held(link.key)).listed(self._server, listing.digests())
        return listing

    async def _visible(self, link: Link, listing: Listing) -> frozenset[str]:
        if link.key is None and self._stateful:
            # whoever has no session yet is shown how one begins
            held = await hold(self.contract, "none", named=True, shadow=self.shadow)
        else:
            held = await self.held(link.key)
        if held.shadow:
            return frozenset(listing.tools)
        legal = await held.legal()
        return frozenset(
            name for name in listing.tools if name not in listing.doubled and self._legal(self.label(name), legal)
        )

    def _legal(self, label: str, legal: frozenset[str]) -> bool:
        contract = self.contract
        plan = contract.acts.get(label)
        if plan is None:
            owners = contract.owners.get(label, ())
            if not owners:
                return not contract.closed
            plan = contract.acts[owners[0]] if len(owners) == 1 else None
        return plan is not None and plan.label in legal

    async def refresh(self, key: str | None) -> None:
        """Tells the session's clients that other tools are legal now, where they are and somebody has asked."""
        known = self._shown.get(key)
        listing = self._listings.get(key)
        if known is None or listing is None:
            return
        link, before = known
        shown = await self._visible(link, listing[0])
        if shown != before:
            self._shown[key] = (link, shown)
            await link.changed("notifications/tools/list_changed")

    async def call(self, link: Link, upstream: Upstream, context: Context, params: dict[str, Any]) -> dict[str, Any]:
        name, args = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not name or not (args is None or isinstance(args, dict)):
            message = "a call has a `name`, and its `arguments` are one object"
            raise MCPError(code=INVALID_PARAMS, message=message)
        if "task" in params:
            raise MCPError(code=INVALID_PARAMS, message="calls as tasks do not pass the gate; call without `task`")
        answers = is_question(params.get("requestState"))
        if not answers and ("requestState" in params or "inputResponses" in params):
            raise MCPError(code=INVALID_PARAMS, message="the answers belong to no open question of this session")
        try:
            held = await self.held(link.key)
        except MCPError as error:
            if not self.shadow and self.contract.terms.mode != "shadow":
                raise
            print(f"duly: a call was not watched: {error.error.message}", file=sys.stderr, flush=True)
            return await link.carry(upstream, context, params)
        args = dict(args or {})
        if upstream.dead is not None:
            return trouble("gone", f"`{name[:80]}` was not called: {upstream.dead}; nothing was done")
        listing = Listing([], {})
        try:
            listing, ready = await self._prepared(held, link, upstream, name, args)
            put = await self.people.answered(held, link.key, params) if answers else True
            params = bare(params) | {key: params[key] for key in ("_meta",) if key in params}
            passed = await self._begun(held, link, context, params, ready, put)
            if isinstance(passed, Pass) and not passed.replayed and passed.payload != ready:
                await self._fits(held, listing, name, passed)
        except Refused as refused:
            self._soon(link.key)
            return refusal(refused.verdict, structured=listing.structured(name))
        if isinstance(passed, dict):
            return passed
        if passed.replayed:
            return recorded(passed.recorded)
        course = Call(
            held, passed, structured=listing.structured(name), ended=lambda: self._soon(link.key)
        )  # fmt: skip
        sent = {**params, "arguments": sendable(passed.payload)}
        if not passed.payload and "arguments" not in params:
            del sent["arguments"]
        tool = listing.tools.get(name) or {}
        return await link.carry(upstream, context, sent, course=course, schema=tool.get("inputSchema"))

    async def _fits(self, held: Held, listing: Listing, name: str, passed: Pass) -> None:
        """What a person or a bound has made of the arguments is held to the server's schema, too; raises Refused."""
        declared = self.contract.tools.get(passed.label)
        if held.shadow or name not in listing.tools or (declared is not None and declared.schema is not None):
            return
        _, wrong = listing.preparer(name)(passed.payload)
        if wrong:
            await held.fail(passed, "none", "the arguments do not fit the server's schema")
            text = f"the arguments that would run do not fit the server's schema: {wrong[0][1]}"
            help = "ask for the call again, and the person for a decision"
            reason = Reason("schema", "schema", text, got=f"!{passed.label}", help=help)
            raise await held.refuse(passed.label, passed.payload, reason)

    async def _begun(
        self, held: Held, link: Link, context: Context, params: dict[str, Any], ready: dict[str, Any], put: bool
    ) -> Pass | dict[str, Any]:
        """The call let through, once a person has said yes where one must; or the question to the person.

        With ``put`` False the client has been asked already and has left it open. Raises Refused.
        """
        label, key = self.label(params["name"]), key_of(params)
        until = anyio.current_time() + self._patience
        for _ in range(ROUNDS):
            try:
                return await held.begin(label, ready, key=key)
            except Refused as refused:
                verdict = refused.verdict
                waits = self.people.may(held, verdict, context) if put else None
                if waits is not None and era.is_modern(context.protocol_version):
                    return self.people.put(link.key, waits, params)
                if waits is not None:
                    put = await self.people.ask(held, waits, context)
                elif self._patience and isinstance(verdict, NeedsApproval) and verdict.ticket is not None:
                    if not await decided(held, verdict.ticket, until):
                        raise
                else:
                    raise
        return await held.begin(label, ready, key=key)

    async def _prepared(
        self, held: Held, link: Link, upstream: Upstream, name: str, args: dict[str, Any]
    ) -> tuple[Listing, dict[str, Any]]:
        """The arguments as the server's own schema wants them, where the contract has none; raises Refused."""
        label = self.label(name)
        declared = self.contract.tools.get(label)
        own = declared is not None and declared.schema is not None
        try:
            listing = await self._listing(link, upstream, name)
        except MCPError as error:
            if own or held.shadow:
                return Listing([], {}), args
            why = f"the server's list of tools cannot be read: {error.error.message[:200]}"
            raise await held.refuse(label, args, Reason("gate", "listing", why, got=f"!{label}")) from None
        why = ""
        if name in listing.doubled:
            why = f"the server has two tools of the name `{name[:80]}`, and nobody can tell which would run"
            reason = Reason("gate", "ambiguous", why, got=f"!{label}")
        elif name not in listing.tools and not own:
            why = f"the server lists no tool `{name[:80]}`"
            reason = Reason("gate", "unlisted", why, got=f"!{label}", help="ask for the list of tools anew")
        if why and not held.shadow:
            raise await held.refuse(label, args, reason)
        if own or name not in listing.tools or (label not in self.contract.acts and self.contract.closed):
            return listing, args
        try:
            ready, wrong = listing.preparer(name)(args)
        except DulyError as error:
            if held.shadow:
                return listing, args
            help = "give the tool a `schema` in the contract"
            reason = Reason("schema", "schema", error.diagnostics[0].message, got=f"!{label}", help=help)
            raise await held.refuse(label, args, reason) from None
        if not wrong:
            return listing, ready
        if held.shadow:
            return listing, args
        text = "; ".join(message for _, message in wrong[:5])
        reason = Reason("schema", "schema", text, got=f"!{label}", help="correct the arguments")
        raise await held.refuse(label, args, reason)

    def _soon(self, key: str | None) -> None:
        """What is legal may have changed: told once nobody waits for an answer any more."""
        if key in self._shown:
            self._news.add(key)
            self._stirred.set()

    async def announce(self) -> None:
        """Tells clients of changes that calls have made, a moment after their answers have gone out."""
        while True:
            await self._stirred.wait()
            await anyio.sleep(CALM)
            self._stirred = anyio.Event()
            news, self._news = self._news, set()
            for key in news:
                await self._refreshed(key)

    async def _refreshed(self, key: str | None) -> None:
        try:
            await self.refresh(key)
        except Exception as error:
            # a list that cannot be told anew is asked for anew, and calls are gated whatever it shows
            print(f"duly: the list of tools was not announced: {error}", file=sys.stderr, flush=True)

    async def tell(self, key: str | None, text: str, label: str | None) -> Verdict:
        """A person's message, from the host."""
        verdict = await (await self.held(key)).hear(text, label)
        await self.refresh(key)
        return verdict

    async def watch(self) -> None:
        """Announces what other processes changed, for instance by telling the session what a person said."""
        while True:
            await anyio.sleep(NEWS)
            for key in list(self._shown):
                await self._refreshed(key)
