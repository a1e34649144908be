"""What the tests of a memory share: a look at what the collection itself shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from adaptive_memory_core import AdaptiveMemory

DAY = 86_400.0


def shown(memory: AdaptiveMemory, stored_id: str) -> dict[str, Any]:
    """A record's metadata as the collection itself gives it."""
    store: Any = memory.ports().records
    found = store.collection.get(ids=[stored_id], include=["metadatas"])["metadatas"]
    return dict(found[0] or {})


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it becomes true within a minute: for what a background thread does, on a machine that may be busy."""
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def noting(asked: list[str], name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The same, noting when a recall calls it; the background compares meanwhile."""

    def noted(*given: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            asked.append(name)
        return call(*given)

    return noted
