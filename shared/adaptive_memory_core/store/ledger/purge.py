"""Deleted rows removed from every byte of the ledger's file: it is rewritten, and its write-ahead log is emptied.

SQLite overwrites deleted rows (`secure_delete`). But a row that was moved from one page to another remains at its old
place, and the write-ahead log contains earlier versions of pages. So a deletion leaves a mark in its transaction, and
the file is rewritten: after something was forgotten, once an hour if lines of the log expired, and never for more than
a hundredth of the time. Writers and counted recalls wait during that time, so the background does it when nobody has
written for a while, or after a maximum wait. Marks stay until the work is done, so that the next process continues if
one is killed.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import Final, Literal, NamedTuple

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.running_calls import pauses
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.process_locks import await_before_forks
from adaptive_memory_core.store.sqlite_connection import connect
from adaptive_memory_core.store.sqlite_file import LedgerFile

Deletion = Literal["forgotten", "expired", "in the log"]  # the last: overwritten, but not in the file itself yet
BEGUN: Final = "begun"  # the file is being rewritten
IN_LOG: Final = "in the log"
SHARE = 100.0  # least time between two rewrites, as a multiple of the time that one takes
EXPIRED_SECONDS = 3_600.0
INCREMENTAL = 2
QUIET_SECONDS, QUIET_SHARE = 1.0, 2.0  # required time without writes, at least this multiple of the expected duration
LOOKS = 4  # checks for writes in that time
LATEST_SECONDS = 600.0  # maximum wait for such a time; guess
BYTES_A_SECOND = 1e8  # rewriting speed; measured: 249 MB in 2.6 s
OTHERS_SECONDS = 2.0  # that `now` waits for other readers and writers
PAGES = 1_000  # that are returned in one transaction


def mark_for_purge(sql: sqlite3.Connection, why: Deletion) -> None:
    """Note that something is deleted in this transaction."""
    sql.execute("INSERT INTO to_purge VALUES (?) ON CONFLICT DO NOTHING", (why,))


class Purge:
    """The background work of one process; marks stay in the file until they are handled."""

    name = "purge"

    def __init__(self, file: LedgerFile) -> None:
        self._file = file
        self.wake: Callable[[], object] = lambda: None  # called when there is work
        self._turn = threading.RLock()
        await_before_forks(self._turn)
        self._began, self._took = float("-inf"), 0.0
        self._since: float | None = None  # when the wait for a time without writes began
        self._look_at, self._written_at = 0.0, 0.0
        self._commits: tuple[int, ...] = ()

    def soon(self) -> None:
        """Schedule the work for a time without writes, if there are marks."""
        if not self._due().is_any:
            return
        self._look_at = time.monotonic()
        if self._since is None:
            self._since = self._written_at = self._look_at
        self.wake()

    def wait(self) -> float | None:
        """Seconds until the next check for such a time; None if there is no work."""
        return None if self._since is None else max(0.0, self._look_at - time.monotonic())

    def work(self, going: Going) -> None:  # noqa: ARG002 - SQLite cannot be asked to stop in between
        """Check for a time without writes, and purge then."""
        due, now = self._due(), time.monotonic()
        if self._since is None or not due.is_any:
            self._since = None
            return
        if due.commits != self._commits:
            self._commits, self._written_at = due.commits, now
        not_before = self._not_before(due.marks)
        if now < not_before and not due.log:
            self._look_at = not_before
            return
        quiet = max(QUIET_SECONDS, QUIET_SHARE * self._will_take())
        if now - self._written_at >= quiet or now - max(self._since, not_before) >= LATEST_SECONDS:
            self._since = self._written_at = now  # for work that remains
            self.now(patience=0.0)
        self._look_at = now + quiet / LOOKS

    def now(self, *, patience: float = OTHERS_SECONDS) -> None:
        """Rewrite the file if it is due, and empty the write-ahead log. Wait up to `patience` seconds for other
        readers, writers and purges; after that, the marks stay."""
        try:
            with self._alone(patience) as is_ours:
                due = self._due() if is_ours else NOTHING
                if due.marks and time.monotonic() >= self._not_before(due.marks):
                    self._write_anew()
                if due.is_any:
                    self._give_back(patience)
        except (sqlite3.Error, LedgerError, OSError):
            return  # or the disk is full

    @contextmanager
    def _alone(self, patience: float) -> Generator[bool, None, None]:
        """A block with the purge lock: True if no other thread or process holds it. A killed process releases it."""
        with self._turn:
            lock = self._file.lock("purge")
            if lock is None:
                yield True
                return
            try:
                yield lock.take(patience)
            finally:
                lock.give_back()

    def _due(self) -> _Due:
        if self._file.place is None:
            return NOTHING
        with self._file.reading() as sql:
            marks = {row[0] for row in sql.execute("SELECT why FROM to_purge")}
            by_others = sql.execute("PRAGMA data_version").fetchone()[0]
            commits = (by_others, sql.total_changes)
            return _Due(frozenset(marks - {IN_LOG}), log=IN_LOG in marks, commits=commits)

    def _will_take(self) -> float:
        place = self._file.place
        size = 0 if place is None or not place.exists() else place.stat().st_size
        return max(self._took, size / BYTES_A_SECOND)

    def _give_back(self, patience: float) -> None:
        """Return free pages to the disk, in small transactions, and write the write-ahead log into the file."""
        before, left = None, -1
        while left and left != before:
            with self._file.writing(announced=True) as sql:
                sql.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
                before, left = left, sql.execute("PRAGMA freelist_count").fetchone()[0]
        wait = pauses(patience)
        while not (emptied := self._empty_log()) and wait():
            pass
        with self._file.writing(announced=True) as sql:
            if emptied:
                sql.execute("DELETE FROM to_purge WHERE why = ?", (IN_LOG,))
            else:
                sql.execute("INSERT INTO to_purge VALUES (?) ON CONFLICT DO NOTHING", (IN_LOG,))
        if emptied:
            self._empty_log()

    def _empty_log(self) -> bool:
        """Try to empty the write-ahead log; return whether no reader prevented it."""
        with self._file.reading() as sql:
            return bool(sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)

    def _not_before(self, marks: frozenset[str]) -> float:
        least = EXPIRED_SECONDS if marks == {"expired"} else 0.0
        return self._began + max(least, SHARE * self._took)

    def _write_anew(self) -> None:
        """Rewrite the file over a separate connection, so that recalls can read during that time. The marks change
        first, so that a new mark in between is not lost."""
        self._began = time.monotonic()
        with self._file.writing(announced=True) as sql:
            sql.execute("DELETE FROM to_purge")
            sql.execute("INSERT INTO to_purge VALUES (?)", (BEGUN,))
        try:
            with closing(connect(self._file.path)) as own:
                own.execute(f"PRAGMA busy_timeout = {int(1_000 * OTHERS_SECONDS)}")
                own.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
                own.execute("VACUUM")
        finally:
            self._took = time.monotonic() - self._began
        with self._file.writing(announced=True) as sql:
            sql.execute("UPDATE OR REPLACE to_purge SET why = ? WHERE why = ?", (IN_LOG, BEGUN))


class _Due(NamedTuple):
    """The work to do: marks of deletions, and whether the write-ahead log must be emptied. `commits` are numbers that
    every write to the file changes."""

    marks: frozenset[str]
    log: bool
    commits: tuple[int, ...]

    @property
    def is_any(self) -> bool:
        return bool(self.marks or self.log)


NOTHING = _Due(frozenset(), log=False, commits=())
