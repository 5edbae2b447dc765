"""A request on its way to the server: who waits for it, what the server asks meanwhile, and how it ends.

A flight outlives the wait for it: an answer that comes after the deadline still settles its call.
"""

from secrets import token_urlsafe
from typing import Any, Final

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND
from msgspec import Struct

from . import era
from .raw import ask

MARK: Final = "duly:"
"""How a request state that duly gave begins."""
ASKED: Final = f"{MARK}ask:"
"""How the request state of a question of duly's own begins."""
ROUNDS: Final = 32
"""Questions of a server within one request."""

Context = ServerRequestContext[Any, Any]


class Question(Struct):
    """What the server asks of the client while its call is open, and the answer when there is one."""

    method: str
    params: dict[str, Any]
    ready: anyio.Event
    answer: dict[str, Any] | None = None


class Flight:
    """One request. ``done`` when it has a result or an error; it has questions while the server waits for a person."""

    def __init__(self, context: Context, method: str, params: dict[str, Any]) -> None:
        self.context = context
        self.method = method
        self.params = params
        self.modern = era.is_modern(context.protocol_version)
        self.scope = anyio.CancelScope()
        self.limit = anyio.CancelScope()
        self.wake = anyio.Event()
        self.done = False
        self.left = False
        self.questions: dict[str, Question] = {}
        self._result: dict[str, Any] | None = None
        self._error: MCPError | None = None
        self._patience = 0.0

    @property
    def wanted(self) -> dict[str, Any]:
        """The request as its client wrote it: defaults are not filled."""
        return dict(self.context.params or {})

    def end(self, result: dict[str, Any]) -> None:
        if not self.done:
            self.done, self._result = True, result
            self.wake.set()

    def fail(self, error: MCPError) -> None:
        if not self.done:
            self.done, self._error = True, error
            self.wake.set()

    def result(self) -> dict[str, Any]:
        if self._error is not None:
            raise self._error
        return self._result or {}

    async def wait(self, patience: float) -> bool:
        """Waits for the end or for a question; False where neither came in time. Given up, the request is cancelled."""
        self._patience = patience
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + patience) as self.limit:
                await self.wake.wait()
        except anyio.get_cancelled_exc_class():
            self.left = True
            self.scope.cancel()
            raise
        return self.wake.is_set()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Passes progress on; whoever reports it is not silent."""
        self.limit.deadline = anyio.current_time() + self._patience
        if not self.left and not self.done:
            await self.context.session.report_progress(progress, total, message)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Asks the client, in its era; a person may take any time. Raises MCPError."""
        if self.left or self.done:
            raise MCPError(code=INTERNAL_ERROR, message="the request that this belongs to has ended")
        if not self.modern:
            self.limit.deadline = float("inf")
            try:
                return await ask(self.context.session, method, params, self.context.request_id)
            finally:
                self.limit.deadline = anyio.current_time() + self._patience
        able = era.client_of(self.context.params)[1]
        if era.ASKS.get(method) not in able:
            raise MCPError(code=METHOD_NOT_FOUND, message=f"the client takes no `{method}`")
        question = Question(method, params, anyio.Event())
        self.questions[f"q{len(self.questions) + 1}-{token_urlsafe(6)}"] = question
        if not self.wake.is_set():
            self.wake.set()
        await question.ready.wait()
        assert question.answer is not None
        return question.answer

    def asked(self, state: str) -> dict[str, Any]:
        """The open questions as the interim result of the modern era; the flight can be waited for again."""
        self.wake = anyio.Event()
        wanted = {
            key: {"method": question.method, "params": question.params}
            for key, question in self.questions.items()
            if question.answer is None
        }
        return {"resultType": "input_required", "inputRequests": wanted, "requestState": state}

    def resume(self, context: Context, answers: dict[str, Any]) -> None:
        """Takes the client's answers; questions that it left out stay open and are asked again."""
        self.context = context
        for key, answer in answers.items():
            question = self.questions.get(key)
            if question is not None and question.answer is None and isinstance(answer, dict):
                question.answer = answer
                question.ready.set()
        self.questions = {key: question for key, question in self.questions.items() if question.answer is None}
        if self.questions:
            self.wake.set()


def fresh_state() -> str:
    """A request state that nobody can guess."""
    return MARK + token_urlsafe(24)


def is_question(state: Any) -> bool:
    """Whether a request state belongs to a question of duly's own."""
    return isinstance(state, str) and state.startswith(ASKED)


def bare(params: dict[str, Any]) -> dict[str, Any]:
    """What a request asks for, without what differs from leg to leg."""
    return {key: value for key, value in params.items() if key not in ("_meta", "inputResponses", "requestState")}
