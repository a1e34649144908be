"""What would f(P) be if a few themes were others? Reckoned from what is known of the rest, not from scratch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.hierarchy.neighbours import NearestGraph
from adaptive_memory_core.hierarchy.nodes import Array, SemanticKey, ThemeKey
from adaptive_memory_core.hierarchy.objective import centre_of, objective


class Rest(NamedTuple):
    """The themes that stay as they are: one row each. `nearest` is the similarity to the nearest other of them."""

    sizes: list[int]
    cohesions: Array
    nearest: Array
    centres: Array


def rest_without(
    gone: Sequence[ThemeKey],
    centres: NearestGraph,
    members: Mapping[ThemeKey, Sequence[SemanticKey]],
    cohesions: Mapping[ThemeKey, float],
) -> Rest:
    """All themes but these, with what each of them is near to besides these."""
    stay = [one for one in centres.rows if one not in gone]
    alone = -np.inf if gone else 0.0
    return Rest(
        [len(members[one]) for one in stay],
        np.array([cohesions[one] for one in stay]),
        np.array([centres.nearest(one, gone, alone=alone) for one in stay]),
        centres.rows.these(stay),
    )


def value_with(rest: Rest, parts: Sequence[Array]) -> float:
    """f(P) of the rest and of themes with these members.

    >>> none = Rest([], np.zeros(0), np.zeros(0), np.zeros((0, 2)))
    >>> value_with(none, [np.eye(2)[:1], np.eye(2)[1:]])
    2.0
    """
    found = [centre_of(one) for one in parts]
    centres, mine = np.array([one for one, _ in found]), [one for _, one in found]
    own = _nearest_of_each(centres)
    nearest = rest.nearest
    if len(rest.sizes):
        beside = rest.centres @ centres.T
        nearest = np.maximum(nearest, beside.max(axis=1))
        own = np.maximum(own, beside.max(axis=0))
    own = np.where(np.isfinite(own), own, 0.0)
    return objective(
        [*rest.sizes, *map(len, parts)], np.concatenate((rest.cohesions, mine)), np.concatenate((nearest, own))
    )


def _nearest_of_each(centres: Array) -> Array:
    """Among these alone; nothing is near to one by itself."""
    alike = centres @ centres.T
    np.fill_diagonal(alike, -np.inf)
    return alike.max(axis=1)
