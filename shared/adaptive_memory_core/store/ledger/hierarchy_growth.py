"""SQL of the hierarchy: the growth of episodes, semantics and themes, the removal of messages, and checks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.flow.ports.hierarchy import (
    ConversationMessage,
    DueEpisode,
    Growth,
    MessageGroup,
    NewSemantic,
    PlacedSemantics,
    Queued,
    ThemesVersion,
    Written,
)
from adaptive_memory_core.flow.ports.models import EpisodeText
from adaptive_memory_core.hierarchy.nodes import EpisodeKey, Neighbours, Placed, SemanticKey, ThemeKey
from adaptive_memory_core.store.ledger.state_rows import rows_in

_QUEUE = (
    "INSERT INTO hierarchy_messages (collection_key, user_key, stored_id, session, place, at, speaker, text_digest) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_KNOWN = "SELECT message, user_key, session FROM hierarchy_messages WHERE collection_key = ? AND stored_id = ?"
_MOVED = "UPDATE hierarchy_messages SET place = ?, at = ?, speaker = ?, text_digest = ? WHERE message = ?"
_COLUMNS = "message, stored_id, session, place, at, speaker, episode"
_CONVERSATION = (
    f"SELECT {_COLUMNS} FROM hierarchy_messages WHERE episode = (SELECT max(episode) FROM hierarchy_episodes "  # noqa: S608
    "WHERE user_key = ? AND session = ? AND open = 1) UNION ALL "
    f"SELECT * FROM (SELECT {_COLUMNS} FROM hierarchy_messages WHERE user_key = ? AND session = ? "
    "AND episode IS NULL ORDER BY place, message LIMIT ?) AS waiting"
)
_AFTER = (
    "SELECT 1 FROM hierarchy_messages m JOIN hierarchy_episodes e USING (episode) WHERE m.user_key = ? "
    "AND m.session = ? AND m.place > ? AND e.open = 0 LIMIT 1"
)
_BEFORE = (
    "SELECT episode FROM hierarchy_messages WHERE user_key = ? AND session = ? AND place {} ? AND episode IS NOT NULL "
    "ORDER BY place {}, message LIMIT 1"
)
_NEW_EPISODE = (
    "INSERT INTO hierarchy_episodes (user_key, session, begins, ends, open, note) "
    "VALUES (?, ?, ?, ?, ?, ?) RETURNING episode"
)
_JOIN = "UPDATE hierarchy_messages SET episode = ? WHERE message = ? AND episode IS NULL"
_DONE = (
    "UPDATE hierarchy_episodes SET title = ?, narrative = ?, note = coalesce(?, note), due = 0 "
    "WHERE episode = ? AND revision = ? AND due = 1"
)
_NEW_SEMANTIC = (
    "INSERT INTO hierarchy_semantics (user_key, episode, text, shown, at, vector) VALUES (?, ?, ?, ?, ?, ?) "
    "RETURNING semantic"
)
_SAID_SO = (
    "SELECT semantic, text, stored_id "
    "FROM hierarchy_semantics JOIN hierarchy_sources USING (semantic) JOIN hierarchy_messages USING (message) "
    "WHERE hierarchy_semantics.episode = ? ORDER BY semantic, stored_id"
)


def queue_messages(sql: sqlite3.Connection, owner: tuple[int, int], entries: Sequence[ConversationMessage]) -> None:
    """Queue new messages for an episode. A known message keeps its episode unless it has moved to another
    conversation."""
    collection, user = owner
    for one in entries:
        before = sql.execute(_KNOWN, (collection, one.stored_id)).fetchone()
        if before is not None and before[1:] == (user, one.session):
            remove_messages(sql, collection, [one.stored_id], gone=False)
            sql.execute(_MOVED, (one.place, one.at, one.speaker, one.text_digest, before[0]))
            continue
        if before is not None:
            remove_messages(sql, collection, [one.stored_id], gone=True)
        sql.execute(_QUEUE, (collection, user, *one))


def known_messages(sql: sqlite3.Connection, owner: tuple[int, int], stored_ids: Sequence[str]) -> set[str]:
    """The messages among these that are stored for the user."""
    query = "SELECT stored_id FROM hierarchy_messages WHERE collection_key = ? AND user_key = ? AND stored_id IN ({})"
    return {row[0] for row in rows_in(sql, query, stored_ids, owner)}


def unclosed_messages(sql: sqlite3.Connection, user: int, session: str, most: int) -> list[Queued]:
    """The messages of the open episode, and then those without an episode, each in order."""
    rows = sql.execute(_CONVERSATION, (user, session, user, session, most)).fetchall()
    return sorted(map(_queued, rows), key=lambda one: (one.episode is None, one.entry.place, one.key))


def episode_at(sql: sqlite3.Connection, user: int, session: str, place: float) -> EpisodeKey | None:
    """The closed episode of the message before this place, or else after it, if the message came too late; or None."""
    if sql.execute(_AFTER, (user, session, place)).fetchone() is None:
        return None
    for order in (("<=", "DESC"), (">", "ASC")):
        row = sql.execute(_BEFORE.format(*order), (user, session, place)).fetchone()
        if row is not None:
            return int(row[0])
    return None


def assign(sql: sqlite3.Connection, user: int, session: str, groups: Sequence[MessageGroup]) -> bool:
    """Put the messages into these episodes: all of them, or none if the rows have changed. Return whether it was
    done."""
    if not _as_expected(sql, session, groups):
        return False
    for group in groups:
        episode = group.episode
        if episode is None:
            new = (user, session, group.begins, group.ends, int(group.open), group.note)
            episode = int(sql.execute(_NEW_EPISODE, new).fetchone()[0])
        sql.executemany(_JOIN, [(episode, message) for message in group.messages])
        sql.execute("UPDATE hierarchy_episodes SET open = ? WHERE episode = ?", (int(group.open), episode))
        if group.messages:
            episode_changed(sql, episode)
    return True


def _as_expected(sql: sqlite3.Connection, session: str, groups: Sequence[MessageGroup]) -> bool:
    """Whether all of the messages are still without an episode, and the episodes exist."""
    messages = [one for group in groups for one in group.messages]
    query = "SELECT count(*) FROM hierarchy_messages WHERE session = ? AND episode IS NULL AND message IN ({})"
    waiting = sum(row[0] for row in rows_in(sql, query, messages, (session,)))
    there = "SELECT count(*) FROM hierarchy_episodes WHERE episode = ?"
    wanted = [group.episode for group in groups if group.episode is not None]
    return waiting == len(messages) and all(sql.execute(there, (one,)).fetchone()[0] for one in wanted)


def due_episodes(sql: sqlite3.Connection, user: int, most: int) -> list[DueEpisode]:
    """The next episodes to distil, with their messages in order."""
    query = "SELECT episode, revision FROM hierarchy_episodes WHERE user_key = ? AND due = 1 ORDER BY episode LIMIT ?"
    messages = f"SELECT {_COLUMNS} FROM hierarchy_messages WHERE episode = ? ORDER BY place, message"  # noqa: S608
    return [
        DueEpisode(episode, revision, [_queued(row) for row in sql.execute(messages, (episode,)).fetchall()])
        for episode, revision in sql.execute(query, (user, most)).fetchall()
    ]


def keep_distilled(
    sql: sqlite3.Connection,
    user: int,
    episode: DueEpisode,
    text: EpisodeText,
    semantics: Sequence[NewSemantic],
) -> bool:
    """Replace an episode's texts and semantics; unchanged sentences keep their rows. Return False if the episode has
    changed."""
    if sql.execute(_DONE, (*text, episode.key, episode.revision)).rowcount == 0:
        return False
    there = semantics_of(sql, episode.key)
    wanted = {(one.distilled.text, tuple(sorted(one.distilled.messages))): one for one in semantics}
    drop_semantics(sql, [key for fact, key in there.items() if fact not in wanted])
    messages = {one.entry.stored_id: one.key for one in episode.messages}
    for fact, one in wanted.items():
        if fact not in there:
            new = (user, episode.key, one.distilled.text, one.distilled.shown, one.at, one.vector)
            semantic = int(sql.execute(_NEW_SEMANTIC, new).fetchone()[0])
            sources = [(semantic, messages[source]) for source in one.distilled.messages]
            sql.executemany("INSERT INTO hierarchy_sources VALUES (?, ?)", sources)
    return True


def semantics_of(sql: sqlite3.Connection, episode: EpisodeKey) -> dict[tuple[str, tuple[str, ...]], SemanticKey]:
    """The semantics of an episode, by their text and their source messages."""
    sources: dict[tuple[SemanticKey, str], list[str]] = {}
    for key, text, stored_id in sql.execute(_SAID_SO, (episode,)).fetchall():
        sources.setdefault((key, text), []).append(stored_id)
    return {(text, tuple(ids)): key for (key, text), ids in sources.items()}


def _queued(row: tuple[int, str, str, float, float, str | None, int | None]) -> Queued:
    key, stored_id, session, place, at, speaker, episode = row
    return Queued(key, ConversationMessage(stored_id, session, place, at, speaker), episode)


NEAR = np.dtype([("key", "<i8"), ("similarity", "<f4")])
_SEMANTICS = (
    "SELECT semantic, vector, theme, moved, text, shown, at, near FROM hierarchy_semantics WHERE user_key = ? AND {}"
)
_THEME = (
    "INSERT INTO hierarchy_themes (theme, user_key, name, named, revision, grown) VALUES (?, ?, ?, ?, 0, ?) "
    "ON CONFLICT (theme) DO UPDATE SET name = excluded.name, named = excluded.named, "
    "revision = hierarchy_themes.revision + 1"
)


def unattached(sql: sqlite3.Connection, user: int, most: int) -> list[Written]:
    """The next semantics without a theme, oldest first."""
    query = _SEMANTICS.format("theme IS NULL ORDER BY semantic LIMIT ?")
    return [_written(row) for row in sql.execute(query, (user, most)).fetchall()]


def placed_semantics(sql: sqlite3.Connection, user: int) -> PlacedSemantics:
    """All semantics that are in themes."""
    rows = sql.execute(_SEMANTICS.format("theme IS NOT NULL ORDER BY semantic"), (user,)).fetchall()
    grown = sql.execute("SELECT theme, grown FROM hierarchy_themes WHERE user_key = ?", (user,)).fetchall()
    return PlacedSemantics(themes_version(sql, user), [_written(row) for row in rows], dict(grown))


def themes_version(sql: sqlite3.Connection, user: int) -> ThemesVersion:
    """The version of a user's themes, by which a cached copy is checked."""
    row = sql.execute("SELECT removals, attached FROM hierarchy_users WHERE user_key = ?", (user,)).fetchone()
    return ThemesVersion(*(row or (0, 0)))


def grow(sql: sqlite3.Connection, user: int, growth: Growth) -> None:
    """Store the changes made by attaching."""
    sql.execute("UPDATE hierarchy_users SET attached = ? WHERE user_key = ?", (growth.attached, user))
    sql.executemany("DELETE FROM hierarchy_themes WHERE theme = ?", [(one,) for one in growth.gone])
    sql.executemany(
        _THEME, [(one, user, name, int(growth.named), growth.grown[one]) for one, name in growth.names.items()]
    )
    sql.executemany(
        "UPDATE hierarchy_themes SET grown = ? WHERE theme = ? AND grown != ?",
        [(count, one, count) for one, count in growth.grown.items()],
    )
    sql.executemany(
        "UPDATE hierarchy_semantics SET theme = ?, moved = ? WHERE semantic = ?",
        [(theme, int(moved), one) for one, (theme, moved) in growth.places.items()],
    )
    sql.executemany(
        "UPDATE hierarchy_semantics SET replaces = ? WHERE semantic = ?",
        [(old, one) for one, old in growth.replaces.items()],
    )
    for table, key, near in (("semantics", "semantic", growth.near_semantics), ("themes", "theme", growth.near_themes)):
        update = f"UPDATE hierarchy_{table} SET near = ? WHERE {key} = ?"  # noqa: S608 - our own names
        sql.executemany(update, [(packed_neighbours(found), one) for one, found in near.items()])


def unnamed(sql: sqlite3.Connection, user: int, most: int) -> list[tuple[ThemeKey, int, list[str]]]:
    """The next themes to name, with their revision and texts."""
    query = "SELECT theme, revision FROM hierarchy_themes WHERE user_key = ? AND named = 0 LIMIT ?"
    texts = "SELECT shown FROM hierarchy_semantics WHERE theme = ? ORDER BY semantic"
    return [
        (theme, revision, [row[0] for row in sql.execute(texts, (theme,)).fetchall()])
        for theme, revision in sql.execute(query, (user, most)).fetchall()
    ]


def packed_neighbours(neighbours: Neighbours) -> bytes:
    """Neighbours as a blob.

    >>> neighbours_in(packed_neighbours(((7, 0.5), (3, 0.25))))
    ((7, 0.5), (3, 0.25))
    """
    return np.array(list(neighbours), dtype=NEAR).tobytes()


def neighbours_in(blob: bytes) -> Neighbours:
    return tuple(np.frombuffer(blob, dtype=NEAR).tolist())


def unpacked_vector(blob: bytes) -> Any:
    """A stored vector in 32 bits, for comparison."""
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


def _written(row: tuple[Any, ...]) -> Written:
    semantic, vector, theme, moved, text, shown, at, near = row
    return Written(Placed(semantic, unpacked_vector(vector), theme, moved == 1, neighbours_in(near)), text, shown, at)


_OF_MESSAGE = "SELECT semantic FROM hierarchy_sources WHERE message = ?"
_EPISODE_CHANGED = (
    "UPDATE hierarchy_episodes SET title = '', narrative = '', due = 1, revision = revision + 1, "
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


def mark_changed(sql: sqlite3.Connection, user: int) -> None:
    """Change the version of the user's hierarchy, so that cached copies are read again."""
    sql.execute(_CHANGED, (user,))


def remove_messages(sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str], *, gone: bool) -> None:
    """Remove all that was derived from these messages; if they are `gone`, the messages too."""
    for message, user, episode in _message_rows(sql, collection, stored_ids):
        drop_semantics(sql, [row[0] for row in sql.execute(_OF_MESSAGE, (message,))])
        if gone:
            sql.execute("DELETE FROM hierarchy_messages WHERE message = ?", (message,))
        if episode is not None:
            episode_changed(sql, episode)
        mark_changed(sql, user)


def episode_changed(sql: sqlite3.Connection, episode: int) -> None:
    """Mark an episode with changed messages for distilling, or remove it if it has none left."""
    left = "SELECT EXISTS (SELECT 1 FROM hierarchy_messages WHERE episode = ?)"
    if sql.execute(left, (episode,)).fetchone()[0]:
        sql.execute(_EPISODE_CHANGED, (episode,))
        return
    found = sql.execute("SELECT semantic FROM hierarchy_semantics WHERE episode = ?", (episode,)).fetchall()
    drop_semantics(sql, [row[0] for row in found])
    sql.execute("DELETE FROM hierarchy_episodes WHERE episode = ?", (episode,))


def drop_semantics(sql: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Remove semantics with their links. Clear the names of their themes, because these may contain their words; empty
    themes are removed."""
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
    """Remove all of a user's semantics and mark the episodes for distilling."""
    found = sql.execute("SELECT semantic FROM hierarchy_semantics WHERE user_key = ?", (user,)).fetchall()
    drop_semantics(sql, [row[0] for row in found])
    sql.execute("UPDATE hierarchy_episodes SET due = 1, revision = revision + 1 WHERE user_key = ?", (user,))
    mark_changed(sql, user)


def drop_hierarchies(sql: sqlite3.Connection, collection: int) -> None:
    """Remove a whole collection's hierarchies."""
    users = "SELECT user_key FROM users WHERE collection_key = ?"
    semantics = f"SELECT semantic FROM hierarchy_semantics WHERE user_key IN ({users})"  # noqa: S608 - our own names
    sql.execute(f"DELETE FROM hierarchy_sources WHERE semantic IN ({semantics})", (collection,))  # noqa: S608
    for table in _OF_USERS:
        sql.execute(f"DELETE FROM hierarchy_{table} WHERE user_key IN ({users})", (collection,))  # noqa: S608


def _message_rows(
    sql: sqlite3.Connection, collection: int, stored_ids: Sequence[str]
) -> list[tuple[int, int, int | None]]:
    query = "SELECT message, user_key, episode FROM hierarchy_messages WHERE collection_key = ? AND stored_id IN ({})"
    return rows_in(sql, query, stored_ids, (collection,))


_OWN = "user_key IN (SELECT user_key FROM hierarchy_users WHERE collection_key = ?)"
_CHECKS = {
    "{} messages are in an episode that is gone.": (
        f"SELECT count(*) FROM hierarchy_messages m WHERE {_OWN} AND episode IS NOT NULL "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_episodes e WHERE e.episode = m.episode AND e.user_key = m.user_key)"
    ),
    "{} episodes have no message.": (
        f"SELECT count(*) FROM hierarchy_episodes e WHERE {_OWN} "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_messages m WHERE m.episode = e.episode)"
    ),
    "{} semantics have no message that they are from.": (
        f"SELECT count(*) FROM hierarchy_semantics s WHERE {_OWN} AND NOT EXISTS "  # noqa: S608 - our own words
        "(SELECT 1 FROM hierarchy_sources JOIN hierarchy_messages m USING (message) WHERE semantic = s.semantic "
        "AND m.episode = s.episode)"
    ),
    "{} semantics are in a theme that is gone.": (
        f"SELECT count(*) FROM hierarchy_semantics s WHERE {_OWN} AND theme IS NOT NULL "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_themes t WHERE t.theme = s.theme AND t.user_key = s.user_key)"
    ),
    "{} themes are empty.": (
        f"SELECT count(*) FROM hierarchy_themes t WHERE {_OWN} "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_semantics s WHERE s.theme = t.theme)"
    ),
    "{} semantics replace one that is gone.": (
        f"SELECT count(*) FROM hierarchy_semantics s WHERE {_OWN} AND replaces IS NOT NULL "  # noqa: S608
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_semantics o WHERE o.semantic = s.replaces)"
    ),
    "{} sources are of a semantic or a message that is gone.": (
        "SELECT count(*) FROM hierarchy_sources WHERE ? IS NOT NULL AND (semantic NOT IN (SELECT semantic FROM "
        "hierarchy_semantics) OR message NOT IN (SELECT message FROM hierarchy_messages))"
    ),
}


def hierarchy_faults(sql: sqlite3.Connection, collection: int) -> list[str]:
    """The faults in a collection's hierarchies, one line per kind."""
    counts = {line: sql.execute(query, (collection,)).fetchone()[0] for line, query in _CHECKS.items()}
    return [line.format(count) for line, count in counts.items() if count]
