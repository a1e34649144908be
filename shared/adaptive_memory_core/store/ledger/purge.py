"""How are deleted rows removed from every byte of the ledger's file? It is written anew, and its log is emptied.

SQLite overwrites what is deleted (`secure_delete`), but where it moved a row from one page to another before, the row
also stands where it was; and the write-ahead log holds earlier versions of pages. So a deletion leaves a mark, within
its transaction, and whoever does the chores next writes the file anew: soon after something was forgotten, once an hour
where lines of the log ran out, and never for more than a hundredth of the time.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import Literal

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.sqlite_connection import connect
from adaptive_memory_core.store.sqlite_file import LedgerFile

Deletion = Literal["forgotten", "expired"]
SHARE = 100.0  # the file is written anew at most every so many times as long as that took
EXPIRED_SECONDS = 3_600.0
INCREMENTAL = 2


def mark(sql: sqlite3.Connection, why: Deletion) -> None:
    """Something is deleted in this transaction."""
    sql.execute("INSERT INTO to_purge VALUES (?) ON CONFLICT DO NOTHING", (why,))


class Purge:
    """The chore of one process; marks that it cannot see to yet wait in the file."""

    def __init__(self, file: LedgerFile) -> None:
        self._file = file
        self._began, self._took = float("-inf"), 0.0
        self._log_was_in_use = False

    def work(self) -> None:
        """Write the file anew if it is time to, and empty the log of writes where nobody reads it."""
        if self._file.place is None:
            return
        try:
            with self._file.reading() as sql:
                marks = {row[0] for row in sql.execute("SELECT why FROM to_purge")}
                old = sql.execute("PRAGMA auto_vacuum").fetchone()[0] != INCREMENTAL
            if old or (marks and self._is_time(marks)):
                self._write_anew()
            if old or marks or self._log_was_in_use:
                self._give_back()
        except (sqlite3.Error, LedgerError):
            return  # somebody reads or writes just now, or the disk is full: the marks stay

    def _give_back(self) -> None:
        """Free pages to the disk, and the log of writes into the file."""
        self._log_was_in_use = True
        with self._file.writing(told=True) as sql:
            sql.execute("PRAGMA incremental_vacuum").fetchall()
        with self._file.reading() as sql:
            self._log_was_in_use = sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0

    def _is_time(self, marks: set[str]) -> bool:
        least = 0.0 if "forgotten" in marks else EXPIRED_SECONDS
        return time.monotonic() - self._began >= max(least, SHARE * self._took)

    def _write_anew(self) -> None:
        """By a connection of its own: recalls go on reading meanwhile. The marks go first, so that one is not lost that
        comes in between; where it fails they come back."""
        self._began = time.monotonic()
        with self._file.writing(told=True) as sql:
            marks = [row[0] for row in sql.execute("DELETE FROM to_purge RETURNING why")]
        try:
            with closing(connect(self._file.path)) as own:
                own.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
                own.execute("VACUUM")
        except BaseException:
            with self._file.writing(told=True) as sql:
                sql.executemany("INSERT INTO to_purge VALUES (?) ON CONFLICT DO NOTHING", [(one,) for one in marks])
            raise
        finally:
            self._took = time.monotonic() - self._began
