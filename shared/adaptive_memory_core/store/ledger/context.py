"""Whose ledger is it? One collection of a SQLite file, its embedder, and the keys of its users."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Sequence
from typing import Literal

from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.cache import LedgerCache
from adaptive_memory_core.store.ledger.id_locks import IdLock, IdLocks
from adaptive_memory_core.store.sqlite_file import LedgerFile

TIMED = 1_000  # recalls whose time of writing is kept


class LedgerUsers:
    """The part of the ledger that knows which collection and which user a row belongs to."""

    def __init__(self, path: str, *, durability: Literal["normal", "full"] = "normal") -> None:
        self.file = LedgerFile(path, durability=durability)
        self.collection_key = 0
        self._id_locks = IdLocks(self.file.place)
        self._user_keys: dict[Scope, int] = {}
        self._policies: set[str] = set()
        self._cache = LedgerCache()
        self._update_ms: deque[float] = deque(maxlen=TIMED)
        self.file.on_failure = self._cache.clear
        self.file.on_write = self._cache.drop_users

    def attach(self, uuid: str, name: str) -> None:
        """Speak for this collection from now on; writes only where the ledger has not met it before."""
        known = self._collection(uuid)
        if known is None and not self.file.read_only:
            with self.file.writing() as sql:
                sql.execute("INSERT OR IGNORE INTO collections (uuid, name) VALUES (?, ?)", (uuid, name))
            known = self._collection(uuid)
        self.collection_key = 0 if known is None else known

    def _collection(self, uuid: str) -> int | None:
        with self.file.reading() as sql:
            row = sql.execute("SELECT collection_key FROM collections WHERE uuid = ?", (uuid,)).fetchone()
        return None if row is None else int(row[0])

    def embedder(self) -> tuple[str | None, int | None]:
        """The name and dimension of the embedder this collection was first written with."""
        query = "SELECT embedder, dimension FROM collections WHERE collection_key = ?"
        with self.file.reading() as sql:
            row = sql.execute(query, (self.collection_key,)).fetchone()
        return (None, None) if row is None else (row[0], row[1])

    def note_embedder(self, name: str, dimension: int) -> None:
        with self.file.writing() as sql:
            sql.execute(
                "UPDATE collections SET embedder = ?, dimension = ? WHERE collection_key = ?",
                (name, dimension, self.collection_key),
            )

    def lock_ids(self, scope: Scope, record_ids: Sequence[str]) -> IdLock:
        """The lock that lets one caller at a time write these ids of a user's; it is not taken yet."""
        return self._id_locks.of(scope, record_ids)

    def known_user(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, or 0, which nobody has; inside the caller's transaction."""
        return self._known_user(sql, scope)

    def user_key(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, made where there is none yet; inside the caller's transaction."""
        return self._user_key(sql, scope)

    def close(self) -> None:
        self.file.close()

    def _known_user(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, or 0, which nobody has."""
        if scope not in self._user_keys:
            query = "SELECT user_key FROM users WHERE collection_key = ? AND name = ?"
            row = sql.execute(query, (self.collection_key, rows.owner_name(scope))).fetchone()
            if row is None:
                return 0
            self._user_keys[scope] = row[0]
        return self._user_keys[scope]

    def _user_key(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, made where there is none yet (and then not cached: the transaction may fail)."""
        insert = "INSERT INTO users (collection_key, name) VALUES (?, ?) RETURNING user_key"
        new = (self.collection_key, rows.owner_name(scope))
        return self._known_user(sql, scope) or int(sql.execute(insert, new).fetchone()[0])
