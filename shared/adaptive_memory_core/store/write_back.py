"""How is read state written back into the collection? In the background, seldom, in few large batches."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from adaptive_memory_core.flow.ports import Due, Ledger
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.reports import ProjectionStats
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.write_back_counts import WriteBackCounts
from adaptive_memory_core.stored_metadata import belongs, clashes, projection

PATIENCE_SECONDS = 60.0
COUNTED_SECONDS = 1.0  # between two looks at how many records wait
_log = logging.getLogger(__name__)


class WriteBack:
    """Writes states into the collection's metadata: absolute values, so that doing it twice does no harm.

    The outbox in the ledger says what is due, so a crash loses nothing, and records wait there once however often
    they are read. One process at a time writes back, whichever holds the lock, for all of them.
    """

    name = "write-back"

    def __init__(
        self,
        ledger: Ledger,
        store: ChromaRecords,
        keeping: Keeping,
        trim: Callable[[], object],
        wake: Callable[[], object],
    ) -> None:
        self._ledger, self._store, self._keeping, self._trim, self._wake = ledger, store, keeping, trim, wake
        self._turn = threading.Lock()
        self._counts = WriteBackCounts()
        # since when something is due, by a clock that only waits; at first what an earlier process left
        self._since = None if ledger.read_only else time.monotonic()

    def wake(self) -> None:
        """There is something to write back, in a while."""
        if self._since is None:
            self._since = time.monotonic()
            self._wake()

    def tidy(self) -> None:
        """Let go of what is beyond the log's retention."""
        if not self._ledger.read_only:
            self._trim()

    def flush(self) -> None:
        """Write everything back now; an error says what stands in the way, and what is due stays due."""
        if not self._ledger.read_only:
            self._flush(lambda: True)

    def stats(self, scope: Scope) -> ProjectionStats:
        return self._counts.of(scope)

    def wait(self) -> float | None:
        """Until the lag is over or too many records wait."""
        if self._since is None:
            return None
        left = max(0.0, self._since + self._keeping.lag_seconds - time.monotonic())
        if left and self._ledger.outbox.waiting() >= self._keeping.queue_limit:
            return 0.0
        return min(left, COUNTED_SECONDS)

    def work(self, going: Going) -> None:
        """Write back what is due."""
        since, self._since = self._since, None
        try:
            self._flush(going)
            self.tidy()
        except Exception as error:
            self._since = since
            self._counts.failed(error)
            raise

    def _flush(self, going: Going) -> None:
        with self._turn:
            self._project(going)

    def _project(self, going: Going) -> None:
        with self._ledger.outbox.alone(PATIENCE_SECONDS):
            self._drain(going)

    def _drain(self, going: Going) -> None:
        while going() and (batch := self._ledger.outbox.due(self._keeping.batch)):
            self._write(batch)
            self._ledger.outbox.settle(batch)

    def _write(self, batch: list[Due]) -> None:
        present = self._store.metadata([one.stored_id for one in batch])
        own = [one for one in batch if one.stored_id in present and self._is_own(one, present)]
        kept = {one.stored_id for one in own}
        changes = {one.stored_id: self._changes(one, present[one.stored_id]) for one in own}
        changes = {stored_id: change for stored_id, change in changes.items() if change}
        if changes:
            self._store.update_metadata(changes)
        self._counts.add("written", [one.scope for one in own if one.stored_id in changes])
        self._counts.add("vanished", [one.scope for one in batch if one.stored_id not in kept])

    def _is_own(self, one: Due, present: dict[str, Metadata]) -> bool:
        return belongs(present[one.stored_id], one.scope, self._store.fields)

    def _changes(self, one: Due, present: Metadata) -> Metadata:
        """The keys to write: those that differ, except where the collection holds something that is not ours."""
        values = projection(one.state, present, self._store.fields)
        foreign = clashes(values, present, self._store.fields)
        if foreign:
            self._counts.add("conflicts", [one.scope])
            _log.warning(
                "A record holds something that is no read state under %s; it was left alone. Rename ours: Fields(...).",
                ", ".join(sorted(foreign)),
            )
        return {key: value for key, value in values.items() if key not in foreign and present.get(key) != value}
