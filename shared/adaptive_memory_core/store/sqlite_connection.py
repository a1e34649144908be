"""Connections to the ledger's file: write-ahead logging, the current schema, clear errors."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.call_state import pauses
from adaptive_memory_core.shown_in_errors import reason
from adaptive_memory_core.store import sqlite_files
from adaptive_memory_core.store.ledger.schema import UNREADABLE, create_tables, damaged, refuse_foreign, shows_damage
from adaptive_memory_core.store.sqlite_files import NotedCommits, commits_noted, lost_commits, warn_of_lost_commits

PATIENCE_SECONDS = 30.0  # for another process that writes, where the call has no patience of its own
LOOKS_AT_LOSS, BETWEEN_LOOKS_SECONDS = 10, 0.02  # until a log that seems torn is taken for torn
BUSY = ("database is locked", "database table is locked", "database is busy")
WAL_PAGES, PAGE_BYTES = 4_000, 4_096
CACHE_KILOBYTES = 16_000  # of pages in RAM, at the most: what a recall reads of 10,000 records; SQLite's own are 2,000
SETTINGS = ("synchronous", "cache_size", "wal_autocheckpoint", "journal_size_limit", "secure_delete")  # of a connection


def connect(path: str) -> sqlite3.Connection:
    """A connection without SQLite's own waiting, which sleeps for up to 100 ms at a time and is unfair."""
    file = place_of(path)
    try:
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(
            path, timeout=0.0, isolation_level=None, check_same_thread=False, uri=path.startswith("file:")
        )
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"The ledger {path!r} cannot be opened: {reason(error)}. "
            f"{sqlite_files.out_of_descriptors() or 'Give a file in a directory that may be written.'}"
        ) from error


def connect_again(path: str, before: sqlite3.Connection) -> sqlite3.Connection:
    """Another connection, with the settings of this one."""
    new = connect(path)
    for name in SETTINGS:
        new.execute(f"PRAGMA {name} = {before.execute(f'PRAGMA {name}').fetchone()[0]}")
    return new


def prepare(connection: sqlite3.Connection, path: str) -> tuple[bool, int]:
    """Make the file ready; gives whether it may only be read, and how many pages a torn log has lost."""
    try:
        return _prepared(connection, path)
    except (sqlite3.Error, *UNREADABLE) as error:
        if shows_damage(error):
            raise damaged(path, error) from error
        usual = (
            "It must be a SQLite file in a directory that may be written. Mend that, or pass "
            'ledger=":memory:" for reads that need not outlive the process.'
        )
        raise LedgerError(
            f"The ledger {path!r} cannot be used: {reason(error)}. {sqlite_files.out_of_descriptors() or usual}"
        ) from error


def place_of(path: str) -> Path | None:
    """The file that a path or an SQLite URI names.

    >>> place_of(":memory:") is None, place_of("file:/data/reads.sqlite3?mode=ro") == Path("/data/reads.sqlite3")
    (True, True)
    """
    return (
        None
        if ":memory:" in path
        else Path(unquote(path.removeprefix("file:").partition("?")[0]) if path.startswith("file:") else path)
    )


def for_reading(file: Path) -> str:
    """The address of a file that is only read. Where its directory may not be written and no log of writes is left
    over, SQLite has to be told that nobody changes it."""
    log = file.with_name(f"{file.name}-wal")
    unchanging = not os.access(file.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    return f"file:{quote(str(file.absolute()))}?mode=ro{'&immutable=1' if unchanging else ''}"


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection is writing just now."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith(BUSY)


def _recovered(connection: sqlite3.Connection, file: Path | None) -> int:
    """Take in what a process that was killed had committed; say so where a torn log had more of it."""
    before = None if file is None else commits_noted(file)
    _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"))
    _patiently(lambda: connection.execute("SELECT count(*) FROM sqlite_master"))
    lost_pages = 0 if file is None else _lost_for_good(connection, file, before)
    if file is not None and lost_pages:
        warn_of_lost_commits(file, lost_pages)
    return lost_pages


def _lost_for_good(connection: sqlite3.Connection, file: Path, before: NotedCommits | None) -> int:
    """How many pages are lost, at every look: somebody in the midst of a commit, or of closing, is soon through."""
    for _ in range(LOOKS_AT_LOSS):
        lost_pages = lost_commits(file, before)
        if not lost_pages:
            return 0
        _await_writers(connection)
        time.sleep(BETWEEN_LOOKS_SECONDS)
    return lost_commits(file, before)


def _await_writers(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.OperationalError):  # a file that may only be read has no writer
        _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
        connection.execute("ROLLBACK")


def _prepared(connection: sqlite3.Connection, path: str) -> tuple[bool, int]:
    try:
        file = place_of(path)
        if file is None or not (file.exists() and file.stat().st_size):
            _patiently(lambda: connection.execute("PRAGMA auto_vacuum = INCREMENTAL"))
        lost_pages = _recovered(connection, file)
        refuse_foreign(path, connection)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
        connection.execute("PRAGMA synchronous = NORMAL")  # for more: `sqlite_writes.GroupCommit`
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_PAGES * PAGE_BYTES}")
        connection.execute("PRAGMA secure_delete = ON")
        _patiently(lambda: create_tables(connection))
        _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version}")  # fails where BEGIN only reads: the file is read-only
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):
            raise
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("SELECT 1 FROM recalls LIMIT 1").fetchone()  # an empty one is of no use
        return True, 0
    return False, lost_pages


def _patiently(work: Callable[[], object]) -> None:
    """Do it once no other process writes."""
    wait = pauses(PATIENCE_SECONDS)
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or not wait():
                raise
        else:
            return
