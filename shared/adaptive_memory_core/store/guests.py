"""What does the process that holds a collection do for the others? It watches the collection, and what they ask for."""

from __future__ import annotations

import time

from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.due_records import LOOKED_SECONDS, DueRecordsOfOthers
from adaptive_memory_core.store.mirror.keeper import MirrorKeeper
from adaptive_memory_core.store.write_back import WriteBack

VISIT_SECONDS = 10.0  # between two signs of life of a guest
GONE_SECONDS = 4 * VISIT_SECONDS  # after which there is none


class Guests:
    """A chore of the holder: while guests are there, it sees to it that the mirror is as the collection is, which they
    cannot ask; it fulfils their wishes, and writes back what they read."""

    name = "guests"

    def __init__(
        self,
        ledger: Ledger,
        due: DueRecordsOfOthers,
        write_back: WriteBack,
        keeper: MirrorKeeper,
        seen_seconds: float,
    ) -> None:
        self._ledger, self._due, self._write_back, self._keeper = ledger, due, write_back, keeper
        self._seen_seconds = seen_seconds
        self._next = self._watched = time.monotonic()

    def wait(self) -> float | None:
        """Until the next look."""
        return max(0.0, self._next - time.monotonic())

    def work(self, _going: Going) -> None:
        """Look once."""
        now = time.monotonic()
        self._next = now + LOOKED_SECONDS
        wish = self._ledger.sharing.asked()
        if wish is not None:
            self._due.settle()
            self._write_back.flush()
            self._keeper.sync()
            self._ledger.sharing.done(wish)
        if self._ledger.outbox.waiting():
            self._write_back.wake()
        if now >= self._watched and self._somebody_is_there():
            self._watched = now + self._seen_seconds
            self._keeper.watch()

    def _somebody_is_there(self) -> bool:
        seen = self._ledger.sharing.last_visit()
        return seen is not None and abs(seen) < GONE_SECONDS
