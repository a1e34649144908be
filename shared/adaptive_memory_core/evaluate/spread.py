"""How do many timings or lengths lie? Mean, median, 95th percentile and standard deviation, in the samples' unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from adaptive_memory_core.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Spread:
    """How samples lie; median and p95 are samples that were really observed, the deviation is that of these samples."""

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
    """The sample below or at which so many per cent of the ordered samples lie.

    >>> nearest_rank([1.0, 2.0, 9.0], 50), nearest_rank([1.0, 2.0, 9.0], 95)
    (2.0, 9.0)
    """
    return ordered[max(1, math.ceil(percent * len(ordered) / 100)) - 1]
