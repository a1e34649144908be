"""How do messages become rows of episodes, and episodes rows of semantics? Plain SQL, in the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from adaptive_memory_core.flow.ports.hierarchy_values import DueEpisode, Entry, Group, NewSemantic, Queued
from adaptive_memory_core.hierarchy.nodes import EpisodeKey, SemanticKey
from adaptive_memory_core.store.ledger.hierarchy_removal import drop_semantics, episode_changed, let_go
from adaptive_memory_core.store.ledger.state_rows import chunks

_QUEUE = (
    "INSERT INTO hierarchy_messages (collection_key, user_key, stored_id, session, place, at, speaker, said) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_KNOWN = "SELECT message, user_key, session FROM hierarchy_messages WHERE collection_key = ? AND stored_id = ?"
_MOVED = "UPDATE hierarchy_messages SET place = ?, at = ?, speaker = ?, said = ? WHERE message = ?"
_COLUMNS = "message, stored_id, session, place, at, speaker, episode"
_CONVERSATION = (
    f"SELECT {_COLUMNS} FROM hierarchy_messages WHERE episode = (SELECT max(episode) FROM hierarchy_episodes "  # noqa: S608
    "WHERE user_key = :user AND session = :session AND open = 1) UNION ALL "
    f"SELECT * FROM (SELECT {_COLUMNS} FROM hierarchy_messages WHERE user_key = :user AND session = :session "
    "AND episode IS NULL ORDER BY place, message LIMIT :most) AS waiting"
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
    "UPDATE hierarchy_episodes SET title = ?, note = coalesce(?, note), due = 0 "
    "WHERE episode = ? AND revision = ? AND due = 1"
)
_NEW_SEMANTIC = (
    "INSERT INTO hierarchy_semantics (user_key, episode, text, shown, at, vector) VALUES (?, ?, ?, ?, ?, ?) "
    "RETURNING semantic"
)
_SAID_SO = (
    "SELECT semantic, text, group_concat(stored_id, char(31)) FROM (SELECT semantic, text, stored_id "
    "FROM hierarchy_semantics JOIN hierarchy_sources USING (semantic) JOIN hierarchy_messages USING (message) "
    "WHERE hierarchy_semantics.episode = ? ORDER BY semantic, stored_id) AS said GROUP BY semantic, text"
)


def queue(sql: sqlite3.Connection, owner: tuple[int, int], entries: Sequence[Entry]) -> None:
    """New messages wait for an episode; one that there is, and that stays in its conversation, stays in its episode."""
    collection, user = owner
    for one in entries:
        before = sql.execute(_KNOWN, (collection, one.stored_id)).fetchone()
        if before is not None and before[1:] == (user, one.session):
            let_go(sql, collection, [one.stored_id], gone=False)
            sql.execute(_MOVED, (one.place, one.at, one.speaker, one.said, before[0]))
            continue
        if before is not None:
            let_go(sql, collection, [one.stored_id], gone=True)
        sql.execute(_QUEUE, (collection, user, *one))


def known(sql: sqlite3.Connection, owner: tuple[int, int], stored_ids: Sequence[str]) -> set[str]:
    """Those of the messages that have a place."""
    found: set[str] = set()
    for chunk in chunks(stored_ids):
        query = (
            "SELECT stored_id FROM hierarchy_messages WHERE collection_key = ? AND user_key = ? "  # noqa: S608
            f"AND stored_id IN ({', '.join('?' * len(chunk))})"
        )
        found.update(row[0] for row in sql.execute(query, (*owner, *chunk)))
    return found


def conversation(sql: sqlite3.Connection, user: int, session: str, most: int) -> list[Queued]:
    """The messages of the open episode and those of none, in their order."""
    rows = sql.execute(_CONVERSATION, {"user": user, "session": session, "most": most}).fetchall()
    return sorted(map(_queued, rows), key=lambda one: (one.episode is None, one.entry.place, one.key))


def episode_at(sql: sqlite3.Connection, user: int, session: str, place: float) -> EpisodeKey | None:
    """The closed episode that a message of this place came too late for: of the message before it, or else after it."""
    if sql.execute(_AFTER, (user, session, place)).fetchone() is None:
        return None
    for order in (("<=", "DESC"), (">", "ASC")):
        row = sql.execute(_BEFORE.format(*order), (user, session, place)).fetchone()
        if row is not None:
            return int(row[0])
    return None


def assign(sql: sqlite3.Connection, user: int, session: str, groups: Sequence[Group]) -> bool:
    """All of it or nothing."""
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


def _as_expected(sql: sqlite3.Connection, session: str, groups: Sequence[Group]) -> bool:
    """Whether all of the messages still wait, and the episodes are there."""
    messages = [one for group in groups for one in group.messages]
    waiting = 0
    for chunk in chunks(messages):
        query = (
            "SELECT count(*) FROM hierarchy_messages WHERE session = ? AND episode IS NULL "  # noqa: S608 - our own
            f"AND message IN ({', '.join('?' * len(chunk))})"
        )
        waiting += sql.execute(query, (session, *chunk)).fetchone()[0]
    there = "SELECT count(*) FROM hierarchy_episodes WHERE episode = ?"
    wanted = [group.episode for group in groups if group.episode is not None]
    return waiting == len(messages) and all(sql.execute(there, (one,)).fetchone()[0] for one in wanted)


def due(sql: sqlite3.Connection, user: int, most: int) -> list[DueEpisode]:
    """Episodes that are to be distilled, with their messages in order."""
    query = "SELECT episode, revision FROM hierarchy_episodes WHERE user_key = ? AND due = 1 ORDER BY episode LIMIT ?"
    messages = f"SELECT {_COLUMNS} FROM hierarchy_messages WHERE episode = ? ORDER BY place, message"  # noqa: S608
    return [
        DueEpisode(episode, revision, [_queued(row) for row in sql.execute(messages, (episode,)).fetchall()])
        for episode, revision in sql.execute(query, (user, most)).fetchall()
    ]


def distilled(
    sql: sqlite3.Connection,
    user: int,
    episode: DueEpisode,
    title: str,
    semantics: Sequence[NewSemantic],
    note: str | None,
) -> bool:
    """What was made of an episode, in the place of what there was; the same sentences stay where they are."""
    if sql.execute(_DONE, (title, note, episode.key, episode.revision)).rowcount == 0:
        return False
    there = semantics_of(sql, episode.key)
    wanted = {(one.distilled.text, tuple(sorted(one.distilled.messages))): one for one in semantics}
    drop_semantics(sql, [key for said, key in there.items() if said not in wanted])
    messages = {one.entry.stored_id: one.key for one in episode.messages}
    for said, one in wanted.items():
        if said not in there:
            new = (user, episode.key, one.distilled.text, one.distilled.shown, one.at, one.vector)
            semantic = int(sql.execute(_NEW_SEMANTIC, new).fetchone()[0])
            sources = [(semantic, messages[source]) for source in one.distilled.messages]
            sql.executemany("INSERT INTO hierarchy_sources VALUES (?, ?)", sources)
    return True


def semantics_of(sql: sqlite3.Connection, episode: EpisodeKey) -> dict[tuple[str, tuple[str, ...]], SemanticKey]:
    """The semantics of an episode by their text and the messages that they are from."""
    return {(text, tuple(ids.split("\x1f"))): key for key, text, ids in sql.execute(_SAID_SO, (episode,)).fetchall()}


def _queued(row: tuple[int, str, str, float, float, str | None, int | None]) -> Queued:
    key, stored_id, session, place, at, speaker, episode = row
    return Queued(key, Entry(stored_id, session, place, at, speaker), episode)
