"""Which tables move with a ledger, by which keys, and which of them number their rows?"""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache

from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.postgres.dialect import tables

STAYS = {"leases", "writers", "user_files", "to_purge"}  # who is at work, and what is about files beside the ledger
NUMBERED = (  # tables whose rows are numbered as they come
    *(("collections", "collection_key"), ("users", "user_key"), ("records", "record_key"), ("recalls", "recall_key")),
    *(("spans", "span_key"), ("changes", "change_key"), ("words", "row"), ("words_gone", "gone")),
    *(("logged_ids", "id_key"), ("mirror", "row"), ("mirror_gone", "gone"), ("due_records", "number")),
    *(("graph_passages", "passage"), ("graph_names", "name_key"), ("judged_questions", "question_key")),
    *(("judged_for", "judged_key"), ("hierarchy_messages", "message"), ("hierarchy_episodes", "episode")),
    *(("hierarchy_semantics", "semantic"), ("hierarchy_themes", "theme")),
)
REPLACED = {"due_records"}  # whose rows SQLite may replace without a word to triggers; they are few
VERSIONS = {("collections", "version"), ("users", "counted")}  # what tells others to read again, in each by itself


@lru_cache(maxsize=1)
def keys() -> dict[str, tuple[str, ...]]:
    """The columns of each table's key.

    >>> keys()["records"], keys()["erased"]
    (('record_key',), ('user_key', 'digest'))
    """
    with closing(SQLiteLedger(":memory:")) as ledger, ledger.file.reading() as sql:
        found = {name: sql.execute(f"PRAGMA table_info({name})").fetchall() for name in sorted(set(tables()) - STAYS)}
    return {
        name: tuple(row[1] for row in sorted(rows, key=lambda row: int(row[5])) if row[5])
        for name, rows in found.items()
    }


@lru_cache(maxsize=1)
def sqlite_triggers() -> dict[str, str]:
    """The ledger's own triggers in SQLite: name and statement."""
    with closing(SQLiteLedger(":memory:")) as ledger, ledger.file.reading() as sql:
        return dict(sql.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())
