"""How do the records of other processes come into Chroma? The one that holds it applies what they left to be done."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import DueRecord, Ledger, MirrorRow
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.overwrite import overwrite
from adaptive_memory_core.store.chroma.own_writes import NOBODY, Heard
from adaptive_memory_core.store.edition import Edition

if TYPE_CHECKING:
    from chromadb import Collection

MOST_FAILURES = 3  # of single records, until it is taken for a failure of Chroma as a whole
LOOKED_SECONDS = 0.5  # between two looks at what others have left


class _Turn:
    """Of all memories of a process over one collection, one applies at a time: else an older state might come last."""

    def __init__(self) -> None:
        self.lock, self.applying = threading.RLock(), False


_turns: weakref.WeakValueDictionary[tuple[int, str], _Turn] = weakref.WeakValueDictionary()


class DueRecordsOfOthers:
    """A chore of the process that holds the collection; also done at once, before this process asks the collection.

    What is due is applied whole and then struck off, if it has not changed since. So a process that is killed in
    between leaves it to be done again, and doing it again does no harm.
    """

    name = "records of other processes"

    def __init__(self, ledger: Ledger, collection: Collection, *, lag_seconds: float, batch: int) -> None:
        self._ledger, self._collection = ledger, collection
        self._lag, self._batch = lag_seconds, batch
        self.heard: Heard = NOBODY
        self.removed: Callable[[Sequence[str]], object] = len  # hears what is gone
        self._edition = Edition(ledger)
        self._turn = _turns.setdefault((os.getpid(), str(collection.id)), _Turn())
        self._since: float | None = None  # since when something is due, as far as it was seen
        self._looked: float | None = None  # when there was nothing, by time.monotonic

    def wait(self) -> float | None:
        """Until what others have left has waited for the lag, or until the next look."""
        now = time.monotonic()
        if self._since is None and self._looked is not None and now < self._looked + LOOKED_SECONDS:
            return self._looked + LOOKED_SECONDS - now
        if self._since is None and not self._ledger.due_records.waiting():
            self._looked = now
            return LOOKED_SECONDS
        if self._since is None:  # no longer than since the last look
            self._since = now if self._looked is None else max(self._looked, now - LOOKED_SECONDS)
        left = self._since + self._lag - now
        return max(0.0, min(left, LOOKED_SECONDS)) if left > 0 else 0.0

    def work(self, going: Going) -> None:
        """A batch of it."""
        if not self._apply_some() or not going():
            self._since = None

    def settle(self) -> None:
        """All of it, now; within a transaction of the ledger, after it: whoever has the turn may be waiting for it."""
        self._ledger.afterwards(self._apply_all)

    def _apply_all(self) -> None:
        while self._ledger.due_records.waiting() and self._apply_some():
            pass

    def _apply_some(self) -> bool:
        """Whether there may be more. What is asked of the collection while this applies it does not begin it again."""
        with self._turn.lock:
            if self._turn.applying:
                return False
            self._turn.applying = True
            try:
                due = [] if self._edition.is_over else self._ledger.due_records.first(self._batch)
                if due:
                    self._apply(due)
            finally:
                self._turn.applying = False
        return len(due) == self._batch

    def _apply(self, due: list[DueRecord]) -> None:
        """All at once; where Chroma refuses, one by one, so that one record does not keep all others waiting."""
        try:
            self._write(due)
        except StoreError:
            if len(due) == 1:
                raise
            self._apply_singly(due)

    def _apply_singly(self, due: list[DueRecord]) -> None:
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
        wanted = [one.stored_id for one in due if not one.gone]
        mirror = self._ledger.mirror
        vectors = mirror.vectors(wanted)
        rows = [MirrorRow(*row, vectors[row[0]]) for row in mirror.rows(wanted) if row[0] in vectors]
        ids = [one.stored_id for one in due]
        gone = [one.stored_id for one in due if one.gone]
        overwrite(self._collection, rows, gone, self.heard)
        self.removed(gone)
        self.heard.as_mirrored(ids)
        self._ledger.due_records.settle(due)
