"""Which records has the collection yet to show? A list of their ids; what they are stands in the mirror."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from adaptive_memory_core.flow.ports.ledger_values import DueRecord
from adaptive_memory_core.store.ledger import state_rows
from adaptive_memory_core.store.ledger.context import LedgerContext

_UNMARK = "DELETE FROM due_records WHERE collection_key = ? AND stored_id = ?"  # it gets another number
_MARK = "INSERT INTO due_records (collection_key, stored_id, gone) VALUES (?, ?, ?)"
_FIRST = "SELECT number, stored_id, gone FROM due_records WHERE collection_key = ? ORDER BY number LIMIT ?"
_KEY = "SELECT record_key FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0"


class LedgerDueRecords:
    """What the process that holds the collection is to do for the others."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def mark(self, stored_ids: Sequence[str], *, gone: bool) -> None:
        """These are to be written as the mirror has them, or to be removed."""
        with self._shared.writing(told=True) as sql:
            own = self._shared.collection_key
            once = list(dict.fromkeys(stored_ids))
            sql.executemany(_UNMARK, [(own, one) for one in once])
            sql.executemany(_MARK, [(own, one, int(gone)) for one in once])

    def first(self, limit: int) -> list[DueRecord]:
        """Those that have waited longest."""
        with self._shared.reading() as sql:
            found = sql.execute(_FIRST, (self._shared.collection_key, limit)).fetchall()
        return [DueRecord(number, stored_id, gone == 1) for number, stored_id, gone in found]

    def settle(self, done: Sequence[DueRecord]) -> None:
        """The collection shows these; those that changed since stay. Their read states are due from here on: others
        may have been written back in between."""
        with self._shared.writing(told=True) as sql:
            sql.executemany("DELETE FROM due_records WHERE number = ?", [(one.number,) for one in done])
            state_rows.announce(sql, self._keys(sql, [one.stored_id for one in done if not one.gone]))

    def among(self, stored_ids: Collection[str]) -> set[str]:
        """Those of the records that are due."""
        with self._shared.reading() as sql:
            return among(sql, self._shared.collection_key, stored_ids)

    def waiting(self) -> int:
        """How many are due."""
        query = "SELECT count(*) FROM due_records WHERE collection_key = ?"
        with self._shared.reading() as sql:
            return int(sql.execute(query, (self._shared.collection_key,)).fetchone()[0])

    def _keys(self, sql: sqlite3.Connection, stored_ids: Sequence[str]) -> list[int]:
        found = (sql.execute(_KEY, (self._shared.collection_key, one)).fetchone() for one in stored_ids)
        return [row[0] for row in found if row is not None]


def among(sql: sqlite3.Connection, collection_key: int, stored_ids: Collection[str]) -> set[str]:
    """Those of the records that are due, within somebody else's transaction."""
    found: set[str] = set()
    for chunk in state_rows.chunks(list(stored_ids)):
        query = (
            "SELECT stored_id FROM due_records "  # noqa: S608 - our own names
            f"WHERE collection_key = ? AND stored_id IN ({', '.join('?' * len(chunk))})"
        )
        found.update(row[0] for row in sql.execute(query, (collection_key, *chunk)))
    return found
