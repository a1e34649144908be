"""How do two rows of one memory become one? States joined by a rule, verdicts and audit trail moved, at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.words import rows as word_rows

Join = Callable[[ReadState, ReadState], ReadState]


def merge(
    ledger: SQLiteLedger, scope: Scope, kept: str, gone: str, join: Join | None, remove: Callable[[], object]
) -> None:
    """The row of `gone` goes into that of `kept`, or goes altogether where nothing joins them; `remove` takes the
    record itself away, before this is kept."""
    with ledger.file.writing() as sql:
        user = ledger._known_user(sql, scope)
        known = rows.known_states(sql, ledger.collection_key, user, [kept, gone])
        if join is None and gone in known:
            _delete(sql, known[gone][0])
        elif gone in known and kept in known:
            (into, state), (old, other) = known[kept], known[gone]
            sql.execute("UPDATE OR IGNORE verdicts SET record_key = ? WHERE record_key = ?", (into, old))
            _delete(sql, old)
            rows.update_states(sql, [(into, join(state, other))] if join is not None else [])
        elif gone in known:
            query = "UPDATE records SET stored_id = ?, version = version + 1 WHERE record_key = ?"
            sql.execute(query, (kept, known[gone][0]))
            rows.announce(sql, [known[gone][0]])
        sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (kept, user, gone))
        word_rows.drop(sql, ledger.collection_key, [gone])
        ledger._cache.drop([kept, gone])
        remove()


def _delete(sql: sqlite3.Connection, record_key: int) -> None:
    for table in ("verdicts", "outbox", "records"):
        sql.execute(f"DELETE FROM {table} WHERE record_key = ?", (record_key,))  # noqa: S608 - our own names
