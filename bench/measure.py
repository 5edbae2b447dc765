"""How figures are taken: small rounds of all arms in turn, CPU time, the median of each arm."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import process_time

from msgspec import Struct


class Figure(Struct, frozen=True):
    """One line of the table. ``value`` is in ``unit``; ``bar`` is what it may be at most; ``peer`` is the peer's value."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    peer: float | None = None
    aim: float | None = None
    note: str = ""

    @property
    def kept(self) -> bool:
        return self.bar is None or self.value <= self.bar


def interleaved(arms: dict[str, Callable[[], int]], *, rounds: int = 60) -> dict[str, float]:
    """Median CPU microseconds per operation of each arm; an arm does one round and says how many operations it was."""
    for arm in arms.values():
        arm()
    taken: dict[str, list[float]] = {name: [] for name in arms}
    gc.collect()
    for _ in range(rounds):
        for name, arm in arms.items():
            begun = process_time()
            done = arm()
            taken[name].append((process_time() - begun) / done * 1e6)
    return {name: median(times) for name, times in taken.items()}


def once(work: Callable[[], object], *, rounds: int = 5) -> float:
    """Median CPU milliseconds of one piece of work."""
    times = []
    for _ in range(rounds):
        gc.collect()
        begun = process_time()
        work()
        times.append((process_time() - begun) * 1e3)
    return median(times)


def process(code: str, *, rounds: int = 15) -> float:
    """Median CPU milliseconds that a fresh interpreter needs for ``code``, as it says itself."""
    wrapped = f"{code}\nimport time\nprint(time.process_time() * 1e3)"
    # an installed package has its byte code written, whatever this environment says about writing it
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(rounds + 1):
        done = subprocess.run(
            [sys.executable, "-c", wrapped], capture_output=True, text=True, check=True, env=environment
        )
        times.append(float(done.stdout.split()[-1]))
    return median(times[1:])
