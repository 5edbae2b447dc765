"""A server that does what servers should not. Each tool is named after its fault; standard library only.

`LISTS` changes what it lists: `doubled` gives one name to two tools, `endless` never ends its pages.
"""

import json
import os
import sys
import threading
import time

TOOLS = ["plain", "dies", "strays", "late", "twice", "never", "garbled", "rpc_error", "failed", "reshaped", "deep"]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}, "s": {"type": "number"}}}
OUT = threading.Lock()
schema = dict(SCHEMA)


def write(text: str) -> None:
    with OUT:
        sys.stdout.write(text)
        sys.stdout.flush()


def send(**message: object) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def effect(name: str) -> None:
    place = os.environ.get("EFFECTS")
    if place:
        with open(place, "a") as file:
            file.write(name + "\n")


def answer(id: object, text: str, **more: object) -> None:
    send(id=id, result={"content": [{"type": "text", "text": text}], **more})


def listed(cursor: object) -> dict[str, object]:
    tools = [{"name": name, "inputSchema": schema} for name in TOOLS]
    if os.environ.get("LISTS") == "doubled":
        tools.append({"name": "plain", "inputSchema": {"type": "object"}})
    if os.environ.get("LISTS") == "endless":
        return {"tools": [], "nextCursor": "again"}
    return {"tools": tools}


def call(id: object, name: str, args: dict[str, float]) -> None:
    effect(name)
    if name == "dies":
        os._exit(3)
    elif name == "strays":
        write("a stray line\n{half a message\n\n[]\n")
        answer(id, "after strays")
    elif name == "late":
        time.sleep(args.get("s", 1))
        answer(id, "late")
    elif name == "twice":
        answer(id, "first")
        answer(id, "second")
    elif name == "never":
        pass
    elif name == "garbled":
        write('{"jsonrpc": "2.0", "id": ' + json.dumps(id) + ', "result": {"content": [}}\n')
    elif name == "rpc_error":
        send(id=id, error={"code": -32050, "message": "no such account", "data": {"n": 1}})
    elif name == "failed":
        answer(id, "it failed", isError=True)
    elif name == "reshaped":
        schema["required"] = ["s"]
        send(method="notifications/tools/list_changed")
        answer(id, "reshaped")
    elif name == "deep":
        nested: object = 1
        for _ in range(100):
            nested = [nested]
        answer(id, "deep", structuredContent={"x": nested})
    else:
        answer(id, f"plain {args.get('n')}")


for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method == "initialize":
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}}
        send(id=id, result={**greeting, "serverInfo": {"name": "rude", "version": "0"}})
    elif method == "tools/list":
        send(id=id, result=listed(params.get("cursor")))
    elif method == "tools/call":
        work = threading.Thread(target=call, args=(id, params["name"], params.get("arguments") or {}), daemon=True)
        work.start()
    elif id is not None and method is not None:
        send(id=id, error={"code": -32601, "message": "unknown method"})
