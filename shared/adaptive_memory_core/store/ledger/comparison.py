"""How does the ledger compare with the collection? Numbers of records, latest reads, and twins."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from adaptive_memory_core.flow.ports.ledger_values import JoinStates
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import graph_removal, mirror_rows, readers, word_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.state_rows import StateRow

_KNOWN = """
SELECT count(*) FILTER (WHERE collection_key = :own AND NOT EXISTS (
    SELECT 1 FROM mirror_size WHERE collection_key = :own AND complete_at IS NOT NULL AND changes = 0
)), count(*) FILTER (WHERE collection_key != :own)
FROM records JOIN collections USING (collection_key) WHERE (name = :name OR collection_key = :own) AND reader = 0
"""


class LedgerComparison:
    """What is asked on opening, by a check, and by a repair."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def records_known(self, name: str) -> tuple[int, int]:
        """How many records of this collection were met, and of earlier ones of that name, which are others. Where the
        mirror is complete and never had one, those of this collection were on their way, and have not arrived."""
        with self._shared.reading() as sql:
            own, earlier = sql.execute(_KNOWN, {"own": self._shared.collection_key, "name": name}).fetchone()
        return own, earlier

    def latest_read(self) -> float | None:
        """When a record of this collection was last read, as far as the ledger knows."""
        query = "SELECT max(last_read) FROM records WHERE collection_key = ? AND reader = 0"
        with self._shared.reading() as sql:
            found: float | None = sql.execute(query, (self._shared.collection_key,)).fetchone()[0]
        return found

    def met(self, stored_ids: Sequence[str]) -> list[str]:
        """Those of the records that have a state here, whosever they are."""
        query = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0"
        with self._shared.reading() as sql:
            return [one for one in stored_ids if sql.execute(query, (self._shared.collection_key, one)).fetchone()]

    def merge(self, scope: Scope, kept: str, gone: str, join: JoinStates | None) -> None:
        """The state of one record goes into that of another, with its verdicts and its audit trail; without `join` it
        goes altogether."""
        shared = self._shared
        with shared.writing() as sql:
            user = shared.known_user(sql, scope)
            known = rows.known_states(sql, shared.collection_key, user, [kept, gone])
            if gone in known and kept in known and join is not None:
                _join(sql, known[kept], known[gone], join)
            elif gone in known and join is not None:
                query = "UPDATE records SET stored_id = ?, version = version + 1 WHERE record_key = ?"
                sql.execute(query, (kept, known[gone].key))
                rows.announce(sql, [known[gone].key])
            elif gone in known:
                rows.remove(sql, [known[gone].key])
            sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (kept, user, gone))
            if scope.user is None:
                readers.follow(sql, shared.collection_key, gone, kept)
            for copies in (word_rows, graph_removal, mirror_rows):
                copies.drop(sql, shared.collection_key, [gone])
            shared.cache.drop([kept, gone])


def _join(sql: sqlite3.Connection, kept: StateRow, gone: StateRow, join: JoinStates) -> None:
    for table in ("verdicts", "judged_for"):
        sql.execute(
            f"UPDATE {table} SET record_key = ? WHERE record_key = ? "  # noqa: S608 - our own names
            f"AND recall_id NOT IN (SELECT recall_id FROM {table} WHERE record_key = ?)",
            (kept.key, gone.key, kept.key),
        )
    rows.remove(sql, [gone.key])
    rows.update_states(sql, [(kept.key, join(kept.state, gone.state))])
