"""How alike are two vectors of a set in the mean? Kept up as vectors come and go, by their sum alone."""

from __future__ import annotations

import numpy as np

from adaptive_memory_core.hierarchy.nodes import Array


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
