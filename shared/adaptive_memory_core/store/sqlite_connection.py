"""SQLite: connections, syncs of commits, and the length of the write-ahead log.

SQLite commits into the write-ahead log without waiting for the disk (`synchronous = NORMAL`). Here the log is synced
after the lock and the turn have been given back. A log that was restarted in between loses nothing: SQLite first syncs
it, and the file.

If the log stays long although the background empties it, the next writer empties it first, and briefly blocks everybody
else. A program that reads without end keeps it from being emptied.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.running_calls import pauses
from adaptive_memory_core.store import sqlite_files
from adaptive_memory_core.store.ledger.schema import (
    UNREADABLE,
    LedgerConnection,
    create_tables,
    damaged,
    refuse_foreign,
    shows_damage,
)
from adaptive_memory_core.store.sqlite_files import (
    NotedCommits,
    commits_in_index,
    commits_noted,
    lost_commits,
    warn_of_lost_commits,
)

PATIENCE_SECONDS = 30.0  # for another process that writes, if the call sets no limit
LOOKS_AT_LOSS, BETWEEN_LOOKS_SECONDS = 10, 0.02  # checks before a log counts as torn
BUSY = ("database is locked", "database table is locked", "database is busy")
WAL_PAGES, PAGE_BYTES = 4_000, 4_096
CACHE_KILOBYTES = 16_000  # of pages in RAM: a recall reads this much of 10,000 records; SQLite's default is 2,000
SETTINGS = ("synchronous", "cache_size", "wal_autocheckpoint", "journal_size_limit", "secure_delete")  # of a connection


def connect(path: str) -> LedgerConnection:
    """Open a connection without SQLite's own waiting, which sleeps for up to 100 ms at a time and is unfair."""
    file = database_file(path)
    try:
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(
            path,
            timeout=0.0,
            isolation_level=None,
            check_same_thread=False,
            factory=LedgerConnection,
            uri=path.startswith("file:"),
        )
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"The ledger {path!r} cannot be opened: {reason(error)}. "
            f"{sqlite_files.out_of_descriptors() or 'Give a file in a directory that may be written.'}"
        ) from error


def connect_again(path: str, before: sqlite3.Connection) -> LedgerConnection:
    """Open another connection with the settings of this one."""
    new = connect(path)
    for name in SETTINGS:
        new.execute(f"PRAGMA {name} = {before.execute(f'PRAGMA {name}').fetchone()[0]}")
    return new


def prepare(connection: sqlite3.Connection, path: str) -> tuple[bool, int]:
    """Prepare the file; return whether it is read-only, and how many pages of a torn log are lost."""
    try:
        return _prepared(connection, path)
    except (sqlite3.Error, *UNREADABLE) as error:
        if shows_damage(error):
            raise damaged(path, error) from error
        if isinstance(error, sqlite3.Error) and is_busy(error):
            raise LedgerError(
                f"The ledger {path!r} cannot be opened: another process was writing it all the time. Open it again "
                "when that process is done, or wait longer with Keeping(wait_seconds=...)."
            ) from error
        usual = (
            "It must be a SQLite file in a directory that may be written. Mend that, or pass "
            'ledger=":memory:" for reads that need not outlive the process.'
        )
        raise LedgerError(
            f"The ledger {path!r} cannot be used: {reason(error)}. {sqlite_files.out_of_descriptors() or usual}"
        ) from error


def database_file(path: str) -> Path | None:
    """The file that a path or an SQLite URI names; None in RAM.

    >>> database_file(":memory:") is None
    True
    >>> database_file("file:/data/reads.sqlite3?mode=ro") == Path("/data/reads.sqlite3")
    True
    """
    return (
        None
        if ":memory:" in path
        else Path(unquote(path.removeprefix("file:").partition("?")[0]) if path.startswith("file:") else path)
    )


def for_reading(file: Path) -> str:
    """The address to open a file for reading only. If its directory is not writable and no log of writes is left, the
    address says that the file does not change."""
    log = file.with_name(f"{file.name}-wal")
    unchanging = not os.access(file.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    return f"file:{quote(str(file.absolute()))}?mode=ro{'&immutable=1' if unchanging else ''}"


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the error means that another connection is writing."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith(BUSY)


def _recovered(connection: sqlite3.Connection, file: Path | None) -> int:
    """Recover the commits of a killed process; warn and return the number of lost pages if the log is torn."""
    before = None if file is None else commits_noted(file)
    _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"))
    _patiently(lambda: connection.execute("SELECT count(*) FROM sqlite_master"))
    lost_pages = 0 if file is None else _lost_for_good(connection, file, before)
    if file is not None and lost_pages:
        warn_of_lost_commits(file, lost_pages)
    return lost_pages


def _lost_for_good(connection: sqlite3.Connection, file: Path, before: NotedCommits | None) -> int:
    """How many pages are lost according to every check: another process may be committing or closing the file."""
    for _ in range(LOOKS_AT_LOSS):
        lost_pages = lost_commits(file, before)
        if not lost_pages:
            return 0
        _await_writers(connection)
        time.sleep(BETWEEN_LOOKS_SECONDS)
    return lost_commits(file, before)


def _await_writers(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.OperationalError):  # a read-only file has no writer
        _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
        connection.execute("ROLLBACK")


def _prepared(connection: sqlite3.Connection, path: str) -> tuple[bool, int]:
    try:
        file = database_file(path)
        if file is None or not (file.exists() and file.stat().st_size):
            _patiently(lambda: connection.execute("PRAGMA auto_vacuum = INCREMENTAL"))
        lost_pages = _recovered(connection, file)
        refuse_foreign(path, connection)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
        connection.execute("PRAGMA synchronous = NORMAL")  # for more: `GroupCommit`
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_PAGES * PAGE_BYTES}")
        connection.execute("PRAGMA secure_delete = ON")
        _patiently(lambda: create_tables(connection))
        _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version}")  # fails if the file is read-only
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):
            raise
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("SELECT 1 FROM recalls LIMIT 1").fetchone()  # raises if the file has no ledger
        return True, 0
    return False, lost_pages


def _patiently(work: Callable[[], object]) -> None:
    """Repeat the work until no other process writes."""
    wait = pauses(PATIENCE_SECONDS)
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or not wait():
                raise
        else:
            return


_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


def grouped(connection: sqlite3.Connection, file: Path | None, durability: str) -> GroupCommit | None:
    """The group commit of a ledger that waits for the disk. Without a write-ahead log, SQLite syncs at each commit."""
    if durability != "full" or file is None:
        return None
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return GroupCommit(file)
    connection.execute("PRAGMA synchronous = FULL")
    return None


class GroupCommit:
    """Syncs of one write-ahead log, each shared by the commits that wait for it."""

    def __init__(self, file: Path) -> None:
        self._log = file.with_name(file.name + "-wal")
        self._begun = self._done = 0  # syncs, by their numbers
        self._turn = threading.Lock()

    def wait(self) -> None:
        """Return once everything committed before the call is on disk."""
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
            return  # everything is in the file, which is synced before the log is deleted
        try:
            _sync(log)
        finally:
            os.close(log)


LONG_BYTES, MOST_BYTES = 32 * 2**20, 256 * 2**20
LOOK_EVERY, RECALLS_WORTH = 50, 5  # recalls between checks of the log's size, and as how many other writes count
OTHERS_MS, MOST_MS = 100, 2_000  # to wait for writers, readers and other checkpoints; doubled as the log grows
PAUSE_SECONDS = 0.002
FRAME_BYTES = 24  # before each page in the log
AGAIN_SECONDS, AGAIN_BYTES = 2.0, 8 * 2**20  # until the next try after a failed one, or growth of the log
LEFT_SECONDS, LEFT_BYTES = 2.0, 2 * 2**20  # left to the background once the log is long


class WriteAheadLog:
    """Checks from time to time how large a file's log is, and refuses to let it grow without bound."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._log = file, None if file is None else file.with_name(file.name + "-wal")
        self.unchecked, self._not_before, self._not_below = 0, 0.0, 0  # recalls' worth of writes since the last check
        self._is_long = False

    def keep_short(self, connection: sqlite3.Connection) -> None:
        """Empty a long log before a transaction. Raise if it is too long and cannot be emptied."""
        size, self.unchecked = self._bytes(), 0
        if size > MOST_BYTES:
            self.unchecked = LOOK_EVERY  # check again the next time
            self._empty(connection, "TRUNCATE", MOST_MS)
            self._refuse_endless()
        elif size <= LONG_BYTES:
            self._is_long = False
        elif not self._is_long:  # the writer of this transaction wakes the background
            self._is_long = True
            self._not_before, self._not_below = time.monotonic() + LEFT_SECONDS, size + LEFT_BYTES
        elif time.monotonic() >= self._not_before or size >= self._not_below:
            emptied = self._empty(connection, "RESTART", patience_ms(size))
            self._not_before = 0.0 if emptied else time.monotonic() + AGAIN_SECONDS
            self._not_below = size + AGAIN_BYTES

    def _empty(self, connection: sqlite3.Connection, manner: str, wait_ms: int) -> bool:
        """Run a checkpoint. SQLite waits for writers and readers, but gives up at once if somebody else runs one."""
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
        """The size of everything committed since the log was restarted. Pages of an unfinished transaction, such as a
        rewrite of the whole file, do not count, because readers do not cause them."""
        if self._file is None or self._log is None or not self._log.exists():
            return 0
        log = commits_in_index(self._file)
        return self._log.stat().st_size if log is None else log.pages * (PAGE_BYTES + FRAME_BYTES)


def patience_ms(log_bytes: int) -> int:
    """How long emptying a log of this size may wait for other users of the file.

    >>> [patience_ms(size * 2**20) for size in (32, 40, 48, 200)]
    [100, 200, 400, 2000]
    """
    wait = OTHERS_MS
    for _ in range(LONG_BYTES, log_bytes - AGAIN_BYTES + 1, AGAIN_BYTES):
        wait *= 2
    return min(MOST_MS, wait)
