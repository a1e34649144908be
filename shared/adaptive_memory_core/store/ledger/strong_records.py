"""Which records are still strong? Found by an index, so that a recall need not walk past all faded ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from adaptive_memory_core.flow.ports import Extent
from adaptive_memory_core.learn.decay.strength import Timeline, met
from adaptive_memory_core.records import Seen
from adaptive_memory_core.store.ledger.state_rows import insert_states, known_states

_STRONG = """
SELECT stored_id FROM records INDEXED BY records_by_settling
    WHERE user_key = :user AND settled_step >= :step AND coalesce(settled_at, 9e18) >= :at AND strength >= :least
        AND reader = 0
UNION
SELECT stored_id FROM records INDEXED BY records_kept
    WHERE user_key = :user AND (remembered = 1 OR pinned = 1) AND strength >= :least AND reader = 0
LIMIT :limit
"""


def strong(sql: sqlite3.Connection, user: int, least: float, since: tuple[int, float], limit: int) -> list[str] | None:
    """The user's records settled since then or kept from decay; None where they are more than `limit`."""
    values = {"user": user, "step": since[0], "at": since[1], "least": least, "limit": limit + 1}
    found = [row[0] for row in sql.execute(_STRONG, values)]
    return found if len(found) <= limit else None


def all_met(sql: sqlite3.Connection, owner: tuple[int, int], extent: Extent) -> bool:
    """Whether every record of the user has a row: nobody else has written into the collection since all were looked at.

    As many records of others have arrived as then (those without a row, and those that were given one), and the last
    record of all is known. What escapes this: deleting some, adding as many, and a record of ours after them.
    """
    collection, user = owner
    known = sql.execute("SELECT arrived, last_id FROM users WHERE user_key = ?", (user,)).fetchone() or (0, None)
    if known[0] != _arrived(sql, collection, extent):
        return False
    query = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 0"
    return extent.last in (None, known[1]) or sql.execute(query, (collection, extent.last)).fetchone() is not None


def note_all_met(sql: sqlite3.Connection, owner: tuple[int, int], extent: Extent | None) -> None:
    """All records of the user were looked at, in a collection of this extent."""
    if extent is not None:
        collection, user = owner
        values = (_arrived(sql, collection, extent), extent.last, user)
        sql.execute("UPDATE users SET arrived = ?, last_id = ? WHERE user_key = ?", values)


def meet(
    sql: sqlite3.Connection, owner: tuple[int, int], new: Mapping[str, Seen], timeline: Timeline, *, now: float
) -> None:
    """Give rows to records that somebody else wrote; from here on they decay like all others."""
    collection, user = owner
    reading = any(seen.shared for seen in new.values())
    rows = known_states(sql, collection, user, list(new), reading=reading)
    unmet = {stored_id: seen for stored_id, seen in new.items() if stored_id not in rows}
    begun = {one: seen._replace(state=met(timeline, seen.state, now=now)) for one, seen in unmet.items()}
    insert_states(sql, collection, user, begun)


def _arrived(sql: sqlite3.Connection, collection: int, extent: Extent) -> int:
    """How many records of others have come into the collection, by what it holds and what the ledger has met."""
    row = sql.execute("SELECT rows, met FROM collections WHERE collection_key = ?", (collection,)).fetchone() or (0, 0)
    return extent.size - int(row[0]) + int(row[1])
