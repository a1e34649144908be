"""Which rows of the ledger are unused? Policies and ids that no line of the log names, and rows of gone collections."""

from __future__ import annotations

import sqlite3

from adaptive_memory_core.store.ledger import graph_removal, hierarchy_removal, logged_ids, removals
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.packed_candidates import keys_in
from adaptive_memory_core.store.ledger.purge import mark

ALL = 2**62
PAGE = 2_000  # lines that are looked through at a time
_LINES = "SELECT recall_key, candidates FROM recalls WHERE recall_key > ? ORDER BY recall_key LIMIT ?"
_OF_USERS = ("recalls", "samples", "spans", "turns", "changes", "erased", "floors", "logged_ids", "user_files")
_OF_RECORDS = ("verdicts", "outbox")
_OF_COLLECTIONS = (
    *("records", "words", "words_size", "due_records", "guests", "mirror", "mirror_size"),
    *("reembedding", "new_vectors", "new_places"),
)


def sweep(shared: LedgerContext) -> None:
    """Let go of policies and ids that no line names. Lines are looked through page by page: nobody waits for long."""
    with shared.reading() as sql:
        known = {row[0] for row in sql.execute("SELECT id_key FROM logged_ids")}
    used, last = set[int](), 0
    while True:
        with shared.reading() as sql:
            lines = sql.execute(_LINES, (last, PAGE)).fetchall()
        if len(lines) < PAGE:
            break
        used.update(*(keys_in(line) for _, line in lines))
        last = lines[-1][0]
    with shared.writing() as sql:
        used.update(*(keys_in(line) for _, line in sql.execute(_LINES, (last, ALL))))
        logged_ids.forget(sql, known - used)
        sql.execute("DELETE FROM policies WHERE policy_hash NOT IN (SELECT policy_hash FROM recalls)")
        mark(sql, "expired")
        shared.cache.clear()


def drop_collection(sql: sqlite3.Connection, collection: int) -> None:
    """Remove every row of a collection and of its users."""
    users = "SELECT user_key FROM users WHERE collection_key = ?"
    records = "SELECT record_key FROM records WHERE collection_key = ?"
    for table in _OF_RECORDS:
        sql.execute(f"DELETE FROM {table} WHERE record_key IN ({records})", (collection,))  # noqa: S608 - our own names
    graph_removal.drop_collection(sql, collection)
    hierarchy_removal.drop_collection(sql, collection)
    for table in _OF_COLLECTIONS:
        sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (collection,))  # noqa: S608 - our own names
    for table in (*_OF_USERS, *removals.TABLES):
        sql.execute(f"DELETE FROM {table} WHERE user_key IN ({users})", (collection,))  # noqa: S608 - our own names
    for table in ("users", "collections"):
        sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (collection,))  # noqa: S608 - our own names
