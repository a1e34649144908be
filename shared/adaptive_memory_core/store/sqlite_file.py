"""How is the ledger's file opened and written? One connection, one lock, and a patient BEGIN."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.ledger.damaged_file import (
    UNREADABLE,
    damaged,
    refuse_damaged,
    refuse_foreign,
    shows_damage,
)
from adaptive_memory_core.store.ledger.schema import migrate
from adaptive_memory_core.store.lost_commits import lost, said, warn_of_lost_commits

PATIENCE_SECONDS = 30.0
BUSY = ("database is locked", "database table is locked", "database is busy")
WAL_PAGES = 4_000


class LedgerFile:
    """A SQLite file (WAL) that threads share through a lock and processes through short, retried transactions.

    SQLite's own busy handler sleeps for up to 100 ms and is unfair, so it is off: waiting is done here, in steps
    below a millisecond.
    """

    def __init__(self, path: str, *, durability: Literal["normal", "full"] = "normal") -> None:
        self.path = path
        self.read_only = False
        self.on_failure: Callable[[], object] = lambda: None
        self.on_write: Callable[[], object] = lambda: None
        self._lock = threading.RLock()
        self._calls: list[Callable[[], object]] = []  # to be made when the transaction is kept
        self.lost_pages = 0
        refuse_damaged(path, self.place)
        self._connection = _connect(path)
        try:
            self._prepare(durability)
        except (sqlite3.Error, *UNREADABLE) as error:
            self._connection.close()
            if shows_damage(error):
                raise damaged(path, error) from error
            raise LedgerError(
                f"The ledger {path!r} cannot be used: {error}. It must be a SQLite file in a directory that may be "
                'written. Mend that, or pass ledger=":memory:" for reads that need not outlive the process.'
            ) from error
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, durability: str) -> None:
        try:
            self._recover()
            refuse_foreign(self.path, self._connection)
            self._connection.execute(f"PRAGMA synchronous = {durability.upper()}")
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
            self._connection.execute("PRAGMA secure_delete = FAST")
            _patiently(lambda: migrate(self._connection))
            _patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"))
            self._connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if "readonly" not in str(error):
                raise
            self._connection.execute("SELECT 1 FROM recalls LIMIT 1").fetchone()  # an empty one is of no use
            self.read_only = True

    def _recover(self) -> None:
        """Take in what a process that was killed had committed; say so where a torn log had more of it."""
        before = None if self.place is None else said(self.place)
        _patiently(lambda: self._connection.execute("PRAGMA journal_mode = WAL"))
        _patiently(lambda: self._connection.execute("SELECT count(*) FROM sqlite_master"))
        self.lost_pages = 0 if self.place is None else lost(self.place, before)
        if self.place is not None and self.lost_pages:
            warn_of_lost_commits(self.place, self.lost_pages)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for queries."""
        with self._lock:
            try:
                yield self._connection
            except (sqlite3.Error, *UNREADABLE) as error:
                raise self._told(error) from error

    @contextmanager
    def writing(self, *, told: bool = False) -> Iterator[sqlite3.Connection]:
        """The connection inside one transaction: all of it is kept, or nothing, and then `on_failure` is called.

        Within another `writing` of the same thread it is a part of that one, and can fail alone. `on_write` is called
        first, unless the caller has `told` whoever needs to know, or will.
        """
        with self._lock:
            inner, calls = self._connection.in_transaction, len(self._calls)
            try:
                self._begin(inner=inner)
                if not told:
                    self.on_write()
                yield self._connection
                self._connection.execute("RELEASE part" if inner else "COMMIT")
            except BaseException as error:
                del self._calls[calls:]
                self._undo(inner=inner)
                if isinstance(error, Exception) and shows_damage(error):
                    raise damaged(self.path, error) from error
                if isinstance(error, sqlite3.Error):
                    raise self._told(error) from error
                raise
            done = [] if inner else self._calls[:]
            del self._calls[len(self._calls) - len(done) :]
        for call in done:
            call()

    def afterwards(self, call: Callable[[], object]) -> None:
        """Call this after the thread's transaction, if that is kept; at once where there is none."""
        with self._lock:
            if self._connection.in_transaction:
                self._calls.append(call)
                return
        call()

    def _begin(self, *, inner: bool) -> None:
        if inner:
            self._connection.execute("SAVEPOINT part")
        else:
            _patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"))

    def _undo(self, *, inner: bool) -> None:
        self.on_failure()
        if self._connection.in_transaction and inner:
            self._connection.execute("ROLLBACK TO part")
            self._connection.execute("RELEASE part")
        elif self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _told(self, error: Exception) -> LedgerError:
        """SQL errors in our words."""
        if shows_damage(error):
            return damaged(self.path, error)
        return LedgerError(
            f"The ledger {self.path!r} failed: {error}. Nothing of this call was kept in it. Check that its disk has "
            "room and may be written."
        )

    @property
    def place(self) -> Path | None:
        """The file itself; None for a ledger in RAM."""
        return _place(self.path)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def _place(path: str) -> Path | None:
    """The file that a path or an SQLite URI names.

    >>> _place(":memory:") is None, _place("file:/data/reads.sqlite3?mode=ro") == Path("/data/reads.sqlite3")
    (True, True)
    """
    return None if ":memory:" in path else Path(path.removeprefix("file:").partition("?")[0])


def _connect(path: str) -> sqlite3.Connection:
    file = _place(path)
    try:
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(
            path, timeout=0.0, isolation_level=None, check_same_thread=False, uri=path.startswith("file:")
        )
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"The ledger {path!r} cannot be opened: {error}. Give a file in a directory that may be written."
        ) from error


def _patiently(begin: Callable[[], object]) -> None:
    """Try until the lock of another process is free, for at most `PATIENCE_SECONDS`."""
    deadline, pause = time.monotonic() + PATIENCE_SECONDS, 0.0002
    while True:
        try:
            begin()
        except sqlite3.OperationalError as error:
            if not str(error).startswith(BUSY) or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0, pause))  # noqa: S311 - jitter, no secret
            pause = min(pause * 1.5, 0.005)
        else:
            return
