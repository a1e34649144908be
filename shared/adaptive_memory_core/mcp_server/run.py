"""How does a server run? Over a memory that is open, for one user over stdin and stdout, or for those with tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio

from adaptive_memory_core.mcp_server import stdio, streamable_http
from adaptive_memory_core.mcp_server.calls import Manner
from adaptive_memory_core.mcp_server.idle import InUse
from adaptive_memory_core.mcp_server.server import Whose, new_server
from adaptive_memory_core.mcp_server.streamable_http import Place
from adaptive_memory_core.mcp_server.tokens import Tokens


def over_stdio(whose: Whose, manner: Manner, wire: tuple[int, int], idle_seconds: float | None) -> None:
    """Serve the program that has this process's stdin and stdout, until it goes."""
    in_use = InUse()
    anyio.run(partial(stdio.serve, new_server(whose, manner, in_use), *wire, in_use, idle_seconds))


def over_http(
    whose: Whose,
    manner: Manner,
    place: Place,
    tokens: Tokens,
    idle_seconds: float | None,
    told: Callable[[str], object],
) -> None:
    """Serve whoever sends a token."""
    in_use = InUse()
    server = new_server(whose, manner, in_use)
    anyio.run(partial(streamable_http.serve, server, place, tokens, in_use, idle_seconds, told))
