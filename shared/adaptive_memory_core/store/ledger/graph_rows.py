"""The graph's rows in the ledger: passages, mentions, counts of names and words, what is not added yet, and removal.

The rows are derived from the collection. They follow the rows of words, which reflect changes by other programs too.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager

import numpy as np

from adaptive_memory_core.flow.ports.graph import GraphEntry
from adaptive_memory_core.graph.build import Passage, word_key
from adaptive_memory_core.graph.ports import SENTENCE_BITS
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.graph_view import LedgerGraphAlike, LedgerGraphLinks, SQLiteGraph, delete_names
from adaptive_memory_core.store.ledger.ledger_context import LedgerContext
from adaptive_memory_core.store.ledger.schema import LedgerPart
from adaptive_memory_core.store.ledger.state_rows import rows_in

MOST_WORDS = 65_535  # of one sentence
_PUT = (
    "INSERT INTO graph_passages (collection_key, user_key, stored_id, word_row, title, known, sizes, words, vector) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING passage"
)
_NAMED = (
    "INSERT INTO graph_names (user_key, name, passages, titles) VALUES (?, ?, ?, ?) ON CONFLICT (user_key, name) "
    "DO UPDATE SET passages = graph_names.passages + excluded.passages, titles = graph_names.titles + excluded.titles"
)


class LedgerGraph(LedgerPart):
    """The passages of each scope. When a record is removed, its sentences, its mentions and the names that only it had
    are removed too."""

    def __init__(self, shared: LedgerContext) -> None:
        super().__init__(shared)
        self.links, self.alike = LedgerGraphLinks(shared), LedgerGraphAlike(shared)
        self._followed = self._removed = 0  # used if the role sees one user and can't write the collection's row

    def put(self, scope: Scope, entries: Sequence[GraphEntry]) -> None:
        """Write the entries and replace the stored ones of their records. Entries whose words have changed since are
        left out."""
        with self._shared.writing() as sql:
            user, collection = self._shared.user_key(sql, scope), self._shared.collection_key
            before = drop_passages(sql, collection, [one.stored_id for one in entries])
            rows = word_rows_of(sql, collection, [one.stored_id for one in entries])
            kept = [one for one in entries if one.word_row in (None, rows.get(one.stored_id))]
            if kept:
                _put(sql, (collection, user), kept, rows)
            drop_unused_names(sql, before)  # afterwards, so that a name in old and new entries keeps its vector

    def drop(self, stored_ids: Sequence[str]) -> None:
        """Remove all that is stored for these records."""
        with self._shared.writing() as sql:
            drop_graph_of(sql, self._shared.collection_key, stored_ids)

    def clear(self) -> None:
        """Remove everything; it is then rebuilt."""
        with self._shared.writing() as sql:
            own = self._shared.collection_key
            setting, before = graph_setting(sql, own)
            drop_graph(sql, own)
            set_graph_setting(sql, own, setting, before)

    def made_as(self, setting: str | None = None, *, from_start: bool = False) -> str | None:
        """The graph's setting. A different `setting` replaces it, unless that one was itself replaced before and
        `from_start` is False."""
        own = self._shared.collection_key
        with self._shared.reading() as sql:
            now, before = graph_setting(sql, own)
        if setting is None or (not from_start and (now == setting or setting in before)):
            return now
        with self._shared.writing() as sql:
            now, before = graph_setting(sql, own)
            if from_start or (now != setting and setting not in before):  # no other process was faster
                drop_graph(sql, own)
                set_graph_setting(sql, own, setting, [*before, *([] if now in (None, setting) else [now])])
            return graph_setting(sql, own)[0]

    def titles(self, scope: Scope, names: Collection[str]) -> set[str]:
        """The names among `names` that are titles of the scope's passages."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            query = "SELECT name FROM graph_names WHERE user_key = ? AND titles > 0 AND name IN ({})"
            return {row[0] for row in rows_in(sql, query, list(names), (user,))}

    def stored_ids(self) -> set[str]:
        """The IDs of all records in the graph."""
        query = "SELECT stored_id FROM graph_passages WHERE collection_key = ?"
        return {row[0] for row in self._all(query, self._shared.collection_key)}

    def behind(self, most: int) -> list[tuple[int, str]]:
        """The next records whose words are newer than their passages: the row of the words, and the ID."""
        with self._shared.reading() as sql:
            own = self._shared.collection_key
            after = max(self._followed, _seen(sql, own)[0])
            return sql.execute(_BEHIND, (own, after, most)).fetchall()

    def behind_of(self, scope: Scope, most: int, after: int) -> list[tuple[int, str]]:
        """This user's next such records, after the row `after` of the words."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return sql.execute(_BEHIND_OF, (user, after, most)).fetchall() if user else []

    def followed(self, word_row: int) -> None:
        """Note that all words up to this row were added."""
        if self._shared.sees_one_user:
            self._followed = max(self._followed, word_row)
            return
        with self._shared.writing() as sql:
            sql.execute(_KEEP_SEEN.format("written"), (self._shared.collection_key, word_row))

    def drop_gone(self) -> None:
        """Remove the passages whose words were removed."""
        with self._shared.reading() as sql:
            last, gone = passages_without_words(sql, self._shared.collection_key, self._removed)
        if last is not None:
            with self._shared.writing() as sql:
                drop_graph_of(sql, self._shared.collection_key, gone)
                if not self._shared.sees_one_user:
                    sql.execute(_KEEP_SEEN.format("removed"), (self._shared.collection_key, last))
            self._removed = last if self._shared.sees_one_user else 0

    def to_link_again(self, most: int, *, growth: float) -> list[str]:
        """Records that were read when there were fewer titles by the factor `growth`. They may mention newer ones."""
        return [row[0] for row in self._all(_AGAIN, growth, self._shared.collection_key, most)]

    def waiting(self, scope: Scope, most: int) -> int:
        """The number of the scope's records that are not added yet, counted up to `most` per user."""
        with self._shared.reading() as sql:
            users = [self._shared.known_user(sql, one) for one in scope.parts]
            written = _seen(sql, self._shared.collection_key)[0]
            counts = [sql.execute(_WAITING, (user, written, most)).fetchone()[0] for user in users if user]
        return sum(int(one) for one in counts)

    def faults(self) -> list[str]:
        """The faults in the rows, one line per kind."""
        with self._shared.reading() as sql:
            own = (self._shared.collection_key,)
            found = [(line, sql.execute(query, own).fetchone()[0]) for line, query in _CHECKS.items()]
        return [line.format(count) for line, count in found if count]

    @contextmanager
    def view(self, scope: Scope) -> Generator[SQLiteGraph, None, None]:
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
    sql.execute(_ADD_SIZE, (user, len(passages), sentences, titles))
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
    sql.executemany(_ADD_WORD, [(user, word, count) for word, count in counts.items()])


def _name_keys(sql: sqlite3.Connection, user: int, passages: Iterable[Passage]) -> dict[str, int]:
    """Count all names in these passages and return their keys."""
    counts: Counter[str] = Counter()
    titles: Counter[str] = Counter()
    for one in passages:
        titles.update([] if one.title is None else [one.title])
        own = {name for sentence in one.sentences for name in sentence.names}
        counts.update(own if one.title is None else own | {one.title})
    sql.executemany(_NAMED, [(user, name, count, titles[name]) for name, count in counts.items()])
    query = "SELECT name, name_key FROM graph_names WHERE user_key = ? AND name IN ({})"
    return dict(rows_in(sql, query, list(counts), (user,)))


MOST_GONE = 5_000  # removals that are processed at a time
_SEEN = "SELECT written, removed FROM graph_seen WHERE collection_key = ?"
_BEHIND = (
    "SELECT row, stored_id FROM words WHERE collection_key = ? AND row > ? AND user_key > 0 "
    "AND NOT EXISTS (SELECT 1 FROM graph_passages WHERE word_row = words.row) ORDER BY row LIMIT ?"
)
_BEHIND_OF = (
    "SELECT row, stored_id FROM words WHERE user_key = ? AND row > ? "
    "AND NOT EXISTS (SELECT 1 FROM graph_passages WHERE word_row = words.row) ORDER BY row LIMIT ?"
)
_WAITING = (
    "SELECT count(*) FROM (SELECT 1 FROM words WHERE user_key = ? AND row > ? "
    "AND NOT EXISTS (SELECT 1 FROM graph_passages WHERE word_row = words.row) LIMIT ?) AS waiting"
)
_AGAIN = (
    "SELECT stored_id FROM users u JOIN graph_size s ON s.user_key = u.user_key JOIN graph_passages g "
    "ON g.user_key = s.user_key AND g.known < s.titles / ? WHERE u.collection_key = ? LIMIT ?"
)
_KEEP_SEEN = (
    "INSERT INTO graph_seen (collection_key, {0}) VALUES (?, ?) ON CONFLICT (collection_key) "
    "DO UPDATE SET {0} = CASE WHEN excluded.{0} > graph_seen.{0} THEN excluded.{0} ELSE graph_seen.{0} END"
)
_CHECKS = {
    "{} passages have words of another record.": (
        "SELECT count(*) FROM graph_passages g WHERE collection_key = ? AND word_row > 0 AND NOT EXISTS "
        "(SELECT 1 FROM words w WHERE w.row = g.word_row AND w.stored_id = g.stored_id AND w.user_key = g.user_key)"
    ),
    "{} mentions are of sentences that are gone.": (
        "SELECT count(*) FROM graph_mentions m JOIN graph_names n USING (name_key) JOIN users u USING (user_key) "
        "WHERE u.collection_key = ? AND NOT EXISTS (SELECT 1 FROM graph_passages WHERE passage = m.sentence >> 12)"
    ),
    "{} names are counted wrongly.": (
        "SELECT count(*) FROM graph_names n JOIN users u USING (user_key) WHERE u.collection_key = ? AND passages != "
        "(SELECT count(*) FROM (SELECT sentence >> 12 FROM graph_mentions m WHERE m.name_key = n.name_key "
        "UNION SELECT passage FROM graph_passages g WHERE g.title = n.name_key) AS there)"
    ),
    "{} vectors are of names that are gone.": (
        "SELECT count(*) FROM graph_name_vectors v JOIN users u USING (user_key) WHERE u.collection_key = ? AND NOT "
        "EXISTS (SELECT 1 FROM graph_names n WHERE n.name_key = v.name_key AND n.user_key = v.user_key)"
    ),
    "{} names are like others that are gone.": (
        "SELECT count(*) FROM graph_alike a JOIN users u USING (user_key) WHERE u.collection_key = ? AND NOT EXISTS "
        "(SELECT 1 FROM graph_alike b JOIN graph_names n ON n.name_key = b.name_key AND n.user_key = b.user_key "
        "WHERE b.user_key = a.user_key AND b.name_key = a.other AND b.other = a.name_key)"
    ),
}


def word_rows_of(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> dict[str, int]:
    """The row of each record's words, if it has any."""
    query = "SELECT stored_id, row FROM words WHERE collection_key = ? AND stored_id IN ({})"
    return dict(rows_in(sql, query, stored_ids, (collection,)))


def graph_setting(sql: sqlite3.Connection, collection: int) -> tuple[str | None, list[str]]:
    """The graph's setting, if there is one, and the settings that were replaced."""
    row = sql.execute(
        "SELECT title_key, made_before FROM graph_seen WHERE collection_key = ?", (collection,)
    ).fetchone()
    return (None, []) if row is None else (row[0], json.loads(row[1]))


def set_graph_setting(sql: sqlite3.Connection, collection: int, setting: str | None, before: Sequence[str]) -> None:
    """Store the setting of a graph that is still empty, and the settings that were replaced."""
    replaced = json.dumps(sorted({*before} - {setting}))
    query = "INSERT INTO graph_seen (collection_key, title_key, made_before) VALUES (?, ?, ?)"
    sql.execute(query, (collection, setting, replaced))


def passages_without_words(sql: sqlite3.Connection, collection: int, after: int = 0) -> tuple[int | None, list[str]]:
    """The number of the last removal processed now, and the records whose passages lost their words. The first is None
    if there are no removals after the number `after`."""
    query = (
        "SELECT gone, (SELECT stored_id FROM graph_passages g WHERE g.word_row = words_gone.row AND "
        "g.collection_key = ?) FROM words_gone WHERE gone > ? ORDER BY gone LIMIT ?"
    )
    rows = sql.execute(query, (collection, max(after, _seen(sql, collection)[1]), MOST_GONE)).fetchall()
    return (rows[-1][0] if rows else None), [row[1] for row in rows if row[1] is not None]


def _seen(sql: sqlite3.Connection, collection: int) -> tuple[int, int]:
    row = sql.execute(_SEEN, (collection,)).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


_ADD_WORD = (
    "INSERT INTO graph_words VALUES (?, ?, ?) ON CONFLICT (user_key, word) "
    "DO UPDATE SET sentences = graph_words.sentences + excluded.sentences"
)
_ADD_SIZE = (
    "INSERT INTO graph_size VALUES (?, ?, ?, ?) ON CONFLICT (user_key) DO UPDATE SET passages = graph_size.passages + "
    "excluded.passages, sentences = graph_size.sentences + excluded.sentences, "
    "titles = graph_size.titles + excluded.titles"
)
_OF_COLLECTION = ("graph_passages", "graph_seen")
_OF_USERS = ("graph_name_vectors", "graph_alike", "graph_names", "graph_words", "graph_size", "graph_links")


def drop_graph_of(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> None:
    """Remove these records' passages, mentions and counts, and the names that no other record has."""
    drop_unused_names(sql, drop_passages(sql, collection, stored_ids))


def drop_passages(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> set[int]:
    """Remove these records' passages, mentions and counts. Return the keys of their names, which may now be unused."""
    names: set[int] = set()
    columns = "passage, user_key, title, sizes, words"
    query = f"SELECT {columns} FROM graph_passages WHERE collection_key = ? AND stored_id IN ({{}})"  # noqa: S608
    for row in rows_in(sql, query, stored_ids, (collection,)):
        names |= _drop_passage(sql, *row)
    return names


def drop_unused_names(sql: sqlite3.Connection, names: Collection[int]) -> None:
    """Remove the names that are in no passage, with their vectors."""
    query = "SELECT user_key, name_key FROM graph_names WHERE passages <= 0 AND name_key IN ({})"
    gone = rows_in(sql, query, list(names))
    delete_names(sql, gone)
    sql.executemany("DELETE FROM graph_names WHERE name_key = ?", [(row[1],) for row in gone])


def drop_graph(sql: sqlite3.Connection, collection: int) -> None:
    """Remove a whole collection's graph."""
    users = "SELECT user_key FROM users WHERE collection_key = ?"
    names = f"SELECT name_key FROM graph_names WHERE user_key IN ({users})"  # noqa: S608 - our own names
    sql.execute(f"DELETE FROM graph_mentions WHERE name_key IN ({names})", (collection,))  # noqa: S608
    for table in _OF_USERS:
        sql.execute(f"DELETE FROM {table} WHERE user_key IN ({users})", (collection,))  # noqa: S608 - our own names
    for table in _OF_COLLECTION:
        sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (collection,))  # noqa: S608 - our own names


def _drop_passage(
    sql: sqlite3.Connection, passage: int, user: int, title: int | None, sizes: bytes, words: bytes
) -> set[int]:
    bounds = (passage << SENTENCE_BITS, (passage + 1) << SENTENCE_BITS)
    within = "sentence >= ? AND sentence < ?"
    found = sql.execute(f"SELECT DISTINCT name_key FROM graph_mentions WHERE {within}", bounds).fetchall()  # noqa: S608
    names = {row[0] for row in found} | ({title} if title is not None else set())
    sql.execute(f"DELETE FROM graph_mentions WHERE {within}", bounds)  # noqa: S608 - our own words
    less = "UPDATE graph_names SET passages = passages - 1, titles = titles - ? WHERE name_key = ?"
    sql.executemany(less, [(int(one == title), one) for one in names])
    counts = _words_in(sizes, words)
    sql.executemany(_ADD_WORD, [(user, word, -count) for word, count in counts.items()])
    empty = "DELETE FROM graph_words WHERE user_key = ? AND word = ? AND sentences <= 0"
    sql.executemany(empty, [(user, word) for word in counts])
    sql.execute("DELETE FROM graph_passages WHERE passage = ?", (passage,))
    sql.execute(_ADD_SIZE, (user, -1, -(len(sizes) // 2), -int(title is not None)))
    sql.execute("DELETE FROM graph_size WHERE user_key = ? AND passages <= 0", (user,))
    return names


def _words_in(sizes: bytes, words: bytes) -> Counter[int]:
    """The number of sentences that contain each word."""
    bounds = np.cumsum(np.frombuffer(sizes, dtype="<u2"))[:-1]
    counts: Counter[int] = Counter()
    for one in np.split(np.frombuffer(words, dtype="<u4"), bounds):
        counts.update(set(one.tolist()))
    return counts
