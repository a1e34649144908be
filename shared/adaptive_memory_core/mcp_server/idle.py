"""When was a server last in use? It counts the messages of its clients, and says when there were none for long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext


class InUse:
    """A middleware of the server: what it has under way, and since when it has nothing."""

    def __init__(self) -> None:
        self._under_way = 0
        self._since = time.monotonic()

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        self._under_way += 1
        try:
            return await call_next(ctx)
        finally:
            self._under_way -= 1
            self._since = time.monotonic()

    def idle_seconds(self) -> float:
        return 0.0 if self._under_way else time.monotonic() - self._since

    async def ended_after(self, seconds: float | None, end: Callable[[], object]) -> None:
        """End it once no client has said anything for so long; None is never."""
        if seconds is None:
            return
        while (left := seconds - self.idle_seconds()) > 0:  # noqa: ASYNC110 - waits for time, not for an event
            await anyio.sleep(left)
        end()
