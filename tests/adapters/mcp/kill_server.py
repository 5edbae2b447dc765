"""A server that keeps a durable note of everything it did, and can be killed at a step. Standard library only.

Each call is three lines in the file `EFFECTS`: that it began, that it had its effect, and (a write that has none yet)
that it is answered. `MOMENT` is `server:STEP:N`: at the N-th such step after the file `ARMED` is there, it kills
itself.
"""

import json
import os
import random
import signal
import sys
import threading
import time

TOOLS = os.environ["TOOLS"].split()
SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
OUT = threading.Lock()
NOTES = os.open(os.environ["EFFECTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
who, _, rest = os.environ.get("MOMENT", "").partition(":")
step, _, number = rest.partition(":") if who == "server" else ("", "", "")
seen = 0


def send(**message: object) -> None:
    with OUT:
        try:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            os._exit(0)  # the gate was killed


def passing(name: str) -> None:
    """Dies here if this is the step."""
    global seen
    if name == step and os.path.exists(os.environ["ARMED"]):
        seen += 1
        if seen == int(number):
            open(os.environ["KILLED"], "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


def note(**facts: object) -> None:
    os.write(NOTES, json.dumps({**facts, "at": time.time()}).encode() + b"\n")
    os.fsync(NOTES)


def call(id: object, name: str, args: dict[str, object]) -> None:
    run = os.urandom(6).hex()
    pause = random.Random(f"{os.environ.get('MOMENT')}{name}{args}").choice((0.0, 0.0, 0.002, 0.02))
    note(step="began", tool=name, args=args, run=run)
    passing("began")
    time.sleep(pause)
    note(step="effect", tool=name, args=args, run=run)
    passing("effect")
    time.sleep(pause)
    result = {"run": run}
    send(id=id, result={"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result})
    passing("answered")


def serve() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method == "initialize":
            greeting = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}}
            send(id=id, result={**greeting, "serverInfo": {"name": "kept", "version": "0"}})
        elif method == "tools/list":
            send(id=id, result={"tools": [{"name": name, "inputSchema": SCHEMA} for name in TOOLS]})
        elif method == "tools/call":
            passing("line")
            threading.Thread(target=call, args=(id, params["name"], params["arguments"]), daemon=True).start()
        elif id is not None and method is not None:
            send(id=id, error={"code": -32601, "message": "unknown method"})


if __name__ == "__main__":
    with open(os.environ["PIDS"], "a") as pids:
        pids.write(f"server {os.getpid()}\n")
    serve()
