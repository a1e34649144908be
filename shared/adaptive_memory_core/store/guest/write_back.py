"""How is read state written back for a process without the collection? By the one that holds it, which is asked to."""

from __future__ import annotations

import time

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import ProjectionStats, WriteBackProgress

LOOKED_SECONDS = 0.05  # between two looks whether it is done


class WriteBackByTheHolder:
    """The `WriteBack` port of a guest. What it learns waits in the ledger, where the holder finds it by itself."""

    def __init__(self, ledger: Ledger, patience_seconds: float) -> None:
        self._ledger, self._patience_seconds = ledger, patience_seconds

    def wake(self) -> None:
        """The holder looks."""

    def tidy(self, *, at_once: bool = True) -> None:
        """The holder does."""

    def flush(self) -> None:
        """Have the holder write everything now, and wait until it has."""
        if self._ledger.read_only:
            return
        sharing, until = self._ledger.sharing, time.monotonic() + self._patience_seconds
        wish = sharing.ask()
        while not sharing.is_done(wish):
            if time.monotonic() >= until:
                raise StoreError(
                    f"The process that holds the collection has not written everything back within "
                    f"{self._patience_seconds:g} seconds. Nothing is lost: it waits in the ledger; call flush() again."
                )
            time.sleep(LOOKED_SECONDS)

    def stats(self, scope: Scope) -> ProjectionStats:  # noqa: ARG002 - the holder counts
        """Nothing is written by this process."""
        return ProjectionStats()

    def progress(self) -> WriteBackProgress:
        """What waits is counted for all processes; for how long, the holder knows."""
        return WriteBackProgress(self._ledger.outbox.waiting())
