"""Which rows of the ledger are unused? Policies and ids that no line of the log names, and rows of gone collections."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.store.ledger import graph_removal, hierarchy_removal, logged_ids, removals
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.packed_candidates import keys_in
from adaptive_memory_core.store.ledger.purge import mark

ALL = 2**62
PAGE = 2_000  # lines that are looked through at a time
_LINES = "SELECT recall_key, candidates, policy_hash FROM recalls WHERE recall_key > ? ORDER BY recall_key LIMIT ?"
_USERS = "SELECT user_key FROM users WHERE collection_key = {}"
_OF_USERS = ("recalls", "samples", "spans", "turns", "changes", "erased", "floors", "logged_ids", "user_files")
_OF_RECORDS = ("verdicts", "outbox")
_OF_COLLECTIONS = (
    *("records", "words", "words_size", "due_records", "guests", "mirror", "mirror_size"),
    *("reembedding", "new_vectors", "new_places"),
)


def sweep(shared: LedgerContext) -> None:
    """Let go of policies and ids that no line names. Lines are read page by page, while others go on.

    Where a collection does not hear of what is written for another one, only its own ids are looked at, and policies,
    which they share, are left alone.
    """
    file, last, page = shared.file, 0, PAGE
    whose = "" if file.is_heard_by_all else f"WHERE user_key IN ({_USERS.format(shared.collection_key)})"
    with shared.reading() as sql:
        ids = {row[0] for row in sql.execute(f"SELECT id_key FROM logged_ids {whose}")}  # noqa: S608 - our own words
        found = sql.execute("SELECT policy_hash FROM policies").fetchall() if file.is_heard_by_all else []
        policies = {row[0] for row in found}
    with shared.apart() as sql:
        while page == PAGE:
            lines = sql.execute(_LINES, (last, PAGE)).fetchall()
            _cross_off(lines, ids, policies)
            page, last = len(lines), lines[-1][0] if lines else last
    if not ids and not policies:
        return
    with shared.writing() as sql:
        _cross_off(sql.execute(_LINES, (last, ALL)).fetchall(), ids, policies)
        logged_ids.forget(sql, ids)
        sql.executemany("DELETE FROM policies WHERE policy_hash = ?", [(one,) for one in policies])
        if ids or policies:
            mark(sql, "expired")
        shared.cache.clear()


def _cross_off(lines: Iterable[tuple[int, Any, str]], ids: set[int], policies: set[str]) -> None:
    """What these lines name is in use."""
    for _, candidates, policy in lines:
        ids.difference_update(keys_in(candidates))
        policies.discard(policy)
        let_others_run()


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
