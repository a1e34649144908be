"""How is the graph stored in the ledger? A row a passage, a row a mention, and counts of names and words.

The rows are a copy of what the collection says. They follow the rows of words, which are kept up with other programs.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Sequence

import numpy as np

from adaptive_memory_core.flow.ports.graph import GraphEntry, StoredGraph
from adaptive_memory_core.graph.build import Passage, word_key
from adaptive_memory_core.graph.ports import SENTENCE_BITS
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import graph_news
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.graph_alike import LedgerGraphAlike
from adaptive_memory_core.store.ledger.graph_links import LedgerGraphLinks
from adaptive_memory_core.store.ledger.graph_removal import (
    SAID,
    SIZED,
    drop,
    drop_collection,
    drop_passages,
    drop_unused_names,
)
from adaptive_memory_core.store.ledger.graph_view import SQLiteGraph
from adaptive_memory_core.store.ledger.state_rows import chunks

MOST_WORDS = 65_535  # of one sentence
_PUT = (
    "INSERT INTO graph_passages (collection_key, user_key, stored_id, word_row, title, known, sizes, words, vector) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING passage"
)
_NAMED = (
    "INSERT INTO graph_names (user_key, name, passages, titles) VALUES (?, ?, ?, ?) ON CONFLICT (user_key, name) "
    "DO UPDATE SET passages = graph_names.passages + excluded.passages, titles = graph_names.titles + excluded.titles"
)


class LedgerGraph:
    """The graph of the collection's records, each user's apart."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared
        self.links, self.alike = LedgerGraphLinks(shared), LedgerGraphAlike(shared)
        self._followed = self._removed = 0  # where a role sees one user, and so cannot note it for the collection

    def put(self, scope: Scope, entries: Sequence[GraphEntry]) -> None:
        """Write these in the place of what was known of their records; not those whose words have changed since."""
        with self._shared.writing() as sql:
            user, collection = self._shared.user_key(sql, scope), self._shared.collection_key
            before = drop_passages(sql, collection, [one.stored_id for one in entries])
            rows = graph_news.word_rows(sql, collection, [one.stored_id for one in entries])
            kept = [one for one in entries if one.word_row in (None, rows.get(one.stored_id))]
            if kept:
                _put(sql, (collection, user), kept, rows)
            drop_unused_names(sql, before)  # afterwards: a name that is in both keeps its vector

    def drop(self, stored_ids: Sequence[str]) -> None:
        """Let go of all that is known of these records."""
        with self._shared.writing() as sql:
            drop(sql, self._shared.collection_key, stored_ids)

    def clear(self) -> None:
        """Let go of everything; it is built anew then."""
        with self._shared.writing() as sql:
            own = self._shared.collection_key
            setting, before = graph_news.made_as(sql, own)
            drop_collection(sql, own)
            graph_news.make_as(sql, own, setting, before)

    def made_as(self, setting: str | None = None, *, anew: bool = False) -> str | None:
        """The setting it is made with; another one is taken on, unless it gave way before and `anew` is not wanted."""
        own = self._shared.collection_key
        with self._shared.reading() as sql:
            now, before = graph_news.made_as(sql, own)
        if setting is None or (not anew and (now == setting or setting in before)):
            return now
        with self._shared.writing() as sql:
            now, before = graph_news.made_as(sql, own)
            if anew or (now != setting and setting not in before):  # nobody was quicker
                drop_collection(sql, own)
                graph_news.make_as(sql, own, setting, [*before, *([] if now in (None, setting) else [now])])
            return graph_news.made_as(sql, own)[0]

    def titles(self, scope: Scope, names: Collection[str]) -> set[str]:
        """Those of the names that are titles of the scope's passages."""
        with self._shared.reading() as sql:
            user, found = self._shared.known_user(sql, scope), set[str]()
            for chunk in chunks(list(names)):
                places = ", ".join("?" * len(chunk))
                query = f"SELECT name FROM graph_names WHERE user_key = ? AND titles > 0 AND name IN ({places})"  # noqa: S608
                found.update(row[0] for row in sql.execute(query, (user, *chunk)))
        return found

    def stored_ids(self) -> set[str]:
        """All records that it has something of."""
        query = "SELECT stored_id FROM graph_passages WHERE collection_key = ?"
        with self._shared.reading() as sql:
            return {row[0] for row in sql.execute(query, (self._shared.collection_key,))}

    def behind(self, most: int) -> list[tuple[int, str]]:
        """The next records whose words are newer than their passages: the row of the words, and the id."""
        with self._shared.reading() as sql:
            return graph_news.behind(sql, self._shared.collection_key, most, self._followed)

    def behind_of(self, scope: Scope, most: int, after: int) -> list[tuple[int, str]]:
        """The next ones of this user's, after a row of the words."""
        with self._shared.reading() as sql:
            return graph_news.behind_of(sql, self._shared.known_user(sql, scope), most, after)

    def followed(self, word_row: int) -> None:
        """All words up to this row were taken in."""
        if self._shared.sees_one_user:
            self._followed = max(self._followed, word_row)
            return
        with self._shared.writing() as sql:
            graph_news.followed(sql, self._shared.collection_key, word_row)

    def drop_gone(self) -> None:
        """Let go of the passages whose words were removed."""
        with self._shared.reading() as sql:
            last, gone = graph_news.gone(sql, self._shared.collection_key, self._removed)
        if last is not None:
            with self._shared.writing() as sql:
                drop(sql, self._shared.collection_key, gone)
                if not self._shared.sees_one_user:
                    graph_news.removed(sql, self._shared.collection_key, last)
            self._removed = last if self._shared.sees_one_user else 0

    def to_link_again(self, most: int, *, growth: float) -> list[str]:
        """Records read when there were so many times fewer titles: some of those since then may be in them."""
        with self._shared.reading() as sql:
            return graph_news.to_link_again(sql, self._shared.collection_key, most, growth)

    def waiting(self, scope: Scope, most: int) -> int:
        """How many of the scope's records are to be taken in; no more than `most` are counted."""
        with self._shared.reading() as sql:
            users = [self._shared.known_user(sql, one) for one in scope.parts]
            return graph_news.waiting(sql, self._shared.collection_key, users, most)

    def faults(self) -> list[str]:
        """What does not fit together, one line each."""
        with self._shared.reading() as sql:
            return graph_news.faults(sql, self._shared.collection_key)

    @interruptible
    def view(self, scope: Scope) -> Generator[StoredGraph, None, None]:
        """The scope's graph, for one question."""
        with self._shared.reading() as sql:
            users = [self._shared.known_user(sql, one) for one in scope.parts]
            yield SQLiteGraph(sql, self._shared.collection_key, users)


def _put(sql: sqlite3.Connection, owner: tuple[int, int], entries: Sequence[GraphEntry], rows: dict[str, int]) -> None:
    collection, user = owner
    passages = [one.passage for one in entries]
    keys = _name_keys(sql, user, passages)
    titles = sum(one.title is not None for one in passages)
    sentences = sum(len(one.sentences) for one in passages)
    sql.execute(SIZED, (user, len(passages), sentences, titles))
    known = sql.execute("SELECT titles FROM graph_size WHERE user_key = ?", (user,)).fetchone()[0]
    counts: Counter[int] = Counter()
    mentions: list[tuple[int, int]] = []
    for one in entries:
        words = [[word_key(word) for word in sentence.words[:MOST_WORDS]] for sentence in one.passage.sentences]
        for own in words:
            counts.update(set(own))
        sizes = np.array([len(own) for own in words], dtype="<u2").tobytes()
        flat = np.array([word for own in words for word in own], dtype="<u4").tobytes()
        title = None if one.passage.title is None else keys[one.passage.title]
        row = (collection, user, one.stored_id, rows.get(one.stored_id, 0), title, known, sizes, flat, one.vector)
        passage = int(sql.execute(_PUT, row).fetchone()[0])
        for place, sentence in enumerate(one.passage.sentences):
            mentions += [(keys[name], passage << SENTENCE_BITS | place) for name in sentence.names]
    sql.executemany("INSERT INTO graph_mentions VALUES (?, ?)", mentions)
    sql.executemany(SAID, [(user, word, count) for word, count in counts.items()])


def _name_keys(sql: sqlite3.Connection, user: int, passages: Iterable[Passage]) -> dict[str, int]:
    """The keys of all names in these passages, which are counted."""
    counts: Counter[str] = Counter()
    titles: Counter[str] = Counter()
    for one in passages:
        titles.update([] if one.title is None else [one.title])
        own = {name for sentence in one.sentences for name in sentence.names}
        counts.update(own if one.title is None else own | {one.title})
    sql.executemany(_NAMED, [(user, name, count, titles[name]) for name, count in counts.items()])
    keys: dict[str, int] = {}
    for chunk in chunks(list(counts)):
        places = ", ".join("?" * len(chunk))
        query = f"SELECT name, name_key FROM graph_names WHERE user_key = ? AND name IN ({places})"  # noqa: S608
        keys.update(sql.execute(query, (user, *chunk)).fetchall())
    return keys
