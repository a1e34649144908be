"""Growing themes: xMemory's guided attach, split and merge.

A cap, the size or the similarity decides whether something is done; the paper's objective f(P) only chooses how. No
semantic is ever lost: each is in exactly one theme.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.hierarchy.episodes import Cut, cuts
from adaptive_memory_core.hierarchy.neighbours import NearestGraph, UsualLikeness, from_unrelated
from adaptive_memory_core.hierarchy.nodes import Array, HierarchyChanges, Placed, SemanticKey, ThemeKey
from adaptive_memory_core.policy.advanced import Hierarchies

EPSILON = 1e-3  # in the paper, which gives no number; guess


def sparsity(sizes: Sequence[int] | Array) -> float:
    """Equation 2: how evenly the semantics are spread over the themes, N^2 / (K * sum of n^2); 1 if all are equal.

    >>> sparsity([3, 3]), sparsity([4, 2]), sparsity([])
    (1.0, 0.9, 0.0)
    """
    counts = np.asarray(sizes, dtype=np.float64)
    return float(counts.sum() ** 2 / (len(counts) * (counts**2).sum())) if len(counts) else 0.0


def bell(nearest: Array) -> Array:
    """g in equation 3 for each theme, by the similarity to its nearest theme: 1 at the median, less on both sides.

    >>> [round(one, 2) for one in bell(np.array([0.2, 0.4, 0.4, 0.5])).tolist()]
    [0.0, 1.0, 1.0, 0.15]
    >>> bell(np.array([])).tolist(), bell(np.array([0.3])).tolist()
    ([], [1.0])
    """
    if not len(nearest):
        return np.ones(0)
    middle = np.median(nearest)
    spread = np.median(np.abs(nearest - middle)) + EPSILON
    return np.exp(-((nearest - middle) ** 2) / (2.0 * spread**2))


def coherence(cohesions: Array, nearest: Array) -> float:
    """Equation 3: the mean over themes of the cohesion times g of the similarity to the nearest theme.

    >>> coherence(np.array([0.8, 0.6]), np.array([0.5, 0.5])), coherence(np.array([0.9]), np.array([0.0]))
    (0.7, 0.9)
    """
    return float(np.mean(cohesions * bell(nearest))) if len(cohesions) else 0.0


def objective(sizes: Sequence[int] | Array, cohesions: Array, nearest: Array) -> float:
    """Equation 1: f(P), the sum of both. It is highest with every semantic alone, so it must never decide whether
    something is done, only how.

    >>> objective([2, 2], np.array([0.8, 0.6]), np.array([0.5, 0.5]))
    1.7
    """
    return sparsity(sizes) + coherence(cohesions, nearest)


def centre_of(members: Array) -> tuple[Array, float]:
    """The centroid of unit vectors, scaled to length 1, and their cohesion. The cohesion is the mean cosine to the
    centroid, which is the length of the mean. Vectors that cancel each other give zeros.

    >>> centre, cohesion = centre_of(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> centre.round(3).tolist(), round(cohesion, 3), centre_of(np.array([[1.0], [-1.0]]))[1]
    ([0.707, 0.707], 0.707, 0.0)
    """
    mean = np.add.reduce(members, axis=0) / len(members)
    length = math.sqrt(float(mean @ mean))
    return (mean / length if length > 0.0 else mean), length


class OtherThemes(NamedTuple):
    """The themes that do not change, one row each. `nearest` is the similarity of each to the nearest other row."""

    sizes: list[int]
    cohesions: Array
    nearest: Array
    centres: Array


def rest_without(
    gone: Sequence[ThemeKey],
    centres: NearestGraph,
    members: Mapping[ThemeKey, Sequence[SemanticKey]],
    cohesions: Mapping[ThemeKey, float],
) -> OtherThemes:
    """All themes except those in `gone`, with the similarity to the nearest theme that remains."""
    stay = [one for one in centres.rows if one not in gone]
    alone = -np.inf if gone else 0.0
    return OtherThemes(
        [len(members[one]) for one in stay],
        np.array([cohesions[one] for one in stay]),
        np.array([centres.nearest(one, gone, alone=alone) for one in stay]),
        centres.rows.these(stay),
    )


def value_with(rest: OtherThemes, parts: Sequence[Array]) -> float:
    """f(P) of the unchanged themes together with themes of these members.

    >>> none = OtherThemes([], np.zeros(0), np.zeros(0), np.zeros((0, 2)))
    >>> value_with(none, [np.eye(2)[:1], np.eye(2)[1:]])
    2.0
    """
    found = [centre_of(one) for one in parts]
    centres, mine = np.array([one for one, _ in found]), [one for _, one in found]
    own = _nearest_of_each(centres)
    nearest = rest.nearest
    if len(rest.sizes):
        to_rest = rest.centres @ centres.T
        nearest = np.maximum(nearest, to_rest.max(axis=1))
        own = np.maximum(own, to_rest.max(axis=0))
    own = np.where(np.isfinite(own), own, 0.0)
    return objective(
        [*rest.sizes, *map(len, parts)], np.concatenate((rest.cohesions, mine)), np.concatenate((nearest, own))
    )


def _nearest_of_each(centres: Array) -> Array:
    """The similarity of each centre to the nearest of the others; minus infinity for a single one."""
    alike = centres @ centres.T
    np.fill_diagonal(alike, -np.inf)
    return alike.max(axis=1)


ATTACH = 0.15  # similarity (0 usual, 1 equal) from which a semantic is attached to a theme; guess
TINY = 1  # semantics up to which a theme that has not grown is merged; guess
PATIENCE = 40  # semantics attached since a tiny theme last grew, before it is merged; guess
MERGE = 0.0  # similarity (0 usual, 1 equal) from which a tiny theme is merged into another; guess
MERGE_CANDIDATES = 5  # nearest themes that a tiny one may be merged into; guess
NEIGHBOURS = 8  # nearest nodes that each theme and each semantic is linked to; guess


class ThemeClusters:
    """The semantics of one user in their themes. `unrelated` is the mean vector of unrelated texts, from which vectors
    are measured.

    >>> themes = ThemeClusters(Hierarchies(), next_key=1)
    >>> for key, vector in enumerate([[1.0, 0.0], [0.8, 0.6], [-1.0, 0.0]]): themes.attach(key, np.array(vector))
    >>> {theme: sorted(found) for theme, found in themes.members.items()}
    {1: [0, 1], 2: [2]}
    """

    def __init__(self, settings: Hierarchies, *, next_key: ThemeKey, unrelated: Array | None = None) -> None:
        self._settings, self._next, self._unrelated = settings, next_key, unrelated
        self.members: dict[ThemeKey, list[SemanticKey]] = {}  # in the order of the keys
        self.theme_of: dict[SemanticKey, ThemeKey] = {}
        self.moved: set[SemanticKey] = set()
        self.centres = NearestGraph(NEIGHBOURS)
        self.semantics = NearestGraph(NEIGHBOURS)
        self.grown: dict[ThemeKey, int] = {}  # the value of `attached` when a theme last grew
        self.attached = 0
        self._changed = HierarchyChanges(set(), set(), set())
        self._cohesion: dict[ThemeKey, float] = {}
        self._usual = UsualLikeness()

    def taken_changes(self) -> HierarchyChanges:
        """Return and reset the changes since the last call."""
        changed, self._changed = self._changed, HierarchyChanges(set(), set(), set())
        return changed

    def number_from(self, next_key: ThemeKey) -> None:
        """Number new themes from this key on, because another process may have used keys in the meantime."""
        self._next = next_key

    def load(self, placed: Iterable[Placed], grown: Mapping[ThemeKey, int], attached: int) -> None:
        """Load the stored themes. Semantics without a theme are left out until they are attached."""
        known = [one for one in placed if one.theme is not None]
        self.theme_of = {one.key: one.theme for one in known if one.theme is not None}
        for key, theme in self.theme_of.items():
            self.members.setdefault(theme, []).append(key)
        self.moved = {one.key for one in known if one.moved}
        self.attached = attached
        if known:
            vectors = self._measured(np.array([one.vector for one in known]))
            self.semantics.load([one.key for one in known], vectors, [one.near for one in known])
            self._usual.begin(vectors)
            centres = {theme: self._centre(theme) for theme in self.members}
            self.centres.load(list(centres), np.array(list(centres.values())), [()] * len(centres))
        self.grown = {theme: grown.get(theme, attached) for theme in self.members}

    def attach(self, key: SemanticKey, vector: Array) -> None:
        """Attach the semantic to the nearest theme, or to a new one if none is near enough. Split a theme that is too
        large."""
        one = self._measured(vector)
        theme = self._nearest(one)
        self.semantics.put(key, one)
        self._usual.more(one)
        self.attached += 1
        if theme is None:
            self._begin([key])
            return
        self.members[theme] = sorted([*self.members[theme], key])
        self._belongs([key], theme)
        self.grown[theme] = self.attached
        self._renew(theme)
        if len(self.members[theme]) > self._settings.theme_semantics:
            self._split(theme)

    def remove(self, key: SemanticKey) -> None:
        """Remove the semantic, and its theme if that is now empty."""
        theme = self.theme_of.pop(key)
        self._usual.less(self.semantics.rows.of(key))
        self.semantics.drop(key)
        self.moved.discard(key)
        self.members[theme].remove(key)
        if self.members[theme]:
            self._renew(theme)
        else:
            self._end(theme)

    def merge_tiny(self) -> int:
        """Merge the tiny themes that have not grown for a while; return how many were merged."""
        due = [
            theme
            for theme, found in self.members.items()
            if len(found) <= TINY and self.attached - self.grown[theme] >= PATIENCE
        ]
        merged = 0
        for theme in due:
            if theme in self.members and len(self.members[theme]) <= TINY:
                merged += self._merge(theme)
        return merged

    def threshold(self, share: float) -> float:
        """The cosine at this share of the way from the mean cosine of the user's semantics to 1."""
        usual = self._usual.mean
        return usual + share * (1.0 - usual)

    @property
    def objective(self) -> float:
        """f(P), from numbers that are updated with every change."""
        rest = self._rest()
        return objective(rest.sizes, rest.cohesions, rest.nearest)

    def _measured(self, vectors: Array) -> Array:
        return np.asarray(from_unrelated(vectors, self._unrelated), dtype=np.float32)

    def _nearest(self, vector: Array) -> ThemeKey | None:
        if not len(self.centres.rows):
            return None
        similarities = self.centres.rows.similarities(vector)
        place = int(np.argmax(similarities))
        near = float(similarities[place]) >= self.threshold(ATTACH)
        return self.centres.rows.key_at(place) if near else None

    def _split(self, theme: ThemeKey) -> None:
        """Split the theme by the cut that maximises f(P). The smaller part becomes a new theme."""
        keys = self.members[theme]
        found, rest = cuts(self.semantics.rows.these(keys)), self._rest(theme)
        values = [value_with(rest, [self.semantics.rows.these(part) for part in _parts(keys, cut)]) for cut in found]
        best = found[int(np.argmax(values))]
        leaving, staying = sorted(_parts(keys, best), key=lambda one: (len(one), -one[0]))
        self.members[theme] = staying
        self.moved.update(leaving)
        self._renew(theme)
        self._begin(leaving)

    def _merge(self, theme: ThemeKey) -> bool:
        """Merge the theme into the one of its nearest themes that maximises f(P). Return False if none is near enough
        with room."""
        keys = self.members[theme]
        least = self.threshold(MERGE)
        possible = [
            other
            for other, similarity in self.centres.of(theme)[:MERGE_CANDIDATES]
            if similarity >= least and len(self.members[other]) + len(keys) <= self._settings.theme_semantics
        ]
        if not possible:
            self.grown[theme] = self.attached  # tried again after PATIENCE more semantics
            return False
        joined = {one: self.semantics.rows.these([*self.members[one], *keys]) for one in possible}
        values = [value_with(self._rest(theme, one), [vectors]) for one, vectors in joined.items()]
        target = possible[int(np.argmax(values))]
        self._end(theme)
        self.members[target] = sorted([*self.members[target], *keys])
        self.moved.update(keys)
        self._belongs(keys, target)
        self._renew(target)
        return True

    def _rest(self, *gone: ThemeKey) -> OtherThemes:
        return rest_without(gone, self.centres, self.members, self._cohesion)

    def _begin(self, keys: list[SemanticKey]) -> None:
        theme = self._next
        self._next += 1
        self.members[theme] = list(keys)
        self._belongs(keys, theme)
        self.grown[theme] = self.attached
        self._renew(theme)

    def _end(self, theme: ThemeKey) -> None:
        del self.members[theme], self.grown[theme]
        self._cohesion.pop(theme, None)
        self.centres.drop(theme)
        self._changed.themes.discard(theme)
        self._changed.gone.add(theme)

    def _belongs(self, keys: Iterable[SemanticKey], theme: ThemeKey) -> None:
        for key in keys:
            self.theme_of[key] = theme
            self._changed.semantics.add(key)

    def _renew(self, theme: ThemeKey) -> None:
        """Recalculate the centroid of a changed theme from all its members, so that it is exact."""
        self.centres.put(theme, self._centre(theme))
        self._changed.themes.add(theme)

    def _centre(self, theme: ThemeKey) -> Array:
        centre, self._cohesion[theme] = centre_of(self.semantics.rows.these(self.members[theme]))
        return centre


def _parts(keys: list[SemanticKey], cut: Cut) -> list[list[SemanticKey]]:
    return [[key for key, inside in zip(keys, cut, strict=True) if inside is side] for side in (True, False)]
