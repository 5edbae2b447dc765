"""Telling processes that have ended from those that run."""

import os
import subprocess
import sys

import pytest

from duly.gates import alive
from duly.gates.alive import ended, me


def test_this_process_runs() -> None:
    assert not ended(me())


def test_process_that_has_ended_is_known_to() -> None:
    code = "from duly.gates.alive import me; print(me())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended(told.stdout.strip())


def test_process_that_is_dead_and_not_yet_buried_has_ended() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, me().encode())
        os._exit(0)
    who = os.read(reader, 1000).decode()
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        assert ended(who)
    finally:
        os.waitpid(child, 0)


def test_number_that_was_given_to_another_process_is_not_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    host, space, pid, _ = me().split("/")
    monkeypatch.setattr(alive, "_start", lambda pid: "8")
    assert (ended(f"{host}/{space}/{pid}/7"), ended(f"{host}/{space}/{pid}/8")) == (True, False)


@pytest.mark.parametrize("who", [None, "", "x", "elsewhere/1/2/3", "a/b/c/d", f"{me().rsplit('/', 2)[0]}/-1/5"])
def test_process_that_nobody_here_can_look_up_is_not_known_to_have_ended(who: str | None) -> None:
    assert not ended(who)
