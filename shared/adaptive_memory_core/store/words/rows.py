"""How do the words of the records stand in the ledger? A row each: digests of its words, and how often they come.

The rows are a copy of what the collection says. No word can be read from them, and they go with their record.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.conversation.turns import BY_FIELD, Turn
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.store.ledger.state_rows import chunks

MOST = 65_535  # times that one word of a record counts
NOBODY = 0  # the user key of records that are of no scope
_PUT = (
    "INSERT INTO words (collection_key, user_key, stored_id, digest, length, terms, counts, speaker, session, place, "
    "told) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SINCE = (
    "SELECT row, stored_id, digest, length, terms, counts, speaker, session, place, told FROM words "
    "INDEXED BY words_of_user WHERE user_key = ? AND row > ? ORDER BY row"
)


class Text(NamedTuple):
    """A record's text and where it stands in a conversation."""

    user_key: int
    stored_id: str
    text: str
    turn: Turn


@lru_cache(maxsize=100_000)  # of at most 500 bytes each
def digest_of(word: str) -> int:
    """The number that stands for a word."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little", signed=True)


def mark(text: str, turn: Turn) -> bytes:
    """What changes when the text or its place does."""
    return hashlib.blake2b(repr((text, *turn)).encode(errors="replace"), digest_size=8).digest()


def put(sql: sqlite3.Connection, collection_key: int, texts: Iterable[Text]) -> None:
    """Write these records' words, in the place of what was known of them."""
    owners: dict[int, list[tuple[Any, ...]]] = {}
    for one in texts:
        owners.setdefault(one.user_key, []).append(row_of(one))
    for user_key, rows in owners.items():
        put_rows(sql, collection_key, user_key, rows)


def put_rows(sql: sqlite3.Connection, collection_key: int, user_key: int, rows: Sequence[tuple[Any, ...]]) -> None:
    """The same, with rows that `row_of` made."""
    drop(sql, collection_key, [row[0] for row in rows])
    sql.executemany(_PUT, [(collection_key, user_key, *row) for row in rows])


def drop(sql: sqlite3.Connection, collection_key: int, stored_ids: Sequence[str]) -> None:
    for chunk in chunks(stored_ids):
        sql.execute(
            f"DELETE FROM words WHERE collection_key = ? AND stored_id IN ({', '.join('?' * len(chunk))})",  # noqa: S608
            (collection_key, *chunk),
        )


def size(sql: sqlite3.Connection, collection_key: int) -> int:
    """How many records' words there are."""
    row = sql.execute("SELECT records FROM words_size WHERE collection_key = ?", (collection_key,)).fetchone()
    return 0 if row is None else int(row[0])


def knows(sql: sqlite3.Connection, collection_key: int, stored_id: str) -> bool:
    query = "SELECT 1 FROM words WHERE collection_key = ? AND stored_id = ?"
    return sql.execute(query, (collection_key, stored_id)).fetchone() is not None


def among(sql: sqlite3.Connection, collection_key: int, stored_ids: Sequence[str]) -> dict[str, bytes]:
    """Those of the records that have a row, each with its mark."""
    found: dict[str, bytes] = {}
    for chunk in chunks(stored_ids):
        places = ", ".join("?" * len(chunk))
        query = f"SELECT stored_id, digest FROM words WHERE collection_key = ? AND stored_id IN ({places})"  # noqa: S608
        found.update(sql.execute(query, (collection_key, *chunk)).fetchall())
    return found


def stored_ids(sql: sqlite3.Connection, collection_key: int) -> set[str]:
    return {row[0] for row in sql.execute("SELECT stored_id FROM words WHERE collection_key = ?", (collection_key,))}


def since(sql: sqlite3.Connection, user_key: int, row: int) -> list[tuple[object, ...]]:
    """The user's rows after this one."""
    return sql.execute(_SINCE, (user_key, row)).fetchall()


def gone_since(sql: sqlite3.Connection, user_key: int, gone: int) -> list[tuple[int, int]]:
    """The removals of the user's rows after this one."""
    query = "SELECT gone, row FROM words_gone WHERE user_key = ? AND gone > ? ORDER BY gone"
    return sql.execute(query, (user_key, gone)).fetchall()


def row_of(one: Text) -> tuple[Any, ...]:
    """A record's words as the table has them, from its stored id on."""
    told = "" if one.turn.speaker is None or one.turn.told != BY_FIELD else f"{one.turn.speaker} "
    found = Counter(words(told + one.text))
    terms = np.fromiter((digest_of(word) for word in found), dtype="<i8", count=len(found))
    counts = np.fromiter((min(MOST, count) for count in found.values()), dtype="<u2", count=len(found))
    return (
        one.stored_id,
        mark(one.text, one.turn),
        sum(found.values()),
        terms.tobytes(),
        counts.tobytes(),
        *one.turn,
    )
