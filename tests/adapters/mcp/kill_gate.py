"""`duly mcp` as it is, in a process that says which it is and can be killed at a step.

`MOMENT` is `gate:STEP:N`: at the N-th such step after the file `ARMED` is there, it kills itself.
"""

import os
import signal
from collections.abc import Callable
from typing import Any

from duly.cli.app import build
from duly.gates.mcp import wire
from duly.gates.mcp.upstream import Upstream
from duly.journal.sqlite import SqliteJournal

seen = 0
who, _, rest = os.environ.get("MOMENT", "").partition(":")
step, _, number = rest.partition(":") if who == "gate" else ("", "", "")


def passing(name: str) -> None:
    global seen
    if name == step and os.path.exists(os.environ["ARMED"]):
        seen += 1
        if seen == int(number):
            open(os.environ["KILLED"], "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


def around(work: Callable[..., Any], before: str, after: str) -> Callable[..., Any]:
    def wrapped(*args: Any, **named: Any) -> Any:
        passing(before)
        found = work(*args, **named)
        passing(after)
        return found

    return wrapped


def around_async(work: Callable[..., Any], before: str, after: str) -> Callable[..., Any]:
    async def wrapped(*args: Any, **named: Any) -> Any:
        passing(before)
        found = await work(*args, **named)
        passing(after)
        return found

    return wrapped


if __name__ == "__main__":
    with open(os.environ["PIDS"], "a") as pids:
        pids.write(f"gate {os.getpid()}\n")
    patched: list[tuple[Any, str, Any]] = [
        (SqliteJournal, "append", around(SqliteJournal.append, "append", "appended")),
        (wire, "message", around(wire.message, "line", "read")),
        (wire, "_bytes", around(wire._bytes, "tell", "told")),
        (Upstream, "request", around_async(Upstream.request, "ask", "answered")),
    ]
    for place, name, wrapped in patched:
        setattr(place, name, wrapped)
    build()(prog_name="duly")
