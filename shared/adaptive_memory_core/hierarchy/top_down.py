"""Which episodes does a question lead to, from the themes down? Stage I of xMemory over a user's hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.hierarchy.nodes import EpisodeKey, Hierarchy, Neighbours, SemanticKey, ThemeKey
from adaptive_memory_core.hierarchy.represent import Edges, representatives
from adaptive_memory_core.policy.graph_and_hierarchy import Hierarchies
from adaptive_memory_core.score.surprise import baseline_of, for_query, sample_of, similarities_to

SUPPORT = (1.0, 0.5, 0.25)  # what an episode's best semantics count; measured
# Of Stage I; the first two are swept in docs/hierarchy.md, the others guesses
ALPHA = 0.2  # what covering neighbours counts, next to similarity; 0.05 to 0.2 is flat, 0.5 loses
COVERS_FROM = 0.5  # similarity (0: unrelated) from which a representative covers a neighbour; 0 ends it too soon
COVERED = 1.0  # share of the candidates that representatives cover before it ends
CANDIDATES = 60  # semantics that are looked at, the most similar
THEMES = 12  # representatives among the themes, at most
SEMANTICS = 24  # representatives among the semantics, at most


class WayDown(NamedTuple):
    """The themes and semantics that were chosen, and the episodes that they lead to, best first, each with a score in
    [0, 1]."""

    themes: Sequence[ThemeKey]
    semantics: Sequence[SemanticKey]
    episodes: Mapping[EpisodeKey, float]


NOWHERE = WayDown((), (), {})


def top_down(hierarchy: Hierarchy, cue: Any, settings: Hierarchies) -> WayDown:
    """From the most similar semantics to representatives of their themes, from those to representatives among the
    semantics, and to the episodes that these are from. Without Stage I, the most similar semantics lead there."""
    keys = list(hierarchy.semantics)
    close = _closeness(hierarchy.vectors, cue)
    if close is None:
        return NOWHERE
    found = np.argsort(-close, kind="stable")[:CANDIDATES].tolist()
    near = {keys[place]: float(close[place]) for place in found}
    if settings.representatives:
        themes = _themes(hierarchy, near, dict(zip(keys, close.tolist(), strict=True)))
        near = {one: value for one, value in near.items() if hierarchy.semantics[one].theme in themes}
        linked = {one: hierarchy.semantics[one].neighbours for one in near}
        chosen = _represented(list(near), list(near.values()), linked, SEMANTICS)
    else:
        chosen = list(near)[:SEMANTICS]
        themes = list(dict.fromkeys(theme for one in chosen if (theme := hierarchy.semantics[one].theme) is not None))
    return WayDown(themes, chosen, _episodes(hierarchy, {one: near[one] for one in chosen}))


def _themes(
    hierarchy: Hierarchy, near: Mapping[SemanticKey, float], close: Mapping[SemanticKey, float]
) -> list[ThemeKey]:
    """Representatives of the themes of these semantics; a theme is as close as its semantics in the mean."""
    of_these = (hierarchy.semantics[one].theme for one in near)
    candidates = list(dict.fromkeys(one for one in of_these if one is not None and one in hierarchy.themes))
    if not candidates:
        return []
    means = [fmean(close[own] for own in hierarchy.themes[one].semantics) for one in candidates]
    linked = {one: hierarchy.themes[one].neighbours for one in candidates}
    return _represented(candidates, means, linked, THEMES)


def _represented(
    keys: Sequence[int], closeness: Sequence[float], linked: Mapping[int, Neighbours], most: int
) -> list[int]:
    places = {key: place for place, key in enumerate(keys)}
    edges: Edges = {
        places[key]: {
            places[other]: weight
            for other, weight in others
            if other in places and weight > 0.0 and weight >= COVERS_FROM
        }
        for key, others in linked.items()
    }
    chosen = representatives(closeness, edges, alpha=ALPHA, covered=COVERED, most=most)
    return [keys[place] for place in chosen]


def _episodes(hierarchy: Hierarchy, near: Mapping[SemanticKey, float]) -> dict[EpisodeKey, float]:
    """The episodes of these semantics with a score in [0, 1], best first."""
    support: dict[EpisodeKey, list[float]] = {}
    for one, value in near.items():
        support.setdefault(hierarchy.semantics[one].episode, []).append(max(0.0, value))
    scores = {
        episode: min(
            1.0,
            sum(share * one for share, one in zip(SUPPORT, sorted(values, reverse=True), strict=False)) / sum(SUPPORT),
        )
        for episode, values in support.items()
    }
    return dict(sorted(scores.items(), key=lambda one: -one[1]))


def _closeness(rows: Any, cue: Any) -> Any:
    """The similarity of each row to the cue, from that of unrelated ones; None where there are none, or their lengths
    differ."""
    vector = np.asarray(cue, dtype=np.float32)
    if vector.ndim != 1 or not len(rows) or rows.shape[1] != len(vector):
        return None
    similarities, sample = similarities_to(vector, rows, "cosine"), sample_of(len(rows))
    return for_query(baseline_of(rows[sample], "cosine"), similarities[sample]).above(similarities)
