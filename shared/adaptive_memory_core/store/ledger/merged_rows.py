"""How do two rows of one memory become one? States joined by a rule, verdicts and audit trail moved, at once."""

from __future__ import annotations

from collections.abc import Callable

from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.words import rows as word_rows

Join = Callable[[ReadState, ReadState], ReadState]


def merge(ledger: SQLiteLedger, scope: Scope, kept: str, gone: str, join: Join, remove: Callable[[], object]) -> None:
    """The row of `gone` goes into that of `kept`; `remove` takes the record itself away, before this is kept."""
    with ledger.file.writing() as sql:
        user = ledger._known_user(sql, scope)
        known = rows.known_states(sql, ledger.collection_key, user, [kept, gone])
        if gone in known and kept in known:
            (into, state), (old, other) = known[kept], known[gone]
            sql.execute("UPDATE OR IGNORE verdicts SET record_key = ? WHERE record_key = ?", (into, old))
            for table in ("verdicts", "outbox", "records"):
                sql.execute(f"DELETE FROM {table} WHERE record_key = ?", (old,))  # noqa: S608 - our own names
            rows.update_states(sql, [(into, join(state, other))])
        elif gone in known:
            query = "UPDATE records SET stored_id = ?, version = version + 1 WHERE record_key = ?"
            sql.execute(query, (kept, known[gone][0]))
            rows.announce(sql, [known[gone][0]])
        sql.execute("UPDATE changes SET stored_id = ? WHERE user_key = ? AND stored_id = ?", (kept, user, gone))
        word_rows.drop(sql, ledger.collection_key, [gone])
        ledger._cache.drop([kept, gone])
        remove()
