"""What the gate adds to a call, against the bare proxy in the same run: `python -m tests.adapters.mcp.overhead`."""

import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import anyio

from .driver import ERAS, HERE, LAUNCH, SERVER, connected, free_port, gate_stdio, process

ROUNDS = 40
CALLS = 10
CONTRACT = str(HERE / "ordinary.yaml")


async def measured(places: dict[str, Any], era: str) -> dict[str, float]:
    """The median of each in milliseconds; they take turns, so that a busy machine is as busy for all of them."""
    spent: dict[str, list[float]] = {name: [] for name in places}
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(connected(place, era=era)) for name, place in places.items()}
        for client in clients.values():
            await client.list_tools()
            for _ in range(20):
                await client.call_tool("lookup", {"id": 1})
        for _ in range(ROUNDS):
            for name, client in clients.items():
                for _ in range(CALLS):
                    start = time.perf_counter()
                    await client.call_tool("lookup", {"id": 1})
                    spent[name].append((time.perf_counter() - start) * 1000)
    return {name: median(each) for name, each in spent.items()}


def told(what: str, era: str, found: dict[str, float]) -> None:
    bare = found["bare"]
    figures = ", ".join(f"{name} {value:.2f} ({value - bare:+.2f})" for name, value in found.items())
    print(f"{what} {era}: {figures} ms", flush=True)


def main() -> None:
    for era in ERAS:
        with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
            store = ("--store", str(Path(place) / "a.db"), "--session", "a")
            ways = {"bare": ("--bare",), "memory": ("-c", CONTRACT), "sqlite": ("-c", CONTRACT, *store)}
            stdio = {name: gate_stdio(*given, server=SERVER) for name, given in ways.items()}
            told("stdio", era, anyio.run(measured, stdio, era))
            store = ("--store", str(Path(place) / "b.db"))
            ways = {
                "bare": ("--bare",), "memory": ("-c", CONTRACT, "--session", "b"),
                "sqlite": ("-c", CONTRACT, *store, "--session", "b"),
            }  # fmt: skip
            http = {}
            for name, given in ways.items():
                port = free_port()
                command = (*LAUNCH, *given, "--http", f"127.0.0.1:{port}", "--", *SERVER)
                stack.enter_context(process(*command, port=port))
                http[name] = f"http://127.0.0.1:{port}/mcp"
            told("http", era, anyio.run(measured, http, era))


if __name__ == "__main__":
    main()
