"""What each signal counts in a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, relative to the others: only the ratios matter.

    The defaults are measured (`benchmarks/rot.py`): the most that learning from mere reads may weigh before
    hundreds of reads about other things push right answers down.
    """

    recency: float = 0.025  # weight of how recently it was read or written; benchmarks/rot.py
    importance: float = 0.025  # weight of what it is worth, as written and as feedback and reads moved it; rot.py
    similarity: float = 0.95  # weight of the relevance to the query, times strength; benchmarks/rot.py

    RANGES: ClassVar[dict[str, Range]] = dict.fromkeys(("recency", "importance", "similarity"), Range(0))

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        if self.total == 0:
            raise PolicyError(
                "All weights are 0, so every score would be 0. Give at least one weight above 0, "
                "e.g. Weights(similarity=1)."
            )

    @property
    def total(self) -> float:
        return self.recency + self.importance + self.similarity

    @property
    def only_similarity(self) -> bool:
        return self.similarity == self.total


MEASURED_WEIGHTS = Weights()
EQUAL = Weights(recency=1.0, importance=1.0, similarity=1.0)
