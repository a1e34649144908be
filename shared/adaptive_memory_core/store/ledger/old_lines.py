"""Which lines of the log are too old to stay? They are deleted in small transactions, so that nobody waits for long."""

from __future__ import annotations

import sqlite3

from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.purge import mark

TRIM_BATCH = 500


class OldLines:
    """The lines of one table, or what takes its place."""

    def __init__(self, shared: LedgerContext, table: str = "recalls") -> None:
        self._shared, self._table = shared, table

    def make(self, *, now: float) -> None:
        """Prepare for the lines to come; where they all go into one table, there is nothing to do."""

    def is_due(self, sql: sqlite3.Connection, before: float) -> bool:
        """Whether there are lines from before then."""
        query = f"SELECT EXISTS (SELECT 1 FROM {self._table} WHERE at < ?)"  # noqa: S608 - our own names
        return bool(sql.execute(query, (before,)).fetchone()[0])

    def delete(self, before: float) -> int:
        """Let go of them; gives how many they were."""
        return delete(self._shared, "at < ?", (before,), self._table)


def delete(shared: LedgerContext, condition: str, values: tuple[float, ...], table: str = "recalls") -> int:
    """Let go of the lines of which the condition holds."""
    statement = (
        f"DELETE FROM {table} WHERE recall_key IN "  # noqa: S608 - the condition is one of ours
        f"(SELECT recall_key FROM {table} WHERE {condition} LIMIT {TRIM_BATCH})"
    )
    gone = 0
    while True:
        with shared.writing() as sql:
            batch = sql.execute(statement, values).rowcount
            if batch:
                mark(sql, "expired")
        gone += batch
        if batch < TRIM_BATCH:
            return gone
