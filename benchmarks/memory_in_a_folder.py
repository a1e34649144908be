"""Where do small benchmarks keep their records? In a directory of their own, as users do, so that there is a mirror."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy


@contextmanager
def memory_in_a_folder(
    embed: Any, clock: Callable[[], float], policy: Policy | None = None
) -> Iterator[AdaptiveMemory]:
    """An empty memory, which goes at the end."""
    options: dict[str, Any] = {} if policy is None else {"policy": policy}
    keeping = Keeping(log=False, lag_seconds=3600)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        AdaptiveMemory.open(place, embedder=embed, clock=clock, keeping=keeping, **options) as memory,
    ):
        yield memory
