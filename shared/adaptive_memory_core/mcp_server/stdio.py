"""How is the protocol carried over stdin and stdout? A message a line; whatever else is printed goes to stderr."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from pydantic import BaseModel

from adaptive_memory_core.mcp_server.idle import InUse
from adaptive_memory_core.mcp_server.lines import Refusal, message_or_refusal, whole_lines

PIECE = 65_536  # bytes that are read at once
LAST_SECONDS = 5.0  # how long a client that has closed stdin is still answered; guess
_ENDED = (RuntimeError, CancelledError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


@contextmanager
def protocol_alone() -> Iterator[tuple[int, int]]:
    """The descriptors of stdin and stdout, for the protocol: meanwhile others read nothing, and print to stderr."""
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


async def serve(server: Server[Any], inward: int, outward: int, in_use: InUse, idle_seconds: float | None) -> None:
    """Serve one client until it closes stdin, goes away, says nothing for so long, or the process is to end."""
    to_server, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        end = group.cancel_scope.cancel
        with suppress(NotImplementedError, ValueError, RuntimeError):  # on Windows, and beside the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        client = Client(inward, outward, end)
        group.start_soon(client.receive, to_server)
        group.start_soon(client.send, from_server)
        group.start_soon(in_use.ended_after, idle_seconds, end)
        await server.run(reading, writing, server.create_initialization_options())
        end()


class Client:
    """The program at the other end: what it says, and what it is answered. `gone` is called when it does not listen."""

    def __init__(self, inward: int, outward: int, gone: Callable[[], object]) -> None:
        self._inward, self._outward, self._gone = inward, outward, gone
        self._unanswered, self._has_ended = 0, False
        self._all_answered, self._one_line = anyio.Event(), anyio.Lock()

    async def receive(self, to_server: Incoming) -> None:
        """Hand on what comes in; what is no message is answered here. At the end, wait for the answers due."""
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
    """In a thread of its own, that nobody has to wait for: a read of stdin cannot be broken off. The descriptor is its
    own."""
    with suppress(*_ENDED):
        for line in whole_lines(lambda: os.read(inward, PIECE)):
            asyncio.run_coroutine_threadsafe(raw.send(line), loop).result()
    os.close(inward)
    with suppress(*_ENDED):
        loop.call_soon_threadsafe(raw.close)


def _write_all(outward: int, line: bytes) -> None:
    while line:
        line = line[os.write(outward, line) :]
