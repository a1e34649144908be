"""Which few of many similar nodes stand for all of them? Stage I of xMemory: equation 4, greedily, on the kNN graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Edges = Mapping[int, Mapping[int, float]]  # of each node its neighbours and the similarity, above 0


def representatives(closeness: Sequence[float], edges: Edges, *, alpha: float, covered: float, most: int) -> list[int]:
    """The numbers of the chosen nodes, in the order of their choice.

    Each step takes the node with the most of alpha * coverage gain + (1 - alpha) * closeness to the query. The gain is
    the sum of the similarities to those that nobody covered yet, itself included (as 1), as a share of the greatest
    such sum there is; the closeness is stretched to [0, 1] over all nodes. It ends when the share `covered` of all
    nodes is covered, or with `most` chosen.

    Two that are alike, and a third that is not: the third comes before the twin of the first.

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


def nearest_edges(vectors: Any, neighbours: int) -> Edges:
    """The kNN graph of vectors of length 1: of each its nearest others with a similarity above 0.

    >>> nearest_edges(np.array([[1.0, 0.0], [0.8, 0.6], [-1.0, 0.0]]), 1)
    {0: {1: 0.8}, 1: {0: 0.8}, 2: {}}
    """
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, 0.0)
    edges: dict[int, dict[int, float]] = {}
    for number, row in enumerate(likeness):
        best = np.argsort(-row, kind="stable")[:neighbours].tolist()
        edges[number] = {other: round(float(row[other]), 6) for other in best if row[other] > 0.0}
    return edges


def _matrix(edges: Edges, size: int) -> Any:
    """The similarities of neighbours, either way, and 1 of each to itself."""
    alike = np.eye(size)
    for number, others in edges.items():
        for other, weight in others.items():
            if 0 <= number < size and 0 <= other < size and number != other:
                alike[number, other] = alike[other, number] = max(weight, alike[number, other])
    return alike


def _stretched(values: Sequence[float]) -> Any:
    """The values over [0, 1]; all in the middle where they are the same."""
    given = np.asarray(values, dtype=float)
    low, spread = float(given.min()), float(given.max() - given.min())
    return (given - low) / spread if spread > 0.0 else np.full(len(given), 0.5)
