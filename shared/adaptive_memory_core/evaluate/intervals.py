"""Percentile bootstrap intervals of means and of paired differences, and the spread of samples.

Questions of one conversation share its records, so they succeed and fail together. Treated as independent they make the
interval too narrow: give `clusters`, one key per question, and whole conversations are drawn instead. Below about ten
clusters the interval is still somewhat too narrow, and no resampling can fix that.
The same seed gives the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adaptive_memory_core.errors import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

RESAMPLES = 2000  # draws; another seed then moves a bound by about 2 % of the width (measured)
DRAWN_AT_ONCE = 20_000  # clusters, in one array
CONFIDENCE = 0.95  # in (0, 1); the usual value

_Floats: TypeAlias = "npt.NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and bounds for it if the questions (or the clusters) were drawn again.

    >>> print(Interval(mean=0.5, low=0.4, high=0.6, confidence=0.95, clusters=10))
    0.500 [0.400, 0.600]
    """

    mean: float
    low: float
    high: float
    confidence: float
    clusters: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the sign of a difference is settled at this confidence.

        >>> Interval(mean=0.1, low=0.0, high=0.2, confidence=0.95, clusters=10).excludes_zero
        False
        """
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def bootstrap(
    scores: Sequence[float],
    *,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """The mean of the scores and its percentile interval. All questions count equally, whatever their cluster.

    >>> print(bootstrap([0.5, 0.5, 0.5], seed=1))      # no spread, no width
    0.500 [0.500, 0.500]
    >>> print(bootstrap([0.0, 1.0], seed=1))      # a quarter of all draws is (0, 0), another is (1, 1)
    0.500 [0.000, 1.000]
    >>> print(bootstrap([0.0, 0.0, 1.0, 1.0], clusters=["ann", "bob", "ann", "bob"], seed=1))      # two equal clusters
    0.500 [0.500, 0.500]

    Source: Efron, Bootstrap methods: another look at the jackknife (1979); clusters as in Field and Welsh (2007).
    """
    _check(resamples, confidence)
    sums, sizes = _by_cluster(_finite(scores), clusters)
    tail = (1 - confidence) / 2
    low, high = np.quantile(_drawn_means(sums, sizes, seed=seed, resamples=resamples), [tail, 1 - tail])
    return Interval(float(sums.sum() / sizes.sum()), float(low), float(high), confidence, len(sums))


def paired_difference(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """The mean of ours minus theirs on the same questions in the same order, with its interval.

    It is far narrower than the difference of two separate intervals, since a question's difficulty cancels out.

    >>> print(paired_difference([0.75, 0.25, 0.5], [0.5, 0.0, 0.25], seed=1))      # ahead by a quarter everywhere
    0.250 [0.250, 0.250]
    >>> paired_difference([1.0, 0.0], [0.0, 1.0], seed=1).excludes_zero      # one won, one lost
    False
    """
    if len(ours) != len(theirs):
        raise InvalidInputError(
            f"there are {len(ours)} scores of ours and {len(theirs)} of theirs. A pair is one question asked of both. "
            "Score both systems on the same questions, in the same order."
        )
    differences = _finite(ours) - _finite(theirs)
    return bootstrap(list(differences), seed=seed, clusters=clusters, resamples=resamples, confidence=confidence)


def _check(resamples: int, confidence: float) -> None:
    if resamples < 1 or not 0 < confidence < 1:
        raise InvalidInputError(
            f"resamples is {resamples!r} and confidence {confidence!r}. The first is at least 1, the second lies "
            f"between 0 and 1. Leave them out for {RESAMPLES} and {CONFIDENCE}."
        )


def _drawn_means(sums: _Floats, sizes: _Floats, *, seed: int, resamples: int) -> _Floats:
    """One mean per draw. A draw takes as many clusters as there are, with replacement."""
    random = np.random.default_rng(seed)
    batch = max(1, DRAWN_AT_ONCE // len(sums))
    means = []
    for start in range(0, resamples, batch):
        drawn = random.integers(0, len(sums), size=(min(batch, resamples - start), len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)


def _by_cluster(scores: _Floats, clusters: Sequence[Hashable] | None) -> tuple[_Floats, _Floats]:
    """The sum and the number of the scores in each cluster; without `clusters` each question is a cluster."""
    keys = range(len(scores)) if clusters is None else clusters
    if len(keys) != len(scores):
        raise InvalidInputError(
            f"there are {len(scores)} scores and {len(keys)} cluster keys. Each score needs its own. "
            "Give one key per question, in the same order."
        )
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    if len(numbers) < 2:
        what = "questions" if clusters is None else "clusters"
        raise InvalidInputError(
            f"there are {len(numbers)} {what}. An interval needs at least 2, to see how much they differ. "
            "Add some, leave clusters out if questions are independent, or report the mean alone."
        )
    member = np.array([numbers[key] for key in keys])
    sums, sizes = np.bincount(member, weights=scores), np.bincount(member)
    return sums.astype(np.float64), sizes.astype(np.float64)


def _finite(scores: Sequence[float]) -> _Floats:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidInputError(
            f"the scores have shape {values.shape} or hold a nan or an infinity. They must be one finite number per "
            "question. Look for a division by zero in the measure."
        )
    return values


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of samples. Median and p95 are observed samples; the deviation is that of the population."""

    mean: float
    median: float
    p95: float
    deviation: float
    count: int


def spread(samples: Iterable[float]) -> Spread:
    """
    >>> spread(range(1, 101))
    Spread(mean=50.5, median=50, p95=95, deviation=28.86607004772212, count=100)
    >>> spread([3.0])
    Spread(mean=3.0, median=3.0, p95=3.0, deviation=0.0, count=1)
    """
    ordered = sorted(samples)
    if not ordered:
        raise InvalidInputError("there are no samples. A spread needs at least one. Measure at least one call.")
    median, p95 = nearest_rank(ordered, 50), nearest_rank(ordered, 95)
    return Spread(fmean(ordered), median, p95, pstdev(ordered), len(ordered))


def nearest_rank(ordered: Sequence[float], percent: int) -> float:
    """The smallest sample such that at least `percent` of the samples are at or below it.

    >>> nearest_rank([1.0, 2.0, 9.0], 50), nearest_rank([1.0, 2.0, 9.0], 95)
    (2.0, 9.0)
    """
    return ordered[max(1, math.ceil(percent * len(ordered) / 100)) - 1]
