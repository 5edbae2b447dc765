"""A server whose definition of `search` is what the file of the variable `DEFINITION` holds; standard library only."""

import json
import os
import sys
from pathlib import Path

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result: object = {}
    if message["method"] == "initialize":
        result = {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "drift", "version": "1"},
        }  # fmt: skip
    elif message["method"] == "tools/list":
        tool = json.loads(Path(os.environ["DEFINITION"]).read_text())
        result = {"tools": [tool, {"name": "ping", "inputSchema": {"type": "object"}}]}
    elif message["method"] == "tools/call":
        given = json.dumps(message["params"].get("arguments", {}), sort_keys=True)
        result = {"content": [{"type": "text", "text": f"{message['params']['name']} {given}"}]}
    if message["method"] == "tools/call" and message["params"]["name"] == "ping":
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
