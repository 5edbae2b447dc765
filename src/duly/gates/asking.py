"""Waiting without a loop standing still: one question in a thread of its own, and who gives up in the meantime."""

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Asking:
    """Where a question stands: who gives it up while it waits was never asked."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._fate = "waiting"

    def start(self) -> bool:
        """Whether the question is asked now; False where it was given up before."""
        with self._lock:
            if self._fate == "waiting":
                self._fate = "asked"
            return self._fate == "asked"

    @property
    def unwanted(self) -> bool:
        """Whether it was given up."""
        return self._fate in ("given up", "withdrawn")

    def answer(self) -> bool:
        """Whether somebody still waits for the answer; False where it was given up after it was asked."""
        with self._lock:
            if self._fate == "given up":
                return False
            self._fate = "answered"
            return True

    def give_up(self) -> str:
        """Gives up, and says what for: ``waiting``, ``asked`` or ``answered``."""
        with self._lock:
            before = self._fate
            if before == "waiting":
                self._fate = "withdrawn"
            elif before == "asked":
                self._fate = "given up"
            return before


class Job(Generic[T]):
    """Work that is done once, in whichever thread comes first."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._lock = Lock()
        self._begun = False
        self.done = Event()

    def run(self) -> T | None:
        with self._lock:
            if self._begun:
                return None
            self._begun = True
        try:
            return self._work()
        finally:
            self.done.set()

    def insist(self) -> None:
        """Sees to it that it is done, by a thread of its own where nobody has begun."""
        Thread(target=self._quietly, name="duly-settle").start()

    def _quietly(self) -> None:
        from contextlib import suppress

        with suppress(Exception):
            self.run()


async def surely(work: Callable[[], T]) -> T:
    """Does work in a thread to its end, whatever becomes of the caller, who is held until then."""
    from anyio import CancelScope, get_cancelled_exc_class, to_thread

    job = Job(work)
    result: Any = None
    try:
        with CancelScope(shield=True):
            result = await to_thread.run_sync(job.run, limiter=room())
    except get_cancelled_exc_class():
        job.insist()
        await until(job.done)
        raise
    return result  # type: ignore[no-any-return]


async def until(done: Event) -> None:
    """Waits for something that happens in a thread; a further cancellation ends the waiting, not what it waits for."""
    from anyio import CancelScope, to_thread

    with CancelScope(shield=True):
        await to_thread.run_sync(done.wait, limiter=room(), abandon_on_cancel=True)


def room() -> Any:
    """Threads are not rationed here: what they wait for is bounded, and what settles a call must never queue."""
    from math import inf

    from anyio import CapacityLimiter

    return CapacityLimiter(inf)
