"""Programs that are asked: JSON in, JSON out, a deadline, and nothing of them left behind."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from duly import Approval, Contract, Gate, Program, Refused, Session, Tool
from duly.gates.program import LARGEST, ask
from duly.gates.question import Put

TICKET = {"ticket": "t1-c1", "args": {"n": 1}}


def python(script: str, within: float = 20.0) -> Program:
    return Program((sys.executable, "-c", script), within)


def test_it_reads_the_ticket_and_answers() -> None:
    script = "import json, sys; t = json.load(sys.stdin); print(json.dumps({'decision': 'approve', 'reason': t['ticket']}))"
    assert ask(python(script), TICKET) == Put("answered", {"decision": "approve", "reason": "t1-c1"})


def test_it_may_answer_without_having_read_a_long_ticket() -> None:
    assert ask(python("print('true')"), {"text": "x" * 10_000_000}) == Put("answered", True)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("import sys; print('true'); sys.exit(3)", Put("crash", text="it ended with 3")),
        ("import os, signal; print('true', flush=True); os.kill(os.getpid(), signal.SIGTERM)",
         Put("crash", text="it was ended by signal 15")),
        ("pass", Put("rubbish", text="it said nothing")),
        ("import sys; sys.stdout.buffer.write(b'\\xff')",
         Put("rubbish", text="no JSON: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte")),
        (f"print('1' * {LARGEST})", Put("crash", text=f"it said more than {LARGEST} bytes")),
        ("while True: print('x' * 65536)", Put("crash", text=f"it said more than {LARGEST} bytes")),
    ],
)  # fmt: skip
def test_what_does_not_end_well_is_no_answer(script: str, told: Put) -> None:
    assert ask(python(script), TICKET) == told


@pytest.mark.parametrize("text", ["yes", "{", '{"a": 1, "a": 2}', "NaN", "true false"])
def test_what_is_no_json_is_rubbish(text: str) -> None:
    assert ask(python(f"print({text!r})"), TICKET).how == "rubbish"


def test_a_program_that_is_not_there_is_a_crash() -> None:
    assert ask(Program(("/no/such/program",)), TICKET) == Put("crash", text="it cannot be started: No such file or directory")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def gone(pid: int) -> bool:
    """Whether a process that was killed goes, which the kernel does in its own time."""
    until = time.monotonic() + 20
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)


@pytest.mark.skipif(os.name != "posix" or not Path("/proc").is_dir(), reason="looks processes up under /proc")
@pytest.mark.parametrize("end", ["import time; time.sleep(600)", "print('true', flush=True)"])
def test_at_the_end_nothing_that_it_has_started_is_left(end: str, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
        f" stdout=subprocess.DEVNULL); open({str(note)!r}, 'w').write(str(child.pid)); {end}"
    )
    told = ask(python(script, within=3.0), TICKET)
    assert told in (Put("answered", True), Put("timeout", text="no answer within 3 seconds"))
    assert gone(int(note.read_text()))


def test_a_child_that_keeps_the_pipe_open_does_not_hold_anybody_up() -> None:
    script = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); print('true')"
    assert ask(python(script, within=3.0), TICKET) == Put("timeout", text="no answer within 3 seconds")


def test_who_is_no_longer_waited_for_is_ended() -> None:
    assert ask(python("import time; time.sleep(600)"), TICKET, unwanted=lambda: True) == Put("unwanted")


TOOLS = [Tool("pay", effect="write")]


def gated(script: str, **more: Any) -> Gate:
    contract = Contract(Approval("pay", by=("policy",)), tools=TOOLS)
    return Gate(Session(contract), deciders={"policy": python(script, **more)})


def test_a_gate_takes_a_programs_yes() -> None:
    script = "import json, sys; print(json.dumps(json.load(sys.stdin)['args']['n'] < 10))"
    gate = gated(script)
    assert gate.begin("pay", {"n": 1}).payload == {"n": 1}
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": 10})
    assert [(r.kind, r.message) for r in caught.value.verdict.reasons] == [
        ("denied", "no to this `pay`: `policy` has said no")
    ]


@pytest.mark.parametrize(
    ("script", "kind"),
    [("import time; time.sleep(600)", "timeout"), ("raise SystemExit(1)", "crash"), ("print('perhaps')", "rubbish")],
)  # fmt: skip
def test_a_gate_takes_whatever_else_it_does_for_a_no(script: str, kind: str) -> None:
    gate = gated(script, within=1.0 if kind == "timeout" else 20.0)
    with pytest.raises(Refused) as caught:
        gate.begin("pay", {"n": 1})
    verdict = caught.value.verdict
    assert (verdict.word, [reason.kind for reason in verdict.reasons]) == ("violation", [kind])
    decided = [entry.event for entry in gate.session.journal][1]
    assert (decided.decision, decided.by, decided.channel, decided.fault) == ("deny", "policy", "program", kind)  # type: ignore[union-attr]
