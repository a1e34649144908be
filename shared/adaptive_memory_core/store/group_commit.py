"""How do commits survive a power cut without an fsync each? Those that wait at the same moment share one.

SQLite commits into the write-ahead log without waiting for the disk (`synchronous = NORMAL`). Here the log is synced
once the lock and the turn have been given back, so nobody waits for the disk but those who must. A log that was begun
anew in between is no loss: SQLite syncs it, and the file, before it does so.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

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
