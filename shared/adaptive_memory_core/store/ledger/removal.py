"""How do faded records leave the ledger? In one transaction with their removal: no read can come in between."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from adaptive_memory_core.flow.ports import Doomed, Row
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.records import Scope, Seen
from adaptive_memory_core.store.ledger import audit
from adaptive_memory_core.store.ledger import state_rows as rows

_UNKEPT = (
    f"SELECT record_key, stored_id, kind, {rows.LIST} FROM records "  # noqa: S608 - our own names
    "WHERE user_key = ? AND record_key > ? AND remembered = 0 AND pinned = 0 ORDER BY record_key LIMIT ?"
)


def unkept(sql: sqlite3.Connection, user: int, after: int, limit: int) -> list[Row]:
    """A page of the user's records that nothing holds on to."""
    found = sql.execute(_UNKEPT, (user, after, limit))
    return [Row(key, stored_id, Seen(rows.state_of(state), kind)) for key, stored_id, kind, *state in found]


def still_doomed(
    sql: sqlite3.Connection, user: int, stored_ids: Sequence[str], doomed: Doomed, timeline: Timeline
) -> dict[str, int]:
    """Those of the records that are to go as they stand in this transaction, with their keys."""
    found: dict[str, int] = {}
    for chunk in rows.chunks(stored_ids):
        query = (
            f"SELECT record_key, stored_id, kind, {rows.LIST} FROM records "  # noqa: S608 - our own names
            f"WHERE user_key = ? AND stored_id IN ({', '.join('?' * len(chunk))})"
        )
        found |= {
            stored_id: key
            for key, stored_id, kind, *state in sql.execute(query, (user, *chunk))
            if doomed(Seen(rows.state_of(state), kind), timeline=timeline)
        }
    return found


def delete(
    sql: sqlite3.Connection, user: int, scope: Scope, gone: dict[str, int], *, step: int, by: str, now: float
) -> None:
    """Remove their rows, and write down that they were pruned; a recall under way must not write them back."""
    for stored_id, key in gone.items():
        for table in ("verdicts", "outbox", "records"):
            sql.execute(f"DELETE FROM {table} WHERE record_key = ?", (key,))  # noqa: S608 - our own names
        sql.execute(
            "INSERT OR REPLACE INTO erased VALUES (?, ?, ?)", (user, rows.digest(record_id(scope, stored_id)), now)
        )
        audit.note(sql, user, stored_id, step, "pruned", by, at=now)
