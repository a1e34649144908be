"""How good is a grouping into themes? Equations 1 to 3 of xMemory. It only chooses among what cap or size force."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from adaptive_memory_core.hierarchy.nodes import Array

EPSILON = 1e-3  # the paper's, which it gives no number for; guess


def sparsity(sizes: Sequence[int] | Array) -> float:
    """Equation 2: how evenly the semantics are spread over the themes, N^2 / (K * sum of n^2); 1 where all are equal.

    >>> sparsity([3, 3]), sparsity([4, 2]), sparsity([])
    (1.0, 0.9, 0.0)
    """
    counts = np.asarray(sizes, dtype=np.float64)
    return float(counts.sum() ** 2 / (len(counts) * (counts**2).sum())) if len(counts) else 0.0


def bell(nearest: Array) -> Array:
    """g of equation 3 for each theme, by its similarity to the nearest other one: 1 at the median, less on both sides.

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
    """Equation 3: the mean over themes of their cohesion times the bell of how near the next theme is.

    >>> coherence(np.array([0.8, 0.6]), np.array([0.5, 0.5])), coherence(np.array([0.9]), np.array([0.0]))
    (0.7, 0.9)
    """
    return float(np.mean(cohesions * bell(nearest))) if len(cohesions) else 0.0


def objective(sizes: Sequence[int] | Array, cohesions: Array, nearest: Array) -> float:
    """Equation 1: f(P), the sum of both. All semantics alone score higher than any grouping worth having, so it must
    never decide whether something is done, only which of the things that have to be.

    >>> objective([2, 2], np.array([0.8, 0.6]), np.array([0.5, 0.5]))
    1.7
    """
    return sparsity(sizes) + coherence(cohesions, nearest)


def centre_of(members: Array) -> tuple[Array, float]:
    """The centroid of members of unit length as a direction, and their cohesion, the mean cosine to it; that is the
    length of their mean. Of vectors that cancel each other both are 0.

    >>> centre, cohesion = centre_of(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> centre.round(3).tolist(), round(cohesion, 3), centre_of(np.array([[1.0], [-1.0]]))[1]
    ([0.707, 0.707], 0.707, 0.0)
    """
    mean = np.add.reduce(members, axis=0) / len(members)
    length = math.sqrt(float(mean @ mean))
    return (mean / length if length > 0.0 else mean), length


def from_scratch(themes: Sequence[Array]) -> float:
    """f(P) of themes that are given as the vectors of their members; for comparison.

    >>> round(from_scratch([np.eye(3)[:1], np.eye(3)[1:2]]), 3)
    2.0
    """
    found = [centre_of(one) for one in themes]
    centres, cohesions = np.array([one for one, _ in found]), np.array([one for _, one in found])
    alike = centres @ centres.T if len(centres) else np.zeros((0, 0))
    np.fill_diagonal(alike, -np.inf)
    nearest = alike.max(axis=1) if len(centres) > 1 else np.zeros(len(centres))
    return objective([len(one) for one in themes], cohesions, nearest)
