"""Which process admitted a call, and whether that process has ended: only then is an open call known to be cut off."""

import os
from functools import lru_cache
from pathlib import Path


def me() -> str:
    """This process, in a form that another one can look up: host, name space, number and start."""
    return _me(os.getpid())


@lru_cache(maxsize=1)
def _me(pid: int) -> str:
    from socket import gethostname

    return f"{gethostname()}/{_space()}/{pid}/{_start(pid)}"


def ended(who: str | None) -> bool:
    """Whether a process is known to have ended; False where it runs, or where nobody here can tell."""
    here = me().split("/")
    there = (who or "").split("/")
    if len(there) != 4 or there[:2] != here[:2] or not there[2].isdecimal():
        return False
    pid = int(there[2])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    # the number may have been given to another process since
    return there[3] != "" and _start(pid) not in ("", there[3])


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _start(pid: int) -> str:
    """When a process began, in ticks since the system did; `ended` for one that only waits to be buried."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = told[told.rfind(")") + 2 :].split()
    return "ended" if fields[0] in ("Z", "X") else fields[19]
