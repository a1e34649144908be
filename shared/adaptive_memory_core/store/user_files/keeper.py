"""When are a user's copies written into a file? In the background, soon after they were read from the ledger."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable

from adaptive_memory_core.store.background import Going

AGAIN_SECONDS = 60.0  # between two files of a user; guess
SHARE = 100.0  # and as many times as long as the last one took
MOST_PACED = 1_000  # users whose last file is remembered, to wait for the next


class UserFilesKeeper:
    """A chore: each file that is asked for is written once, and the next one of that user a while later.

    >>> keeper, written = UserFilesKeeper(), []
    >>> keeper.ask("ana", lambda: written.append("ana")); keeper.ask("ana", lambda: written.append("again"))
    >>> keeper.work(lambda: True); keeper.ask("ana", lambda: written.append("too soon")); written
    ['ana']
    >>> keeper.wait() > 50.0
    True
    """

    name = "copies in files"

    def __init__(self) -> None:
        self.wake: Callable[[], object] = int
        self._asked: dict[Hashable, Callable[[], object]] = {}
        self._not_before: dict[Hashable, float] = {}
        self._moment = threading.Lock()

    def ask(self, user: Hashable, write: Callable[[], object]) -> None:
        """Have this done, unless it is going to be."""
        if user in self._asked:
            return
        with self._moment:
            self._asked[user] = write
        self.wake()

    def wait(self) -> float | None:
        """Until the next file may be written."""
        if not self._asked:
            return None
        with self._moment:
            first = min(self._not_before.get(one, 0.0) for one in self._asked)
        return max(0.0, first - time.monotonic())

    def work(self, _going: Going) -> None:
        """One file."""
        now = time.monotonic()
        with self._moment:
            user = next((one for one in self._asked if self._not_before.get(one, 0.0) <= now), None)
            write = None if user is None else self._asked.pop(user)
        if write is not None:
            write()
            self._pause(user, now)

    def _pause(self, user: Hashable, began: float) -> None:
        took = time.monotonic() - began
        with self._moment:
            if len(self._not_before) >= MOST_PACED:
                self._not_before.clear()
            self._not_before[user] = began + max(AGAIN_SECONDS, SHARE * took)
