"""Writers of a ledger's file: they queue, share the fsync after a commit, and keep the write-ahead log short.

SQLite lets one connection write at a time, and whoever tries first when that one is through comes next. So all threads
of a process, also those of several memories over one file, queue here before they begin.

SQLite commits into the write-ahead log without waiting for the disk (`synchronous = NORMAL`). Here the log is synced
once the lock and the turn have been given back. A log that was begun again in between is no loss: SQLite syncs it, and
the file, before it does so.

Where the log stays long though the background empties it, whoever writes next empties it first, with everybody else
kept out for the moment that this takes. A program that reads without end keeps it from being emptied.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from adaptive_memory_core.store.sqlite_connection import PAGE_BYTES
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.sqlite_files import commits_in_index

LOOK_SECONDS = 0.05  # between two looks whether those ahead are still there
_of_files: weakref.WeakValueDictionary[tuple[int, Path], WriteQueue] = weakref.WeakValueDictionary()


def queue_of(place: Path | None) -> WriteQueue:
    """The queue before a file, the same one for all its connections in this process; a ledger in RAM has its own."""
    return WriteQueue() if place is None else _of_files.setdefault((os.getpid(), place.resolve()), WriteQueue())


class WriteQueue:
    """First come, first served. It holds no place that a broken-off call left behind: only its call refers to it."""

    def __init__(self) -> None:
        self._moment = threading.RLock()  # a finalizer may come in the middle of it
        self._line: deque[weakref.ref[_Place]] = deque()

    @contextmanager
    def turn(self, seconds: float) -> Generator[bool, None, None]:
        """The turn, given back at the end of the block; False where it did not come in so many seconds."""
        place = _Place()
        try:
            yield self._waited(place, time.monotonic() + seconds)
        finally:
            self._leave(place)

    def _waited(self, place: _Place, deadline: float) -> bool:
        with self._moment:
            self._line.append(weakref.ref(place))
        while self._first() is not place:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            place.called.acquire(timeout=min(left, LOOK_SECONDS))
        return True

    def _first(self) -> _Place | None:
        with self._moment:
            while self._line:
                first = self._line[0]()
                if first is not None:
                    return first
                self._line.popleft()
            return None

    def _leave(self, place: _Place) -> None:
        with self._moment, suppress(ValueError):
            self._line.remove(weakref.ref(place))
        after = self._first()
        if after is not None:
            with suppress(RuntimeError):  # it was called already
                after.called.release()


class _Place:
    """Of one who waits: the lock is free once it has been called."""

    __slots__ = ("__weakref__", "called")

    def __init__(self) -> None:
        self.called = threading.Lock()
        self.called.acquire()


_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


def grouped(connection: sqlite3.Connection, file: Path | None, durability: str) -> GroupCommit | None:
    """Who syncs the log for those that wait for the disk; without a log SQLite does, at each commit."""
    if durability != "full" or file is None:
        return None
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return GroupCommit(file)
    connection.execute("PRAGMA synchronous = FULL")
    return None


class GroupCommit:
    """The syncs of one write-ahead log."""

    def __init__(self, file: Path) -> None:
        self._log = file.with_name(file.name + "-wal")
        self._begun = self._done = 0  # syncs, by their numbers
        self._turn = threading.Lock()

    def wait(self) -> None:
        """Return once all that was committed before the call is on disk."""
        mine = self._begun + 1  # the next one to begin
        with self._turn:
            if self._done >= mine:
                return
            self._begun += 1
            number = self._begun
            self._write_out()
            self._done = number

    def _write_out(self) -> None:
        try:
            log = os.open(self._log, os.O_RDWR | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            return  # all of it stands in the file, which is synced before the log goes
        try:
            _sync(log)
        finally:
            os.close(log)


LONG_BYTES, MOST_BYTES = 32 * 2**20, 256 * 2**20
LOOK_EVERY = 10  # transactions
OTHERS_MS, MOST_MS = 100, 2_000  # that it waits for those who write, empty it or read now; doubled as it grows
PAUSE_SECONDS = 0.002
FRAME_BYTES = 24  # that stand before each page in the log
AGAIN_SECONDS, AGAIN_BYTES = 2.0, 8 * 2**20  # after it could not be emptied: so much later, or so much longer
LEFT_SECONDS, LEFT_BYTES = 2.0, 2 * 2**20  # for the background, from when it was first seen to be long


class WriteAheadLog:
    """Looks now and then how large the log beside a file is, and refuses to let it grow without bound."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._log = file, None if file is None else file.with_name(file.name + "-wal")
        self._transactions, self._not_before, self._not_below = 0, 0.0, 0
        self._is_long = False

    def has_grown(self) -> bool:
        """Whether it is time to look how far the log has grown."""
        return self._transactions % LOOK_EVERY == 0

    def keep_short(self, connection: sqlite3.Connection) -> None:
        """Empty it before a transaction where it is long; raise where it is too long and cannot be emptied."""
        self._transactions += 1
        if self._transactions % LOOK_EVERY:
            return
        size = self._bytes()
        if size > MOST_BYTES:
            self._transactions -= 1  # look again the next time
            self._empty(connection, "TRUNCATE", MOST_MS)
            self._refuse_endless()
        elif size <= LONG_BYTES:
            self._is_long = False
        elif not self._is_long:  # whoever writes just now tells the background
            self._is_long = True
            self._not_before, self._not_below = time.monotonic() + LEFT_SECONDS, size + LEFT_BYTES
        elif time.monotonic() >= self._not_before or size >= self._not_below:
            emptied = self._empty(connection, "RESTART", patience_ms(size))
            self._not_before = 0.0 if emptied else time.monotonic() + AGAIN_SECONDS
            self._not_below = size + AGAIN_BYTES

    def _empty(self, connection: sqlite3.Connection, manner: str, wait_ms: int) -> bool:
        """SQLite itself waits for who writes or reads, but gives up at once where somebody else is emptying it."""
        deadline = time.monotonic() + wait_ms / 1000
        try:
            while True:
                left_ms = max(1, int(1000 * (deadline - time.monotonic())))
                connection.execute(f"PRAGMA busy_timeout = {left_ms}")
                busy, _, _ = connection.execute(f"PRAGMA wal_checkpoint({manner})").fetchone()
                if not busy or time.monotonic() >= deadline:
                    return not busy
                time.sleep(PAUSE_SECONDS)
        finally:
            connection.execute("PRAGMA busy_timeout = 0")

    def _refuse_endless(self) -> None:
        if self._bytes() > MOST_BYTES:
            raise LedgerError(
                f"The ledger's log of writes {str(self._log)!r} has grown beyond {MOST_BYTES // 2**20} MB: some "
                "program reads the ledger's file in a transaction that does not end. Nothing was written; end that "
                "program, or its transaction, and call again."
            )

    def _bytes(self) -> int:
        """Of what was committed since the log was begun. Another transaction under way, such as one that writes the
        whole file anew, has its pages there, too, but they are no reader's fault."""
        if self._file is None or self._log is None or not self._log.exists():
            return 0
        log = commits_in_index(self._file)
        return self._log.stat().st_size if log is None else log.pages * (PAGE_BYTES + FRAME_BYTES)


def patience_ms(log_bytes: int) -> int:
    """How long emptying a log of so many bytes may wait for others, who come between it and its turn.

    >>> [patience_ms(size * 2**20) for size in (32, 40, 48, 200)]
    [100, 200, 400, 2000]
    """
    wait = OTHERS_MS
    for _ in range(LONG_BYTES, log_bytes - AGAIN_BYTES + 1, AGAIN_BYTES):
        wait *= 2
    return min(MOST_MS, wait)
