"""Python of somebody else's, called with a deadline in a thread that is left behind when it does not come back."""

from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Final, Literal

from msgspec import Struct

HUNG: Final = 8
"""Threads that one callable may leave hanging; one that hangs more often is not called until one comes back."""
LOOK: Final = 0.1
"""Seconds after which who waits for an answer sees whether anybody still wants it."""


class Put(Struct, frozen=True):
    """How a question went: ``answered`` with ``value``, or why there is no answer, in ``text``."""

    how: Literal["answered", "timeout", "crash", "rubbish", "unwanted"]
    value: Any = None
    text: str = ""


def put(
    run: Callable[..., Any], *given: Any, within: float, name: str, unwanted: Callable[[], bool] | None = None
) -> Put:
    """What ``run`` returns, awaited where it is a coroutine, within ``within`` seconds; raises nothing.

    ``unwanted`` is asked now and then whether anybody still waits.
    """
    try:
        hash(run)
        key: Any = run
    except Exception:
        key = id(run)
    with _LOCK:
        if _HANGING.get(key, 0) >= HUNG:
            return Put("timeout", text=f"{HUNG} earlier questions have not been answered yet")
        _HANGING[key] = _HANGING.get(key, 0) + 1
    answers: list[Put] = []
    done = Event()
    Thread(target=_run, args=(run, key, given, answers, done), name=f"duly-{name}", daemon=True).start()
    until = monotonic() + within
    while not answers:
        left = until - monotonic()
        if left <= 0:
            break
        done.wait(left if unwanted is None else min(left, LOOK))
        if unwanted is not None and not answers and unwanted():
            return Put("unwanted")
    return answers[0] if answers else Put("timeout", text=f"no answer within {within:g} seconds")


def _run(run: Callable[..., Any], key: Any, given: tuple[Any, ...], answers: list[Put], done: Event) -> None:
    try:
        answer = run(*given)
        if hasattr(answer, "__await__"):
            import asyncio

            answer = asyncio.run(_awaited(answer))
        answers.append(Put("answered", answer))
    except BaseException as error:
        answers.append(Put("crash", text=f"{type(error).__name__}: {text_of(error)}"))
    finally:
        done.set()
        with _LOCK:
            _HANGING[key] -= 1
            if not _HANGING[key]:
                del _HANGING[key]


async def _awaited(answer: Any) -> Any:
    return await answer


def text_of(error: BaseException) -> str:
    """What an error says, as far as it can be shown."""
    try:
        return str(error)[:200].encode("utf-8", "backslashreplace").decode()
    except Exception:
        return "an error that cannot be shown"


_LOCK = Lock()
_HANGING: dict[Any, int] = {}
