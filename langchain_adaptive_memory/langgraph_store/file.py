"""How is the file with the items opened and written? One SQLite connection, one lock, whole transactions."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import StoreError

IN_MEMORY = ":memory:"
BUSY_SECONDS = 30.0
VERSION = 1
_TABLES = """
CREATE TABLE stores (
    store_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    collection_uuid TEXT                      -- the Chroma collection that the vectors were written to
);
CREATE TABLE namespaces (
    namespace_key INTEGER PRIMARY KEY AUTOINCREMENT,
    store_key INTEGER NOT NULL REFERENCES stores,
    path TEXT NOT NULL,                       -- the labels with dots between them; no label has one
    UNIQUE (store_key, path)
);
CREATE TABLE items (
    item_key INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace_key INTEGER NOT NULL REFERENCES namespaces,
    key TEXT NOT NULL,
    value TEXT NOT NULL,                      -- JSON
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ttl_minutes REAL,
    expires_at REAL,
    fields TEXT NOT NULL,                     -- JSON: what to embed of it; null as the store is set, false nothing
    record TEXT NOT NULL UNIQUE,              -- its id in the memory
    vectors INTEGER NOT NULL DEFAULT 0,       -- how many stand in the collection
    version INTEGER NOT NULL DEFAULT 1,
    unsettled INTEGER NOT NULL DEFAULT 1,     -- its vectors are not yet those of this version
    UNIQUE (namespace_key, key)
);
CREATE INDEX items_in_order ON items (namespace_key);
CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX items_unsettled ON items (unsettled) WHERE unsettled;
CREATE TABLE leftovers (                      -- records whose item is gone, and which must go from the collection
    record TEXT PRIMARY KEY,
    store_key INTEGER NOT NULL
) WITHOUT ROWID;
"""


class ItemsFile:
    """A SQLite file (WAL), or a database in RAM, that threads share through a lock."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self._lock = threading.RLock()
        try:
            if self.path != IN_MEMORY:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._sql = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"The items file {self.path!r} cannot be used: {reason(error)}. It must be a SQLite file in a "
                "directory that may be written."
            ) from error

    def _prepare(self) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
            self._sql.execute(f"PRAGMA {pragma}")
        with self.writing() as sql:
            found = sql.execute("PRAGMA user_version").fetchone()[0]
            if found > VERSION:
                raise StoreError(
                    f"The items file {self.path!r} was written by a newer version of this package (its schema is "
                    f"{found}, known are up to {VERSION}). Install that version."
                )
            if found == 0:
                for statement in _TABLES.split(";\n"):
                    sql.execute(statement)
                sql.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection, None, None]:
        """The connection for queries."""
        with self._lock:
            try:
                yield self._sql
            except sqlite3.Error as error:
                raise self._told(error) from error

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection, None, None]:
        """The connection inside one transaction: all of it is kept, or nothing."""
        with self._lock:
            try:
                if self._sql.in_transaction:  # left open by an interrupt
                    self._sql.execute("ROLLBACK")
                self._sql.execute("BEGIN IMMEDIATE")
                yield self._sql
                self._sql.execute("COMMIT")
            except BaseException as error:
                if self._sql.in_transaction:
                    self._sql.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._told(error) from error
                raise

    def _told(self, error: sqlite3.Error) -> StoreError:
        return StoreError(
            f"The items file {self.path!r} failed: {reason(error)}. Nothing of this step was kept in it. Check that "
            "its disk has room and may be written, and that the store was not closed."
        )

    def close(self) -> None:
        with self._lock:
            self._sql.close()
