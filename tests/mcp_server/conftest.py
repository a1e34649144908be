"""How do tests talk to a server? With the SDK's own client: in this process, over pipes, and over HTTP on loopback."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.mcp_server import stdio, streamable_http
from adaptive_memory_core.mcp_server.server import InUse, Whose, new_server
from adaptive_memory_core.mcp_server.streamable_http import ServerAddress, Tokens, user_of_request
from adaptive_memory_core.mcp_server.tools import ToolSettings

ANA, BEN = "the-token-of-ana-0001", "the-token-of-ben-0002"
SECONDS = 30


def of(memory: AdaptiveMemory, user: str, mode: str = "auto", **manner: Any) -> Client:
    """A client of a server in this process."""
    return Client(new_server(lambda: memory.for_user(user), ToolSettings(**manner), InUse()), mode=mode)


async def said(client: Client, tool: str, **given: Any) -> tuple[str, Mapping[str, Any]]:
    """What a tool answers, in words and as data; it is no failure. The words are there once, and the ids are whole."""
    answer = await client.call_tool(tool, given)
    assert not answer.is_error, words(answer)
    assert answer.structured_content is None
    return words(answer), {name: one for name, one in (answer.meta or {}).items() if "/" not in name}


async def refused(client: Client, tool: str, **given: Any) -> str:
    """What a tool says where it fails."""
    answer = await client.call_tool(tool, given)
    assert answer.is_error
    assert answer.structured_content is None
    return words(answer)


def words(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


class Pipes(NamedTuple):
    """The ends of a server's stdin and stdout that its client holds."""

    write: int
    read: int
    serving: asyncio.Task[None]

    def say(self, line: bytes) -> None:
        os.write(self.write, line + b"\n")


@asynccontextmanager
async def over_pipes(whose: Whose, idle_seconds: float | None = None) -> AsyncIterator[Pipes]:
    """A server that reads one pipe and writes another, until the client's end is closed."""
    inward, write = os.pipe()
    read, outward = os.pipe()
    in_use = InUse()
    server = new_server(whose, ToolSettings(), in_use)
    serving = asyncio.create_task(stdio.serve_stdio(server, inward, outward, in_use, idle_seconds))
    try:
        yield Pipes(write, read, serving)
        os.close(write)
        await asyncio.wait_for(serving, SECONDS)
    finally:
        serving.cancel()
        for one in (inward, outward, read):
            os.close(one)


@asynccontextmanager
async def over_http(memory: AdaptiveMemory, idle_seconds: float | None = None) -> AsyncIterator[str]:
    """The URL of a server for Ana and Ben."""
    in_use, tokens = InUse(), Tokens({ANA: "ana", BEN: "ben"})
    where: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    server = new_server(lambda: memory.for_user(user_of_request()), ToolSettings(), in_use)
    serving = asyncio.create_task(
        streamable_http.serve_http(server, ServerAddress(port=0), tokens, in_use, idle_seconds, where.set_result)
    )
    try:
        yield await asyncio.wait_for(where, SECONDS)
        if idle_seconds is not None:
            await asyncio.wait_for(serving, SECONDS)
    finally:
        serving.cancel()
        await asyncio.wait([serving])


@asynccontextmanager
async def client_of(url: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A client that sends a token."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=SECONDS) as http:
        transport: AbstractAsyncContextManager[Any] = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client
