"""Copies of the collection's records in the ledger (the mirror): written, and read by id or in pages.

There is one row per record. Vectors are in a separate table, so that a change of metadata does not rewrite the vector.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from adaptive_memory_core.flow.ports.ledger_values import LedgerVersion, MirrorPage, MirrorRow, News, Versions
from adaptive_memory_core.record_metadata import merged_metadata
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.ledger import outbox
from adaptive_memory_core.store.ledger.cached_copies import (
    NOBODY,
    CopiedRow,
    LedgerUserFiles,
    delete_copies,
    news_of,
    read_metadata,
)
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.schema import LedgerPart, decoding
from adaptive_memory_core.store.ledger.state_rows import in_batches, rows_in

RESTORED = "restored"  # `complete_at` if copies are newer than the collection, so it must not overwrite them
EMPTIED = "emptied"  # the same if most records are gone from the collection, unless the caller asks for it
_PUT = (
    "INSERT INTO mirror (collection_key, user_key, stored_id, changed, text, metadata) VALUES (?, ?, ?, ?, ?, ?) "
    "RETURNING row"
)
_NUMBERED = (
    "INSERT INTO mirror_size (collection_key, changes) VALUES (?, 1) "
    "ON CONFLICT (collection_key) DO UPDATE SET changes = mirror_size.changes + 1 RETURNING changes"
)
_DROPPED = (
    "INSERT INTO mirror_size (collection_key, drops) VALUES (?, 1) "
    "ON CONFLICT (collection_key) DO UPDATE SET drops = mirror_size.drops + 1"
)
_OF_IDS = "SELECT {} FROM mirror WHERE collection_key = ? AND stored_id IN ({{}})"
_SINCE = (
    "SELECT row, stored_id, vector FROM mirror LEFT JOIN mirror_vectors USING (row) "
    "WHERE user_key = ? AND row > ? ORDER BY row"
)
_REMOVED = "SELECT gone, row FROM mirror_gone WHERE user_key = ? AND gone > ? ORDER BY gone"
_CHANGED = "SELECT changed, row, text, metadata FROM mirror WHERE user_key = ? AND changed > ? ORDER BY changed"
_STILL_FOLLOWED = (  # words that were up to date remain so
    "UPDATE followed SET words = ? WHERE user_key IN "
    "(SELECT user_key FROM mirror WHERE collection_key = ? AND stored_id IN ({places})) AND words >= coalesce("
    "(SELECT max(changed) FROM mirror WHERE mirror.user_key = followed.user_key AND changed < ?), 0)"
)
_KEEP_COMPLETE = (
    "INSERT INTO mirror_size (collection_key, complete_at) VALUES (?, ?) "
    "ON CONFLICT (collection_key) DO UPDATE SET complete_at = excluded.complete_at"
)


class LedgerMirror(LedgerPart):
    """Copies of the records with their vectors. A removed record leaves no row."""

    def __init__(self, shared: LedgerContext, files: LedgerUserFiles) -> None:
        super().__init__(shared)
        self._files = files

    def put(self, rows: Mapping[Scope | None, Sequence[MirrorRow]], gone: Collection[str] = ()) -> None:
        """Write these rows of each scope (None: records without a scope), replacing earlier rows of these records, and
        delete the rows of the `gone` records."""
        with self._shared.writing() as sql:
            delete_copies(sql, "mirror", self._shared.collection_key, list(gone))
            number = self._next_change(sql)
            for scope, own in rows.items():
                user = NOBODY if scope is None else self._shared.user_key(sql, scope)
                delete_copies(sql, "mirror", self._shared.collection_key, [row.stored_id for row in own])
                for row in own:
                    values = (user, row.stored_id, number, row.text, _written(row.metadata))
                    place = sql.execute(_PUT, (self._shared.collection_key, *values)).fetchone()[0]
                    sql.execute("INSERT INTO mirror_vectors VALUES (?, ?)", (place, row.vector))

    def annotate(self, changes: Mapping[str, Metadata]) -> None:
        """Merge keys into the metadata of the records that have a row; None removes a key. The keys must not affect the
        words of a record."""
        update = "UPDATE mirror SET metadata = ?, changed = ? WHERE collection_key = ? AND stored_id = ?"
        with self._shared.writing(announced=True, unheard=True) as sql:
            number, rows = self._next_change(sql), self._rows(sql, list(changes))
            for stored_id, _, present in rows:
                now = _written(merged_metadata(present, changes[stored_id]))
                sql.later(update, (now, number, self._shared.collection_key, stored_id))
            for chunk in in_batches([row[0] for row in rows]):
                places = ", ".join("?" * len(chunk))
                sql.execute(
                    _STILL_FOLLOWED.format(places=places), (number, self._shared.collection_key, *chunk, number)
                )

    def renew(
        self,
        rows: Mapping[Scope | None, Sequence[MirrorRow]],
        gone: Collection[str],
        before: Versions,
        revised: Mapping[str, Metadata | None] | None = None,
    ) -> list[str]:
        """Write rows that were read from the collection after `before` was read, except rows that changed here in the
        meantime: those are newer and stay. Records in `revised` only get other metadata. Return the ids with newer
        rows."""
        with self._shared.writing() as sql:
            ids = [*gone, *(revised or ()), *(row.stored_id for own in rows.values() for row in own)]
            now = self._versions(sql, ids)
            newer = {one for one in ids if now.drops != before.drops or now.rows.get(one) != before.rows.get(one)}
            kept = newer | outbox.due_among(
                sql, self._shared.collection_key, ids
            )  # the collection is yet to show these
            own = {scope: [row for row in own if row.stored_id not in kept] for scope, own in rows.items()}
            self.put(own, [one for one in gone if one not in kept])
            if revised:
                self._revise(sql, {one: data for one, data in revised.items() if one not in kept})
        return sorted(newer)

    def _revise(self, sql: sqlite3.Connection, metadata: Mapping[str, Metadata | None]) -> None:
        number = self._next_change(sql)
        for stored_id, data in metadata.items():
            values = (_written(data), number, self._shared.collection_key, stored_id)
            sql.execute(
                "UPDATE mirror SET metadata = ?, changed = ? WHERE collection_key = ? AND stored_id = ?", values
            )

    def versions(self, stored_ids: Sequence[str]) -> Versions:
        """The present state of these records' rows."""
        with self._shared.reading() as sql:
            return self._versions(sql, stored_ids)

    def drop(self, stored_ids: Sequence[str]) -> None:
        """Delete the rows of these records, if there are any."""
        with self._shared.writing() as sql:
            delete_copies(sql, "mirror", self._shared.collection_key, stored_ids)
            sql.execute(_DROPPED, (self._shared.collection_key,))
        self._shared.file.afterwards(self._files.sweep)

    def size(self) -> int:
        """The number of records that have a row."""
        found: int | None = self._note("records")
        return found or 0

    def stored_ids(self) -> set[str]:
        """The ids of all records that have a row."""
        query = "SELECT stored_id FROM mirror WHERE collection_key = ?"
        with self._shared.apart() as sql:
            return {row[0] for row in sql.execute(query, (self._shared.collection_key,))}

    def rows(self, stored_ids: Sequence[str]) -> list[CopiedRow]:
        """The id, text and metadata of the records that have a row, for any user."""
        with self._shared.reading() as sql:
            return self._rows(sql, stored_ids)

    def vectors(self, stored_ids: Sequence[str]) -> dict[str, bytes]:
        """The vectors of these records, by id."""
        query = (
            "SELECT stored_id, vector FROM mirror JOIN mirror_vectors USING (row) "
            "WHERE collection_key = ? AND stored_id IN ({})"
        )
        with self._shared.reading() as sql:
            return dict(rows_in(sql, query, stored_ids, (self._shared.collection_key,)))

    def version(self, scope: Scope) -> LedgerVersion:
        """The ledger's present version."""
        return self._shared.version(scope)

    def news(self, scope: Scope, written: int, removed: int) -> News:
        """The user's rows after the one numbered `written`, and the removals after the one numbered `removed`."""
        return news_of(self._shared, scope, (_SINCE, _REMOVED), written, removed)

    def changed(self, scope: Scope, since: int, most: int) -> list[CopiedRow]:
        """At most so many of the user's rows that changed after the change numbered `since`."""
        query = "SELECT row, stored_id, text, metadata FROM mirror WHERE user_key = ? AND changed > ? LIMIT ?"
        return list(_rows(self._all(query, scope, since, most)))

    def changes(self, scope: Scope, since: int) -> list[tuple[int, int, str | None, Metadata | None]]:
        """The user's rows that changed after the change numbered `since`: number of the change, row, text, metadata."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            found = sql.execute(_CHANGED, (user, since)).fetchall() if user != NOBODY else []
        with decoding("a record's metadata"):
            return [(*one, None if data is None else orjson.loads(data)) for *one, data in found]

    def complete_at(self) -> str | None:
        """The state of the collection when all rows were last compared with it."""
        found: str | None = self._note("complete_at")
        return found

    def keep_complete_at(self, state: str | None) -> None:
        """Note that all rows were compared with the collection in this state; None if they must be compared again."""
        with self._shared.writing(announced=True) as sql:
            sql.execute(_KEEP_COMPLETE, (self._shared.collection_key, state))

    def _note(self, name: str) -> Any:
        query = f"SELECT {name} FROM mirror_size WHERE collection_key = ?"  # noqa: S608 - our own names
        return self._value(query, self._shared.collection_key)

    def _next_change(self, sql: sqlite3.Connection) -> int:
        return int(sql.execute(_NUMBERED, (self._shared.collection_key,)).fetchone()[0])

    def _versions(self, sql: sqlite3.Connection, stored_ids: Sequence[str]) -> Versions:
        own = self._shared.collection_key
        row = sql.execute("SELECT drops FROM mirror_size WHERE collection_key = ?", (own,)).fetchone()
        found = dict(rows_in(sql, _OF_IDS.format("stored_id, changed"), stored_ids, (own,)))
        return Versions(0 if row is None else row[0], found)

    def _rows(self, sql: sqlite3.Connection, stored_ids: Sequence[str]) -> list[CopiedRow]:
        rows = rows_in(sql, _OF_IDS.format("stored_id, text, metadata"), stored_ids, (self._shared.collection_key,))
        with decoding("a record's metadata"):
            return [(one, text, None if data is None else orjson.loads(data)) for one, text, data in rows]


def _written(metadata: Metadata | None) -> str | None:
    return None if metadata is None else orjson.dumps(dict(metadata)).decode()


_PAGE = "SELECT row, stored_id, text, metadata FROM mirror WHERE user_key = ? AND row > ? ORDER BY row LIMIT ?"
_SIZE = "SELECT changes, records FROM mirror_size WHERE collection_key = ?"
_NAMED = (
    "SELECT 1 FROM users WHERE collection_key = ? AND name <> '' "
    "AND EXISTS (SELECT 1 FROM mirror WHERE mirror.user_key = users.user_key) "
    "UNION ALL SELECT 1 FROM mirror WHERE user_key = ? AND collection_key = ? LIMIT 1"
)
_LATEST = "SELECT stored_id FROM mirror WHERE collection_key = ? ORDER BY row DESC LIMIT ?"


class LedgerMirrorPages(LedgerPart):
    """Queries of the mirror other than by id."""

    def __init__(self, shared: LedgerContext) -> None:
        super().__init__(shared)
        self._named: tuple[Hashable, bool] = (None, False)  # whether any record names a user, as of a change

    def names_users(self) -> bool | None:
        """Whether any record names a user, even an invalid one; None if there are no records, or if the rows of other
        users are hidden. The answer is cached until a row changes."""
        own = self._shared.collection_key
        if self._shared.sees_one_user:
            return None
        with self._shared.reading() as sql:
            changes, records = sql.execute(_SIZE, (own,)).fetchone() or (0, 0)
            if not records:
                return None
            if self._named[0] == (own, changes) and not sql.in_transaction:  # which may yet be undone
                return self._named[1]
            named = sql.execute(_NAMED, (own, NOBODY, own)).fetchone() is not None
            if not sql.in_transaction:
                self._named = (own, changes), named
        return named

    def page(self, scope: Scope, after: int, limit: int) -> MirrorPage:
        """The scope's records after this row, in the order of writing, and the row of the last one."""
        found = self._all(_PAGE, scope, after, limit)
        return MirrorPage(found[-1][0] if found else after, list(_rows(found)))

    def count(self, scope: Scope) -> int:
        """The number of records of the scope."""
        query = "SELECT count(*) FROM mirror WHERE user_key = ?"
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return 0 if user == NOBODY else int(sql.execute(query, (user,)).fetchone()[0])

    def mentioning(self, scope: Scope, fragments: Sequence[str]) -> list[CopiedRow]:
        """The scope's records whose metadata, as JSON, contain one of these fragments."""
        either = " OR ".join("instr(metadata, ?) > 0" for _ in fragments)
        query = (
            "SELECT row, stored_id, text, metadata FROM mirror "  # noqa: S608 - our own words
            f"WHERE user_key = ? AND ({either}) ORDER BY row"
        )
        found = self._all(query, scope, *fragments)
        return list(_rows(found))

    def latest(self, most: int) -> list[str]:
        """The ids of the records of any user that were written last, in order of writing."""
        found = self._all(_LATEST, self._shared.collection_key, most)
        return [row[0] for row in reversed(found)]


def _rows(found: Iterable[tuple[int, str, str | None, str | None]]) -> Iterator[CopiedRow]:
    return ((stored_id, text, read_metadata(metadata)) for _, stored_id, text, metadata in found)
