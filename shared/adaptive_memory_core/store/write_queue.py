"""Who of this process writes a ledger's file next? Those who wait, in the order in which they came.

SQLite lets one connection write at a time, and whoever tries first when that one is through comes next. So all threads
of a process, also those of several memories over one file, queue here before they begin: nobody is passed over, and
only one of them tries its luck against other processes.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.let_others_run import let_go

LOOK_SECONDS = 0.05  # between two looks whether those ahead are still there
_of_files: weakref.WeakValueDictionary[tuple[int, Path], WriteQueue] = weakref.WeakValueDictionary()


def queue_of(place: Path | None) -> WriteQueue:
    """The queue before a file, the same one for all its connections in this process; a ledger in RAM has its own."""
    return WriteQueue() if place is None else _of_files.setdefault((os.getpid(), place.resolve()), WriteQueue())


class WriteQueue:
    """First come, first served. Whoever is interrupted while waiting, or in its turn, has left."""

    def __init__(self) -> None:
        self._moment = threading.RLock()  # a finalizer may come in the middle of it
        self._line: deque[weakref.ref[_Place]] = deque()  # weak: an interrupt may keep one from leaving

    @interruptible
    def turn(self, seconds: float) -> Generator[bool, None, None]:
        """The turn, given back at the end of the block; False where it did not come in so many seconds."""
        place = _Place()
        try:
            yield self._waited(place, time.monotonic() + seconds)
        finally:
            try:
                self._leave(place)
            finally:
                self._leave(place)  # again, where an interrupt broke that off

    def _waited(self, place: _Place, deadline: float) -> bool:
        with self._moment:
            self._line.append(place.known)
        while self._first() is not place:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            let_go()
            place.called.acquire(timeout=min(left, LOOK_SECONDS))
        return True

    def _first(self) -> _Place | None:
        with self._moment:
            while self._line:
                place = self._line[0]()
                if place is not None:
                    return place
                self._line.popleft()
        return None

    def _leave(self, place: _Place) -> None:
        with self._moment, suppress(ValueError):
            self._line.remove(place.known)
        after = self._first()
        if after is not None:
            with suppress(RuntimeError):  # it was called already
                after.called.release()


class _Place:
    """Of one who waits: the lock is free once it has been called."""

    __slots__ = ("__weakref__", "called", "known")

    def __init__(self) -> None:
        self.called = threading.Lock()
        self.called.acquire()
        self.known = weakref.ref(self)
