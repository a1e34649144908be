"""How are deleted rows removed from every byte of the ledger's file? It is written anew, and its log is emptied.

SQLite overwrites what is deleted (`secure_delete`), but where it moved a row from one page to another before, the row
also stands where it was; and the write-ahead log holds earlier versions of pages. So a deletion leaves a mark, within
its transaction, and the file is written anew: after something was forgotten, once an hour where lines of the log ran
out, and never for more than a hundredth of the time. Whoever writes waits meanwhile, and so do recalls that are
counted. So the background does it where nobody has written for a while, or once it has waited long for that.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Literal, NamedTuple

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.sqlite_connection import connect
from adaptive_memory_core.store.sqlite_file import LedgerFile

Deletion = Literal["forgotten", "expired"]
SHARE = 100.0  # the file is written anew at most every so many times as long as that took
EXPIRED_SECONDS = 3_600.0
INCREMENTAL = 2
QUIET_SECONDS, QUIET_SHARE = 1.0, 2.0  # that nobody may have written; at least so many times what it is going to take
LOOKS = 4  # at whether somebody has, in that time
LATEST_SECONDS = 600.0  # until it no longer waits for that; guess
BYTES_A_SECOND = 1e8  # that are written anew; measured: 249 MB in 2.6 s
OTHERS_MS = 2_000  # that it waits for those who write just now
PAGES = 1_000  # that are given back in one transaction


def mark(sql: sqlite3.Connection, why: Deletion) -> None:
    """Something is deleted in this transaction."""
    sql.execute("INSERT INTO to_purge VALUES (?) ON CONFLICT DO NOTHING", (why,))


class Purge:
    """The chore of one process; marks that it cannot see to yet wait in the file."""

    name = "purge"

    def __init__(self, file: LedgerFile) -> None:
        self._file = file
        self.wake: Callable[[], object] = lambda: None  # there is something to do soon
        self._began, self._took = float("-inf"), 0.0
        self._log_was_in_use = False
        self._since: float | None = None  # when something began to wait for a quiet moment
        self._look_at, self._written_at = 0.0, 0.0
        self._commits: tuple[int, ...] = ()

    def soon(self) -> None:
        """See to what was deleted in a quiet moment, if there is something to see to."""
        if not self._due().is_any:
            return
        self._look_at = time.monotonic()
        if self._since is None:
            self._since = self._written_at = self._look_at
        self.wake()

    def wait(self) -> float | None:
        """Until the next look for such a moment."""
        return None if self._since is None else max(0.0, self._look_at - time.monotonic())

    def work(self, going: Going) -> None:  # noqa: ARG002 - SQLite cannot be asked to stop in between
        """Look for it, and use it."""
        due, now = self._due(), time.monotonic()
        if self._since is None or not due.is_any:
            self._since = None
            return
        if due.commits != self._commits:
            self._commits, self._written_at = due.commits, now
        not_before = now if due.old else self._not_before(due.marks)
        if now < not_before and not due.log:
            self._look_at = not_before
            return
        quiet = max(QUIET_SECONDS, QUIET_SHARE * self._will_take())
        if now - self._written_at >= quiet or now - max(self._since, not_before) >= LATEST_SECONDS:
            self._since = self._written_at = now  # for what is left after it
            self.now()
        self._look_at = now + quiet / LOOKS

    def now(self) -> None:
        """Write the file anew if it is time to, and empty the log of writes where nobody reads it."""
        try:
            due = self._due()
            if due.old or (due.marks and time.monotonic() >= self._not_before(due.marks)):
                self._write_anew()
            if due.is_any:
                self._give_back()
        except (sqlite3.Error, LedgerError):
            return  # somebody reads or writes just now, or the disk is full: the marks stay

    def _due(self) -> _Due:
        if self._file.place is None:
            return _Due(frozenset(), old=False, log=False, commits=())
        with self._file.reading() as sql:
            marks = frozenset(row[0] for row in sql.execute("SELECT why FROM to_purge"))
            old = sql.execute("PRAGMA auto_vacuum").fetchone()[0] != INCREMENTAL
            by_others = sql.execute("PRAGMA data_version").fetchone()[0]
            return _Due(marks, old=old, log=self._log_was_in_use, commits=(by_others, sql.total_changes))

    def _will_take(self) -> float:
        place = self._file.place
        size = 0 if place is None or not place.exists() else place.stat().st_size
        return max(self._took, size / BYTES_A_SECOND)

    def _give_back(self) -> None:
        """Free pages to the disk, some at a time, and the log of writes into the file."""
        self._log_was_in_use = True
        before, left = None, -1
        while left and left != before:
            with self._file.writing(told=True) as sql:
                sql.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
                before, left = left, sql.execute("PRAGMA freelist_count").fetchone()[0]
        with self._file.reading() as sql:
            self._log_was_in_use = sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0

    def _not_before(self, marks: frozenset[str]) -> float:
        least = 0.0 if "forgotten" in marks else EXPIRED_SECONDS
        return self._began + max(least, SHARE * self._took)

    def _write_anew(self) -> None:
        """By a connection of its own: recalls go on reading meanwhile. The marks go first, so that one is not lost that
        comes in between; where it fails they come back."""
        self._began = time.monotonic()
        with self._file.writing(told=True) as sql:
            marks = [row[0] for row in sql.execute("DELETE FROM to_purge RETURNING why")]
        try:
            with closing(connect(self._file.path)) as own:
                own.execute(f"PRAGMA busy_timeout = {OTHERS_MS}")
                own.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
                own.execute("VACUUM")
        except BaseException:
            with self._file.writing(told=True) as sql:
                sql.executemany("INSERT INTO to_purge VALUES (?) ON CONFLICT DO NOTHING", [(one,) for one in marks])
            raise
        finally:
            self._took = time.monotonic() - self._began


class _Due(NamedTuple):
    """What is to be seen to: what deletions left, whether the file is of an older kind, or its log had a reader. And
    numbers that each write into the file changes."""

    marks: frozenset[str]
    old: bool
    log: bool
    commits: tuple[int, ...]

    @property
    def is_any(self) -> bool:
        return bool(self.marks or self.old or self.log)
