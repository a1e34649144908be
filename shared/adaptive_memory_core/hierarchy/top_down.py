"""Which episodes does a question lead to, from the themes down? Stage I of xMemory over a user's hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.hierarchy.nodes import EpisodeKey, Hierarchy, Neighbours, SemanticKey, ThemeKey
from adaptive_memory_core.hierarchy.represent import Edges, representatives
from adaptive_memory_core.policy.shape import Shapes

SUPPORT = (1.0, 0.5, 0.25)  # what an episode's best semantics count; measured
DIRECT = 0.25  # share of an episode's own similarity in its score, beside that of its semantics; 0 to .25 is flat


class WayDown(NamedTuple):
    """The themes and semantics that were chosen, and the episodes that they lead to, best first, each with a score in
    [0, 1]."""

    themes: Sequence[ThemeKey]
    semantics: Sequence[SemanticKey]
    episodes: Mapping[EpisodeKey, float]


NOWHERE = WayDown((), (), {})


def top_down(hierarchy: Hierarchy, cue: Any, shape: Shapes) -> WayDown:
    """From the most similar semantics to representatives of their themes, from those to representatives among the
    semantics, and to the episodes that these are from. Without Stage I, the most similar semantics lead there."""
    keys = list(hierarchy.semantics)
    close = _closeness(hierarchy.vectors, cue)
    if not keys or close is None:
        return NOWHERE
    found = np.argsort(-close, kind="stable")[: shape.candidates].tolist()
    near = {keys[place]: float(close[place]) for place in found}
    if shape.representatives:
        themes = _themes(hierarchy, near, cue, shape)
        near = {one: value for one, value in near.items() if hierarchy.semantics[one].theme in themes}
        linked = {one: hierarchy.semantics[one].neighbours for one in near}
        chosen = _represented(list(near), list(near.values()), linked, shape, shape.semantics)
    else:
        chosen = list(near)[: shape.semantics]
        themes = list(dict.fromkeys(theme for one in chosen if (theme := hierarchy.semantics[one].theme) is not None))
    return WayDown(themes, chosen, _episodes(hierarchy, {one: near[one] for one in chosen}, cue))


def _themes(hierarchy: Hierarchy, near: Mapping[SemanticKey, float], cue: Any, shape: Shapes) -> list[ThemeKey]:
    """Representatives of the themes of these semantics."""
    known = {key: place for place, key in enumerate(hierarchy.themes)}
    of_these = (hierarchy.semantics[one].theme for one in near)
    candidates = list(dict.fromkeys(one for one in of_these if one is not None and one in known))
    close = _closeness(hierarchy.centroids, cue)
    if not candidates or close is None:
        return []
    linked = {one: hierarchy.themes[one].neighbours for one in candidates}
    return _represented(candidates, [float(close[known[one]]) for one in candidates], linked, shape, shape.themes)


def _represented(
    keys: Sequence[int], closeness: Sequence[float], linked: Mapping[int, Neighbours], shape: Shapes, most: int
) -> list[int]:
    places = {key: place for place, key in enumerate(keys)}
    edges: Edges = {
        places[key]: {
            places[other]: weight
            for other, weight in others
            if other in places and weight > 0.0 and weight >= shape.alike
        }
        for key, others in linked.items()
    }
    chosen = representatives(closeness, edges, alpha=shape.alpha, covered=shape.covered, most=most)
    return [keys[place] for place in chosen]


def _episodes(hierarchy: Hierarchy, near: Mapping[SemanticKey, float], cue: Any) -> dict[EpisodeKey, float]:
    """The episodes of these semantics with a score in [0, 1], best first."""
    support: dict[EpisodeKey, list[float]] = {}
    for one, value in near.items():
        support.setdefault(hierarchy.semantics[one].episode, []).append(max(0.0, value))
    places = {key: place for place, key in enumerate(hierarchy.semantics)}
    scores = {}
    for episode, values in support.items():
        told = sum(share * one for share, one in zip(SUPPORT, sorted(values, reverse=True), strict=False)) / sum(
            SUPPORT
        )
        own = [places[one] for one in hierarchy.episodes[episode].semantics if one in places]
        whole = _closeness(hierarchy.vectors[own].sum(axis=0, keepdims=True), cue) if own else None
        direct = told if whole is None else max(0.0, float(whole[0]))
        scores[episode] = min(1.0, DIRECT * direct + (1.0 - DIRECT) * told)
    return dict(sorted(scores.items(), key=lambda one: -one[1]))


def _closeness(rows: Any, cue: Any) -> Any:
    """The cosine of each row with the cue; None where their lengths differ."""
    vector = np.asarray(cue, dtype=np.float32)
    if vector.ndim != 1 or not len(rows) or rows.shape[1] != len(vector):
        return None
    lengths = np.linalg.norm(rows, axis=1) * float(np.linalg.norm(vector))
    return (rows @ vector) / np.maximum(lengths, 1e-9)
