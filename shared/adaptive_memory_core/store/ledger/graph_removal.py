"""How is a record's part of the graph removed from the ledger? With its mentions, and the counts that it was in."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from adaptive_memory_core.graph.ports import SENTENCE_BITS
from adaptive_memory_core.store.ledger.graph_alike import let_go_of_names
from adaptive_memory_core.store.ledger.state_rows import chunks

SAID = (
    "INSERT INTO graph_words VALUES (?, ?, ?) ON CONFLICT (user_key, word) "
    "DO UPDATE SET sentences = graph_words.sentences + excluded.sentences"
)
SIZED = (
    "INSERT INTO graph_size VALUES (?, ?, ?, ?) ON CONFLICT (user_key) DO UPDATE SET passages = graph_size.passages + "
    "excluded.passages, sentences = graph_size.sentences + excluded.sentences, "
    "titles = graph_size.titles + excluded.titles"
)
_OURS = ("graph_passages", "graph_seen")
_OF_USERS = ("graph_name_vectors", "graph_alike", "graph_names", "graph_words", "graph_size", "graph_links")


def drop(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> None:
    """Let go of these records' passages, mentions, counts, and of the names that nobody else has."""
    drop_unused_names(sql, drop_passages(sql, collection, stored_ids))


def drop_passages(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> set[int]:
    """Let go of all of it but the names; gives the keys of these, which may be in no passage any more."""
    names: set[int] = set()
    for chunk in chunks(stored_ids):
        places = ", ".join("?" * len(chunk))
        query = (
            "SELECT passage, user_key, title, sizes, words FROM graph_passages "  # noqa: S608 - question marks
            f"WHERE collection_key = ? AND stored_id IN ({places})"
        )
        for row in sql.execute(query, (collection, *chunk)).fetchall():
            names |= _drop(sql, *row)
    return names


def drop_unused_names(sql: sqlite3.Connection, names: Collection[int]) -> None:
    """Let go of those that are in no passage, with their vectors."""
    for chunk in chunks(list(names)):
        places = ", ".join("?" * len(chunk))
        query = f"SELECT user_key, name_key FROM graph_names WHERE passages <= 0 AND name_key IN ({places})"  # noqa: S608
        gone = sql.execute(query, tuple(chunk)).fetchall()
        let_go_of_names(sql, gone)
        sql.executemany("DELETE FROM graph_names WHERE name_key = ?", [(row[1],) for row in gone])


def drop_collection(sql: sqlite3.Connection, collection: int) -> None:
    """Let go of a whole collection's graph."""
    users = "SELECT user_key FROM users WHERE collection_key = ?"
    names = f"SELECT name_key FROM graph_names WHERE user_key IN ({users})"  # noqa: S608 - our own names
    sql.execute(f"DELETE FROM graph_mentions WHERE name_key IN ({names})", (collection,))  # noqa: S608
    for table in _OF_USERS:
        sql.execute(f"DELETE FROM {table} WHERE user_key IN ({users})", (collection,))  # noqa: S608 - our own names
    for table in _OURS:
        sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (collection,))  # noqa: S608 - our own names


def _drop(sql: sqlite3.Connection, passage: int, user: int, title: int | None, sizes: bytes, words: bytes) -> set[int]:
    bounds = (passage << SENTENCE_BITS, (passage + 1) << SENTENCE_BITS)
    within = "sentence >= ? AND sentence < ?"
    found = sql.execute(f"SELECT DISTINCT name_key FROM graph_mentions WHERE {within}", bounds).fetchall()  # noqa: S608
    names = {row[0] for row in found} | ({title} if title is not None else set())
    sql.execute(f"DELETE FROM graph_mentions WHERE {within}", bounds)  # noqa: S608 - our own words
    less = "UPDATE graph_names SET passages = passages - 1, titles = titles - ? WHERE name_key = ?"
    sql.executemany(less, [(int(one == title), one) for one in names])
    counts = _words_in(sizes, words)
    sql.executemany(SAID, [(user, word, -count) for word, count in counts.items()])
    empty = "DELETE FROM graph_words WHERE user_key = ? AND word = ? AND sentences <= 0"
    sql.executemany(empty, [(user, word) for word in counts])
    sql.execute("DELETE FROM graph_passages WHERE passage = ?", (passage,))
    sql.execute(SIZED, (user, -1, -(len(sizes) // 2), -int(title is not None)))
    sql.execute("DELETE FROM graph_size WHERE user_key = ? AND passages <= 0", (user,))
    return names


def _words_in(sizes: bytes, words: bytes) -> Counter[int]:
    """In how many sentences each word is."""
    bounds = np.cumsum(np.frombuffer(sizes, dtype="<u2"))[:-1]
    counts: Counter[int] = Counter()
    for one in np.split(np.frombuffer(words, dtype="<u4"), bounds):
        counts.update(set(one.tolist()))
    return counts
