"""Which names of the graph are alike? Their vectors, and the pairs that were found among them, kept beside the names.

A pair stands both ways, and goes with either name. Every name is compared after its vector is there for all to see:
of two that are taken in at once, whichever is compared later meets the other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.flow.ports.graph import UnembeddedName
from adaptive_memory_core.graph.alike_names import Known, alike_above, unit_rows
from adaptive_memory_core.graph.alike_spelling import FEWEST_LETTERS, may_be_one
from adaptive_memory_core.graph.ports import Array
from adaptive_memory_core.policy.graph import LEAST_ALIKE
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.state_rows import chunks

READ = 5_000  # vectors at a time
_UNEMBEDDED = (
    "SELECT n.name_key, n.user_key, n.name FROM graph_names n JOIN users u ON u.user_key = n.user_key "
    "WHERE u.collection_key = ? AND n.name_key > ? AND length(n.name) >= ? AND NOT EXISTS (SELECT 1 FROM "
    "graph_name_vectors v WHERE v.user_key = n.user_key AND v.name_key = n.name_key) ORDER BY n.name_key LIMIT ?"
)
_KEEP = (
    "INSERT INTO graph_name_vectors (user_key, name_key, compared, vector) "
    "SELECT user_key, name_key, 0, CAST(? AS BLOB) FROM graph_names WHERE name_key = ? AND user_key = ? AND name = ? "
    "ON CONFLICT (user_key, name_key) DO NOTHING"
)
_TO_COMPARE = (
    "SELECT v.user_key FROM graph_name_vectors v JOIN users u ON u.user_key = v.user_key "
    "WHERE v.compared = 0 AND u.collection_key = ? LIMIT 1"
)
_UNCOMPARED = (
    "SELECT v.name_key, n.name, v.vector FROM graph_name_vectors v JOIN graph_names n ON n.name_key = v.name_key "
    "WHERE v.user_key = ? AND v.compared = 0 LIMIT ?"
)
_VECTORS = (
    "SELECT name_key, vector FROM graph_name_vectors WHERE user_key = ? AND name_key > ? ORDER BY name_key LIMIT ?"
)
_LINK = (
    "INSERT INTO graph_alike (user_key, name_key, other, likeness) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (user_key, name_key, other) DO NOTHING"
)
_COMPARED = "UPDATE graph_name_vectors SET compared = 1 WHERE user_key = ? AND name_key = ?"


class _Uncompared(NamedTuple):
    user: int
    keys: Sequence[int]
    names: Sequence[str]
    vectors: Array


class LedgerGraphAlike:
    """Vectors of names, and which of them are alike."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def unembedded(self, after: int, most: int) -> list[UnembeddedName]:
        """The next names without a vector, behind that key."""
        values = (self._shared.collection_key, after, FEWEST_LETTERS, most)
        with self._shared.reading() as sql:
            return [UnembeddedName(*row) for row in sql.execute(_UNEMBEDDED, values).fetchall()]

    def keep(self, embedder: str | None, names: Sequence[UnembeddedName], vectors: Any) -> bool:
        """The vectors of these names, of those that are still there; of none where the records have vectors of another
        embedder by now, and it says so."""
        halved = unit_rows(vectors).astype("<f2")
        own = "SELECT embedder FROM collections WHERE collection_key = ?"
        with self._shared.writing() as sql:
            known = sql.execute(own, (self._shared.collection_key,)).fetchone()
            if known is not None and known[0] not in (None, embedder):
                return False
            values = [(row.tobytes(), *one) for one, row in zip(names, halved, strict=True)]
            sql.executemany(_KEEP, values)
        return True

    def compare(self, most: int) -> bool:
        """Find what is like so many names of one user that were not compared yet; whether there were any."""
        with self._shared.reading() as sql:
            row = sql.execute(_TO_COMPARE, (self._shared.collection_key,)).fetchone()
            if row is None:
                return False
            own = _uncompared(sql, int(row[0]), most)
        if own is None:
            return False
        found = list(self._like(own))
        with self._shared.writing() as sql:
            now = _embedded(sql, own.user, {key for pair in found for key in pair[:2]} | set(own.keys))
            same = [key for key, name in zip(own.keys, own.names, strict=True) if now.get(key) == name]
            pairs = [pair for pair in found if pair[0] in same and may_be_one(now[pair[0]], now.get(pair[1], ""))]
            both = [(own.user, *pair) for pair in pairs] + [(own.user, b, a, like) for a, b, like in pairs]
            sql.executemany(_LINK, both)
            sql.executemany(_COMPARED, [(own.user, key) for key in same])
        return True

    def _like(self, own: _Uncompared) -> Iterator[tuple[int, int, float]]:
        def named(keys: Sequence[int]) -> Mapping[int, str]:
            with self._shared.reading() as sql:
                return names_of(sql, keys)

        def page(after: int) -> Sequence[tuple[int, bytes]]:
            with self._shared.reading() as sql:
                return _page(sql, own.user, after)

        known = Known(vector_pages(page, own.vectors.shape[1]), named)
        for place, key, _, likeness in alike_above(LEAST_ALIKE, own.names, own.vectors, known):
            yield own.keys[place], key, likeness


def nearest_names(
    sql: sqlite3.Connection, user: int, asked: Mapping[str, Any], least: float
) -> dict[str, dict[str, float]]:
    """The names of the user's that may be one of those asked for, by their vectors."""
    if not asked:
        return {}
    names, vectors, found = list(asked), unit_rows(np.array(list(asked.values()))), dict[str, dict[str, float]]()
    pages = vector_pages(lambda after: _page(sql, user, after), vectors.shape[1])
    for place, _, other, likeness in alike_above(least, names, vectors, Known(pages, lambda keys: names_of(sql, keys))):
        found.setdefault(names[place], {})[other] = likeness
    return found


def vector_pages(page: Callable[[int], Sequence[tuple[int, bytes]]], size: int) -> Iterator[tuple[Array, Array]]:
    """All vectors of so many numbers, by the keys of their names."""
    after, count = -1, READ
    while count == READ:
        rows = page(after)
        count, after = len(rows), rows[-1][0] if rows else after
        yield _stacked(rows, size)


def _page(sql: sqlite3.Connection, user: int, after: int) -> Sequence[tuple[int, bytes]]:
    return sql.execute(_VECTORS, (user, after, READ)).fetchall()


def names_of(sql: sqlite3.Connection, keys: Sequence[int]) -> dict[int, str]:
    """The names under these keys, of those that are not gone."""
    found: dict[int, str] = {}
    for chunk in chunks(keys):
        query = f"SELECT name_key, name FROM graph_names WHERE name_key IN ({', '.join('?' * len(chunk))})"  # noqa: S608
        found.update(sql.execute(query, tuple(chunk)).fetchall())
    return found


def alike_among(
    sql: sqlite3.Connection, user: int, keys: Mapping[str, int], least: float
) -> dict[str, dict[str, float]]:
    """The names like each of these, by what was found when they were compared."""
    said, found = {key: name for name, key in keys.items()}, dict[str, dict[str, float]]()
    for chunk in chunks(list(said)):
        query = (
            "SELECT a.name_key, n.name, a.likeness FROM graph_alike a JOIN graph_names n ON n.name_key = a.other "  # noqa: S608
            f"WHERE a.user_key = ? AND a.likeness >= ? AND a.name_key IN ({', '.join('?' * len(chunk))})"
        )
        for key, other, likeness in sql.execute(query, (user, least, *chunk)):
            found.setdefault(said[key], {})[other] = likeness
    return found


def let_go_of_names(sql: sqlite3.Connection, names: Sequence[tuple[int, int]]) -> None:
    """Of their vectors, and of what they are like, by user and key."""
    others = "SELECT user_key, other, name_key FROM graph_alike WHERE user_key = ? AND name_key = ?"
    back = [row for one in names for row in sql.execute(others, one).fetchall()]
    sql.executemany("DELETE FROM graph_alike WHERE user_key = ? AND name_key = ? AND other = ?", back)
    for table in ("graph_alike", "graph_name_vectors"):
        sql.executemany(f"DELETE FROM {table} WHERE user_key = ? AND name_key = ?", names)  # noqa: S608 - our own names


def _uncompared(sql: sqlite3.Connection, user: int, most: int) -> _Uncompared | None:
    """Of one length: what an embedder before this one made is compared among itself."""
    rows = sql.execute(_UNCOMPARED, (user, most)).fetchall()
    if not rows:
        return None
    same = [row for row in rows if len(row[2]) == len(rows[0][2])]
    vectors = np.frombuffer(b"".join(row[2] for row in same), dtype="<f2").astype(np.float32)
    return _Uncompared(user, [row[0] for row in same], [row[1] for row in same], vectors.reshape(len(same), -1))


def _stacked(rows: Sequence[tuple[int, bytes]], size: int) -> tuple[Array, Array]:
    """Those of this many numbers."""
    same = [row for row in rows if len(row[1]) == 2 * size]
    vectors = np.frombuffer(b"".join(row[1] for row in same), dtype="<f2").astype(np.float32)
    return np.array([row[0] for row in same], dtype=np.int64), vectors.reshape(len(same), size)


def _embedded(sql: sqlite3.Connection, user: int, keys: Collection[int]) -> dict[int, str]:
    """What stands under these keys now, of what has a vector."""
    found: dict[int, str] = {}
    for chunk in chunks(list(keys)):
        query = (
            "SELECT n.name_key, n.name FROM graph_names n JOIN graph_name_vectors v ON v.name_key = n.name_key "  # noqa: S608
            f"AND v.user_key = n.user_key WHERE n.user_key = ? AND n.name_key IN ({', '.join('?' * len(chunk))})"
        )
        found.update(sql.execute(query, (user, *chunk)).fetchall())
    return found
