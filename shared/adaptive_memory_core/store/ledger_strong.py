"""Which records are still strong? Named by an index, so that a recall need not walk past all that has faded."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from adaptive_memory_core.flow.ports import Entry
from adaptive_memory_core.learn.remembrance import Timeline, met
from adaptive_memory_core.store.ledger_rows import insert_state, known_states

_STRONG = """
SELECT stored_id FROM records INDEXED BY records_by_settling
    WHERE user_key = :user AND settled_step >= :step AND coalesce(settled_at, 9e18) >= :at AND strength >= :least
UNION
SELECT stored_id FROM records INDEXED BY records_kept
    WHERE user_key = :user AND (remembered = 1 OR pinned = 1) AND strength >= :least
LIMIT :limit
"""
_ALL_MET = """
UPDATE users SET strangers = max(0, :size - (SELECT rows FROM collections WHERE collection_key = :collection))
WHERE user_key = :user
"""


def strong(sql: sqlite3.Connection, user: int, least: float, since: tuple[int, float], limit: int) -> list[str] | None:
    """The user's records settled since then or kept from decay; None where they are more than `limit`."""
    values = {"user": user, "step": since[0], "at": since[1], "least": least, "limit": limit + 1}
    found = [row[0] for row in sql.execute(_STRONG, values)]
    return found if len(found) <= limit else None


def all_met(sql: sqlite3.Connection, owner: tuple[int, int], size: int) -> bool:
    """Whether every record of the user has a row: no more records are without one than when all were last looked at."""
    collection, user = owner
    rows = sql.execute("SELECT rows FROM collections WHERE collection_key = ?", (collection,)).fetchone()
    known = sql.execute("SELECT strangers FROM users WHERE user_key = ?", (user,)).fetchone()
    return rows is not None and size - rows[0] <= (0 if known is None else known[0])


def meet(sql: sqlite3.Connection, owner: tuple[int, int], entry: Entry, new: Sequence[str], timeline: Timeline) -> None:
    """Give rows to candidates that somebody else wrote; from here on they decay like all others."""
    collection, user = owner
    rows = known_states(sql, collection, user, new)
    for stored_id in new:
        if stored_id not in rows:
            seen = entry.strangers[stored_id]
            begun = met(timeline, seen.state, now=entry.at)
            insert_state(sql, collection, user, stored_id, seen._replace(state=begun))
    if entry.size is not None:
        sql.execute(_ALL_MET, {"size": entry.size, "collection": collection, "user": user})
