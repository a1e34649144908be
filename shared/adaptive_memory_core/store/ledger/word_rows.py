"""How are the words of records stored in the ledger? One row a record, in the order of writing.

The rows are a copy of what the collection says, and they go with their record.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from adaptive_memory_core.flow.ports.ledger_values import WORDS_VERSION, WordNews, WordRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.state_rows import chunks
from adaptive_memory_core.store.ledger.user_files import LedgerUserFiles

NOBODY = 0  # the user key of records that are of no scope, and of a user whom the ledger has not met
_PUT = (
    "INSERT INTO words (collection_key, user_key, stored_id, digest, length, terms, counts, speaker, session, place, "
    "told) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SINCE = (
    "SELECT row, stored_id, digest, length, terms, counts, speaker, session, place, told FROM words "
    "INDEXED BY words_of_user WHERE user_key = ? AND row > ? ORDER BY row"
)
_SIZE = "SELECT records FROM words_size WHERE collection_key = ?"
_COUNTED = "SELECT count(*) FROM words WHERE collection_key = ?"
_REMOVED = "SELECT gone, row FROM words_gone WHERE user_key = ? AND gone > ? ORDER BY gone"


class LedgerWords:
    """The word rows of the collection's records."""

    def __init__(self, shared: LedgerContext, files: LedgerUserFiles) -> None:
        self._shared, self._files = shared, files
        self._size: tuple[Hashable, int] = (None, 0)  # as of a change

    def put(self, rows: Mapping[Scope | None, Sequence[WordRow]], gone: Collection[str] = ()) -> None:
        """Write these rows of each scope (None: of no scope of ours) in the place of what was known of their records,
        and let go of the rows of what is gone."""
        with self._shared.writing() as sql:
            drop(sql, self._shared.collection_key, list(gone))
            for scope, own in rows.items():
                user = NOBODY if scope is None else self._shared.user_key(sql, scope)
                drop(sql, self._shared.collection_key, [row[0] for row in own])
                sql.executemany(_PUT, [(self._shared.collection_key, user, *row) for row in own])

    def drop(self, stored_ids: Sequence[str]) -> None:
        """Let go of the rows of these records."""
        with self._shared.writing() as sql:
            drop(sql, self._shared.collection_key, stored_ids)
        self._shared.file.afterwards(self._files.sweep)

    def size(self, scope: Scope | None = None) -> int:
        """How many records have a row; what is to be known of the scope is looked at with it."""
        query = _COUNTED if self._shared.sees_one_user else _SIZE
        with self._shared.reading() as sql:
            change = None if sql.in_transaction else self._shared.last_change(scope)
            if change is None or change != self._size[0]:
                row = sql.execute(query, (self._shared.collection_key,)).fetchone()
                self._size = change, 0 if row is None else int(row[0])
            return self._size[1]

    def marks(self, stored_ids: Sequence[str]) -> dict[str, bytes]:
        """Those of the records that have a row, each with its mark."""
        found: dict[str, bytes] = {}
        with self._shared.reading() as sql:
            for chunk in chunks(stored_ids):
                places = ", ".join("?" * len(chunk))
                query = f"SELECT stored_id, digest FROM words WHERE collection_key = ? AND stored_id IN ({places})"  # noqa: S608
                found.update(sql.execute(query, (self._shared.collection_key, *chunk)).fetchall())
        return found

    def stored_ids(self) -> set[str]:
        """All records that have a row."""
        query = "SELECT stored_id FROM words WHERE collection_key = ?"
        with self._shared.apart() as sql:
            return {row[0] for row in sql.execute(query, (self._shared.collection_key,))}

    def version(self) -> int:
        """Of how the words of all rows were made; those written since may be newer."""
        query = "SELECT words_version FROM collections WHERE collection_key = ?"
        with self._shared.reading() as sql:
            row = sql.execute(query, (self._shared.collection_key,)).fetchone()
        return WORDS_VERSION if row is None else int(row[0])

    def keep_version(self, version: int) -> None:
        """All rows are made like that by now."""
        update = "UPDATE collections SET words_version = ? WHERE collection_key = ?"
        with self._shared.writing(told=True) as sql:
            sql.execute(update, (version, self._shared.collection_key))

    def last_change(self, scope: Scope) -> Hashable:
        return self._shared.last_change(scope)

    def news(self, scope: Scope, written: int, removed: int) -> WordNews:
        """The user's rows after the one numbered `written`, and the removals after the one numbered `removed`."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            if user == NOBODY:
                return WordNews(NOBODY, (), ())
            gone: list[tuple[int, int]] = sql.execute(_REMOVED, (user, removed)).fetchall()
            rows: list[tuple[Any, ...]] = sql.execute(_SINCE, (user, written)).fetchall()
        return WordNews(user, gone, rows)


def drop(sql: sqlite3.Connection, collection_key: int, stored_ids: Sequence[str]) -> None:
    """Let go of the rows of these records, within somebody else's transaction."""
    for chunk in chunks(stored_ids):
        sql.execute(
            f"DELETE FROM words WHERE collection_key = ? AND stored_id IN ({', '.join('?' * len(chunk))})",  # noqa: S608
            (collection_key, *chunk),
        )
