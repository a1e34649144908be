"""How is what grew from a message removed? With every sentence, title and name in which its words may stand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from adaptive_memory_core.store.ledger.state_rows import chunks

_OF_MESSAGE = "SELECT semantic FROM hierarchy_sources WHERE message = ?"
_EPISODE_CHANGED = (
    "UPDATE hierarchy_episodes SET title = '', due = 1, revision = revision + 1, "
    "begins = (SELECT min(at) FROM hierarchy_messages m WHERE m.episode = hierarchy_episodes.episode), "
    "ends = (SELECT max(at) FROM hierarchy_messages m WHERE m.episode = hierarchy_episodes.episode) WHERE episode = ?"
)
_CHANGED = "UPDATE hierarchy_users SET version = version + 1 WHERE user_key = ?"
_ONE_LESS = (
    "UPDATE hierarchy_users SET removals = removals + 1 "
    "WHERE user_key = (SELECT user_key FROM hierarchy_semantics WHERE semantic = ?)"
)
_BLANK = "UPDATE hierarchy_themes SET name = '', named = 0, revision = revision + 1 WHERE theme = ?"
_EMPTY = (
    "DELETE FROM hierarchy_themes WHERE theme = ? "
    "AND NOT EXISTS (SELECT 1 FROM hierarchy_semantics s WHERE s.theme = hierarchy_themes.theme)"
)
_OF_USERS = ("messages", "episodes", "semantics", "themes", "users")


def changed(sql: sqlite3.Connection, user: int) -> None:
    """Whoever has a copy of the user's hierarchy has to read it anew."""
    sql.execute(_CHANGED, (user,))


def let_go(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str], *, gone: bool) -> None:
    """Let go of all that was made of these messages; where they are `gone`, of their places as well."""
    for message, user, episode in _rows(sql, collection, stored_ids):
        drop_semantics(sql, [row[0] for row in sql.execute(_OF_MESSAGE, (message,))])
        if gone:
            sql.execute("DELETE FROM hierarchy_messages WHERE message = ?", (message,))
        if episode is not None:
            episode_changed(sql, episode)
        changed(sql, user)


def episode_changed(sql: sqlite3.Connection, episode: int) -> None:
    """It has other messages: it is to be distilled anew, or goes where it has none left."""
    left = "SELECT EXISTS (SELECT 1 FROM hierarchy_messages WHERE episode = ?)"
    if sql.execute(left, (episode,)).fetchone()[0]:
        sql.execute(_EPISODE_CHANGED, (episode,))
        return
    found = sql.execute("SELECT semantic FROM hierarchy_semantics WHERE episode = ?", (episode,)).fetchall()
    drop_semantics(sql, [row[0] for row in found])
    sql.execute("DELETE FROM hierarchy_episodes WHERE episode = ?", (episode,))


def drop_semantics(sql: sqlite3.Connection, keys: Iterable[int]) -> None:
    """With their links; a theme that they were in has no name until it is named anew, as its name may be theirs."""
    themes = set()
    for key in keys:
        sql.execute(_ONE_LESS, (key,))
        themes |= {row[0] for row in sql.execute("SELECT theme FROM hierarchy_semantics WHERE semantic = ?", (key,))}
        sql.execute("DELETE FROM hierarchy_sources WHERE semantic = ?", (key,))
        sql.execute("UPDATE hierarchy_semantics SET replaces = NULL WHERE replaces = ?", (key,))
        sql.execute("DELETE FROM hierarchy_semantics WHERE semantic = ?", (key,))
    for theme in themes - {None}:
        sql.execute(_EMPTY, (theme,))
        sql.execute(_BLANK, (theme,))


def clear_user(sql: sqlite3.Connection, user: int) -> None:
    """Let go of all that was distilled; the episodes stay, and are distilled anew."""
    found = sql.execute("SELECT semantic FROM hierarchy_semantics WHERE user_key = ?", (user,)).fetchall()
    drop_semantics(sql, [row[0] for row in found])
    sql.execute("UPDATE hierarchy_episodes SET due = 1, revision = revision + 1 WHERE user_key = ?", (user,))
    changed(sql, user)


def drop_collection(sql: sqlite3.Connection, collection: int) -> None:
    """Let go of a whole collection's hierarchies."""
    users = "SELECT user_key FROM users WHERE collection_key = ?"
    semantics = f"SELECT semantic FROM hierarchy_semantics WHERE user_key IN ({users})"  # noqa: S608 - our own names
    sql.execute(f"DELETE FROM hierarchy_sources WHERE semantic IN ({semantics})", (collection,))  # noqa: S608
    for table in _OF_USERS:
        sql.execute(f"DELETE FROM hierarchy_{table} WHERE user_key IN ({users})", (collection,))  # noqa: S608


def _rows(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]) -> list[tuple[int, int, int | None]]:
    found = []
    for chunk in chunks(stored_ids):
        query = (
            "SELECT message, user_key, episode FROM hierarchy_messages "  # noqa: S608 - question marks
            f"WHERE collection_key = ? AND stored_id IN ({', '.join('?' * len(chunk))})"
        )
        found += sql.execute(query, (collection, *chunk)).fetchall()
    return found
