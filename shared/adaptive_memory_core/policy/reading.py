"""How does being read change recency and importance? The numbers behind both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import POSITIVE, SHARE, Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Reading:
    """How counted reads move the recency, and what their number adds to the importance.

    >>> Reading(reads_before_refresh=2).reads_before_refresh
    2
    """

    half_life_growth: float = 0.0  # share by which each counted read lengthens the half life (MemoryBank); 0 = off
    half_life_days_max: float = 365.0  # days; the bound of that growth; guess
    reads_before_refresh: int = 1  # counted reads before recency moves; 2 is LRU-2, against one-shot scans
    window_days: float = 14.0  # days within which those reads must follow each other; guess
    count_weight: float = 0.05  # importance added per log1p(decayed retrieval count); the article's delta
    count_boost_max: float = 0.2  # importance; the bound of that addition; guess
    count_decay_per_day: float = 0.99  # share of the count that is left after a day; the article

    RANGES: ClassVar[dict[str, Range]] = {
        "half_life_growth": Range(0, 10),
        "half_life_days_max": POSITIVE,
        "reads_before_refresh": Range(1, 100, whole=True),
        "window_days": POSITIVE,
        "count_weight": SHARE,
        "count_boost_max": SHARE,
        "count_decay_per_day": SHARE,
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
