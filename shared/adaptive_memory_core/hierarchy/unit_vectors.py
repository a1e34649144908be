"""Unit vectors measured from what unrelated texts have in common, and how alike two of a set are in the mean."""

from __future__ import annotations

import numpy as np

from adaptive_memory_core.hierarchy.nodes import Array


def from_unrelated(vectors: Array, unrelated: Array | None) -> Array:
    """Each vector without the mean of unrelated texts (None: not known), at length 1; zeros stay.

    Episodes and themes compare sums of vectors, whose cosine says nothing with an embedder whose texts are all alike.
    From here it counts from what unrelated texts score, as `score.surprise.Baseline` does for single texts.

    >>> from_unrelated(np.array([[0.6, 0.8], [0.0, 0.0]]), np.array([0.0, 0.8])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    rows = unit(vectors)
    if unrelated is None or rows.shape[-1] != len(unrelated):  # of another embedder
        return vectors
    return unit(np.where(rows.any(axis=-1, keepdims=True), rows - unrelated, 0.0))


def unit(vectors: Array) -> Array:
    """Vectors at length 1; zeros stay.

    >>> unit(np.array([3.0, 4.0])).tolist(), unit(np.zeros((1, 2))).tolist()
    ([0.6, 0.8], [[0.0, 0.0]])
    """
    rows = np.asarray(vectors)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)


class UsualLikeness:
    """What counts as near depends on the embedder, and on what its user speaks of: this is where "near" begins.

    >>> usual = UsualLikeness()
    >>> usual.begin(np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> round(usual.mean, 3)
    0.6
    >>> usual.less(np.array([0.6, 0.8]))
    >>> usual.mean
    0.0
    """

    def __init__(self) -> None:
        self._sum: Array = None
        self._count = 0

    def begin(self, vectors: Array) -> None:
        """With these rows of unit length."""
        self._sum, self._count = vectors.sum(axis=0, dtype=np.float64), len(vectors)

    def more(self, vector: Array) -> None:
        self._sum = np.array(vector, dtype=np.float64) if self._sum is None else self._sum + vector
        self._count += 1

    def less(self, vector: Array) -> None:
        self._sum, self._count = self._sum - vector, self._count - 1

    @property
    def mean(self) -> float:
        """The mean cosine of two of them; 0 where it is less, or where there are not two."""
        if self._count < 2:
            return 0.0
        return max(0.0, (float(self._sum @ self._sum) - self._count) / (self._count * (self._count - 1)))
