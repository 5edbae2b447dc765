"""The client of the kills, in a process of its own: works off a plan and notes what it asked and what it was told.

A plan is a list of steps; a step is a list of asks that go on at once. An ask is a call, what a person said, a
settlement, `arm`, after which the kill is near, or `last`, at which it comes at the latest. `client:N` kills at the
N-th note after that.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters

from duly import Gate, Ordered
from duly.gates.files import load
from duly.journal.journal import open_journal

from .driver import ENV, connected, say

META = "duly/verdict"
Ask = dict[str, Any]


class Place:
    """Where one round keeps its files, and how its gate is reached."""

    def __init__(self, root: Path, number: int, moment: str, *, era: str, port: int, url: str = "") -> None:
        self.root, self.number, self.moment = root, number, moment
        self.era, self.port, self.url = era, port, url
        self.notes = root / f"notes{number}"
        self.errors = root / f"errors{number}"
        self.pids = root / f"pids{number}"
        self.armed = root / f"armed{number}"
        self.last = root / f"last{number}"
        self.killed = root / f"killed{number}"

    def env(self, tools: str) -> dict[str, str]:
        return {
            **ENV, "EFFECTS": str(self.root / "effects"), "PIDS": str(self.pids), "ARMED": str(self.armed), "KILLED": str(self.killed),
            "MOMENT": self.moment, "TOOLS": tools,
        }  # fmt: skip


class Notes:
    def __init__(self, place: Place) -> None:
        self._file = os.open(place.notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._place = place
        self._left = int(place.moment.partition(":")[2]) if place.moment.startswith("client:") else -1

    def add(self, **facts: Any) -> None:
        os.write(self._file, json.dumps(facts).encode() + b"\n")
        if self._left > 0 and self._place.armed.exists():
            self._left -= 1
            if self._left == 0:
                self._place.killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)


async def work_off(place: Place, plan: list[list[Ask]], gate: StdioServerParameters | None) -> None:
    notes = Notes(place)
    with place.errors.open("a") as errors:
        async with connected(gate or place.url, era=place.era, errors=errors if gate else None) as client:
            notes.add(t="met")
            for step in plan:
                async with anyio.create_task_group() as tasks:
                    for ask in step:
                        tasks.start_soon(_do, place, notes, client, ask)
            notes.add(t="over")


async def _do(place: Place, notes: Notes, client: Any, ask: Ask) -> None:
    match ask["do"]:
        case "arm":
            place.armed.touch()
        case "last":
            place.last.touch()
            while not place.killed.exists():
                await anyio.sleep(0.005)
        case "settle":
            await anyio.to_thread.run_sync(_settle, place, ask)
        case "say":
            with anyio.move_on_after(20):
                try:
                    status, answer = await say(place.port, session="s", text=ask["text"])
                except OSError:
                    return
                if status == 200:
                    notes.add(t="said", text=ask["text"], word=answer["verdict"])
        case _:
            notes.add(t="asked", n=ask["n"])
            notes.add(t="answer", n=ask["n"], **await _called(client, ask))


async def _called(client: Any, ask: Ask) -> dict[str, Any]:
    meta = {"duly/key": ask["key"]} if ask["key"] else None
    try:
        with anyio.fail_after(40):
            found = await client.call_tool(ask["tool"], ask["args"], meta=meta)
    except TimeoutError:
        return {"word": "hung"}
    except Exception as error:
        return {"word": "lost", "text": f"{type(error).__name__}: {error}"[:200]}
    facts = (found.meta or {}).get(META) or {}
    text = found.content[0].text
    if found.is_error:
        kind = facts["reasons"][0]["kind"]
        return {"word": facts["verdict"], "kind": kind, "text": text[:400]}
    return {"word": "ok", "run": (found.structured_content or {}).get("run"), "recorded": "recorded" in facts}


def _settle(place: Place, ask: Ask) -> None:
    """What a person says of an uncertain call, in another process than the gate."""
    journal = open_journal(str(place.root / "journal.db"))
    gate = Gate.open(load(str(place.root / "kill.yaml")), journal, "s")
    gate.step(Ordered("settle", target=ask["call"], by="ana", payload={"as": ask["how"]}))
    gate.leave()
    journal.close()


def start(place: Place, plan: list[list[Ask]], gate: StdioServerParameters | None) -> int:
    """The process of a client that works off a plan."""
    pid = os.fork()
    if pid:
        return pid
    code = 3
    try:
        with open(place.errors.with_suffix(".client"), "w") as told:
            os.dup2(told.fileno(), 2)
        try:
            anyio.run(work_off, place, plan, gate)
            code = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
    finally:
        os._exit(code)
