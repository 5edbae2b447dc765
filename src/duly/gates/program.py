"""A program that is asked one question: JSON on its standard input, JSON on its standard output, and a deadline."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from time import monotonic
from typing import Any, Final

from msgspec import Struct

from duly.values.plain import Malformed, read_json, write_json

from .question import LOOK, Put

LARGEST: Final = 64 * 1024
"""Bytes that an answer may have."""


class Program(Struct, frozen=True):
    """A program that decides on tickets: ``command`` is started for each, in a process group of its own.

    It gets the ticket as one JSON object on its standard input, and says `{"decision": "approve"}` (or ``deny``,
    ``edit`` with ``args``, ``leave``) on its standard output within ``within`` seconds. Whatever else it does is a no.
    """

    command: tuple[str, ...]
    within: float = 30.0


def ask(program: Program, question: Any, *, unwanted: Callable[[], bool] | None = None) -> Put:
    """What the program says: ``answered`` with the plain value, or why there is no answer; raises nothing.

    ``unwanted`` is asked now and then whether anybody still waits. No process of the group is left when it returns,
    unless it has left the group.
    """
    until = monotonic() + program.within
    try:
        process = subprocess.Popen(
            program.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=os.name == "posix"
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return Put("crash", text=f"it cannot be started: {getattr(error, 'strerror', None) or error}")
    try:
        return _talk(process, write_json(question).encode(), program.within, until, unwanted)
    except Exception as error:
        return Put("crash", text=f"{type(error).__name__}: {str(error)[:200]}")
    finally:
        _end(process)


def _talk(
    process: "subprocess.Popen[bytes]", told: bytes, within: float, until: float, unwanted: Callable[[], bool] | None
) -> Put:
    assert process.stdin is not None
    assert process.stdout is not None
    late = Put("timeout", text=f"no answer within {within:g} seconds")
    said = bytearray()
    with DefaultSelector() as selector:
        for pipe, way in ((process.stdin, EVENT_WRITE), (process.stdout, EVENT_READ)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, way)
        while process.stdout in {key.fileobj for key in selector.get_map().values()}:
            left = until - monotonic()
            if left <= 0:
                return late
            ready = selector.select(left if unwanted is None else min(left, LOOK))
            if not ready and unwanted is not None and unwanted():
                return Put("unwanted")
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    try:
                        told = told[os.write(key.fd, told[:65536]) :]
                    except BrokenPipeError:
                        told = b""  # it decides without having read all of it
                    if not told:
                        selector.unregister(process.stdin)
                        with suppress(BrokenPipeError):
                            process.stdin.close()
                    continue
                piece = os.read(key.fd, 65536)
                said += piece
                if len(said) > LARGEST:
                    return Put("crash", text=f"it said more than {LARGEST} bytes")
                if not piece:
                    selector.unregister(process.stdout)
    while (code := process.poll()) is None:
        # its answer counts once it has ended well
        left = until - monotonic()
        if left <= 0:
            return late
        if unwanted is not None and unwanted():
            return Put("unwanted")
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(left, LOOK))
    if code:
        return Put("crash", text=f"it ended with {code}" if code > 0 else f"it was ended by signal {-code}")
    try:
        return Put("answered", read_json(said.decode()))
    except (Malformed, UnicodeDecodeError) as error:
        return Put("rubbish", text=f"no JSON: {str(error)[:200]}" if said.strip() else "it said nothing")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the program and what it has started, and waits for the program."""
    with suppress(OSError):
        if os.name == "posix":
            # the group is there as long as one of it is, also once the program itself has ended
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.wait()
