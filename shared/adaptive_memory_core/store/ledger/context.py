"""What do the parts of the ledger share? The file, the collection, the keys of its users, the cache."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Hashable
from contextlib import AbstractContextManager

from adaptive_memory_core.flow.calls.looks import known_already, look_again, looked_at
from adaptive_memory_core.flow.ports.ledger_values import WORDS_VERSION
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.cache import LedgerCache
from adaptive_memory_core.store.ledger.look import Look
from adaptive_memory_core.store.ledger.state_rows import owner_name
from adaptive_memory_core.store.sqlite_file import LedgerFile

TIMED = 1_000  # recalls whose time of writing is kept


class LedgerContext:
    """Which rows of the file are this collection's, and what is known of them without asking."""

    def __init__(self, file: LedgerFile) -> None:
        self.file = file
        self.cache = LedgerCache()
        self.collection_key = 0
        self.sees_one_user = False  # whether the rows of others are hidden from us
        self.update_ms: deque[tuple[int, float]] = deque(maxlen=TIMED)  # of which user's recalls
        self._user_keys: dict[Scope, int] = {}
        self._changes, self._changing = 0, False
        file.on_failure, file.on_write, file.on_kept = self._failed, self.changing, self._kept
        file.collection_key = lambda: self.collection_key

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self.file.reading()

    def apart(self) -> AbstractContextManager[sqlite3.Connection]:
        return self.file.apart()

    def writing(self, *, told: bool = False, unheard: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        return self.file.writing(told=told, unheard=unheard)

    def counting(self, scope: Scope) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction that counts a recall, and so changes what is the user's alone."""
        user = self._user_keys.get(scope, 0)
        look_again((self.file, user))
        return self.file.writing(told=True, recall_of=user)

    def looking(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, or 0; what the cache has of them is no longer behind."""
        user = self.known_user(sql, scope)
        self._notice(user, self._looked(sql, user))
        return user

    def noticing(self, sql: sqlite3.Connection, user: int) -> None:
        """What the cache has of the user is no longer behind, within a transaction that writes."""
        self._notice(user, self.file.look(sql, user))

    def last_change(self, scope: Scope | None = None) -> Hashable:
        """Another value as soon as anybody, in any process, has written more than that a recall has read, or into the
        metadata of the mirror's rows. Whoever has just looked need not wait for the file again; what is to be known of
        the scope is looked at along with it."""
        found = known_already(self.file)
        if found is None:
            with self.reading() as sql:
                found = self._looked(sql, 0 if scope is None else self.known_user(sql, scope))
        return self._changes, found.version

    def change_of_rows(self, sql: sqlite3.Connection) -> int | None:
        """Another number after each change of a row of the mirror; None where `last_change` tells of those."""
        found: Look | None = known_already(self.file)
        return (self._looked(sql, 0) if found is None else found).of_rows

    def _looked(self, sql: sqlite3.Connection, user: int) -> Look:
        """Looked at once in a call."""
        found: Look = looked_at((self.file, user), lambda: self.file.look(sql, user))
        looked_at(self.file, lambda: found)
        return found

    def _notice(self, user: int, look: Look) -> None:
        self.cache.notice(look.version)
        self.cache.notice_user(user, look.of_user)

    def changing(self) -> None:
        """More than the reading of a recall is being written: whoever looks now, looks again when it is kept."""
        self.file.news.wrote = True
        self.cache.drop_users()
        self._changes, self._changing = self._changes + 1, True

    def attach(self, uuid: str, name: str) -> None:
        """Speak for this collection from now on; writes only where the ledger has not met it before."""
        known = self._collection(uuid)
        if known is None and not self.file.read_only:
            with self.writing() as sql:
                new = "INSERT INTO collections (uuid, name, words_version) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
                sql.execute(new, (uuid, name, WORDS_VERSION))
            known = self._collection(uuid)
        self.collection_key = 0 if known is None else known

    def known_user(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, or 0, which nobody has."""
        if scope not in self._user_keys:
            query = "SELECT user_key FROM users WHERE collection_key = ? AND name = ?"
            row = sql.execute(query, (self.collection_key, owner_name(scope))).fetchone()
            if row is None:
                return 0
            self._user_keys[scope] = row[0]
        return self._user_keys[scope]

    def user_key(self, sql: sqlite3.Connection, scope: Scope) -> int:
        """The user's key, made where there is none yet."""
        if known := self.known_user(sql, scope):
            return known
        self.changing()
        insert = "INSERT INTO users (collection_key, name) VALUES (?, ?) RETURNING user_key"
        return int(sql.execute(insert, (self.collection_key, owner_name(scope))).fetchone()[0])

    def _collection(self, uuid: str) -> int | None:
        with self.reading() as sql:
            row = sql.execute("SELECT collection_key FROM collections WHERE uuid = ?", (uuid,)).fetchone()
        return None if row is None else int(row[0])

    def _kept(self) -> None:
        if self._changing:
            self.cache.drop_users()
            self._changes, self._changing = self._changes + 1, False

    def _failed(self) -> None:
        """A transaction was undone: what was read within it may never have been."""
        self._changes += 1
        self.cache.clear()
        self._user_keys.clear()
