"""Write-back by whichever process may open the collection: the port, others' wishes, and taking a directory over."""

from __future__ import annotations

import time
from collections.abc import Callable

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import ProjectionStats, WriteBackProgress
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.exporter import LOOKED_SECONDS
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess, OpenCollection

ASKED_SECONDS = 0.05  # between two looks whether it is done
PREPARED_SECONDS = 3.0  # until it is worth while to get ready; most short processes have ended by then
TRIED_SECONDS = 0.05  # between two tries, of some ten microseconds each


class CollectionWriteBack:
    """The `WriteBack` port. In a process that may not open the collection, what is pending waits in the ledger for the
    one that may."""

    def __init__(self, ledger: Ledger, access: CollectionAccess, patience_seconds: float) -> None:
        self._ledger, self._access, self._patience_seconds = ledger, access, patience_seconds

    def wake(self) -> None:
        """There is something to write back, in a while."""
        if self._access.open is not None:
            self._access.open.write_back.wake()

    def tidy(self, *, at_once: bool = True) -> None:
        """Let go of what is beyond the log's retention."""
        if self._access.open is not None:
            self._access.open.write_back.tidy(at_once=at_once)

    def flush(self) -> None:
        """Have everything written now, and wait until it is."""
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
        """What this process has written."""
        opened = self._access.open
        return ProjectionStats() if opened is None else opened.write_back.stats(scope)

    def progress(self) -> WriteBackProgress:
        """What waits is counted for all processes."""
        opened = self._access.open
        if opened is None:
            return WriteBackProgress(self._ledger.outbox.waiting())
        return opened.write_back.progress()


class Wishes:
    """A chore of the process that holds a directory's collection: it does at once what others wait for."""

    name = "wishes of other processes"

    def __init__(self, ledger: Ledger, opened: OpenCollection) -> None:
        self._ledger, self._opened = ledger, opened
        self._next = time.monotonic()

    def wait(self) -> float | None:
        """Until the next look."""
        return max(0.0, self._next - time.monotonic())

    def work(self, _going: Going) -> None:
        """Look once."""
        self._next = time.monotonic() + LOOKED_SECONDS
        wish = self._ledger.sharing.asked()
        if wish is not None:
            self._opened.flush()
            self._opened.importer.sync(everything=False)
            self._ledger.sharing.done(wish)
        if self._ledger.outbox.waiting():
            self._opened.write_back.wake()


class Takeover:
    """A chore of a memory whose directory another process holds; it ends when this process holds it.

    `claim` says whether the lock is ours now. `take_over` opens the collection; where it fails, the lock is given back
    with `release`, so that another process can try, and this one does again later. `prepare` is called once meanwhile,
    by a process that stays, so that taking over is quick.
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
        """Until the next try."""
        return None if self.is_done else max(0.0, self._next - time.monotonic())

    def work(self, going: Going) -> None:
        """Try once."""
        now = time.monotonic()
        self._next = now + TRIED_SECONDS
        if going() and not self.try_once():
            self._get_ready(now)

    def try_once(self) -> bool:
        """Whether this process holds the directory now."""
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
