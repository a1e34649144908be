"""What has the graph not taken in? Words written and removed since, and titles that became known later."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from adaptive_memory_core.store.ledger.state_rows import chunks

MOST_GONE = 5_000  # removals that are followed at a time
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
    "SELECT stored_id FROM graph_size s CROSS JOIN graph_passages g ON g.user_key = s.user_key "
    "AND g.known < s.titles / ? WHERE g.collection_key = ? LIMIT ?"
)
_KEEP = (
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


def word_rows(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> dict[str, int]:
    """The row of each record's words, where it has one."""
    found: dict[str, int] = {}
    for chunk in chunks(stored_ids):
        places = ", ".join("?" * len(chunk))
        query = f"SELECT stored_id, row FROM words WHERE collection_key = ? AND stored_id IN ({places})"  # noqa: S608
        found.update(sql.execute(query, (collection, *chunk)).fetchall())
    return found


def behind(sql: sqlite3.Connection, collection: int, most: int, after: int = 0) -> list[tuple[int, str]]:
    """The next words that no passage is in step with, after a row of them."""
    return sql.execute(_BEHIND, (collection, max(after, _seen(sql, collection)[0]), most)).fetchall()


def behind_of(sql: sqlite3.Connection, user: int, most: int, after: int) -> list[tuple[int, str]]:
    """The next words of this user's that no passage is in step with."""
    return sql.execute(_BEHIND_OF, (user, after, most)).fetchall() if user else []


def waiting(sql: sqlite3.Connection, collection: int, users: Sequence[int], most: int) -> int:
    """How many words of these users' no passage is in step with."""
    written = _seen(sql, collection)[0]
    return sum(int(sql.execute(_WAITING, (user, written, most)).fetchone()[0]) for user in users if user)


def followed(sql: sqlite3.Connection, collection: int, word_row: int) -> None:
    sql.execute(_KEEP.format("written"), (collection, word_row))


def removed(sql: sqlite3.Connection, collection: int, gone_row: int) -> None:
    sql.execute(_KEEP.format("removed"), (collection, gone_row))


def made_as(sql: sqlite3.Connection, collection: int) -> tuple[str | None, list[str]]:
    """The setting that the graph is made with, if it is known, and those that gave way to another."""
    row = sql.execute(
        "SELECT title_key, made_before FROM graph_seen WHERE collection_key = ?", (collection,)
    ).fetchone()
    return (None, []) if row is None else (row[0], json.loads(row[1]))


def make_as(sql: sqlite3.Connection, collection: int, setting: str | None, before: Sequence[str]) -> None:
    """Nothing is taken in yet, and it will be with this setting."""
    given_way = json.dumps(sorted({*before} - {setting}))
    query = "INSERT INTO graph_seen (collection_key, title_key, made_before) VALUES (?, ?, ?)"
    sql.execute(query, (collection, setting, given_way))


def gone(sql: sqlite3.Connection, collection: int, after: int = 0) -> tuple[int | None, list[str]]:
    """The last removal that is looked at now, after one of that number, and the records whose passages lost their
    words; None: nothing is new."""
    query = (
        "SELECT gone, (SELECT stored_id FROM graph_passages g WHERE g.word_row = words_gone.row AND "
        "g.collection_key = ?) FROM words_gone WHERE gone > ? ORDER BY gone LIMIT ?"
    )
    rows = sql.execute(query, (collection, max(after, _seen(sql, collection)[1]), MOST_GONE)).fetchall()
    return (rows[-1][0] if rows else None), [row[1] for row in rows if row[1] is not None]


def to_link_again(sql: sqlite3.Connection, collection: int, most: int, growth: float) -> list[str]:
    """Passages that were read when so many times fewer titles were known."""
    return [row[0] for row in sql.execute(_AGAIN, (growth, collection, most))]


def faults(sql: sqlite3.Connection, collection: int) -> list[str]:
    """What does not fit together, one line each."""
    found = [(line, sql.execute(query, (collection,)).fetchone()[0]) for line, query in _CHECKS.items()]
    return [line.format(count) for line, count in found if count]


def _seen(sql: sqlite3.Connection, collection: int) -> tuple[int, int]:
    row = sql.execute(_SEEN, (collection,)).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))
