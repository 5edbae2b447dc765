"""``guard``: a plain Python function behind a contract, with its name, signature and errors kept."""

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, TypeVar, overload

from duly.session.session import Session
from duly.values.errors import fault
from duly.values.event import Event, Failed, Returned
from duly.values.plain import Malformed

from .gate import Gate, Pass
from .objects import arguments_of, payload_of

F = TypeVar("F", bound=Callable[..., Any])
Project = Callable[[dict[str, Any]], Any]

CUT = (TimeoutError, ConnectionError, EOFError)
"""Errors after which nobody knows whether the tool did something."""


@overload
def guard(held: Session | Gate, function: F, *, name: str | None = None, project: Project | None = None) -> F: ...


@overload
def guard(held: Session | Gate, *, name: str | None = None, project: Project | None = None) -> Callable[[F], F]: ...


def guard(
    held: Session | Gate,
    function: F | None = None,
    *,
    name: str | None = None,
    project: Project | None = None,
) -> F | Callable[[F], F]:
    """A function that asks the contract before it runs and settles its call when it ends.

    ``guard(session, f)`` or ``@guard(session)``; ``f`` may be a function, a coroutine function or a generator of either
    kind. ``name`` is its label (default: its own name). ``project`` maps the arguments, by name, to the plain object
    that is judged, where they are no JSON values. Raises ``duly.Refused`` in place of running; errors of ``f`` pass
    through and give the call's place back, but for timeouts and cut connections, after which the call is uncertain.
    """
    if not isinstance(held, Gate | Session):
        raise fault("guard", "a guard needs a session or a gate", help="`@duly.guard(session)`, not `@duly.guard`")
    gate = held if isinstance(held, Gate) else Gate.of(held)

    def wrap(plain_function: F) -> F:
        if not callable(plain_function):
            raise fault("guard", f"`{plain_function!r:.60}` is no function", help="guard(session, function)")
        return _wrapped(gate, plain_function, name or str(getattr(plain_function, "__name__", "")), project)

    return wrap if function is None else wrap(function)


def _wrapped(gate: Gate, function: F, label: str, project: Project | None) -> F:
    if not label:
        raise fault("guard", "a guarded function needs a name", help="guard(session, function, name=…)")
    signature = inspect.signature(function)

    def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[inspect.BoundArguments, Callable[[], Any]]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def read() -> Any:
            named = _named(signature, bound)
            return arguments_of(project(named) if project is not None else named)

        return bound, read

    def rebind(bound: inspect.BoundArguments, payload: Any, call: Pass) -> None:
        if project is None and payload is not None and call.payload is not payload:
            _rebind(signature, bound, payload, call.payload)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Pass, inspect.BoundArguments]:
        bound, read = given(args, kwargs)
        payload = gate.judged(label, read)
        call = gate.begin(label, payload)
        rebind(bound, payload, call)
        return call, bound

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            bound, read = given(args, kwargs)
            payload = await gate.ajudged(label, read)
            call = await gate.abegin(label, payload)
            rebind(bound, payload, call)
            if call.replayed:
                return call.recorded
            try:
                with gate.inside(call):
                    result = await function(*bound.args, **bound.kwargs)
            except BaseException as error:
                await gate.astep(_end(gate, call, error))
                raise
            await gate.asettle(call, payload_of(result))
            return result

    elif inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            call, bound = begin(args, kwargs)
            return _AsyncStream(gate, call, function(*bound.args, **bound.kwargs))

    elif inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            call, bound = begin(args, kwargs)
            return _Stream(gate, call, function(*bound.args, **bound.kwargs))

    else:

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            call, bound = begin(args, kwargs)
            if call.replayed:
                return call.recorded
            try:
                with gate.inside(call):
                    result = function(*bound.args, **bound.kwargs)
            except BaseException as error:
                _broke(gate, call, error)
                raise
            if inspect.isawaitable(result):
                return _awaited(gate, call, result)
            gate.settle(call, payload_of(result))
            return result

    wrapper.__duly__ = (gate, label)  # type: ignore[attr-defined]
    return wrapper  # type: ignore[return-value]


async def _awaited(gate: Gate, call: Pass, result: Any) -> Any:
    """A plain function that returns something to await has not ended before that has."""
    try:
        with gate.inside(call):
            value = await result
    except BaseException as error:
        await gate.astep(_end(gate, call, error))
        raise
    await gate.asettle(call, payload_of(value))
    return value


def _broke(gate: Gate, call: Pass, error: BaseException) -> None:
    gate.step(_end(gate, call, error))


def _end(gate: Gate, call: Pass, error: BaseException) -> Event:
    """An error is a result of its own; what was cut off may have happened, unless the tool changes nothing."""
    try:
        text = f"{type(error).__name__}: {error}"[:500].encode("utf-8", "backslashreplace").decode()
    except Exception:  # an error that cannot be shown ends its call all the same
        text = type(error).__name__
    if isinstance(error, CUT) or not isinstance(error, Exception):
        tool = gate.session.contract.tools.get(call.label)
        harmless = tool is not None and tool.effect == "none"
        return Failed(call.id, "none" if harmless else "unknown", text)
    return Returned(call.label, {"error": text}, id=call.id, outcome="error")


class _Stream(Generator[Any, Any, Any]):
    """A generator whose call ends with it; one that was never started has done nothing."""

    def __init__(self, gate: Gate, call: Pass, inner: Generator[Any, Any, Any]) -> None:
        self._gate = gate
        self._call = call
        self._inner = inner
        self._state = "new"

    def send(self, value: Any) -> Any:
        return self._go(lambda: self._inner.send(value))

    def throw(self, *error: Any) -> Any:
        return self._go(lambda: self._inner.throw(*error))

    def _go(self, step: Callable[[], Any]) -> Any:
        if self._state == "new":
            self._state = "running"
        try:
            return step()
        except StopIteration as end:
            value = end.value
            self._end(lambda: self._gate.settle(self._call, payload_of(value)))
            raise
        except BaseException as error:
            self._end(lambda error=error: _broke(self._gate, self._call, error))  # type: ignore[misc]
            raise

    def close(self) -> None:
        new = self._state == "new"
        self._inner.close()
        if new:
            self._end(lambda: self._gate.fail(self._call, "none", "never started"))
        else:
            self._end(lambda: _broke(self._gate, self._call, GeneratorExit("closed before its end")))

    def _end(self, settle: Callable[[], object]) -> None:
        if self._state != "ended":
            self._state = "ended"
            settle()

    def __del__(self) -> None:
        self.close()


class _AsyncStream(AsyncGenerator[Any, Any]):
    """The same for asynchronous generators."""

    def __init__(self, gate: Gate, call: Pass, inner: AsyncGenerator[Any, Any]) -> None:
        self._gate = gate
        self._call = call
        self._inner = inner
        self._state = "new"

    async def asend(self, value: Any) -> Any:
        return await self._go(self._inner.asend(value))

    async def athrow(self, *error: Any) -> Any:
        return await self._go(self._inner.athrow(*error))

    async def _go(self, step: Any) -> Any:
        if self._state == "new":
            self._state = "running"
        try:
            return await step
        except StopAsyncIteration:
            self._end(lambda: self._gate.settle(self._call, None))
            raise
        except BaseException as error:
            self._end(lambda error=error: _broke(self._gate, self._call, error))  # type: ignore[misc]
            raise

    async def aclose(self) -> None:
        new = self._state == "new"
        await self._inner.aclose()
        self._end(lambda: self._left(new))

    def _left(self, new: bool) -> None:
        if new:
            self._gate.fail(self._call, "none", "never started")
        else:
            _broke(self._gate, self._call, GeneratorExit("closed before its end"))

    def _end(self, settle: Callable[[], object]) -> None:
        if self._state != "ended":
            self._state = "ended"
            settle()

    def __del__(self) -> None:
        # the event loop may be gone; the call must not stay open all the same
        self._end(lambda: self._left(self._state == "new"))


def _named(signature: inspect.Signature, bound: inspect.BoundArguments) -> dict[str, Any]:
    """The arguments by name; what ``**kwargs`` took stands beside them, ``self`` is left out."""
    given: dict[str, Any] = {}
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if name not in bound.arguments or (index == 0 and name in ("self", "cls")):
            continue
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            # what is judged under a name is what runs under it
            twice = given.keys() & value.keys()
            if twice:
                raise Malformed(f"`{min(twice)}` is given twice")
            given.update(value)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            if value:
                given[name] = list(value)
        else:
            given[name] = value
    return given


def _rebind(
    signature: inspect.Signature, bound: inspect.BoundArguments, asked: dict[str, Any], ready: dict[str, Any]
) -> None:
    """What was judged is what runs: defaults, clamps and normal forms go into the call."""
    extra = next((n for n, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD), None)
    for name, value in ready.items():
        if name in asked and asked[name] == value and type(asked[name]) is type(value):
            continue
        if name in signature.parameters and name != extra:
            bound.arguments[name] = value
        elif extra is not None:
            bound.arguments.setdefault(extra, {})[name] = value
