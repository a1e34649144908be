"""When does the collection learn what the ledger knows? A thread writes it back: late, seldom, in few large batches."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.ports import Due, Ledger
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Metadata
from adaptive_memory_core.reports import ProjectionStats
from adaptive_memory_core.store.chroma.metadata import belongs, clashes, projection
from adaptive_memory_core.store.chroma.records import ChromaStore

PATIENCE_SECONDS = 60.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
_log = logging.getLogger(__name__)


class BackgroundProjector:
    """Writes states into the collection's metadata: absolute values, so that doing it twice does no harm.

    The outbox in the ledger says what is due, so a crash loses nothing, and records wait there once however often
    they are read. One process at a time projects, whichever holds the lock, for all of them.
    """

    def __init__(self, ledger: Ledger, store: ChromaStore, keeping: Keeping, chores: Callable[[], object]) -> None:
        self._ledger, self._store, self._keeping, self._chores = ledger, store, keeping, chores
        self._turn = threading.Lock()
        self._news, self._stop = threading.Event(), threading.Event()
        self._stats = ProjectionStats()
        self._thread = threading.Thread(target=self._live, name="adaptive-memory-projector", daemon=True)
        self._thread.start()
        if not ledger.read_only:
            self._news.set()  # what an earlier process left

    def wake(self) -> None:
        """There is something to write back, in a while."""
        self._news.set()

    def tidy(self) -> None:
        """Let go of what is beyond the log's retention."""
        if not self._ledger.read_only:
            self._chores()

    def flush(self) -> None:
        """Write everything back now; an error says what stands in the way, and what is due stays due."""
        if self._ledger.read_only:
            return
        with self._turn:
            self._project()

    def stats(self) -> ProjectionStats:
        return self._stats

    def close(self) -> None:
        """End the thread; what is due stays in the ledger."""
        self._stop.set()
        self._news.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=PATIENCE_SECONDS)

    def _live(self) -> None:
        pause = FIRST_PAUSE
        while True:
            self._news.wait()
            if self._stop.is_set() or self._linger():
                return
            self._news.clear()
            try:
                self.flush()
                self.tidy()
                pause = FIRST_PAUSE
            except Exception as error:  # noqa: BLE001 - a thread that died would end the write-back without a word
                self._failed(error)
                self._news.set()
                if self._stop.wait(pause):
                    return
                pause = min(2 * pause, LONGEST_PAUSE)

    def _linger(self) -> bool:
        """Let changes gather until the lag is over or too many wait; True when it is time to end."""
        end = time.monotonic() + self._keeping.lag_seconds
        while (left := end - time.monotonic()) > 0:
            if self._stop.wait(min(left, 1.0)):
                return True
            try:
                if self._ledger.outbox.waiting() >= self._keeping.queue_limit:
                    return False
            except LedgerError:
                return self._stop.is_set()
        return False

    def _failed(self, error: Exception) -> None:
        self._stats = replace(self._stats, failures=self._stats.failures + 1, last_error=type(error).__name__)
        _log.warning("The write-back into the collection failed and will be tried again: %s", error)

    def _project(self) -> None:
        with self._ledger.outbox.alone(PATIENCE_SECONDS):
            self._drain()

    def _drain(self) -> None:
        while batch := self._ledger.outbox.due(self._keeping.batch):
            self._write(batch)
            self._ledger.outbox.settle(batch)

    def _write(self, batch: list[Due]) -> None:
        present = self._store.metadata([one.stored_id for one in batch])
        own = [one for one in batch if one.stored_id in present and self._is_own(one, present)]
        changes = {one.stored_id: self._changes(one, present[one.stored_id]) for one in own}
        changes = {stored_id: change for stored_id, change in changes.items() if change}
        if changes:
            self._store.update_metadata(changes)
        self._stats = replace(
            self._stats,
            written=self._stats.written + len(changes),
            vanished=self._stats.vanished + len(batch) - len(own),
        )

    def _is_own(self, one: Due, present: dict[str, Metadata]) -> bool:
        return belongs(present[one.stored_id], one.scope, self._store.fields)

    def _changes(self, one: Due, present: Metadata) -> Metadata:
        """The keys to write: those that differ, except where the collection holds something that is not ours."""
        values = projection(one.state, present, self._store.fields)
        foreign = clashes(values, present, self._store.fields)
        if foreign:
            self._stats = replace(self._stats, conflicts=self._stats.conflicts + 1)
            _log.warning(
                "A record holds something that is no read state under %s; it was left alone. Rename ours: Fields(...).",
                ", ".join(sorted(foreign)),
            )
        return {key: value for key, value in values.items() if key not in foreign and present.get(key) != value}
