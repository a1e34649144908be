"""How is the hierarchy stored in the ledger? A row a node, and each step of its growth in one short transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adaptive_memory_core.flow.ports.hierarchy_values import (
    DueEpisode,
    Edition,
    Entry,
    Group,
    Growth,
    NewSemantic,
    Queued,
    Standing,
    Written,
)
from adaptive_memory_core.hierarchy.nodes import EpisodeKey, Hierarchy, ThemeKey
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import hierarchy_episodes as episodes
from adaptive_memory_core.store.ledger import hierarchy_removal as removal
from adaptive_memory_core.store.ledger import hierarchy_themes as themes
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.hierarchy_faults import faults
from adaptive_memory_core.store.ledger.hierarchy_view import rows_of, view

_WATCH = "INSERT INTO hierarchy_users (user_key, collection_key, uuid) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_WATCHED = (
    "SELECT users.name, hierarchy_users.version FROM hierarchy_users JOIN users USING (user_key) "
    "WHERE hierarchy_users.collection_key = ?"
)
_UNFINISHED = (
    "SELECT (SELECT count(*) FROM hierarchy_episodes WHERE user_key = :user AND due = 1) + "
    "(SELECT count(*) FROM hierarchy_semantics WHERE user_key = :user AND theme IS NULL) + "
    "(SELECT count(*) FROM hierarchy_themes WHERE user_key = :user AND named = 0)"
)
_UUID = "SELECT uuid FROM collections WHERE collection_key = ?"


class LedgerHierarchy:
    """The hierarchies of those who observe."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def watch(self, scope: Scope) -> None:
        """The user observes from now on."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            if sql.execute("SELECT 1 FROM hierarchy_users WHERE user_key = ?", (user,)).fetchone():
                return
        with self._shared.writing() as sql:
            own = self._shared.collection_key
            uuid = sql.execute(_UUID, (own,)).fetchone()
            sql.execute(_WATCH, (self._shared.user_key(sql, scope), own, None if uuid is None else uuid[0]))

    def watched(self) -> dict[Scope, int]:
        """Those who observe, and the version of each one's hierarchy."""
        with self._shared.reading() as sql:
            found = sql.execute(_WATCHED, (self._shared.collection_key,)).fetchall()
        return {Scope(name or None): version for name, version in found}

    def queue(self, scope: Scope, entries: Sequence[Entry]) -> None:
        """They are there, or say something else by now."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            episodes.queue(sql, (self._shared.collection_key, user), entries)
            removal.changed(sql, user)

    def touch(self, stored_ids: Sequence[str]) -> None:
        """What was made of them is let go of; their places stay."""
        self._let_go(stored_ids, gone=False)

    def drop(self, stored_ids: Sequence[str]) -> None:
        """They are gone, with all that was made of them."""
        self._let_go(stored_ids, gone=True)

    def clear(self, scope: Scope, uuid: str) -> None:
        """Let go of all that was distilled; episodes are distilled anew, with this collection's embedder."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            removal.clear_user(sql, user)
            sql.execute("UPDATE hierarchy_users SET uuid = ? WHERE user_key = ?", (uuid, user))

    def vectors_of(self, scope: Scope) -> str | None:
        """Which collection's embedder made the vectors."""
        row = self._one(scope, "SELECT uuid FROM hierarchy_users WHERE user_key = :user")
        return None if row is None else str(row[0])

    def stored_ids(self) -> set[str]:
        query = "SELECT stored_id FROM hierarchy_messages WHERE collection_key = ?"
        with self._shared.reading() as sql:
            return {row[0] for row in sql.execute(query, (self._shared.collection_key,))}

    def known(self, scope: Scope, stored_ids: Sequence[str]) -> set[str]:
        """Those of the messages that have a place."""
        with self._shared.reading() as sql:
            return episodes.known(sql, (self._shared.collection_key, self._shared.known_user(sql, scope)), stored_ids)

    def said(self, scope: Scope) -> dict[str, bytes | None]:
        query = "SELECT stored_id, said FROM hierarchy_messages WHERE user_key = ?"
        with self._shared.reading() as sql:
            return dict(sql.execute(query, (self._shared.known_user(sql, scope),)).fetchall())

    def waiting(self, scope: Scope) -> int:
        return self._count(scope, "SELECT count(*) FROM hierarchy_messages WHERE user_key = :user AND episode IS NULL")

    def unfinished(self, scope: Scope) -> int:
        return self._count(scope, _UNFINISHED)

    def sessions(self, scope: Scope) -> list[str]:
        query = "SELECT DISTINCT session FROM hierarchy_messages WHERE user_key = ? AND episode IS NULL"
        with self._shared.reading() as sql:
            return [row[0] for row in sql.execute(query, (self._shared.known_user(sql, scope),))]

    def conversation(self, scope: Scope, session: str, most: int) -> list[Queued]:
        with self._shared.reading() as sql:
            return episodes.conversation(sql, self._shared.known_user(sql, scope), session, most)

    def episode_at(self, scope: Scope, session: str, place: float) -> EpisodeKey | None:
        with self._shared.reading() as sql:
            return episodes.episode_at(sql, self._shared.known_user(sql, scope), session, place)

    def assign(self, scope: Scope, session: str, groups: Sequence[Group]) -> bool:
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            done = episodes.assign(sql, user, session, groups)
            if done:
                removal.changed(sql, user)
        return done

    def due(self, scope: Scope, most: int) -> list[DueEpisode]:
        with self._shared.reading() as sql:
            return episodes.due(sql, self._shared.known_user(sql, scope), most)

    def distilled(
        self, scope: Scope, episode: DueEpisode, title: str, semantics: Sequence[NewSemantic], note: str | None
    ) -> bool:
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            done = episodes.distilled(sql, user, episode, title, semantics, note)
            if done:
                removal.changed(sql, user)
        return done

    def unattached(self, scope: Scope, most: int) -> list[Written]:
        with self._shared.reading() as sql:
            return themes.unattached(sql, self._shared.known_user(sql, scope), most)

    def standing(self, scope: Scope) -> Standing:
        with self._shared.reading() as sql:
            return themes.standing(sql, self._shared.known_user(sql, scope))

    def edition(self, scope: Scope) -> Edition:
        with self._shared.reading() as sql:
            return themes.edition(sql, self._shared.known_user(sql, scope))

    def next_theme(self) -> ThemeKey:
        with self._shared.reading() as sql:
            return self._shared.file.last_number(sql, "hierarchy_themes", "theme") + 1

    def version(self, scope: Scope) -> int | None:
        row = self._one(scope, "SELECT version FROM hierarchy_users WHERE user_key = :user")
        return None if row is None else int(row[0])

    def grow(self, scope: Scope, growth: Growth) -> None:
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            themes.grow(sql, user, growth)
            self._shared.file.numbered(sql, "hierarchy_themes", "theme")
            removal.changed(sql, user)

    def unnamed(self, scope: Scope, most: int) -> list[tuple[ThemeKey, int, list[str]]]:
        with self._shared.reading() as sql:
            return themes.unnamed(sql, self._shared.known_user(sql, scope), most)

    def name(self, scope: Scope, theme: ThemeKey, revision: int, name: str, note: str | None) -> bool:
        query = "UPDATE hierarchy_themes SET name = ?, note = ?, named = 1 WHERE theme = ? AND revision = ?"
        with self._shared.writing() as sql:
            done = sql.execute(query, (name, note, theme, revision)).rowcount > 0
            removal.changed(sql, self._shared.user_key(sql, scope))
        return done

    def view(self, scope: Scope) -> Hierarchy:
        with self._shared.reading() as sql:
            rows = rows_of(sql, self._shared.known_user(sql, scope))
        return view(rows)

    def faults(self) -> list[str]:
        """What does not fit together, one line each."""
        with self._shared.reading() as sql:
            return faults(sql, self._shared.collection_key)

    def _let_go(self, stored_ids: Sequence[str], *, gone: bool) -> None:
        own = self._shared.collection_key
        with self._shared.reading() as sql:
            if sql.execute("SELECT 1 FROM hierarchy_users WHERE collection_key = ? LIMIT 1", (own,)).fetchone() is None:
                return
        with self._shared.writing() as sql:
            removal.let_go(sql, own, stored_ids, gone=gone)

    def _count(self, scope: Scope, query: str) -> int:
        row = self._one(scope, query)
        return 0 if row is None else int(row[0])

    def _one(self, scope: Scope, query: str) -> tuple[Any, ...] | None:
        with self._shared.reading() as sql:
            found: tuple[Any, ...] | None = sql.execute(query, {"user": self._shared.known_user(sql, scope)}).fetchone()
        return found
