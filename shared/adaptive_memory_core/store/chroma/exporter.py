"""The exporter: it writes the ledger's records, and what reads have taught, into the collection."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.running_calls import idle_seconds
from adaptive_memory_core.flow.ports.ledger_values import DueRecord
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.record_metadata import REMOVED, exported_digest
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import ProjectionStats, WriteBackProgress
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.chroma_calls import overwrite
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess, OpenCollection
from adaptive_memory_core.store.embedder_check import EmbedderVersion
from adaptive_memory_core.store.write_back import PATIENCE_SECONDS, WritePace

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

IDLE_SECONDS = 1.0  # without a call after which the memory counts as idle
MOST_FAILURES = 3  # of single records, after which Chroma counts as failing
LOOKED_SECONDS = 0.5  # between checks for records written by other processes


def _is_idle() -> bool:
    return idle_seconds() > IDLE_SECONDS


class Exporter:
    """A chore of every process that may open the collection; also run at once before the collection is queried.

    A pending record is written whole and then removed from the list, if it has not changed since. If a process is
    killed in between, the record is written again, which does no harm.
    """

    name = "export"

    def __init__(self, ledger: Ledger, collection: Collection, keeping: Keeping, fields: Fields | None = None) -> None:
        """`fields` are given for a server, which may receive a late write of an exporter that was stopped or killed."""
        self._ledger, self._collection, self._keeping, self._fields = ledger, collection, keeping, fields
        self.removed: Callable[[Sequence[str]], object] = len  # is called with the deleted ids
        self.exported: Callable[[], object] = int  # is called when read states of new records may be due
        self._embedder_version = EmbedderVersion(ledger)
        self._pace = WritePace(stall_ms=keeping.stall_ms, most=keeping.batch)
        self._since: float | None = None  # since when something is known to be pending
        self._looked: float | None = None  # when nothing was pending, by time.monotonic

    def pending(self) -> int:
        return self._ledger.due_records.waiting()

    def wait(self) -> float | None:
        """Seconds until pending records have waited for the lag, or until the next check."""
        now = time.monotonic()
        if self._since is None and self._looked is not None and now < self._looked + LOOKED_SECONDS:
            return self._looked + LOOKED_SECONDS - now
        waiting = self.pending()
        if self._since is None and not waiting:
            self._looked = now
            return LOOKED_SECONDS
        if self._since is None:  # at the earliest, since the last check
            self._since = now if self._looked is None else max(self._looked, now - LOOKED_SECONDS)
        left = self._since + self._keeping.lag_seconds - now
        if waiting >= self._keeping.queue_limit:
            left = 0.0
        if not _is_idle():
            left = max(left, self._pace.not_before - now)
        return max(0.0, min(left, LOOKED_SECONDS)) if left > 0 else 0.0

    def work(self, going: Going) -> None:
        """Export a batch: small enough not to delay recalls, or as large as allowed while there are no calls."""
        idle = _is_idle()
        began, batch = time.monotonic(), self._keeping.batch if idle else self._pace.records
        written = self._export(self._ledger.due_records.ids(batch))
        if written and not idle:
            self._pace.took(written, time.monotonic() - began, late=False)
        if written < batch or not going():
            self._since = None

    def settle(self, stored_ids: Sequence[str] | None = None) -> None:
        """Export the pending changes of these records, or of all, now. Within a ledger transaction this happens after
        it, because the thread that is exporting may be waiting for the transaction."""
        self._ledger.afterwards(partial(self._export_now, stored_ids))

    def _export_now(self, stored_ids: Sequence[str] | None) -> None:
        """Export each record once, however fast others write more."""
        left = self._ledger.due_records.ids(self.pending()) if stored_ids is None else stored_ids
        for start in range(0, len(left), self._keeping.batch):
            self._export(left[start : start + self._keeping.batch])

    def _export(self, stored_ids: Sequence[str]) -> int:
        """Export the given records that are pending; return how many were written."""
        with self._ledger.outbox.alone(PATIENCE_SECONDS):
            due = [] if self._embedder_version.is_over else self._ledger.due_records.of(stored_ids)
            if due:
                self._write_all(due)
        return len(due)

    def _write_all(self, due: list[DueRecord]) -> None:
        """Write all records at once; if Chroma refuses, one by one, so that a single record does not block the
        others."""
        try:
            self._write(due)
        except StoreError:
            if len(due) == 1:
                raise
            self._write_singly(due)

    def _write_singly(self, due: list[DueRecord]) -> None:
        failed: list[StoreError] = []
        for one in due:
            try:
                self._write([one])
            except StoreError as error:
                failed.append(error)
            if len(failed) == MOST_FAILURES:
                break
        if failed:
            raise failed[0]

    def _write(self, due: list[DueRecord]) -> None:
        rows = [one.row for one in due if one.row is not None]
        gone = [one.stored_id for one in due if one.gone]
        if (fields := self._fields) is not None:
            digests = [exported_digest(*row[:3], fields) for row in rows]
            self._ledger.exports.note([*digests, *(exported_digest(one, REMOVED, None, fields) for one in gone)])
        overwrite(self._collection, rows, gone)
        self.removed(gone)
        self._ledger.due_records.settle(due)
        self.exported()


ASKED_SECONDS = 0.05  # between checks whether it is done
PREPARED_SECONDS = 3.0  # until preparing is worthwhile; most short processes have ended by then
TRIED_SECONDS = 0.05  # between tries, which take about ten microseconds each


class CollectionWriteBack:
    """Writes what the ledger learned into the collection. In a process that may not open the collection, pending
    changes wait in the ledger for the process that may."""

    def __init__(self, ledger: Ledger, access: CollectionAccess, patience_seconds: float) -> None:
        self._ledger, self._access, self._patience_seconds = ledger, access, patience_seconds

    def wake(self) -> None:
        """Note that something is due, so that it is written back after a while."""
        if self._access.open is not None:
            self._access.open.write_back.wake()

    def tidy(self, *, at_once: bool = True) -> None:
        """Remove log entries older than the log's retention."""
        if self._access.open is not None:
            self._access.open.write_back.tidy(at_once=at_once)

    def flush(self) -> None:
        """Have everything written back now, and wait until it is."""
        if self._ledger.read_only:
            return
        if self._access.open is not None:
            self._access.open.flush()
            return
        sharing, until = self._ledger.sharing, time.monotonic() + self._patience_seconds
        wish = sharing.ask()
        while not sharing.is_done(wish):
            if time.monotonic() >= until:
                raise StoreError(
                    f"The process that holds the collection has not written everything back within "
                    f"{self._patience_seconds:g} seconds. Nothing is lost: it waits in the ledger; call flush() again."
                )
            time.sleep(ASKED_SECONDS)

    def stats(self, scope: Scope) -> ProjectionStats:
        """The counts of what this process has written."""
        opened = self._access.open
        return ProjectionStats() if opened is None else opened.write_back.stats(scope)

    def progress(self) -> WriteBackProgress:
        """The progress of writing back; the number of waiting records is that of all processes."""
        opened = self._access.open
        if opened is None:
            return WriteBackProgress(self._ledger.outbox.waiting())
        return opened.write_back.progress()


class Wishes:
    """A chore of the process that holds a directory's collection: it fulfils requests that other processes wait for."""

    name = "wishes of other processes"

    def __init__(self, ledger: Ledger, opened: OpenCollection) -> None:
        self._ledger, self._opened = ledger, opened
        self._next = time.monotonic()

    def wait(self) -> float | None:
        """Seconds until the next check."""
        return max(0.0, self._next - time.monotonic())

    def work(self, _going: Going) -> None:
        """Check for a request once."""
        self._next = time.monotonic() + LOOKED_SECONDS
        wish = self._ledger.sharing.asked()
        if wish is not None:
            self._opened.flush()
            self._opened.importer.sync(everything=False)
            self._ledger.sharing.done(wish)
        if self._ledger.outbox.waiting():
            self._opened.write_back.wake()


class Takeover:
    """A chore of a memory whose directory another process holds; it ends when this process holds the directory.

    `claim` tries to take the lock, and `take_over` opens the collection. If that fails, `release` gives the lock back,
    so that another process can try, and this one tries again later. `prepare` is called once while waiting, unless the
    process ends soon, so that taking over is fast.
    """

    name = "takeover"

    def __init__(
        self,
        claim: Callable[[], bool],
        take_over: Callable[[], object],
        release: Callable[[], object],
        *,
        prepare: Callable[[], object] = int,
    ) -> None:
        self._claim, self._take_over, self._release, self._prepare = claim, take_over, release, prepare
        began = time.monotonic()
        self._next, self._prepared_at = began + TRIED_SECONDS, began + PREPARED_SECONDS
        self.is_done = False

    def wait(self) -> float | None:
        """Seconds until the next try; None if it is done."""
        return None if self.is_done else max(0.0, self._next - time.monotonic())

    def work(self, going: Going) -> None:
        """Try once."""
        now = time.monotonic()
        self._next = now + TRIED_SECONDS
        if going() and not self.try_once():
            self._get_ready(now)

    def try_once(self) -> bool:
        """Try to take the directory; return whether this process holds it."""
        if self.is_done or not self._claim():
            return self.is_done
        try:
            self._take_over()
        except BaseException:
            self._release()
            raise
        self.is_done = True
        return True

    def _get_ready(self, now: float) -> None:
        if now >= self._prepared_at:
            self._prepared_at = float("inf")
            self._prepare()
