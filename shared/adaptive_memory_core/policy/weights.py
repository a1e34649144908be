"""How much does each signal count? Relative weights, and where the default ones come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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

    recency: float = 0.025  # of how recently it was read or written; benchmarks/rot.py
    importance: float = 0.025  # of what it is worth: as written, and as verdicts and reads moved it; benchmarks/rot.py
    similarity: float = 0.95  # of the relevance to the cue, times strength; benchmarks/rot.py
    strength: float = 0.0  # of the strength by itself; it multiplies the relevance in any case; 0 = not at all

    RANGES: ClassVar[dict[str, Range]] = dict.fromkeys(("recency", "importance", "similarity", "strength"), Range(0))

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        if self.total == 0:
            raise PolicyError(
                "All weights are 0, so every score would be 0. Give at least one weight above 0, "
                "e.g. Weights(similarity=1)."
            )

    @property
    def total(self) -> float:
        return self.recency + self.importance + self.similarity + self.strength

    def times(self, factors: Mapping[str, float]) -> Weights:
        """With the recency and the importance counting so many times as much; others are no weights of these.

        >>> Weights(1, 1, 2).times({"recency": 1.5, "words": 3.0})
        Weights(recency=1.5, importance=1.0, similarity=2.0, strength=0.0)
        """
        own = {name: getattr(self, name) * factors[name] for name in ("recency", "importance") if name in factors}
        return replace(self, **own) if own else self

    @property
    def only_similarity(self) -> bool:
        return self.similarity == self.total


MEASURED_WEIGHTS = Weights()
EQUAL = Weights(recency=1.0, importance=1.0, similarity=1.0)
