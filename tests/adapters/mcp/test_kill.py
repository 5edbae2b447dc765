"""Gate, server and client killed at seeded moments: nothing that was said is lost, nothing runs twice, and the next
start says of what nobody knows whether it ran.

Each chain is one session in one journal. Its rounds work off random plans, and in each somebody is killed; the next
round starts the gate again, asks for what has no answer yet, settles what is uncertain as it truly was, and goes on.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from duly import Contract
from duly.cli.app import build
from duly.gates.files import load
from duly.journal.journal import open_journal
from duly.journal.record import Record
from duly.journal.replay import again, state_of
from duly.machine.ir import State
from duly.session.snapshot import save

from .driver import HERE, PYTHON, await_port, free_port
from .kill_client import Ask, Place, StdioServerParameters, start

SOAK = os.environ.get("DULY_SOAK") == "1"
ROUNDS = 8 if SOAK else 6
CHAINS = 25 if SOAK else 4
"""200 kills, or 24."""
MOMENTS = (
    *(f"gate:{step}" for step in ("append", "appended", "line", "read", "tell", "told", "ask", "answered")),
    *(f"server:{step}" for step in ("line", "began", "effect", "answered")),
    "client", "gate", "server",
)  # fmt: skip
"""Who is killed, and at which step; without a step, after some milliseconds."""
FATES = ("ok", "violation", "needs_approval", "unrecognized", "blocked")


def contract(rounds: int) -> str:
    tools = [f"  {kind}{n}: {{effect: write}}" for kind in ("book", "pay") for n in range(rounds)]
    rules = [f"  - at_most: {{of: {kind}{n}, n: {most}}}" for kind, most in LIMITS.items() for n in range(rounds)]
    asks = [f"  - must_precede: [Yes, pay{n}]" for n in range(rounds)]
    return "\n".join(
        [
            'duly: 1\ncontract: kill\nversion: "1"\ntools:\n  look: {effect: none}\n  send: {effect: write}',
            "  put: {effect: write, idempotent: true}", *tools, 'labels:\n  Yes: {from: user, matches: "(?i)^yes"}',
            "  Other: {from: user, otherwise: true}", "rules:", *rules, *asks, "",
        ]
    )  # fmt: skip


LIMITS = {"book": 1, "pay": 2}


class Chain:
    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.chance = root, random.Random(seed)
        (root / "kill.yaml").write_text(contract(ROUNDS + 1))
        self.contract: Contract = load(str(root / "kill.yaml"))
        self.tools = " ".join(sorted(self.contract.tools))
        self.store = str(root / "journal.db")
        self.level = self.chance.choice(("normal", "full", "normal", "memory"))
        self.asks: dict[str, Ask] = {}
        self.answers: list[tuple[Ask, dict[str, Any]]] = []
        self.said: Counter[str] = Counter()
        self.over: set[str] = set()
        self.listed = 0
        self.killed = 0

    # --- what is asked

    def ask(self, tool: str, number: int, key: bool = False, **args: Any) -> Ask:
        name = f"{number}.{len(self.asks)}"
        ask = {
            "do": "call",
            "n": name,
            "tool": tool,
            "args": {"id": name, **args},
            "key": f"key-{name}" if key else None,
        }
        self.asks[name] = ask
        return ask

    def script(self, number: int) -> list[list[Ask]]:
        plan: list[list[Ask]] = []
        for _ in range(self.chance.randint(5, 9)):
            step: list[Ask] = []
            for _ in range(self.chance.choice((1, 1, 2, 3))):
                kind = self.chance.choice(("look", "send", "send", "key", "book", "pay", "put", "say"))
                if kind == "say":
                    step.append({"do": "say", "text": f"yes {number}"})
                elif kind == "key":
                    ask = self.ask("send", number, key=True)
                    step += [ask] * self.chance.choice((1, 1, 2))
                elif kind in LIMITS:
                    step.append(self.ask(f"{kind}{number}", number, of=self.chance.choice("ab")))
                else:
                    step.append(self.ask(kind, number))
            plan.append(step)
        return plan

    def left(self) -> list[Ask]:
        """What was asked for and has no answer of the contract or the server."""
        return [ask for name, ask in self.asks.items() if name not in self.over]

    # --- one round

    def round(self, number: int, last: bool) -> None:
        before, length = self.state()
        moment = self.chance.choice(MOMENTS)
        if moment.count(":") == 1:
            moment += f":{self.chance.randint(1, 10 if moment.startswith('gate') else 5)}"
        elif moment == "client":
            moment = f"client:{self.chance.randint(1, 20)}" if self.chance.random() < 0.7 else moment
        moment = "" if last else moment
        http = self.chance.random() < 0.25
        place = Place(
            self.root, number, moment, era=self.chance.choice(("legacy", "auto")), port=free_port(),
            url=f"http://127.0.0.1:{free_port()}/mcp" if http else "",
        )  # fmt: skip
        plan = self.catching_up(before)
        plan.insert(0 if self.chance.random() < 0.15 else len(plan), [{"do": "arm"}])
        plan += [] if last else [*self.script(number), [{"do": "last"}, self.ask("send", number)]]
        self.live(place, plan)
        self.check(place, before, length)

    def catching_up(self, before: State) -> list[list[Ask]]:
        """Asks again, settles as it truly was, and asks again for what did not run."""
        cut = {name: call for name, call in before.open.items() if self.writes(call.label)}
        uncertain = {call.args["id"]: name for name, call in cut.items()}
        ran = {effect["args"]["id"] for effect in self.effects()}
        asked = [ask for ask in self.left() if self.safe(ask, uncertain)]
        self.waiting = {ask["n"] for ask in asked if ask["n"] in uncertain and ask["tool"] != "put"}
        settle: list[Ask] = [
            {"do": "settle", "call": name, "how": "done" if call.args["id"] in ran else "failed"}
            for name, call in cut.items()
        ]
        later = [ask for ask in asked if ask["n"] in uncertain and (ask["key"] or ask["n"] not in ran)]
        return [[ask] for ask in asked] + [settle] + [[ask] for ask in later]

    def safe(self, ask: Ask, uncertain: dict[str, str]) -> bool:
        """Whether nothing can run twice by asking again: a plain `send` that has ended is not asked for anew."""
        return ask["tool"] != "send" or bool(ask["key"]) or ask["n"] in uncertain or not self.begun(ask)

    def begun(self, ask: Ask) -> bool:
        return any(record.status == "open" and record.event.payload == ask["args"] for record in self.records())  # type: ignore[union-attr]

    def writes(self, label: str) -> bool:
        return self.contract.tools[label].effect == "write"

    def live(self, place: Place, plan: list[list[Ask]]) -> None:
        options = [
            "mcp", "-c", str(self.root / "kill.yaml"), "--store", self.store, "--session", "s", "--level", self.level,
            "--tell-port", str(place.port), "--timeout", "30",
        ]  # fmt: skip
        server = ["--", PYTHON, str(HERE / "kill_server.py")]
        gate = None
        if place.url:
            http = ["--http", place.url.removeprefix("http://").removesuffix("/mcp")]
            with place.errors.open("w") as errors:
                gate = subprocess.Popen(
                    [PYTHON, str(HERE / "kill_gate.py"), *options, *http, *server], env=place.env(self.tools),
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                )  # fmt: skip
            try:
                await_port(int(place.url.split(":")[2].split("/")[0]), gate)
                client = start(place, plan, None)
            except AssertionError:
                client = 0  # killed before it listened
        else:
            parameters = StdioServerParameters(
                command=PYTHON, args=[str(HERE / "kill_gate.py"), *options, *server], env=place.env(self.tools)
            )
            client = start(place, plan, parameters)
        if client:
            self.wait(place, client)
        if gate is not None:
            gate.terminate()
            gate.wait(20)
        gone(pids(place))

    def wait(self, place: Place, client: int) -> None:
        """Until the client has ended; kills who is to be killed after some time."""
        timed = place.moment in ("client", "gate", "server")
        pause, until = self.chance.uniform(0, 0.25), time.monotonic() + 120
        while os.waitpid(client, os.WNOHANG)[0] == 0:
            assert time.monotonic() < until, "the client hangs"
            if not place.killed.exists() and ((timed and place.armed.exists()) or place.last.exists()):
                time.sleep(0 if place.last.exists() else pause)
                who = place.moment.partition(":")[0]
                victim = client if who == "client" else dict(pids(place)).get(who)
                if victim:
                    place.killed.touch()
                    with suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
            time.sleep(0.002)

    # --- what must hold then

    def records(self) -> list[Record]:
        if not os.path.exists(self.store):
            return []
        journal = open_journal(self.store, readonly=True)
        try:
            return list(journal.read("s"))
        finally:
            journal.close()

    def effects(self) -> list[dict[str, Any]]:
        return [line for line in lines(self.root / "effects") if line["step"] == "effect"]

    def state(self) -> tuple[State, int]:
        """The state, which the records and the snapshot must agree on; the file must be whole."""
        if not os.path.exists(self.store):
            return self.contract.start, 0
        journal = open_journal(self.store)
        journal.check()  # type: ignore[attr-defined]
        steps = list(again(self.contract, journal.read("s")))
        assert [step.record for step in steps if not step.agrees] == []
        state, length = state_of(self.contract, journal, "s")
        assert save(self.contract, state) == save(self.contract, steps[-1].state if steps else self.contract.start)
        journal.close()
        return state, length

    def check(self, place: Place, before: State, length: int) -> None:
        notes = lines(place.notes)
        fresh = [(self.asks[note["n"]], note) for note in notes if note["t"] == "answer"]
        self.answers += fresh
        self.said.update(note["text"] for note in notes if note["t"] == "said")
        self.over |= {ask["n"] for ask, note in fresh if note["word"] in FATES and note.get("kind") not in UNSETTLED}
        self.killed += place.killed.exists()
        assert [note for _, note in fresh if note["word"] == "hung"] == []
        self.state()
        records = self.records()
        self.nothing_that_was_said_is_lost(records)
        self.nothing_ran_without_leave_or_twice(records)
        self.what_is_uncertain_was_listed(place, before, records[length:], notes)

    def nothing_that_was_said_is_lost(self, records: list[Record]) -> None:
        called = {record.call: record for record in records if record.status == "open"}
        runs = {
            record.event.payload["run"]: called[record.call].event  # type: ignore[union-attr]
            for record in records
            if type(record.event).__name__ == "Returned" and isinstance(record.event.payload, dict)  # type: ignore[union-attr]
        }
        said: Counter[tuple[str, ...]] = Counter()
        for ask, note in self.answers:
            if note["word"] == "ok" and note["run"] is not None:
                event = runs[note["run"]]
                assert (event.label, event.payload) == (ask["tool"], ask["args"])  # type: ignore[union-attr]
            elif note["word"] in FATES[1:]:
                said[ask["tool"], json.dumps(ask["args"]), note["word"]] += 1
        known = Counter(
            (record.event.label, json.dumps(record.event.payload), record.verdict)
            for record in records
            if type(record.event).__name__ == "Called"
        )
        assert said - known == Counter()
        heard = Counter(r.event.payload["text"] for r in records if type(r.event).__name__ == "Received")  # type: ignore
        assert self.said - heard == Counter()

    def nothing_ran_without_leave_or_twice(self, records: list[Record]) -> None:
        effects = self.effects()
        leave: dict[str, list[float]] = {}
        for record in records:
            if record.status == "open":
                leave.setdefault(act(record.event.label, record.event.payload), []).append(record.wall)  # type: ignore
        ran: Counter[str] = Counter()
        for effect in effects:
            name = act(effect["tool"], effect["args"])
            ran[name] += 1
            assert len([wall for wall in leave.get(name, []) if wall <= effect["at"]]) >= ran[name], f"ungated: {name}"
        assert {name: count for name, count in ran.items() if count > 1 and name.startswith("send")} == {}
        for kind, most in LIMITS.items():
            for tool, count in Counter(effect["tool"] for effect in effects).items():
                assert not tool.startswith(kind) or count <= most, (tool, count)
        for _, note in self.answers:
            if note["word"] == "ok" and note["run"] is not None:
                assert note["run"] in {effect["run"] for effect in effects}

    def what_is_uncertain_was_listed(
        self, place: Place, before: State, fresh: list[Record], notes: list[dict[str, Any]]
    ) -> None:
        told = place.errors.read_text()
        assert "Traceback" not in told, told
        assert "duly failed" not in told, told
        if not any(note["t"] == "met" for note in notes):
            return
        for name, call in before.open.items():
            line = f"nobody knows whether the call {name} of `{call.label}` ran"
            assert (line in told) == self.writes(call.label), (name, told)
            self.listed += self.writes(call.label)
        # the first time that they are asked for again, nothing has been settled yet
        first = {}
        for note in notes:
            if note["t"] == "answer":
                first.setdefault(note["n"], note)
        for name in self.waiting & set(first):
            if first[name]["word"] != "lost":
                assert first[name]["word"] in ("violation", "needs_approval"), first[name]
        now, _ = self.state()
        found = CliRunner().invoke(
            build(), ["pending", "--store", self.store, "--contract", str(self.root / "kill.yaml"), "--json"]
        )
        shown = {json.loads(line)["call"] for line in found.output.splitlines() if json.loads(line)["ticket"] is None}
        assert shown == {name for name, call in now.open.items() if call.uncertain}


UNSETTLED = ("uncertain", "in_flight", "key")
"""Refusals that only say that the same call is not known to have ended."""


def act(tool: Any, args: Any) -> str:
    return f"{tool} {json.dumps(args, sort_keys=True)}"


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def pids(place: Place) -> list[tuple[str, int]]:
    found = place.pids.read_text().split("\n")[:-1] if place.pids.exists() else []
    return [(name, int(pid)) for name, _, pid in (line.partition(" ") for line in found)]


def gone(processes: list[tuple[str, int]]) -> None:
    """Nobody is left behind."""
    until = time.monotonic() + 30
    left = processes
    while left and time.monotonic() < until:
        left = [(name, pid) for name, pid in left if runs(pid)]
        time.sleep(0.01)
    assert left == []


def runs(pid: int) -> bool:
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return told[told.rfind(")") + 2] not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes that are left over in /proc")
@pytest.mark.parametrize("seed", range(CHAINS))
def test_a_kill_at_any_moment_loses_nothing_repeats_nothing_and_is_listed(tmp_path: Path, seed: int) -> None:
    chain = Chain(tmp_path, seed)
    for number in range(ROUNDS + 1):
        chain.round(number, number == ROUNDS)
    assert chain.killed == ROUNDS
    print(f"chain {seed}: {chain.killed} killed, {len(chain.answers)} answers, {len(chain.effects())} effects, "
          f"{chain.listed} uncertain listed")  # fmt: skip
