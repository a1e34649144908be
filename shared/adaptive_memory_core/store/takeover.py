"""When does this process take over from the one that ended? It tries for the directory's lock all the time."""

from __future__ import annotations

import time
from collections.abc import Callable

from adaptive_memory_core.store.background import Going

PREPARED_SECONDS = 3.0  # until it is worth while to get ready; most short processes have ended by then
TRIED_SECONDS = (
    0.05  # between two tries, of some ten microseconds each; opening Chroma takes what is left of two seconds
)


class Takeover:
    """A chore of a memory whose directory another process holds; it ends when this process holds it.

    `claim` says whether the lock is ours now. `take_over` opens what only the holder opens; where it fails, the lock
    is given back with `release`, so that another process can try, and this one does again later. `prepare` is called
    once meanwhile, by a process that stays, so that taking over is quick.
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
