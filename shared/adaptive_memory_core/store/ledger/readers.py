"""What do users make of records that are everyone's? Rows of their own, apart from the record's; they go with it.

A reader's row (`reader = 1`) is never written back into the collection, and no other user is told of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from adaptive_memory_core.flow.ports.ledger_values import Erased
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import recall_rows, state_rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.parted_rows import apart, name_apart
from adaptive_memory_core.store.ledger.recall_rows import NOTHING_RECKONED, Reckoned

_ROWS = "SELECT record_key, user_key FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 1"
_LOGS = (  # of users whose lines name the id
    "SELECT user_key FROM users CROSS JOIN logged_ids USING (user_key) "
    "WHERE collection_key = ? AND name != '' AND id = ?"
)
_OWNED = "SELECT 1 FROM records WHERE collection_key = ? AND user_key = ? AND reader = 0 AND stored_id IN (?, ?)"


def read_by(scope: Scope) -> str:
    """The condition for a user's rows: what is their own, and over everyone's records, what they made of those.

    >>> read_by(Scope("ana")), read_by(Scope("ana", over="everyone"))
    ('reader = 0', 'reader <= 1')
    """
    return "reader = 0" if scope.over is None else "reader <= 1"


def drop(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> int:
    """Remove all readers' rows of these records, with their verdicts; gives how many verdicts went."""
    places = [place for one in stored_ids for place in (one, name_apart(one))]
    rows = [row for one in places for row in sql.execute(_ROWS, (collection, one)).fetchall()]
    return state_rows.remove(sql, [key for key, _ in rows]) if rows else 0


def logs_naming(sql: sqlite3.Connection, shared: LedgerContext, record: str) -> list[int]:
    """The users whose lines of the log name a record."""
    return [row[0] for row in sql.execute(_LOGS, (shared.collection_key, record))]


def forget(
    sql: sqlite3.Connection,
    shared: LedgerContext,
    record: str,
    stored_id: str,
    reckoned: Reckoned,
) -> bool:
    """Remove every trace that readers have of a record of everyone's: rows, verdicts, audit trail, lines of the log.
    Whether there was any; of how many readers is not told."""
    collection = shared.collection_key
    found = sql.execute(_ROWS, (collection, stored_id)).fetchall()
    for _, user in found:
        sql.execute("DELETE FROM changes WHERE user_key = ? AND stored_id = ?", (user, stored_id))
    drop(sql, collection, [stored_id])
    struck = sum(_strike_out(sql, shared, user, record, reckoned) for user in logs_naming(sql, shared, record))
    return bool(found or struck)


def read_ones(sql: sqlite3.Connection, user: int) -> list[str]:
    """The records of everyone's that a user has made something of."""
    found = sql.execute("SELECT stored_id FROM records WHERE user_key = ? AND reader = 1", (user,))
    return [row[0] for row in found]


def drop_apart(sql: sqlite3.Connection, user: int) -> None:
    """Remove what was set aside of what a user made of everyone's records."""
    found = sql.execute("SELECT record_key FROM records WHERE user_key = ? AND reader = 1", (apart(user),)).fetchall()
    state_rows.remove(sql, [row[0] for row in found])


def forget_learned(sql: sqlite3.Connection, shared: LedgerContext, user: int, record: str, stored_id: str) -> Erased:
    """Remove what one reader has made of a record of everyone's, which stays."""
    query = f"{_ROWS} AND user_key = ?"
    found = sql.execute(query, (shared.collection_key, stored_id, user)).fetchall()
    found += sql.execute(query, (shared.collection_key, name_apart(stored_id), apart(user))).fetchall()
    verdicts = state_rows.remove(sql, [key for key, _ in found])
    sql.execute("DELETE FROM changes WHERE user_key = ? AND stored_id = ?", (user, stored_id))
    shared.cache.drop([stored_id])
    return Erased(bool(found), _strike_out(sql, shared, user, record), verdicts)


def forget_recalls(sql: sqlite3.Connection, user: int) -> None:
    """Remove a user's lines of the log of recalls over everyone's records."""
    sql.execute("DELETE FROM recalls WHERE user_key = ? AND over IS NOT NULL", (user,))


def _strike_out(
    sql: sqlite3.Connection,
    shared: LedgerContext,
    user: int,
    record: str,
    reckoned: Reckoned = NOTHING_RECKONED,
) -> int:
    """Out of a user's lines, unless those are of the user's own record of that id; gives how many named it."""
    name = sql.execute("SELECT name FROM users WHERE user_key = ?", (user,)).fetchone()
    own = "" if name is None else scoped_id(Scope(name[0] or None), record)
    if sql.execute(_OWNED, (shared.collection_key, user, record, own)).fetchone() is not None:
        return 0
    shared.cache.logged_ids.pop((user, record), None)
    return recall_rows.strike_out(sql, user, record, reckoned)


def follow(sql: sqlite3.Connection, collection: int, gone: str, kept: str) -> None:
    """Two records of everyone's are one from here on: readers keep what they made of the one that stays, else of the
    one that goes."""
    sql.execute(
        "UPDATE records SET stored_id = ? WHERE collection_key = ? AND stored_id = ? AND reader = 1 "
        "AND user_key NOT IN (SELECT user_key FROM records WHERE collection_key = ? AND stored_id = ? AND reader = 1)",
        (kept, collection, gone, collection, kept),
    )
    drop(sql, collection, [gone])
