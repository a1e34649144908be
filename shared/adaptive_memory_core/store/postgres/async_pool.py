"""How does an async pool of the caller's serve? By its settings: connections of ours are made as it makes its own.

An async connection belongs to its event loop, and what we ask of a ledger is asked in threads: by the async verbs, by
the background, and by whoever opens or closes a memory, maybe in the loop's own thread, which would wait for itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any

from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool

_NOT_THE_SERVERS = {"autocommit", "prepare_threshold", "context", "row_factory", "cursor_factory"}


def address_of(pool: AsyncConnectionPool[Any]) -> str:
    """Where its connections go. Asked anew for each connection: it may be a function that has a new password."""
    return str(_settled(pool.conninfo))


def settings_of(pool: AsyncConnectionPool[Any]) -> dict[str, Any]:
    """What a connection of ours is opened with, to be like one of the pool's."""
    kwargs: dict[str, Any] = dict(_settled(pool.kwargs) or {})
    own = {name: value for name, value in kwargs.items() if name not in _NOT_THE_SERVERS}
    return {**conninfo_to_dict(address_of(pool)), **own}


def _settled(given: Any) -> Any:
    """A setting, or what comes of a function for it, which may be a coroutine's: run in a loop of its own, since the
    caller's may be the one that waits."""
    value = given() if callable(given) else given
    if not isinstance(value, Awaitable):
        return value
    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.append(asyncio.run(_awaited(value))), name="adaptive-memory-settings")
    thread.start()
    thread.join()
    return told[0]


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
