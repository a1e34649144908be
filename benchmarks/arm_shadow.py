"""What would Algorithm 1 itself have answered? All records in columns, all of them looked at for every question.

Nothing of the package's own arithmetic is used here, so that both can be held against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adaptive_memory_core import Policy

DAY = 86_400.0
SAME = 1e-4  # relative; Chroma reckons in 32 bits
Column = npt.NDArray[Any]


class Ranking(NamedTuple):
    """The best records, and their scores."""

    ids: list[str]
    scores: Column


class Shadow:
    """The naive form of one policy over one user's records of one kind."""

    def __init__(self, policy: Policy, dimension: int) -> None:
        self.policy = policy
        self.rows: dict[str, int] = {}
        self.vectors: Column = np.empty((0, dimension))
        self.strengths: Column = np.empty(0)
        self.fresh: Column = np.empty(0)  # when last read, in the policy's unit
        self.counts: Column = np.empty(0)
        self.time: float | None = None  # in the policy's unit; as far as decay was applied

    def add(self, ids: Sequence[str], vectors: Column, *, now: float) -> None:
        """New records, whole, whose grace begins here."""
        self.rows.update({one: len(self.rows) + index for index, one in enumerate(ids)})
        self._begin(now)
        self.vectors = np.concatenate([self.vectors, vectors])
        self.strengths = np.concatenate([self.strengths, np.ones(len(ids))])
        self.fresh = np.concatenate([self.fresh, np.full(len(ids), self.time if self._by_step else now / DAY)])
        self.counts = np.concatenate([self.counts, np.zeros(len(ids))])

    def best(self, cue: Column, k: int, *, now: float, nearest: int | None = None) -> Ranking:
        """The k best by strength times similarity: of all records, or of so many that are most similar."""
        self._decay(now)
        similarity = np.maximum(0.0, self.vectors @ cue)
        scores = similarity * (1.0 - self.policy.decay.strength_weight * (1.0 - self.strengths))
        looked_at = np.argsort(-similarity, kind="stable")[:nearest]
        rows = looked_at[np.argsort(-scores[looked_at], kind="stable")][:k]
        names = list(self.rows)
        return Ranking([names[row] for row in rows], scores[rows])

    def read(self, ids: Sequence[str], *, now: float) -> None:
        """The step that a recall is: what it returned was read, and what it did not may decay."""
        self._decay(now)
        moment = (self.time or 0.0) + 1 if self._by_step else now / DAY
        rows = [self.rows[one] for one in ids]
        self.counts[rows] += 1
        self.fresh[rows] = moment
        self.strengths[rows] += self.policy.decay.restore_on_read * (1.0 - self.strengths[rows])
        if self._by_step:
            self._advance(moment)

    @property
    def remembered(self) -> Column:
        return self.counts >= self.policy.decay.remembrance_threshold

    @property
    def _by_step(self) -> bool:
        return self.policy.decay.unit == "recalls"

    def _begin(self, now: float) -> None:
        if self.time is None:
            self.time = 0.0 if self._by_step else now / DAY

    def _decay(self, now: float) -> None:
        """Days pass by themselves; steps only with a recall, after it has ranked."""
        if not self._by_step:
            self._advance(now / DAY)

    def _advance(self, to: float) -> None:
        since = to if self.time is None else self.time
        due = np.maximum(0.0, to - np.maximum(since, self.fresh + self.policy.decay.grace))
        faded = self.strengths * self.policy.decay.rate**due
        faded = np.maximum(faded, np.minimum(self.strengths, self.policy.decay.strength_floor))
        self.strengths = np.where(self.remembered, self.strengths, faded)
        self.time = to


def same(ours: Sequence[float], truth: Column) -> bool:
    """Whether two rankings have the same scores, so that records of equal score may stand for each other.

    >>> same([0.5, 0.4], np.array([0.5, 0.4])), same([0.5, 0.3], np.array([0.5, 0.4]))
    (True, False)
    >>> same([0.5], np.array([0.5, 0.4]))      # one is missing
    False
    """
    return len(ours) == len(truth) and bool(np.allclose(ours, truth, rtol=SAME, atol=0.0))
