"""Reading the graph from the ledger for propagation, and the tables of similar names and of linked users.

A pair of similar names is stored in both directions, and removed with either name. A name is compared after its vector
is committed: if two names are added at the same time, the later comparison finds the pair.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.flow.ports.graph import Links, UnembeddedName, UnembeddedPassage
from adaptive_memory_core.graph.alike_names import KnownNames, alike_above, may_be_one, unit_rows
from adaptive_memory_core.graph.ports import (
    MOST_TITLED,
    SENTENCE_BITS,
    Array,
    PassageKey,
    Rows,
    SentenceKey,
    SentenceVectors,
    passage_of,
)
from adaptive_memory_core.policy.advanced import LEAST_ALIKE
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.schema import LedgerPart
from adaptive_memory_core.store.ledger.state_rows import rows_in

NONE: Array = np.empty(0, dtype=np.int64)
PassageRow = tuple[PassageKey, tuple[Any, ...]]  # a passage, and its row: sizes, words, vector


class SQLiteGraph:
    """The graph of one scope: its user's passages, and the shared ones if the scope includes them."""

    def __init__(self, sql: sqlite3.Connection, collection: int, users: Sequence[int]) -> None:
        self._sql, self._collection, self._users = sql, collection, [user for user in users if user]
        found = list(self._of_users("SELECT passages, sentences FROM graph_size WHERE user_key = ?"))
        self.passages, self.sentences = sum(row[0] for row in found), sum(row[1] for row in found)
        self._names: dict[str, list[int]] = {}
        self._counts: dict[str, int] = {}
        self._asked: set[str] = set()
        self._rows: dict[PassageKey, tuple[Any, ...]] = {}

    def frequencies(self, names: Collection[str]) -> Mapping[str, int]:
        for user in self._users:
            query = "SELECT name, name_key, passages FROM graph_names WHERE user_key = ? AND name IN ({})"
            for name, key, count in self._among(query, [one for one in names if one not in self._asked], user):
                self._names.setdefault(name, []).append(key)
                self._counts[name] = self._counts.get(name, 0) + count
        self._asked |= set(names)
        return {name: self._counts[name] for name in names if name in self._counts}

    def mentions(self, name: str, most: int) -> Array:
        query = "SELECT sentence FROM graph_mentions WHERE name_key = ? ORDER BY sentence DESC LIMIT ?"
        found = [row[0] for key in self._keys(name) for row in self._sql.execute(query, (key, most))]
        return np.array(sorted(found), dtype=np.int64)

    def titled(self, names: Collection[str]) -> Mapping[str, Array]:
        query = "SELECT passage FROM graph_passages WHERE title = ? LIMIT ?"
        titled: dict[str, Array] = {}
        for name in names:
            more = [row[0] for key in self._keys(name) for row in self._sql.execute(query, (key, MOST_TITLED + 1))]
            titled[name] = np.array(more if len(more) <= MOST_TITLED else [], dtype=np.int64)
        return titled

    def sentences_of(self, passages: Array) -> Array:
        if not len(passages):
            return NONE
        return _keys_in(self._read(passages.tolist()))[0]

    def names_in(self, sentences: Array, *, titles: bool = True) -> Mapping[SentenceKey, Sequence[str]]:
        found: dict[SentenceKey, list[str]] = {key: [] for key in sentences.tolist()}
        query = "SELECT sentence, name FROM graph_mentions JOIN graph_names USING (name_key) WHERE sentence IN ({})"
        for key, name in self._among(query, list(found)):
            found[key].append(name)
        if not titles:
            return found
        query = "SELECT passage, name FROM graph_passages JOIN graph_names ON name_key = title WHERE passage IN ({})"
        titled = dict(self._among(query, list({passage_of(key) for key in found})))
        for key, names in found.items():
            if (title := titled.get(passage_of(key))) is not None and title not in names:
                names.append(title)
        return found

    def sentence_vectors(self, keys: Array | None, *, times: bool) -> SentenceVectors:
        columns = f"passage, sizes, sentence_vectors, {'time_vectors' if times else 'NULL'}"
        query = f"SELECT {columns} FROM graph_passages WHERE sentence_vectors IS NOT NULL AND "  # noqa: S608 - our own
        if keys is None:
            rows = list(self._of_users(f"{query} user_key = ? ORDER BY passage"))
        else:
            wanted = np.unique(keys >> SENTENCE_BITS).tolist()
            rows = sorted(self._among(f"{query} passage IN ({{}})", wanted))
        found = _spoken(rows, times=times)
        if keys is None or not len(found.keys):
            return found
        there = np.isin(found.keys, keys)
        return SentenceVectors(*(None if one is None else one[there] for one in found))

    def name_vectors(self) -> tuple[Sequence[str], Array]:
        """The names that sentences mention, and their unit vectors."""
        found = [row for user in self._users for row in self._sql.execute(_MENTIONED, (user,))]
        size = len(found[0][1]) if found else 0
        same = [row for row in found if len(row[1]) == size]
        vectors = np.frombuffer(b"".join(row[1] for row in same), dtype="<f2").astype(np.float32)
        return [row[0] for row in same], vectors.reshape(len(same), size // 2)

    def word_frequencies(self, words: Collection[int]) -> Mapping[int, int]:
        counts: dict[int, int] = {}
        query = "SELECT word, sentences FROM graph_words WHERE user_key = ? AND word IN ({})"
        for user in self._users:
            for word, count in self._among(query, list(words), user):
                counts[word] = counts.get(word, 0) + count
        return counts

    def rows(self, passages: Array) -> Rows:
        found = self._read(passages.tolist())
        keys, counts = _keys_in(found)
        sizes = np.frombuffer(b"".join(row[0] for _, row in found), dtype="<u2")
        words = np.frombuffer(b"".join(row[1] for _, row in found), dtype="<u4").astype(np.int64)
        bounds = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        return Rows(
            keys, _vectors([row[2] for _, row in found]), np.repeat(np.arange(len(found)), counts), words, bounds
        )

    def alike(self, names: Collection[str], least: float) -> Mapping[str, Mapping[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for user in self._users:
            for name, others in alike_among(self._sql, user, self._keys_of(names, user), least).items():
                found.setdefault(name, {}).update(others)
        return found

    def nearest_names(self, asked: Mapping[str, Any], least: float) -> Mapping[str, Mapping[str, float]]:
        """The names similar to those in `asked`, which are given with their vectors, in the form of `alike`."""
        found: dict[str, dict[str, float]] = {}
        for user in self._users:
            for name, others in nearest_names(self._sql, user, asked, least).items():
                found.setdefault(name, {}).update(others)
        return found

    def ids_of(self, passages: Collection[PassageKey]) -> Mapping[PassageKey, str]:
        return dict(self._among("SELECT passage, stored_id FROM graph_passages WHERE passage IN ({})", list(passages)))

    def keys_of(self, stored_ids: Collection[str]) -> Mapping[str, PassageKey]:
        query = "SELECT stored_id, passage, user_key FROM graph_passages WHERE collection_key = ? AND stored_id IN ({})"
        rows = self._among(query, list(stored_ids), self._collection)
        return {row[0]: row[1] for row in rows if row[2] in self._users}

    def _keys_of(self, names: Collection[str], user: int) -> dict[str, int]:
        query = "SELECT name, name_key FROM graph_names WHERE user_key = ? AND name IN ({})"
        return dict(self._among(query, list(names), user))

    def _keys(self, name: str) -> list[int]:
        self.frequencies([name])
        return self._names.get(name, [])

    def _read(self, passages: Collection[PassageKey]) -> list[PassageRow]:
        """The rows of these passages, ordered by key; each is read once."""
        query = "SELECT passage, sizes, words, vector FROM graph_passages WHERE passage IN ({})"
        for row in self._among(query, [one for one in passages if one not in self._rows]):
            self._rows[row[0]] = row[1:]
        return [(one, self._rows[one]) for one in sorted(set(passages)) if one in self._rows]

    def _of_users(self, query: str) -> Iterator[tuple[Any, ...]]:
        for user in self._users:
            yield from self._sql.execute(query, (user,))

    def _among(self, query: str, values: Sequence[Any], *first: Any) -> Iterator[tuple[Any, ...]]:
        yield from rows_in(self._sql, query, values, first)


def _keys_in(found: Sequence[PassageRow]) -> tuple[Array, Array]:
    """The keys of all sentences of these passages, and the number of sentences in each."""
    counts = np.array([len(row[0]) // 2 for _, row in found], dtype=np.int64)  # sizes of 16 bits
    first = np.array([passage << SENTENCE_BITS for passage, _ in found], dtype=np.int64) - (np.cumsum(counts) - counts)
    return np.repeat(first, counts) + np.arange(counts.sum(), dtype=np.int64), counts


def _spoken(rows: Sequence[tuple[Any, ...]], *, times: bool) -> SentenceVectors:
    """The sentences of these rows in the order of their keys; rows with vectors of another length are left out."""
    counts = [len(row[1]) // 2 for row in rows]  # sizes of 16 bits
    width = max((len(row[2]) // count for row, count in zip(rows, counts, strict=True) if count), default=0)
    same = [(row, count) for row, count in zip(rows, counts, strict=True) if len(row[2]) == count * width]
    keys = [row[0] << SENTENCE_BITS | place for row, count in same for place in range(count)]
    made = [b"".join(row[2] for row, _ in same)]
    if times:
        made.append(b"".join(zlib.decompress(row[3]) for row, _ in same))
    vectors = [np.frombuffer(one, dtype="<f4").reshape(len(keys), width // 4) for one in made]
    return SentenceVectors(np.array(keys, dtype=np.int64), vectors[0], vectors[1] if times else None)


def _vectors(found: Sequence[bytes]) -> Array | None:
    """The vectors, one per row; None if some are missing or have another length, as after a change of the embedder."""
    lengths = {len(one) for one in found}
    if len(lengths) != 1 or 0 in lengths:
        return None
    return np.frombuffer(b"".join(found), dtype="<f2").reshape(len(found), -1)


READ = 5_000  # vectors that are read at a time
_UNEMBEDDED = (
    "SELECT n.name_key, n.user_key, n.name FROM graph_names n JOIN users u ON u.user_key = n.user_key "
    "WHERE u.collection_key = ? AND n.name_key > ? AND NOT EXISTS (SELECT 1 FROM "
    "graph_name_vectors v WHERE v.user_key = n.user_key AND v.name_key = n.name_key) ORDER BY n.name_key LIMIT ?"
)
_KEEP = (
    "INSERT INTO graph_name_vectors (user_key, name_key, compared, vector) "
    "SELECT user_key, name_key, 0, ? FROM graph_names WHERE name_key = ? AND user_key = ? AND name = ? "
    "ON CONFLICT (user_key, name_key) DO NOTHING"
)
_MENTIONED = (  # ordered by name, because the first of equally similar names counts
    "SELECT n.name, v.vector FROM graph_names n JOIN graph_name_vectors v ON v.name_key = n.name_key AND "
    "v.user_key = n.user_key WHERE n.user_key = ? AND EXISTS (SELECT 1 FROM graph_mentions m WHERE "
    "m.name_key = n.name_key) ORDER BY n.name"
)
_UNSPOKEN = (
    "SELECT passage, stored_id, length(sizes) / 2 FROM graph_passages WHERE collection_key = ? "
    "AND sentence_vectors IS NULL AND user_key {} ORDER BY passage LIMIT ?"
)
_SPEAK = "UPDATE graph_passages SET sentence_vectors = ?, time_vectors = ? WHERE passage = ?"
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


class LedgerGraphAlike(LedgerPart):
    """The vectors of names and of sentences, made on demand, and the pairs of similar names."""

    def unembedded(self, after: int, most: int) -> list[UnembeddedName]:
        """The next names without a vector, after the key `after`."""
        values = (self._shared.collection_key, after, most)
        return [UnembeddedName(*row) for row in self._all(_UNEMBEDDED, *values)]

    def keep(self, embedder: str | None, names: Sequence[UnembeddedName], vectors: Any) -> bool:
        """Store the vectors of those names that still exist. Store none and return False if the records have vectors of
        another embedder by now."""
        halved = unit_rows(vectors).astype("<f2")
        with self._shared.writing() as sql:
            if not self._is_of(sql, embedder):
                return False
            values = [(row.tobytes(), *one) for one, row in zip(names, halved, strict=True)]
            sql.executemany(_KEEP, values)
        return True

    def _is_of(self, sql: sqlite3.Connection, embedder: str | None) -> bool:
        """Whether the records have vectors of this embedder."""
        query = "SELECT embedder FROM collections WHERE collection_key = ?"
        known = sql.execute(query, (self._shared.collection_key,)).fetchone()
        return known is None or known[0] in (None, embedder)

    def unspoken(self, most: int, scope: Scope | None = None) -> list[UnembeddedPassage]:
        """The next passages whose sentences have no vectors, in a scope or in the collection."""
        own = self._shared.collection_key
        with self._shared.reading() as sql:
            if scope is None:
                return [UnembeddedPassage(*row) for row in sql.execute(_UNSPOKEN.format("> 0"), (own, most))]
            users = [user for one in scope.parts if (user := self._shared.known_user(sql, one))]
            found = [row for user in users for row in sql.execute(_UNSPOKEN.format("= ?"), (own, user, most))]
        return [UnembeddedPassage(*row) for row in found]

    def speak(self, embedder: str | None, spoken: Mapping[PassageKey, tuple[Any, Any]]) -> bool:
        """Store the unit vectors of these passages' sentences and of the times they mention. Store none and return
        False if the records have vectors of another embedder by now."""
        rows = [
            (vectors.astype("<f4").tobytes(), zlib.compress(times.astype("<f4").tobytes(), level=1), passage)
            for passage, (vectors, times) in spoken.items()
        ]
        with self._shared.writing() as sql:
            if not self._is_of(sql, embedder):
                return False
            sql.executemany(_SPEAK, rows)
        return True

    def compare(self, most: int) -> bool:
        """Compare up to `most` of one user's names that were not compared yet; return whether there were any."""
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
                return names_by_key(sql, keys)

        def page(after: int) -> Sequence[tuple[int, bytes]]:
            with self._shared.reading() as sql:
                return _page(sql, own.user, after)

        known = KnownNames(vector_pages(page, own.vectors.shape[1]), named)
        for place, key, _, likeness in alike_above(LEAST_ALIKE, own.names, own.vectors, known):
            yield own.keys[place], key, likeness


def nearest_names(
    sql: sqlite3.Connection, user: int, asked: Mapping[str, Any], least: float
) -> dict[str, dict[str, float]]:
    """The user's names similar to those in `asked`, by their vectors."""
    if not asked:
        return {}
    names, vectors, found = list(asked), unit_rows(np.array(list(asked.values()))), dict[str, dict[str, float]]()
    pages = vector_pages(lambda after: _page(sql, user, after), vectors.shape[1])
    for place, _, other, likeness in alike_above(
        least, names, vectors, KnownNames(pages, lambda keys: names_by_key(sql, keys))
    ):
        found.setdefault(names[place], {})[other] = likeness
    return found


def vector_pages(page: Callable[[int], Sequence[tuple[int, bytes]]], size: int) -> Iterator[tuple[Array, Array]]:
    """All vectors of length `size`, with the keys of their names, a page at a time."""
    after, count = -1, READ
    while count == READ:
        rows = page(after)
        count, after = len(rows), rows[-1][0] if rows else after
        yield _stacked(rows, size)


def _page(sql: sqlite3.Connection, user: int, after: int) -> Sequence[tuple[int, bytes]]:
    return sql.execute(_VECTORS, (user, after, READ)).fetchall()


def names_by_key(sql: sqlite3.Connection, keys: Sequence[int]) -> dict[int, str]:
    """The names with these keys that still exist."""
    return dict(rows_in(sql, "SELECT name_key, name FROM graph_names WHERE name_key IN ({})", keys))


def alike_among(
    sql: sqlite3.Connection, user: int, keys: Mapping[str, int], least: float
) -> dict[str, dict[str, float]]:
    """The names similar to each of these, as stored when they were compared."""
    asked, found = {key: name for name, key in keys.items()}, dict[str, dict[str, float]]()
    query = (
        "SELECT a.name_key, n.name, a.likeness FROM graph_alike a JOIN graph_names n ON n.name_key = a.other "
        "WHERE a.user_key = ? AND a.likeness >= ? AND a.name_key IN ({})"
    )
    for key, other, likeness in rows_in(sql, query, list(asked), (user, least)):
        found.setdefault(asked[key], {})[other] = likeness
    return found


def delete_names(sql: sqlite3.Connection, names: Sequence[tuple[int, int]]) -> None:
    """Remove the vectors and the similar pairs of these names, given by user and key."""
    others = "SELECT user_key, other, name_key FROM graph_alike WHERE user_key = ? AND name_key = ?"
    back = [row for one in names for row in sql.execute(others, one).fetchall()]
    sql.executemany("DELETE FROM graph_alike WHERE user_key = ? AND name_key = ? AND other = ?", back)
    for table in ("graph_alike", "graph_name_vectors"):
        sql.executemany(f"DELETE FROM {table} WHERE user_key = ? AND name_key = ?", names)  # noqa: S608 - our own names


def _uncompared(sql: sqlite3.Connection, user: int, most: int) -> _Uncompared | None:
    """A user's next names that were not compared yet, with vectors of one length. Vectors of a former embedder are
    compared with each other only."""
    rows = sql.execute(_UNCOMPARED, (user, most)).fetchall()
    if not rows:
        return None
    same = [row for row in rows if len(row[2]) == len(rows[0][2])]
    vectors = np.frombuffer(b"".join(row[2] for row in same), dtype="<f2").astype(np.float32)
    return _Uncompared(user, [row[0] for row in same], [row[1] for row in same], vectors.reshape(len(same), -1))


def _stacked(rows: Sequence[tuple[int, bytes]], size: int) -> tuple[Array, Array]:
    """The keys and vectors of the rows whose vector has length `size`."""
    same = [row for row in rows if len(row[1]) == 2 * size]
    vectors = np.frombuffer(b"".join(row[1] for row in same), dtype="<f2").astype(np.float32)
    return np.array([row[0] for row in same], dtype=np.int64), vectors.reshape(len(same), size)


def _embedded(sql: sqlite3.Connection, user: int, keys: Collection[int]) -> dict[int, str]:
    """The user's names with these keys that now have a vector."""
    query = (
        "SELECT n.name_key, n.name FROM graph_names n JOIN graph_name_vectors v ON v.name_key = n.name_key "
        "AND v.user_key = n.user_key WHERE n.user_key = ? AND n.name_key IN ({})"
    )
    return dict(rows_in(sql, query, list(keys), (user,)))


# the row numbers are hashed, because the rows of several users may alternate
_SAMPLE = "SELECT stored_id FROM words WHERE user_key = ? AND ((row * 40503) & 65535) < ? LIMIT ?"


class LedgerGraphLinks(LedgerPart):
    """The results of sampling, a row per user. Users whose records were never sampled have none."""

    def of(self, scope: Scope) -> Links | None:
        """The latest result for a user's records, if there is one."""
        query = "SELECT records, links, wanted, made FROM graph_links WHERE user_key = ?"
        row = self._first(query, scope)
        return None if row is None else Links(int(row[0]), float(row[1]), bool(row[2]), bool(row[3]))

    def keep(self, scope: Scope, links: Links) -> None:
        """Store a user's result and replace the previous one."""
        query = (
            "INSERT INTO graph_links (user_key, records, links, wanted, made) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (user_key) DO UPDATE SET records = excluded.records, links = excluded.links, "
            "wanted = excluded.wanted, made = excluded.made"
        )
        with self._shared.writing() as sql:
            row = (links.records, links.links, int(links.wanted), int(links.made))
            sql.execute(query, (self._shared.user_key(sql, scope), *row))

    def anybody(self) -> bool:
        """Whether any user's graph was requested."""
        query = (
            "SELECT 1 FROM graph_links l JOIN users u ON u.user_key = l.user_key "
            "WHERE u.collection_key = ? AND l.wanted = 1 LIMIT 1"
        )
        return self._first(query, self._shared.collection_key) is not None

    def sample(self, scope: Scope, most: int) -> tuple[int, list[str]]:
        """The number of a user's records that have words, and a sample of about `most` of their IDs."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            if not user:
                return 0, []
            count = int(sql.execute("SELECT count(*) FROM words WHERE user_key = ?", (user,)).fetchone()[0])
            share = 65_536 if count <= most else max(1, 65_536 * most // count)
            found = [row[0] for row in sql.execute(_SAMPLE, (user, share, 2 * most)).fetchall()]
        return count, found
