"""The words of records in the ledger: one row per record, in the order of writing, deleted with the record."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence

from adaptive_memory_core.flow.ports.ledger_values import LedgerVersion, News, WordRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.cached_copies import NOBODY, CopiedRow, delete_copies, news_of, read_metadata
from adaptive_memory_core.store.ledger.schema import LedgerPart
from adaptive_memory_core.store.ledger.state_rows import rows_in

_PUT = (
    "INSERT INTO words "
    "(collection_key, user_key, stored_id, digest, length, terms, speaker, session, place, speaker_from) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SINCE = (
    "SELECT row, stored_id, digest, length, terms, speaker, session, place, speaker_from FROM words "
    "WHERE user_key = ? AND row > ? ORDER BY row"
)
_AT = "coalesce((SELECT words FROM followed WHERE followed.user_key = ?), 0)"
_BEHIND = (
    "SELECT count(*) FROM (SELECT 1 FROM mirror "  # noqa: S608 - our own words
    f"WHERE user_key = ? AND changed > {_AT} LIMIT ?) AS behind"
)
_PAGE_END = (  # rows with the same number are on the same page
    "SELECT max(changed) FROM (SELECT changed FROM mirror "  # noqa: S608
    f"WHERE user_key = ? AND changed > {_AT} ORDER BY changed LIMIT ?) AS page"
)
_CHANGED = (
    "SELECT stored_id, text, metadata FROM mirror "  # noqa: S608
    f"WHERE user_key = ? AND changed > {_AT} AND changed <= ? ORDER BY changed, row"
)
_FOLLOWED = (
    "INSERT INTO followed (user_key, words) VALUES (?, ?) ON CONFLICT (user_key) DO UPDATE SET words = excluded.words"
)
_USERS_BEHIND = (
    "SELECT name FROM users WHERE collection_key = ? AND EXISTS (SELECT 1 FROM mirror "
    "WHERE mirror.user_key = users.user_key AND changed > "
    "coalesce((SELECT words FROM followed WHERE followed.user_key = users.user_key), 0))"
)
_REMOVED = "SELECT gone, row FROM words_gone WHERE user_key = ? AND gone > ? ORDER BY gone"


RowsOf = Callable[[Sequence[CopiedRow], Mapping[str, bytes]], list[WordRow]]


class LedgerWords(LedgerPart):
    """The words of each record as rows, which follow the mirror. A removed record leaves no row."""

    def behind(self, scope: Scope, most: int) -> int:
        """How many of the user's records have changed since their words were read, counted up to `most`."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return 0 if user == NOBODY else int(sql.execute(_BEHIND, (user, user, most)).fetchone()[0])

    def users_behind(self) -> list[Scope]:
        """The users with records that have changed since their words were read."""
        found = self._all(_USERS_BEHIND, self._shared.collection_key)
        return [Scope(row[0] or None) for row in found]

    def follow(self, scope: Scope, rows_of: RowsOf, most: int) -> bool:
        """Write the words of about `most` changed records; return whether there may be more. `rows_of` gets the records
        and the digests of the stored words."""
        with self._shared.writing() as sql:
            user = self._shared.known_user(sql, scope)
            last = None if user == NOBODY else sql.execute(_PAGE_END, (user, user, most)).fetchone()[0]
            if last is None:
                return False
            found = sql.execute(_CHANGED, (user, user, last)).fetchall()
            rows = [(one, text, read_metadata(metadata)) for one, text, metadata in found]
            new = rows_of(rows, self._marks(sql, [row[0] for row in rows]))
            delete_copies(sql, "words", self._shared.collection_key, [row[0] for row in new])
            sql.executemany(_PUT, [(self._shared.collection_key, user, *row) for row in new])
            sql.execute(_FOLLOWED, (user, last))
            return len(found) >= most

    def _marks(self, sql: sqlite3.Connection, stored_ids: Sequence[str]) -> dict[str, bytes]:
        """The digests of the stored words of these records, by id."""
        query = "SELECT stored_id, digest FROM words WHERE collection_key = ? AND stored_id IN ({})"
        return dict(rows_in(sql, query, stored_ids, (self._shared.collection_key,)))

    def stored_ids(self) -> set[str]:
        """The ids of all records that have a row."""
        query = "SELECT stored_id FROM words WHERE collection_key = ?"
        with self._shared.apart() as sql:
            return {row[0] for row in sql.execute(query, (self._shared.collection_key,))}

    def version(self, scope: Scope, known: LedgerVersion | None = None) -> LedgerVersion:
        """The ledger's present version, or `known` if this memory has not written since."""
        return self._shared.version(scope, known)

    def news(self, scope: Scope, written: int, removed: int) -> News:
        """The user's rows after the one numbered `written`, and the removals after the one numbered `removed`."""
        return news_of(self._shared, scope, (_SINCE, _REMOVED), written, removed)
