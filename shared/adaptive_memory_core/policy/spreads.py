"""How large must a difference between candidates be to count in full? The smallest spread of each signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Spreads:
    """The smallest spread of each signal over the candidates that counts in full, in the blends of the literature.

    A larger spread is stretched to [0, 1]; a smaller one keeps its share of this value.

    >>> Spreads(recency=0.01).recency
    0.01
    """

    recency: float = 0.5  # recency; benchmarks/rot.py
    importance: float = 0.2  # importance; benchmarks/rot.py
    similarity: float = 0.05  # similarity; guess

    RANGES: ClassVar[dict[str, Range]] = {
        "recency": Range(1e-6, 1),
        "importance": Range(1e-6, 1),
        "similarity": Range(1e-6, 2),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
