"""The hierarchy in the ledger: a row per node, each step of growth in one transaction, and a user's whole tree."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

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
from adaptive_memory_core.hierarchy.grow import centre_of, coherence, sparsity
from adaptive_memory_core.hierarchy.nodes import (
    Array,
    Episode,
    EpisodeKey,
    Hierarchy,
    HierarchyStatistics,
    Semantic,
    SemanticKey,
    ThemeKey,
    ThemeNode,
)
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import hierarchy_growth
from adaptive_memory_core.store.ledger.hierarchy_growth import hierarchy_faults, neighbours_in, unpacked_vector
from adaptive_memory_core.store.ledger.schema import LedgerPart

T = TypeVar("T")
_WATCH = "INSERT INTO hierarchy_users (user_key, collection_key, uuid) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_WATCHED = (
    "SELECT users.name, hierarchy_users.version FROM hierarchy_users JOIN users USING (user_key) "
    "WHERE hierarchy_users.collection_key = ?"
)
_UNFINISHED = (
    "SELECT (SELECT count(*) FROM hierarchy_episodes e WHERE e.user_key = users.user_key AND due = 1) + "
    "(SELECT count(*) FROM hierarchy_semantics s WHERE s.user_key = users.user_key AND theme IS NULL) + "
    "(SELECT count(*) FROM hierarchy_themes t WHERE t.user_key = users.user_key AND named = 0) "
    "FROM users WHERE user_key = ?"
)
_UUID = "SELECT uuid FROM collections WHERE collection_key = ?"


class LedgerHierarchy(LedgerPart):
    """The messages, episodes, semantics, themes and links of each user. When a message is removed, the sentences
    distilled from it are removed too, and all titles and names that may contain its words."""

    def watch(self, scope: Scope) -> None:
        """Note that the user observes from now on."""
        if self._first("SELECT 1 FROM hierarchy_users WHERE user_key = ?", scope):
            return
        with self._shared.writing() as sql:
            own = self._shared.collection_key
            uuid = sql.execute(_UUID, (own,)).fetchone()
            sql.execute(_WATCH, (self._shared.user_key(sql, scope), own, None if uuid is None else uuid[0]))

    def watched(self) -> dict[Scope, int]:
        """The users who observe, with the versions of their hierarchies."""
        found = self._all(_WATCHED, self._shared.collection_key)
        return {Scope(name or None): version for name, version in found}

    def queue(self, scope: Scope, entries: Sequence[ConversationMessage]) -> None:
        """Queue new and changed messages."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            hierarchy_growth.queue_messages(sql, (self._shared.collection_key, user), entries)
            hierarchy_growth.mark_changed(sql, user)

    def touch(self, stored_ids: Sequence[str]) -> None:
        """Remove what was derived from these messages; the messages stay."""
        self._take_out(stored_ids, gone=False)

    def drop(self, stored_ids: Sequence[str]) -> None:
        """Remove these messages and all that was derived from them."""
        self._take_out(stored_ids, gone=True)

    def clear(self, scope: Scope, uuid: str) -> None:
        """Remove all of the user's semantics, so that episodes are distilled again with this collection's embedder."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            hierarchy_growth.clear_user(sql, user)
            sql.execute("UPDATE hierarchy_users SET uuid = ? WHERE user_key = ?", (uuid, user))

    def vectors_of(self, scope: Scope) -> str | None:
        """The UUID of the collection whose embedder made the vectors."""
        found: str | None = self._value("SELECT uuid FROM hierarchy_users WHERE user_key = ?", scope)
        return found

    def stored_ids(self) -> set[str]:
        query = "SELECT stored_id FROM hierarchy_messages WHERE collection_key = ?"
        return {row[0] for row in self._all(query, self._shared.collection_key)}

    def known(self, scope: Scope, stored_ids: Sequence[str]) -> set[str]:
        """The messages among these that are stored for the user."""
        with self._shared.reading() as sql:
            return hierarchy_growth.known_messages(
                sql, (self._shared.collection_key, self._shared.known_user(sql, scope)), stored_ids
            )

    def text_digests(self, scope: Scope) -> dict[str, bytes | None]:
        """All messages of a user, each with the digest of its text."""
        query = "SELECT stored_id, text_digest FROM hierarchy_messages WHERE user_key = ?"
        return dict(self._all(query, scope))

    def waiting(self, scope: Scope) -> int:
        """The number of messages without an episode."""
        query = "SELECT count(*) FROM hierarchy_messages WHERE user_key = ? AND episode IS NULL"
        return int(self._value(query, scope))

    def unfinished(self, scope: Scope) -> int:
        """The number of episodes to distil, semantics to attach and themes to name."""
        return int(self._value(_UNFINISHED, scope) or 0)

    def sessions(self, scope: Scope) -> list[str]:
        """The conversations that have messages without an episode."""
        query = "SELECT DISTINCT session FROM hierarchy_messages WHERE user_key = ? AND episode IS NULL"
        return [row[0] for row in self._all(query, scope)]

    def conversation(self, scope: Scope, session: str, most: int) -> list[Queued]:
        """The messages of a conversation's open episode, and then those without an episode, each in order."""
        return self._read(scope, hierarchy_growth.unclosed_messages, session, most)

    def episode_at(self, scope: Scope, session: str, place: float) -> EpisodeKey | None:
        """The closed episode that a message at this place belongs to because it came late; None if it came in time."""
        return self._read(scope, hierarchy_growth.episode_at, session, place)

    def assign(self, scope: Scope, session: str, groups: Sequence[MessageGroup]) -> bool:
        """Create or extend these episodes. Do nothing and return False if the rows have changed in the meantime."""
        return self._changed(scope, hierarchy_growth.assign, session, groups)

    def due(self, scope: Scope, most: int) -> list[DueEpisode]:
        return self._read(scope, hierarchy_growth.due_episodes, most)

    def distilled(self, scope: Scope, episode: DueEpisode, text: EpisodeText, semantics: Sequence[NewSemantic]) -> bool:
        """Replace an episode's texts and semantics; unchanged sentences keep their rows. Return False if its messages
        have changed."""
        return self._changed(scope, hierarchy_growth.keep_distilled, episode, text, semantics)

    def unattached(self, scope: Scope, most: int) -> list[Written]:
        return self._read(scope, hierarchy_growth.unattached, most)

    def placed(self, scope: Scope) -> PlacedSemantics:
        return self._read(scope, hierarchy_growth.placed_semantics)

    def edition(self, scope: Scope) -> ThemesVersion:
        return self._read(scope, hierarchy_growth.themes_version)

    def next_theme(self) -> ThemeKey:
        """A key that was never used for a theme."""
        with self._shared.reading() as sql:
            return self._shared.file.last_number(sql, "hierarchy_themes", "theme") + 1

    def version(self, scope: Scope) -> int | None:
        """A number that changes with the user's hierarchy; None for a user who does not observe."""
        found: int | None = self._value("SELECT version FROM hierarchy_users WHERE user_key = ?", scope)
        return found

    def grow(self, scope: Scope, growth: Growth) -> None:
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            hierarchy_growth.grow(sql, user, growth)
            self._shared.file.numbered(sql, "hierarchy_themes", "theme")
            hierarchy_growth.mark_changed(sql, user)

    def unnamed(self, scope: Scope, most: int) -> list[tuple[ThemeKey, int, list[str]]]:
        """The next themes to name, with a revision that changes with their members, and their texts."""
        return self._read(scope, hierarchy_growth.unnamed, most)

    def name(self, scope: Scope, theme: ThemeKey, revision: int, name: str, note: str | None) -> bool:
        query = "UPDATE hierarchy_themes SET name = ?, note = ?, named = 1 WHERE theme = ? AND revision = ?"
        with self._shared.writing() as sql:
            done = sql.execute(query, (name, note, theme, revision)).rowcount > 0
            hierarchy_growth.mark_changed(sql, self._shared.user_key(sql, scope))
        return done

    def view(self, scope: Scope) -> Hierarchy:
        return hierarchy_of(self._read(scope, hierarchy_rows_of))

    def faults(self) -> list[str]:
        """The faults in the rows, one line per kind."""
        with self._shared.reading() as sql:
            return hierarchy_faults(sql, self._shared.collection_key)

    def _take_out(self, stored_ids: Sequence[str], *, gone: bool) -> None:
        own = self._shared.collection_key
        if self._first("SELECT 1 FROM hierarchy_users WHERE collection_key = ? LIMIT 1", own) is None:
            return
        with self._shared.writing() as sql:
            hierarchy_growth.remove_messages(sql, own, stored_ids, gone=gone)

    def _read(self, scope: Scope, read: Callable[..., T], *given: Any) -> T:
        """What is read of this user's rows."""
        with self._shared.reading() as sql:
            return read(sql, self._shared.known_user(sql, scope), *given)

    def _changed(self, scope: Scope, change: Callable[..., bool], *given: Any) -> bool:
        """Change this user's rows in one transaction; return whether that was done."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            done = change(sql, user, *given)
            if done:
                hierarchy_growth.mark_changed(sql, user)
        return done


_MESSAGES = "SELECT episode, stored_id FROM hierarchy_messages WHERE user_key = ? ORDER BY place, message"
_EPISODES = (
    "SELECT episode, title, narrative, session, begins, ends, due FROM hierarchy_episodes WHERE user_key = ? "
    "ORDER BY begins, episode"
)
_SEMANTICS = (
    "SELECT semantic, text, shown, episode, theme, at, replaces, near, vector, moved FROM hierarchy_semantics "
    "WHERE user_key = ? ORDER BY semantic"
)
_SOURCES = (
    "SELECT semantic, stored_id FROM hierarchy_messages JOIN hierarchy_sources USING (message) WHERE user_key = ? "
    "ORDER BY place, message"
)
_NOTES = (
    "SELECT note FROM hierarchy_episodes WHERE user_key = ? AND note IS NOT NULL UNION "
    "SELECT note FROM hierarchy_themes WHERE user_key = ? AND note IS NOT NULL"
)
_THEMES = "SELECT theme, name, named, near FROM hierarchy_themes WHERE user_key = ? ORDER BY theme"


class HierarchyRows(NamedTuple):
    """All rows of a user's hierarchy at one moment."""

    messages: Sequence[Any]
    episodes: Sequence[Any]
    semantics: Sequence[Any]
    sources: Sequence[Any]
    themes: Sequence[Any]
    notes: Sequence[Any]


def hierarchy_rows_of(sql: sqlite3.Connection, user: int) -> HierarchyRows:
    """Read a user's rows without processing them, because other threads wait for the connection."""
    queries = (_MESSAGES, _EPISODES, _SEMANTICS, _SOURCES, _THEMES)
    of_user = [sql.execute(one, (user,)).fetchall() for one in queries]
    return HierarchyRows._make([*of_user, sql.execute(_NOTES, (user, user)).fetchall()])


def hierarchy_of(stored: HierarchyRows) -> Hierarchy:
    """The hierarchy built from its rows."""
    messages = _grouped(stored.messages)
    sources: dict[SemanticKey, list[str]] = _grouped(stored.sources)
    rows, named = stored.semantics, stored.themes
    vectors, semantics = _matrix([unpacked_vector(row[8]) for row in rows]), _semantics(rows, sources)
    episodes = _episodes(stored.episodes, messages, semantics)
    themes, centroids, cohesions = _themes(named, semantics, vectors)
    from_messages = _grouped((message, one.key) for one in semantics.values() for message in one.messages)
    in_themes = _structure(themes, cohesions, centroids)
    counted = replace(
        in_themes,
        messages=sum(map(len, messages.values())),
        episodes=len(episodes),
        semantics=len(rows),
        reassigned=sum(row[9] for row in rows) / max(1, len(rows)),
        waiting=len(messages.get(None, ())),
        unfinished=sum(row[4] is None for row in rows) + sum(row[2] == 0 for row in named),
    )
    return Hierarchy(
        episodes=episodes,
        semantics=semantics,
        themes=themes,
        vectors=vectors,
        centroids=centroids,
        episode_of={one: key for key, found in messages.items() if key is not None for one in found},
        semantics_of={one: tuple(found) for one, found in from_messages.items()},
        notes=tuple(row[0] for row in stored.notes),
        statistics=counted,
        complete=all(row[4] is not None for row in rows) and not any(row[6] for row in stored.episodes),
    )


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """The second elements of the pairs, grouped by the first, in order."""
    found: dict[Any, list[Any]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return found


def _semantics(rows: Sequence[Any], sources: Mapping[SemanticKey, list[str]]) -> dict[SemanticKey, Semantic]:
    after = {row[6]: row[0] for row in rows if row[6] is not None}
    return {
        key: Semantic(
            key,
            text,
            shown,
            episode,
            theme,
            tuple(sources.get(key, ())),
            at,
            replaces,
            after.get(key),
            neighbours_in(near),
        )
        for key, text, shown, episode, theme, at, replaces, near, *_ in rows
    }


def _episodes(
    rows: Sequence[Any], messages: Mapping[EpisodeKey | None, list[str]], semantics: Mapping[SemanticKey, Semantic]
) -> dict[EpisodeKey, Episode]:
    own = _grouped((one.episode, one.key) for one in semantics.values())
    return {
        key: Episode(key, title, narrative, session, begins, ends, tuple(messages[key]), tuple(own.get(key, ())))
        for key, title, narrative, session, begins, ends, _ in rows
        if key in messages
    }


def _themes(
    rows: Sequence[Any], semantics: Mapping[SemanticKey, Semantic], vectors: Array
) -> tuple[dict[ThemeKey, ThemeNode], Array, list[float]]:
    places = {key: place for place, key in enumerate(semantics)}
    members: dict[ThemeKey, list[Semantic]] = _grouped((one.theme, one) for one in semantics.values())
    themes, centres, cohesions = {}, [], []
    for key, name, _, near in rows:
        if key not in members:
            continue
        own = members[key]
        held = vectors[[places[one.key] for one in own]]
        messages = tuple(dict.fromkeys(message for one in own for message in one.messages))
        times = [one.at for one in own]
        keys = tuple(one.key for one in own)
        themes[key] = ThemeNode(key, name, keys, messages, min(times), max(times), neighbours_in(near))
        centre, cohesion = centre_of(held)
        centres.append(centre)
        cohesions.append(cohesion)
    return themes, _matrix(centres), cohesions


def _structure(themes: Mapping[ThemeKey, ThemeNode], cohesions: list[float], centroids: Array) -> HierarchyStatistics:
    """The statistics of the themes."""
    sizes = [len(one.semantics) for one in themes.values()]
    alike = centroids @ centroids.T
    np.fill_diagonal(alike, -np.inf)
    nearest = alike.max(axis=1) if len(sizes) > 1 else np.zeros(len(sizes))
    spread, semantic = sparsity(sizes), coherence(np.array(cohesions), nearest)
    return HierarchyStatistics(
        themes=len(sizes),
        mean_size=sum(sizes) / max(1, len(sizes)),
        largest=max(sizes, default=0),
        objective=spread + semantic,
        sparsity=spread,
        coherence=semantic,
    )


def _matrix(rows: Sequence[Array]) -> Array:
    """The vectors as a read-only matrix. Vectors of another length, as after a change of the embedder, become zeros."""
    size = len(rows[-1]) if rows else 0
    found = np.array([one if len(one) == size else np.zeros(size) for one in rows], dtype=np.float32)
    found = found.reshape(len(rows), size)
    found.flags.writeable = False
    return found
