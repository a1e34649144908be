"""How much do a question's words about time count: "last week", "in May", "originally", "now"?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import SHARE, Range, check_ranges, check_switches
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class TimeWords:
    """How a question's words about time change the ranking.

    >>> TimeWords(strict=True).strict
    True
    """

    enabled: bool = True  # whether words about time change the ranking at all
    weight: float = 0.7  # share of a score that a record of another time loses; benchmarks/asked_time.py
    lean_weight: float = 0.3  # that share for "originally" and "currently", by age; benchmarks/asked_time.py
    spread: float = 0.15  # similarity; spreads.similarity is at least this where a time is asked about
    past_recency: float = 0.0  # share of the recency weight that is left when the past is asked about; the article: 0
    present_recency: float = 2.0  # times the recency weight when the present is asked about; guess
    strict: bool = False  # True: records of another time are dropped, not only ranked lower

    RANGES: ClassVar[dict[str, Range]] = {
        "weight": SHARE,
        "lean_weight": SHARE,
        "spread": Range(1e-6, 2),
        "past_recency": SHARE,
        "present_recency": Range(1, 100),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_switches(self, ("enabled", "strict"))
