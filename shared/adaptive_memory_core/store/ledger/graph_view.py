"""How does propagation see the graph in the ledger? By queries for the neighbours of what is active, and no more."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.graph.ports import (
    MOST_TITLED,
    SENTENCE_BITS,
    Array,
    PassageKey,
    Rows,
    SentenceKey,
    passage_of,
)
from adaptive_memory_core.store.ledger.graph_alike import alike_among, nearest_names
from adaptive_memory_core.store.ledger.state_rows import chunks

NONE: Array = np.empty(0, dtype=np.int64)
Read = tuple[PassageKey, tuple[Any, ...]]  # a passage, and what its row has: sizes, words, vector


class SQLiteGraph:
    """The graph of one scope: of its user's passages, and of everyone's where it is over those as well."""

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

    def names_in(self, sentences: Array) -> Mapping[SentenceKey, Sequence[str]]:
        found: dict[SentenceKey, list[str]] = {key: [] for key in sentences.tolist()}
        query = "SELECT sentence, name FROM graph_mentions JOIN graph_names USING (name_key) WHERE sentence IN ({})"
        for key, name in self._among(query, list(found)):
            found[key].append(name)
        query = "SELECT passage, name FROM graph_passages JOIN graph_names ON name_key = title WHERE passage IN ({})"
        titles = dict(self._among(query, list({passage_of(key) for key in found})))
        for key, names in found.items():
            if (title := titles.get(passage_of(key))) is not None and title not in names:
                names.append(title)
        return found

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

    def _read(self, passages: Collection[PassageKey]) -> list[Read]:
        """The rows of these passages, in their order; read once."""
        query = "SELECT passage, sizes, words, vector FROM graph_passages WHERE passage IN ({})"
        for row in self._among(query, [one for one in passages if one not in self._rows]):
            self._rows[row[0]] = row[1:]
        return [(one, self._rows[one]) for one in sorted(set(passages)) if one in self._rows]

    def _of_users(self, query: str) -> Iterator[tuple[Any, ...]]:
        for user in self._users:
            yield from self._sql.execute(query, (user,))

    def _among(self, query: str, values: Sequence[Any], *first: Any) -> Iterator[tuple[Any, ...]]:
        for chunk in chunks(values):
            yield from self._sql.execute(query.format(", ".join("?" * len(chunk))), (*first, *chunk))


def _keys_in(found: Sequence[Read]) -> tuple[Array, Array]:
    """The keys of all sentences of these passages, and how many each has."""
    counts = np.array([len(row[0]) // 2 for _, row in found], dtype=np.int64)  # sizes of 16 bits
    first = np.array([passage << SENTENCE_BITS for passage, _ in found], dtype=np.int64) - (np.cumsum(counts) - counts)
    return np.repeat(first, counts) + np.arange(counts.sum(), dtype=np.int64), counts


def _vectors(found: Sequence[bytes]) -> Array | None:
    """One row each; None where some have none, or one of another length, as after a change of the embedder."""
    lengths = {len(one) for one in found}
    if len(lengths) != 1 or 0 in lengths:
        return None
    return np.frombuffer(b"".join(found), dtype="<f2").reshape(len(found), -1)
