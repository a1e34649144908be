"""The protocol over stdin and stdout, with one message per line. All other output goes to stderr."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import BaseModel, ValidationError

from adaptive_memory_core.mcp_server.server import InUse, Whose, new_server
from adaptive_memory_core.mcp_server.tools import ToolSettings

PIECE = 65_536  # bytes that are read at once
LAST_SECONDS = 5.0  # for sending the answers due after the client has closed stdin; guess
_ENDED = (RuntimeError, CancelledError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


@contextmanager
def protocol_alone() -> Iterator[tuple[int, int]]:
    """Reserve the descriptors of stdin and stdout for the protocol. Other code then reads an empty stdin and prints to
    stderr."""
    sys.stdout.flush()
    inward, outward, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield inward, outward
    finally:
        sys.stdout.flush()
        os.dup2(inward, 0)
        os.dup2(outward, 1)


def over_stdio(whose: Whose, manner: ToolSettings, wire: tuple[int, int], idle_seconds: float | None) -> None:
    """Serve the program at the other end of this process's stdin and stdout, until it ends."""
    in_use = InUse()
    anyio.run(partial(serve_stdio, new_server(whose, manner, in_use), *wire, in_use, idle_seconds))


async def serve_stdio(
    server: Server[Any], inward: int, outward: int, in_use: InUse, idle_seconds: float | None
) -> None:
    """Serve one client until it closes stdin or stdout, is idle for `idle_seconds`, or the process gets a SIGTERM."""
    to_server, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        end = group.cancel_scope.cancel
        with suppress(NotImplementedError, ValueError, RuntimeError):  # on Windows, and outside the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        client = Client(inward, outward, end)
        group.start_soon(client.receive, to_server)
        group.start_soon(client.send, from_server)
        group.start_soon(in_use.ended_after, idle_seconds, end)
        await server.run(reading, writing, server.create_initialization_options())
        end()


class Client:
    """The program at the other end, with its messages and the answers. `gone` is called if it stops reading."""

    def __init__(self, inward: int, outward: int, gone: Callable[[], object]) -> None:
        self._inward, self._outward, self._gone = inward, outward, gone
        self._unanswered, self._has_ended = 0, False
        self._all_answered, self._one_line = anyio.Event(), anyio.Lock()

    async def receive(self, to_server: Incoming) -> None:
        """Pass on incoming messages, and answer lines that are not messages. At the end, wait until the answers due are
        sent."""
        raw, lines = anyio.create_memory_object_stream[bytes | None](0)
        threading.Thread(
            target=_read, args=(os.dup(self._inward), raw, asyncio.get_running_loop()), daemon=True
        ).start()
        async with to_server, lines:
            async for line in lines:
                await self._take(line, to_server)
            self._has_ended = True
            if self._unanswered > 0:
                with anyio.move_on_after(LAST_SECONDS):
                    await self._all_answered.wait()

    async def send(self, from_server: Outgoing) -> None:
        async with from_server:
            async for one in from_server:
                await self._write(one.message)
                if isinstance(one.message, JSONRPCResponse | JSONRPCError):
                    self._unanswered -= 1
                    if self._has_ended and self._unanswered <= 0:
                        self._all_answered.set()

    async def _take(self, line: bytes | None, to_server: Incoming) -> None:
        message = message_or_refusal(line)
        if isinstance(message, Refusal):
            await self._write(message.answer)
            return
        self._unanswered += isinstance(message, JSONRPCRequest)
        await to_server.send(SessionMessage(message))

    async def _write(self, message: BaseModel) -> None:
        line = message.model_dump_json(by_alias=True, exclude_unset=True)
        async with self._one_line:
            try:
                await anyio.to_thread.run_sync(_write_all, self._outward, f"{line}\n".encode())
            except OSError:
                self._gone()


def _read(inward: int, raw: MemoryObjectSendStream[bytes | None], loop: asyncio.AbstractEventLoop) -> None:
    """Read lines in a separate daemon thread with its own descriptor, because a read of stdin cannot be interrupted."""
    with suppress(*_ENDED):
        for line in whole_lines(lambda: os.read(inward, PIECE)):
            asyncio.run_coroutine_threadsafe(raw.send(line), loop).result()
    os.close(inward)
    with suppress(*_ENDED):
        loop.call_soon_threadsafe(raw.close)


def _write_all(outward: int, line: bytes) -> None:
    while line:
        line = line[os.write(outward, line) :]


LONGEST = 4 * 1024 * 1024  # bytes of a message, as in the SDK for HTTP


def whole_lines(read: Callable[[], bytes], longest: int = LONGEST) -> Iterator[bytes | None]:
    """Yield the lines of a stream that `read` returns in pieces, up to an empty piece; None for a too long line.

    >>> pieces = iter([b"a\\nb", b"c\\n", b"too ", b"long\\nd", b""])
    >>> list(whole_lines(lambda: next(pieces), longest=4))
    [b'a', b'bc', None, b'd']
    """
    begun, too_long = bytearray(), False
    while piece := read():
        *ends, rest = piece.split(b"\n")
        for end in ends:
            begun += end
            yield None if too_long or len(begun) > longest else bytes(begun)
            begun, too_long = bytearray(), False
        begun += rest
        if len(begun) > longest:
            begun, too_long = bytearray(), True
    if begun or too_long:
        yield None if too_long else bytes(begun)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a line that is not a message."""

    answer: JSONRPCError


def message_or_refusal(line: bytes | None) -> JSONRPCMessage | Refusal:
    """The message in a line, or an error answer with the request's ID if that can be read.

    >>> message_or_refusal(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}').method
    'ping'
    >>> [message_or_refusal(one).answer.error.code for one in (b"{", b"[]", b'{"id": 7}', None)]
    [-32700, -32600, -32600, -32600]
    >>> message_or_refusal(b'{"id": 7}').answer.id
    7
    >>> message_or_refusal(b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}').answer.error.message[:36]
    'An id is a text or a whole number. L'
    """
    if line is None:
        return _refusal(None, INVALID_REQUEST, f"The message has more than {LONGEST:,} bytes. Send a shorter one.")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        if any(one["type"] == "json_invalid" for one in wrong):
            return _refusal(None, PARSE_ERROR, "The line is not valid JSON. Send one message per line, in UTF-8.")
        return _refusal(_id_in(wrong), INVALID_REQUEST, "The line is not a JSON-RPC 2.0 message.")
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        return _refusal(
            None, INVALID_REQUEST, "An id is a text or a whole number. Leave it out where no answer is due."
        )
    return message


def _id_in(wrong: list[Any]) -> str | int | None:
    """The ID of the refused message, if it has a valid one."""
    for one in wrong:
        given = one["input"]
        if isinstance(given, Mapping) and type(given.get("id")) in (str, int):
            found: str | int = given["id"]
            return found
    return None


def _refusal(request_id: str | int | None, code: int, message: str) -> Refusal:
    return Refusal(JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message)))
