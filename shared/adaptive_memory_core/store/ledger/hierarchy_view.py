"""How is a user's hierarchy read from the ledger as a whole?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.hierarchy.nodes import (
    Array,
    Episode,
    EpisodeKey,
    Hierarchy,
    Semantic,
    SemanticKey,
    Statistics,
    Theme,
    ThemeKey,
)
from adaptive_memory_core.hierarchy.objective import centre_of, coherence, sparsity
from adaptive_memory_core.store.ledger.hierarchy_themes import neighbours_in, numbers

_MESSAGES = "SELECT episode, stored_id FROM hierarchy_messages WHERE user_key = ? ORDER BY place, message"
_EPISODES = (
    "SELECT episode, title, session, begins, ends FROM hierarchy_episodes WHERE user_key = ? ORDER BY begins, episode"
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


class Rows(NamedTuple):
    """All rows of a user's hierarchy, as they stand at one moment."""

    messages: Sequence[Any]
    episodes: Sequence[Any]
    semantics: Sequence[Any]
    sources: Sequence[Any]
    themes: Sequence[Any]
    notes: Sequence[Any]


def rows_of(sql: sqlite3.Connection, user: int) -> Rows:
    """Read them; nothing is made of them yet, since others wait for the connection meanwhile."""
    queries = (_MESSAGES, _EPISODES, _SEMANTICS, _SOURCES, _THEMES)
    of_user = [sql.execute(one, (user,)).fetchall() for one in queries]
    return Rows._make([*of_user, sql.execute(_NOTES, (user, user)).fetchall()])


def view(stored: Rows) -> Hierarchy:
    """The hierarchy that the rows tell of."""
    said = _grouped(stored.messages)
    sources: dict[SemanticKey, list[str]] = _grouped(stored.sources)
    rows, named = stored.semantics, stored.themes
    vectors, semantics = _matrix([numbers(row[8]) for row in rows]), _semantics(rows, sources)
    episodes = _episodes(stored.episodes, said, semantics)
    themes, centroids, cohesions = _themes(named, semantics, vectors)
    from_messages = _grouped((message, one.key) for one in semantics.values() for message in one.messages)
    in_themes = _structure(themes, cohesions, centroids)
    counted = replace(
        in_themes,
        messages=sum(map(len, said.values())),
        episodes=len(episodes),
        semantics=len(rows),
        reassigned=sum(row[9] for row in rows) / max(1, len(rows)),
        waiting=len(said.get(None, ())),
        unfinished=sum(row[4] is None for row in rows) + sum(row[2] == 0 for row in named),
    )
    return Hierarchy(
        episodes=episodes,
        semantics=semantics,
        themes=themes,
        vectors=vectors,
        centroids=centroids,
        episode_of={one: key for key, found in said.items() if key is not None for one in found},
        semantics_of={one: tuple(found) for one, found in from_messages.items()},
        notes=tuple(row[0] for row in stored.notes),
        statistics=counted,
    )


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """The second of each pair by the first, in their order."""
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
    rows: Sequence[Any], said: Mapping[EpisodeKey | None, list[str]], semantics: Mapping[SemanticKey, Semantic]
) -> dict[EpisodeKey, Episode]:
    own = _grouped((one.episode, one.key) for one in semantics.values())
    return {
        key: Episode(key, title, session, begins, ends, tuple(said[key]), tuple(own.get(key, ())))
        for key, title, session, begins, ends in rows
        if key in said
    }


def _themes(
    rows: Sequence[Any], semantics: Mapping[SemanticKey, Semantic], vectors: Array
) -> tuple[dict[ThemeKey, Theme], Array, list[float]]:
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
        themes[key] = Theme(key, name, keys, messages, min(times), max(times), neighbours_in(near))
        centre, cohesion = centre_of(held)
        centres.append(centre)
        cohesions.append(cohesion)
    return themes, _matrix(centres), cohesions


def _structure(themes: Mapping[ThemeKey, Theme], cohesions: list[float], centroids: Array) -> Statistics:
    """The themes in numbers."""
    sizes = [len(one.semantics) for one in themes.values()]
    alike = centroids @ centroids.T
    np.fill_diagonal(alike, -np.inf)
    nearest = alike.max(axis=1) if len(sizes) > 1 else np.zeros(len(sizes))
    spread, semantic = sparsity(sizes), coherence(np.array(cohesions), nearest)
    return Statistics(
        themes=len(sizes),
        mean_size=sum(sizes) / max(1, len(sizes)),
        largest=max(sizes, default=0),
        objective=spread + semantic,
        sparsity=spread,
        coherence=semantic,
    )


def _matrix(rows: Sequence[Array]) -> Array:
    """Vectors of one length; those of another, as after a change of the embedder, as zeros."""
    if not rows:
        return np.zeros((0, 0), dtype=np.float32)
    size = len(rows[-1])
    return np.array([one if len(one) == size else np.zeros(size) for one in rows], dtype=np.float32)
