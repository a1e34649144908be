"""When does this process take over from the one that ended? It tries for the directory's lock about once a second."""

from __future__ import annotations

import time
from collections.abc import Callable

from adaptive_memory_core.store.background import Going

TRIED_SECONDS = 0.5  # between two tries: with what opening takes, another process has taken over within two seconds


class Takeover:
    """A chore of a memory whose directory another process holds; it ends when this process holds it.

    `claim` says whether the lock is ours now. `take_over` opens what only the holder opens; where it fails, the lock
    is given back with `release`, so that another process can try, and this one does again later.
    """

    name = "takeover"

    def __init__(
        self, claim: Callable[[], bool], take_over: Callable[[], object], release: Callable[[], object]
    ) -> None:
        self._claim, self._take_over, self._release = claim, take_over, release
        self._next = time.monotonic() + TRIED_SECONDS
        self._done = False

    def wait(self) -> float | None:
        """Until the next try."""
        return None if self._done else max(0.0, self._next - time.monotonic())

    def work(self, going: Going) -> None:
        """Try once."""
        self._next = time.monotonic() + TRIED_SECONDS
        if not going() or not self._claim():
            return
        try:
            self._take_over()
        except BaseException:
            self._release()
            raise
        self._done = True
