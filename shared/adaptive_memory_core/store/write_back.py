"""How is read state written back into the collection? In the background, seldom, in writes that hold nobody up long."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator

from adaptive_memory_core.flow.ports import Due, Ledger
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.let_others_run import is_anybody_busy
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.reports import ProjectionStats, WriteBackProgress
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.edition import Edition
from adaptive_memory_core.store.write_back_counts import WriteBackCounts
from adaptive_memory_core.store.write_back_pace import Pace
from adaptive_memory_core.stored_owner import belongs
from adaptive_memory_core.written_metadata import clashes, projection

PATIENCE_SECONDS = 60.0
BEGIN = 0.5  # of the lag, after which a pass over what is due begins: the rest of it is for the pass
BUSY_SECONDS = 0.01  # until the next look for a moment in which no call is under way, as long as there is time
COUNTED_SECONDS = 1.0  # between two looks at how many records wait
_log = logging.getLogger(__name__)


class WriteBack:
    """Writes states into the collection's metadata: absolute values, so that doing it twice does no harm.

    The outbox in the ledger says what is due, so a crash loses nothing, and records wait there once however often
    they are read. One process at a time writes back, whichever holds the lock, for all of them. The background does it
    in passes over all that is due, a paced write at a time; `flush` does it at once.
    """

    name = "write-back"

    def __init__(
        self,
        ledger: Ledger,
        store: ChromaRecords,
        keeping: Keeping,
        trim: Callable[..., object],
        wake: Callable[[], object],
    ) -> None:
        self._ledger, self._store, self._keeping, self._trim, self._wake = ledger, store, keeping, trim, wake
        self._turn, self._edition = threading.Lock(), Edition(ledger)
        self._counts = WriteBackCounts()
        self._pace = Pace(stall_ms=keeping.stall_ms, most=keeping.batch)
        self._pass: tuple[float, int] | None = None  # that is under way: its deadline, the last record it wrote
        self._count_at = 0.0  # when those that wait are counted again
        # since when something is due, by a clock that only waits; at first what an earlier process left
        self._since = None if ledger.read_only else time.monotonic()

    def wake(self) -> None:
        """There is something to write back, in a while."""
        if self._since is None:
            self._since = time.monotonic()
            self._wake()

    def tidy(self, *, at_once: bool = True) -> None:
        """Let go of what is beyond the log's retention; of every byte of it `at_once`, or in a quiet moment."""
        if not self._ledger.read_only:
            self._trim(at_once=at_once)

    def flush(self) -> None:
        """Write everything back now; an error says what stands in the way, and what is due stays due."""
        if not self._ledger.read_only:
            self._flush()

    @interruptible
    def paused(self) -> Generator[None, None, None]:
        """Nobody writes back meanwhile, in any process."""
        with self._turn, self._ledger.outbox.alone(PATIENCE_SECONDS):
            yield

    def stats(self, scope: Scope) -> ProjectionStats:
        return self._counts.of(scope)

    def progress(self) -> WriteBackProgress:
        waiting = self._ledger.outbox.waiting()
        under_way, since = self._pass, self._since
        if under_way is not None:
            since = under_way[0] - self._keeping.lag_seconds
        waited = 0.0 if since is None or not waiting else time.monotonic() - since
        return self._counts.progress(waiting=waiting, waited_seconds=waited)

    def wait(self) -> float | None:
        """Until the next write of a pass, or the next pass, in a moment when nobody has to wait for it, while there is
        time; too many records do not wait."""
        now = time.monotonic()
        if self._pass is not None:
            left, deadline = self._pace.not_before - now, self._pass[0]
        elif self._since is not None:
            deadline = self._since + self._keeping.lag_seconds
            left = deadline - (1.0 - BEGIN) * self._keeping.lag_seconds - now
        else:
            return None
        if left > 0.0 and self._are_too_many(now):
            return 0.0
        if left <= 0.0 and now < deadline and is_anybody_busy():
            return BUSY_SECONDS
        return min(max(0.0, left), COUNTED_SECONDS)

    def _are_too_many(self, now: float) -> bool:
        """Whether more wait than may; they are counted again once the last count is a second old."""
        if now < self._count_at:
            return False
        self._count_at = now + COUNTED_SECONDS
        if self._ledger.outbox.waiting() < self._keeping.queue_limit:
            return False
        self._count_at = 0.0  # at once: until they are fewer, there is no rest
        return True

    def work(self, going: Going) -> None:  # noqa: ARG002 - a write is short, and what is begun is ended
        """One write of a pass over what is due."""
        if self._pass is None:
            since, self._since = self._since, None
            self._pass = ((time.monotonic() if since is None else since) + self._keeping.lag_seconds, 0)
        deadline, after = self._pass
        try:
            last = self._write_some(after, deadline)
            self._pass = None if last is None else (deadline, last)
            if last is None:
                self.tidy(at_once=False)
        except Exception as error:
            self._since, self._pass = deadline - self._keeping.lag_seconds, None
            self._counts.failed(error)
            raise

    def _write_some(self, after: int, deadline: float) -> int | None:
        """Write the next records back; gives the last one of them, None at the end of the pass."""
        records = self._pace.records
        with self._turn, self._ledger.outbox.alone(PATIENCE_SECONDS):
            batch = [] if self._edition.is_over else self._ledger.outbox.due(records, after)
            if batch:
                began = time.monotonic()
                self._write(batch)
                now = time.monotonic()
                self._pace.took(len(batch), now - began, late=now > deadline)
                if self._ledger.outbox.settle(batch):
                    self.wake()
        return batch[-1].record_key if len(batch) == records else None

    def _flush(self) -> None:
        with self._turn, self._ledger.outbox.alone(PATIENCE_SECONDS):
            self._edition.check()
            while batch := self._ledger.outbox.due(self._keeping.batch):
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
