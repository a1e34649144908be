"""The way from themes down to messages: choosing representatives, and expanding episodes.

The reader's uncertainty with a context is a function that is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np

from adaptive_memory_core.hierarchy.nodes import EpisodeKey, Hierarchy, Neighbours, SemanticKey, ThemeKey
from adaptive_memory_core.policy.advanced import Hierarchies
from adaptive_memory_core.score.surprise import baseline_of_vectors, for_query, sample_of, similarities_to

Edges = Mapping[int, Mapping[int, float]]  # by node, its neighbours with their similarities, above 0


def representatives(closeness: Sequence[float], edges: Edges, *, alpha: float, covered: float, most: int) -> list[int]:
    """The numbers of the chosen nodes, in the order of their choice.

    Each step chooses the node with the greatest alpha * coverage gain + (1 - alpha) * closeness to the query. The gain
    is the sum of its similarities to nodes that are not covered yet, including itself (as 1), as a share of the
    greatest possible sum. The closeness is scaled to [0, 1] over all nodes. The choice ends when the share `covered` of
    all nodes is covered, or with `most` nodes.

    With two similar nodes and a third that differs, the third comes before the twin of the first.

    >>> edges = {0: {1: 0.9}, 1: {0: 0.9}}
    >>> representatives([1.0, 0.9, 0.5], edges, alpha=0.7, covered=1.0, most=2)
    [0, 2]
    >>> representatives([1.0, 0.9, 0.5], edges, alpha=0.0, covered=1.0, most=2)      # by closeness alone
    [0, 1]
    >>> representatives([], {}, alpha=0.5, covered=1.0, most=2)
    []
    """
    if not len(closeness):
        return []
    alike = _matrix(edges, len(closeness))
    near, most_covered = _stretched(closeness), float(alike.sum(axis=1).max())
    chosen: list[int] = []
    seen, free = np.zeros(len(near), dtype=bool), np.ones(len(near), dtype=bool)
    while len(chosen) < min(most, len(near)) and seen.mean() < covered:
        gain = alike[:, ~seen].sum(axis=1) / most_covered
        worth = np.where(free, alpha * gain + (1.0 - alpha) * near, -np.inf)
        chosen.append(int(worth.argmax()))
        free[chosen[-1]] = False
        seen |= alike[chosen[-1]] > 0.0
    return chosen


def _matrix(edges: Edges, size: int) -> Any:
    """The symmetric matrix of similarities between neighbours, with 1 for each node itself."""
    alike = np.eye(size)
    for number, others in edges.items():
        for other, weight in others.items():
            if 0 <= number < size and 0 <= other < size and number != other:
                alike[number, other] = alike[other, number] = max(weight, alike[number, other])
    return alike


def _stretched(values: Sequence[float]) -> Any:
    """The values scaled to [0, 1]; 0.5 for all if they are equal."""
    given = np.asarray(values, dtype=float)
    low, spread = float(given.min()), float(given.max() - given.min())
    return (given - low) / spread if spread > 0.0 else np.full(len(given), 0.5)


Detail = Literal["summary", "messages"]


class Part(NamedTuple):
    """An episode by its number, and its level of detail in the context."""

    episode: int
    detail: Detail


Context = tuple[Part, ...]  # in the order of admission; the chosen themes and facts are always in the context, too


@dataclass(frozen=True, slots=True)
class Expansion:
    """The admitted parts, the reader's uncertainty before and after, and the number of calls of the reader."""

    parts: Context
    before: float
    after: float
    asked: int
    stopped_early: bool = False


def expand(
    uncertainty: Callable[[Context], float],
    episodes: Sequence[int],
    *,
    episode_drop: float,
    message_drop: float,
    patience: int,
) -> Expansion:
    """Admit each of the episodes, sorted best first, that lowers the reader's uncertainty by at least `episode_drop`.
    Admit all its messages if these lower it by `message_drop` more. Stop after `patience` episodes without success.

    >>> rules = {"episode_drop": 0.1, "message_drop": 0.1, "patience": 1}
    >>> knows = {(7, "summary"): 0.5, (7, "messages"): 0.2}
    >>> found = expand(lambda context: 2.0 - sum(knows.get(part, 0.0) for part in context), [7, 8, 9], **rules)
    >>> found.parts, found.asked, found.stopped_early          # the whole of 7 says less than its summary
    ((Part(episode=7, detail='summary'),), 4, True)
    >>> expand(lambda context: 1.0, [], **rules)
    Expansion(parts=(), before=1.0, after=1.0, asked=1, stopped_early=False)
    """
    before = uncertainty(())
    chosen: Context = ()
    sure, asked, idle = before, 1, 0
    for place, episode in enumerate(episodes):
        summary = uncertainty((*chosen, Part(episode, "summary")))
        asked += 1
        if sure - summary < episode_drop:
            idle += 1
            if idle >= patience:
                return Expansion(chosen, before, sure, asked, stopped_early=place + 1 < len(episodes))
            continue
        whole = uncertainty((*chosen, Part(episode, "messages")))
        asked += 1
        detail: Detail = "messages" if summary - whole >= message_drop else "summary"
        chosen, sure, idle = (
            (*chosen, Part(episode, detail)),
            min(summary, whole if detail == "messages" else summary),
            0,
        )
    return Expansion(chosen, before, sure, asked)


SUPPORT = (1.0, 0.5, 0.25)  # weights of an episode's best semantics; measured
# Stage I: the first two are from a sweep in docs/research/conversations.md, the others are guesses
ALPHA = 0.2  # weight of covering neighbours, next to similarity; 0.05 to 0.2 is flat, 0.5 loses
COVERS_FROM = 0.5  # similarity (0: unrelated) from which a representative covers a neighbour; 0 stops too early
COVERED = 1.0  # share of the candidates that representatives cover before the choice ends
CANDIDATES = 60  # most similar semantics that are considered
THEMES = 12  # representatives among the themes, at most
SEMANTICS = 24  # representatives among the semantics, at most


class WayDown(NamedTuple):
    """The chosen themes and semantics, and the episodes that they lead to, best first, with a score in [0, 1] each."""

    themes: Sequence[ThemeKey]
    semantics: Sequence[SemanticKey]
    episodes: Mapping[EpisodeKey, float]


NOWHERE = WayDown((), (), {})


def top_down(hierarchy: Hierarchy, cue: Any, settings: Hierarchies) -> WayDown:
    """Go from the most similar semantics to representatives of their themes, from these to representatives among the
    semantics, and to their episodes. Without Stage I, go from the most similar semantics to their episodes."""
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
    """Representatives of the themes of these semantics. The closeness of a theme is the mean of its semantics'."""
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
    """The similarity of each row to the query, measured from that of unrelated ones; None without rows or with vectors
    of another length."""
    vector = np.asarray(cue, dtype=np.float32)
    if vector.ndim != 1 or not len(rows) or rows.shape[1] != len(vector):
        return None
    similarities, sample = similarities_to(vector, rows, "cosine"), sample_of(len(rows))
    return for_query(baseline_of_vectors(rows[sample], "cosine"), similarities[sample]).above(similarities)
