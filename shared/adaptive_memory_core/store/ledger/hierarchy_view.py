"""How is a user's hierarchy read from the ledger as a whole?"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

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


def view(sql: sqlite3.Connection, user: int) -> Hierarchy:
    """Everything, at one moment."""
    said: dict[EpisodeKey | None, list[str]] = defaultdict(list)
    for episode, stored_id in sql.execute(_MESSAGES, (user,)):
        said[episode].append(stored_id)
    sources: dict[SemanticKey, list[str]] = defaultdict(list)
    for semantic, stored_id in sql.execute(_SOURCES, (user,)):
        sources[semantic].append(stored_id)
    rows = sql.execute(_SEMANTICS, (user,)).fetchall()
    vectors = _matrix([numbers(row[8]) for row in rows])
    semantics = _semantics(rows, sources)
    episodes = _episodes(sql.execute(_EPISODES, (user,)).fetchall(), said, semantics)
    named = sql.execute(_THEMES, (user,)).fetchall()
    themes, centroids, cohesions = _themes(named, semantics, vectors)
    semantics_of: dict[str, list[SemanticKey]] = defaultdict(list)
    for one in semantics.values():
        for message in one.messages:
            semantics_of[message].append(one.key)
    unfinished = sum(row[4] is None for row in rows) + sum(row[2] == 0 for row in named)
    notes = tuple(row[0] for row in sql.execute(_NOTES, (user, user)))
    return Hierarchy(
        episodes={key: one for key, one in episodes.items() if one.messages},
        semantics=semantics,
        themes=themes,
        vectors=vectors,
        centroids=centroids,
        episode_of={one: key for key, found in said.items() if key is not None for one in found},
        semantics_of={one: tuple(found) for one, found in semantics_of.items()},
        notes=notes,
        statistics=_statistics(themes, cohesions, centroids, said, len(episodes), rows, unfinished),
    )


def _semantics(rows: Sequence[Any], sources: Mapping[SemanticKey, list[str]]) -> dict[SemanticKey, Semantic]:
    after = {row[6]: row[0] for row in rows if row[6] is not None}
    return {
        key: Semantic(
            key, text, shown, episode, theme, tuple(sources[key]), at, replaces, after.get(key), neighbours_in(near)
        )
        for key, text, shown, episode, theme, at, replaces, near, *_ in rows
    }


def _episodes(
    rows: Sequence[Any], said: Mapping[EpisodeKey | None, list[str]], semantics: Mapping[SemanticKey, Semantic]
) -> dict[EpisodeKey, Episode]:
    own: dict[EpisodeKey, list[SemanticKey]] = defaultdict(list)
    for one in semantics.values():
        own[one.episode].append(one.key)
    return {
        key: Episode(key, title, session, begins, ends, tuple(said[key]), tuple(own[key]))
        for key, title, session, begins, ends in rows
    }


def _themes(
    rows: Sequence[Any], semantics: Mapping[SemanticKey, Semantic], vectors: Array
) -> tuple[dict[ThemeKey, Theme], Array, list[float]]:
    members: dict[ThemeKey, list[Semantic]] = defaultdict(list)
    places = {key: place for place, key in enumerate(semantics)}
    for one in semantics.values():
        if one.theme is not None:
            members[one.theme].append(one)
    themes, centres, cohesions = {}, [], []
    for key, name, _, near in rows:
        own = members[key]
        if not own:
            continue
        held = vectors[[places[one.key] for one in own]]
        messages = tuple(dict.fromkeys(message for one in own for message in one.messages))
        times = [one.at for one in own]
        keys = tuple(one.key for one in own)
        themes[key] = Theme(key, name, keys, messages, min(times), max(times), neighbours_in(near))
        centre, cohesion = centre_of(held)
        centres.append(centre)
        cohesions.append(cohesion)
    return themes, _matrix(centres), cohesions


def _statistics(
    themes: Mapping[ThemeKey, Theme],
    cohesions: list[float],
    centroids: Array,
    said: Mapping[EpisodeKey | None, list[str]],
    episodes: int,
    rows: Sequence[Any],
    unfinished: int,
) -> Statistics:
    sizes = [len(one.semantics) for one in themes.values()]
    alike = centroids @ centroids.T
    np.fill_diagonal(alike, -np.inf)
    nearest = alike.max(axis=1) if len(sizes) > 1 else np.zeros(len(sizes))
    spread, semantic = sparsity(sizes), coherence(np.array(cohesions), nearest)
    return Statistics(
        messages=sum(map(len, said.values())),
        episodes=episodes,
        semantics=len(rows),
        themes=len(sizes),
        mean_size=sum(sizes) / len(sizes) if sizes else 0.0,
        largest=max(sizes, default=0),
        objective=spread + semantic,
        sparsity=spread,
        coherence=semantic,
        reassigned=sum(row[9] for row in rows) / len(rows) if rows else 0.0,
        waiting=len(said.get(None, ())),
        unfinished=unfinished,
    )


def _matrix(rows: Sequence[Array]) -> Array:
    """Vectors of one length; those of another, as after a change of the embedder, as zeros."""
    if not rows:
        return np.zeros((0, 0), dtype=np.float32)
    size = len(rows[-1])
    return np.array([one if len(one) == size else np.zeros(size) for one in rows], dtype=np.float32)
