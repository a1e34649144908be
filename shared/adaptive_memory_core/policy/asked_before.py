"""What do verdicts on similar questions count? How near a question must be, and how much it then decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import SHARE, Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names

NEAR, TRUSTED, AGAINST = "asked_near", "asked_trusted", "asked_against"  # the leads, of which the part is made
AHEAD = "asked_ahead"
PART = "asked_before"


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class AskedBefore:
    """How far a record gains by having answered questions like this one: `benchmarks/learning_stream.py`.

    >>> AskedBefore(weight=0).weight
    0.0
    """

    weight: float = 1.0  # share of what similar questions say that counts; 0 = off
    floor: float = 0.3  # similarity of two questions at which an earlier one begins to say something
    power: float = 4.0  # power: how steeply it then says more, up to the same question
    behind: float = 1.0  # similarity that the nearest question loses for each that the record stands further behind now
    prior: float = 0.1  # weight of "this was never asked", in questions that are the same as this one
    unhelpful: float = 0.3  # share of a helpful verdict that an unhelpful one on a similar question takes back
    lower: float = 0.5  # share of its relevance that a record loses for the same question after an unhelpful verdict
    most: int = 16  # questions that are remembered of a record; the nearest are joined
    candidates: int = 5  # records that are looked at in any case, since they answered similar questions

    RANGES: ClassVar[dict[str, Range]] = {
        "weight": SHARE,
        "floor": Range(0, 0.99),
        "power": Range(0.5, 16),
        "behind": Range(0, 10),
        "prior": Range(0, 100, above=True),
        "unhelpful": SHARE,
        "lower": SHARE,
        "most": Range(1, 1_000, whole=True),
        "candidates": Range(0, 100, whole=True),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)


SIMILAR_QUESTIONS = AskedBefore()
