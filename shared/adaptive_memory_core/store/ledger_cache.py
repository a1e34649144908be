"""Which states need not be read again? Those seen since another connection last wrote, which SQLite can tell."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from adaptive_memory_core.records import ReadState
from adaptive_memory_core.store.ledger_rows import known_states

Known = tuple[int, ReadState] | None
MOST = 200_000  # states kept


class StateCache:
    """Rows of the table `records` in RAM. Used under the ledger's lock only, so it is never behind the file.

    Our own writes are put in as they happen, and a failed transaction empties it; `data_version` changes with every
    commit of any other connection, and that empties it too.
    """

    def __init__(self) -> None:
        self._rows: dict[str, tuple[int, Known]] = {}  # a record has one owner at a time, so an entry names it
        self._version = -1

    def load(
        self, sql: sqlite3.Connection, collection_key: int, user: int, stored_ids: Sequence[str]
    ) -> dict[str, tuple[int, ReadState]]:
        """Row key and state of those records that have a row of this user."""
        self._notice_others(sql)
        rows = self._rows
        missing = [one for one in stored_ids if one not in rows or rows[one][0] != user]
        if missing:
            found = known_states(sql, collection_key, user, missing)
            rows.update({one: (user, found.get(one)) for one in missing})
        known = {one: rows[one][1] for one in stored_ids}
        return {one: row for one, row in known.items() if row is not None}

    def put(self, user: int, states: Mapping[str, tuple[int, ReadState]]) -> None:
        """These are the states now."""
        self._rows.update({stored_id: (user, row) for stored_id, row in states.items()})

    def drop(self, stored_ids: Sequence[str]) -> None:
        """These are no longer known."""
        for stored_id in stored_ids:
            self._rows.pop(stored_id, None)

    def clear(self) -> None:
        self._rows.clear()

    def _notice_others(self, sql: sqlite3.Connection) -> None:
        version = sql.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version or len(self._rows) > MOST:
            self._rows.clear()
            self._version = version
