"""Write read states back into the collection: in the background, rarely, in writes that are short enough not to block
recalls for long.

An embedded Chroma blocks the whole process while it writes: about 10 ms, and up to a millisecond per record. So a write
takes as many records as fit into the time that a recall may be delayed, judged by the last writes. Then it pauses for
several times as long. If that is too slow to finish in time, the pauses get shorter and the writes larger.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.running_calls import is_any_running
from adaptive_memory_core.flow.ports.ledger_values import Due
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.record_metadata import belongs, clashes, projection
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.reports import ProjectionStats, WriteBackProgress
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.embedder_check import EmbedderVersion

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

PATIENCE_SECONDS = 60.0
BEGIN = 0.5  # share of the lag after which a pass begins: the rest is for the pass itself
BUSY_SECONDS = 0.01  # between checks that no call is running, as long as there is time
COUNTED_SECONDS = 1.0  # between counts of the records due
_log = logging.getLogger(__name__)


class WriteBack:
    """Writes read states into the collection's metadata, as absolute values, so that repeating a write does no harm.

    The outbox in the ledger lists what is due, so a crash loses nothing. A record is listed once, however often it is
    read. One process at a time, the one that holds the lock, writes back for all. The background does it in passes over
    everything due, in paced writes; `flush` does it at once.
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
        self._embedder_version = EmbedderVersion(ledger)
        self._counts = WriteBackCounts()
        self._pace = WritePace(stall_ms=keeping.stall_ms, most=keeping.batch)
        self._pass: tuple[float, int] | None = None  # the pass in progress: its deadline, and the last record it wrote
        self._count_at = 0.0  # when the records due are counted again
        # since when something is due (monotonic); at first, an earlier process may have left something
        self._since = None if ledger.read_only else time.monotonic()

    def wake(self) -> None:
        """Note that something is due, so that a pass begins after a while."""
        if self._since is None:
            self._since = time.monotonic()
            self._wake()

    def tidy(self, *, at_once: bool = True) -> None:
        """Remove log entries older than the log's retention: completely with `at_once`, else in a quiet moment."""
        if not self._ledger.read_only:
            self._trim(at_once=at_once)

    def flush(self) -> None:
        """Write everything back now. If an error is raised, the rest stays due."""
        if not self._ledger.read_only:
            self._flush()

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """Block write-backs of all processes during this block."""
        with self._ledger.outbox.alone(PATIENCE_SECONDS):
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
        """Seconds until the next write of a pass, or the next pass. While there is time, it waits for a moment without
        calls; if too many records are due, it does not wait."""
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
        if left <= 0.0 and now < deadline and is_any_running():
            return BUSY_SECONDS
        return min(max(0.0, left), COUNTED_SECONDS)

    def _are_too_many(self, now: float) -> bool:
        """Whether more records are due than `queue_limit`; they are counted at most once per second."""
        if now < self._count_at:
            return False
        self._count_at = now + COUNTED_SECONDS
        if self._ledger.outbox.waiting() < self._keeping.queue_limit:
            return False
        self._count_at = 0.0  # count again at once: no pause until they are fewer
        return True

    def work(self, going: Going) -> None:  # noqa: ARG002 - a write is short and is always finished
        """Make one write of a pass over everything due."""
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
        """Write the next records back; return the key of the last one, or None at the end of the pass."""
        records = self._pace.records
        with self._ledger.outbox.alone(PATIENCE_SECONDS):
            batch = [] if self._embedder_version.is_over else self._ledger.outbox.due(records, after)
            if batch:
                began = time.monotonic()
                self._write(batch)
                now = time.monotonic()
                self._pace.took(len(batch), now - began, late=now > deadline)
                if self._ledger.outbox.settle(batch):
                    self.wake()
        return batch[-1].record_key if len(batch) == records else None

    def _flush(self) -> None:
        with self._ledger.outbox.alone(PATIENCE_SECONDS):
            self._embedder_version.check()
            while batch := self._ledger.outbox.due(self._keeping.batch):
                self._write(batch)
                self._ledger.outbox.settle(batch)

    def _write(self, batch: list[Due]) -> None:
        present = self._store.metadata([one.stored_id for one in batch])
        own = [one for one in batch if one.stored_id in present and self._is_own(one, present)]
        there = {one.stored_id for one in own}
        changes = {one.stored_id: self._changes(one, present[one.stored_id]) for one in own}
        changes = {stored_id: change for stored_id, change in changes.items() if change}
        if changes:
            self._store.update_metadata(changes)
        self._copy(own, batch)  # if the ledger fails, everything stays due
        self._counts.add("written", [one.scope for one in own if one.stored_id in changes])
        self._counts.add("vanished", [one.scope for one in batch if one.stored_id not in there])

    def _copy(self, own: list[Due], batch: list[Due]) -> None:
        """Update the ledger's copies too, because the collection may be rebuilt from them. They are compared
        separately: another process may have been killed after it wrote to the collection."""
        mirror, fields = self._ledger.mirror, self._store.fields
        copies = {stored_id: metadata or {} for stored_id, _, metadata in mirror.rows([one.stored_id for one in own])}
        late = {one.stored_id: _late(one, copies[one.stored_id], fields) for one in own if one.stored_id in copies}
        late = {stored_id: change for stored_id, change in late.items() if change}
        if late:
            with self._ledger.transaction(unheard=True):
                kept = self._unchanged(batch)
                mirror.annotate({one: change for one, change in late.items() if one in kept})

    def _unchanged(self, batch: list[Due]) -> set[str]:
        """The records whose state is still the one that was written. By now, another record with its own state may have
        the same id."""
        pending = self._ledger.outbox.due(2 * len(batch), batch[0].record_key - 1)
        written = {(one.record_key, one.version) for one in batch}
        return {one.stored_id for one in pending if (one.record_key, one.version) in written}

    def _is_own(self, one: Due, present: dict[str, Metadata]) -> bool:
        return belongs(present[one.stored_id], one.scope, self._store.fields)

    def _changes(self, one: Due, present: Metadata) -> Metadata:
        """The keys to write: those that differ, except those with a value that is not a read state."""
        foreign = clashes(projection(one.state, present, self._store.fields), present, self._store.fields)
        if foreign:
            self._counts.add("conflicts", [one.scope])
            _log.warning(
                "A record has values other than read state under %s; they were left unchanged. Choose other names with "
                "Fields(...).",
                ", ".join(sorted(foreign)),
            )
        return _late(one, present, self._store.fields)


def _late(one: Due, present: Metadata, fields: Fields) -> Metadata:
    """The keys that do not show a record's state yet, except those with a value that is not a read state."""
    values = projection(one.state, present, fields)
    foreign = clashes(values, present, fields)
    return {key: value for key, value in values.items() if key not in foreign and present.get(key) != value}


MOST_SCOPES = 10_000  # scopes with counts; those without a write for the longest time are dropped


class WriteBackCounts:
    """Counts of what the write-back did for each scope since the memory was opened, and of its failures.

    >>> counts = WriteBackCounts()
    >>> counts.add("written", [Scope("alice"), Scope("alice")])
    >>> counts.of(Scope("alice")).written, counts.of(Scope("bob")).written
    (2, 0)
    """

    def __init__(self) -> None:
        self._of: OrderedDict[Scope, Counter[str]] = OrderedDict()
        self._all: Counter[str] = Counter()
        self._failures = 0
        self._last_error: str | None = None

    @property
    def failures(self) -> int:
        return self._failures

    def add(self, what: str, scopes: Iterable[Scope]) -> None:
        """Count `what` once for each of these scopes."""
        for scope in scopes:
            self._of.setdefault(scope, Counter())[what] += 1
            self._all[what] += 1
            self._of.move_to_end(scope)
        while len(self._of) > MOST_SCOPES:
            self._of.popitem(last=False)

    def failed(self, error: Exception) -> None:
        self._failures, self._last_error = self._failures + 1, type(error).__name__

    def progress(self, *, waiting: int, waited_seconds: float) -> WriteBackProgress:
        """The progress for all scopes."""
        done = self._all
        return WriteBackProgress(waiting, waited_seconds, done["written"], done["vanished"], done["conflicts"])

    def of(self, scope: Scope) -> ProjectionStats:
        """The counts of one scope."""
        own: Mapping[str, int] = self._of.get(scope, {})
        return ProjectionStats(
            written=own.get("written", 0),
            vanished=own.get("vanished", 0),
            conflicts=own.get("conflicts", 0),
            failures=self._failures,
            last_error=self._last_error,
        )


FEWEST = 50  # records, however long they take: a write of 20 takes as long; measured: benchmarks/write_back_waits
LATE_STALLS = 3.0  # how much longer a write may delay recalls while records are late; measured with the same
RESTS = 4.0  # pause in multiples of a write's time; so the process is blocked for at most a fifth of the time
SHRINK, GROW = 0.5, 1.25


class WritePace:
    """The size of a memory's next write and the pause before it, from how long the last writes took."""

    def __init__(self, *, stall_ms: float, most: int) -> None:
        self._aim, self._most = stall_ms / 1000.0, most
        self.records = self._bounded(stall_ms)  # at a millisecond each, to begin with
        self.not_before = 0.0  # by time.monotonic

    def took(self, records: int, seconds: float, *, late: bool) -> None:
        """Record that a write took so long; `late` says whether records have been due for longer than they should."""
        if seconds > self._aim * (LATE_STALLS if late else 1.0):
            self.records = self._bounded(SHRINK * min(records, self.records))
        elif late:
            self.records = self._bounded(2 * self.records)
        elif records >= self.records:
            self.records = self._bounded(GROW * records + 1)
        self.not_before = time.monotonic() + seconds * (1.0 if late else RESTS)

    def _bounded(self, records: float) -> int:
        return min(self._most, max(FEWEST, int(records)))
