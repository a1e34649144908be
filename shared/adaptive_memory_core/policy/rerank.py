"""How much does a reranker decide, about how many records, and how long is it waited for?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import SHARE, Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Rerank:
    """How much a reranker decides, if the memory has one.

    >>> Rerank(weight=1).weight
    1.0
    """

    weight: float = 0.5  # share of the relevance that the reranker decides; 0 = it is not asked; guess
    candidates: int = 20  # how many of the best records it is shown, at least k; guess
    timeout_seconds: float = 0.0  # seconds after which it is left out; 0 = wait for it

    RANGES: ClassVar[dict[str, Range]] = {
        "weight": SHARE,
        "candidates": Range(1, 1_000, whole=True),
        "timeout_seconds": Range(0, 3600),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
