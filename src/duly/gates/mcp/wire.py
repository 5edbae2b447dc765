"""JSON from the client, read strictly: over standard input and output, and before an HTTP application.

Says of every message that is not well formed what is wrong with it, as the answer that JSON-RPC has for that; the
SDK's own reader drops such a line and leaves its sender waiting.
"""

import asyncio
import json
import os
import selectors
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import isinf
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one message that are read."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600


class Faulty(ValueError):
    """A message that is not well formed: the JSON-RPC code, and the id where one could be read."""

    def __init__(self, message: str, code: int = PARSE_ERROR, id: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.id = id

    def answer(self) -> types.JSONRPCError:
        error = types.ErrorData(code=self.code, message=str(self))
        return types.JSONRPCError(jsonrpc="2.0", id=self.id, error=error)


def read(text: str | bytes) -> Any:
    """One JSON value; raises Faulty for what is none, for repeated keys, and for numbers that nothing can carry."""
    if len(text) > LIMIT:
        raise Faulty(f"longer than {LIMIT} bytes", INVALID_REQUEST)
    try:
        value = _DECODER.decode(text if isinstance(text, str) else text.decode())
    except UnicodeDecodeError as error:
        raise Faulty(f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise Faulty("nested too deeply") from None
    except Faulty:
        raise
    except ValueError as error:
        raise Faulty(f"not JSON: {str(error)[:200].lower()}") from None
    return value


def message(text: str | bytes) -> types.JSONRPCMessage:
    """One JSON-RPC message; raises Faulty, with the id of the message where it has one."""
    try:
        value = read(text)
    except Faulty as fault:
        raise Faulty(str(fault), fault.code, _id(text)) from None
    try:
        return types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except Exception:
        id = value.get("id") if isinstance(value, dict) else None
        raise Faulty("not a JSON-RPC message", INVALID_REQUEST, id if type(id) in (int, str) else None) from None


def _id(text: str | bytes) -> Any:
    """The id of a message that is faulty in another place; None where there is not exactly one."""
    if len(text) > LIMIT:
        return None
    ids: list[Any] = []

    def pairs(found: list[tuple[str, Any]]) -> Any:
        # the outermost object is the last that is read
        ids[:] = [value for key, value in found if key == "id"]
        return None

    try:
        json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    return ids[0] if len(ids) == 1 and type(ids[0]) in (int, str) else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Faulty(f"the key `{key[:80]}` is repeated", INVALID_REQUEST)
            seen.add(key)
    return found


def _constant(name: str) -> Any:
    raise Faulty(f"`{name}` is not JSON")


def _float(text: str) -> float:
    # what is judged is what runs, and no server would be sent more than a double
    number = float(text)
    if isinf(number):
        raise Faulty(f"the number `{text[:40]}` is too large", INVALID_REQUEST)
    return number


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)


@asynccontextmanager
async def stdio() -> AsyncIterator[tuple[Any, Any]]:
    """The process's standard input and output as message streams.

    Meanwhile descriptor 0 reads nothing and descriptor 1 is standard error, so that no stray print, and no child
    process, gets between the messages.
    """
    wire_in, wire_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    to_proxy, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    lines, write = await _lines(wire_in), await _writer(wire_out)

    async def reading() -> None:
        async with to_proxy:
            async for line in lines:
                if not line.strip():
                    continue
                try:
                    await to_proxy.send(SessionMessage(message(line)))
                except Faulty as fault:
                    await write(fault.answer())
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    return

    async def writing() -> None:
        async with to_client:
            async for item in to_client:
                try:
                    await write(item.message)
                except OSError:
                    return  # the client has gone; its standard input ends too

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reading)
            tasks.start_soon(writing)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()
    finally:
        os.dup2(wire_in, 0)
        os.dup2(wire_out, 1)


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    reader = asyncio.StreamReader(limit=LIMIT)
    pipe = os.fdopen(descriptor, "rb", buffering=0, closefd=False)
    try:
        loop = asyncio.get_running_loop()
        with selectors.DefaultSelector() as selector:
            # the loop itself would find out later, and then read nothing for ever
            selector.register(descriptor, selectors.EVENT_READ)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    except (ValueError, PermissionError):
        return _file_lines(anyio.wrap_file(os.fdopen(descriptor, "rb", closefd=False)))
    return _pipe_lines(reader)


async def _pipe_lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            yield b'"longer than what is read"'
            continue
        except OSError:
            return
        if not line:
            return
        yield line


async def _file_lines(file: "anyio.AsyncFile[bytes]") -> AsyncIterator[bytes]:
    # a regular file or /dev/null, which an event loop cannot wait for
    async for line in file:
        yield line


async def _writer(descriptor: int) -> Callable[[types.JSONRPCMessage], Awaitable[None]]:
    lock = anyio.Lock()
    pipe = os.fdopen(descriptor, "wb", buffering=0, closefd=False)
    try:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    except ValueError:
        file = anyio.wrap_file(os.fdopen(descriptor, "wb", closefd=False))

        async def to_file(item: types.JSONRPCMessage) -> None:
            async with lock:
                await file.write(_bytes(item))
                await file.flush()

        return to_file
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def to_pipe(item: types.JSONRPCMessage) -> None:
        writer.write(_bytes(item))
        async with lock:
            await writer.drain()

    return to_pipe


def _bytes(item: types.JSONRPCMessage) -> bytes:
    return item.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
