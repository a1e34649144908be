"""Which places of an answer are drawn by lot, so that the log can tell what other policies would be worth?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Exploration:
    """What is returned at random, for the sake of knowing. Off by default: it costs some of the last hits.

    A log of answers that are always the best by one policy cannot tell what another one's would have been worth. With a
    `tail` the last places go by lot to some of the candidates, and the log has the chance of each
    (docs/tuning.md). The first place is never drawn, and nothing is where a recall changes nothing.

    >>> Exploration(tail=1).pool
    10
    """

    tail: int = 0  # last places of an answer that are drawn by lot; 0 = off
    pool: int = 10  # candidates that they are drawn from: those that would have them, and the next best; guess

    RANGES: ClassVar[dict[str, Range]] = {"tail": Range(0, 100, whole=True), "pool": Range(2, 1000, whole=True)}

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
