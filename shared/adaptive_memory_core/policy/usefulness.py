"""How much does a helpful verdict count, and how does it wear off?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import POSITIVE, SHARE, Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names

MOST_WEIGHT = 20.0


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Usefulness:
    """How much helpful feedback raises later scores, and how that wears off: slowly with time, quickly with recalls.

    Both follow a power law of age, as in ACT-R, which serves bursts of minutes and habits of months. The user's own
    recalls are the better clock, because bursts look alike by it however fast they come. The defaults are measured:
    `benchmarks/bursts.py`, on half of the data.

    >>> Usefulness(weight=1).hours_power
    0.25
    """

    weight: float = 3.0  # how much a useful read just now counts: as many further pieces of evidence for the record
    hours: float = 1.0  # hours until it begins to wear off by the clock
    hours_power: float = 0.25  # power: how steeply by the clock; 0.25 leaves 0.23 after two weeks; 0 = never
    recalls: float = 15.0  # recalls of the user until it begins to wear off by them
    recalls_power: float = 1.5  # power: how steeply by recalls; 1.5 leaves 0.23 after 25 recalls; 0 = never
    unhelpful: float = 0.1  # share of a helpful verdict that an unhelpful one weighs
    reach: int = 10  # recalls of the user within which a useful record is always a candidate; 0 = off
    step: float = 0.5  # octaves by which one verdict may move the weight, where the policy is adaptive
    least: float = 0.0625  # least share of the weight, where usefulness has misled
    most: float = 1.0  # most times the weight, where usefulness has led; above 1 gained nothing
    importance_step: float = 0.05  # share of a record's importance that one verdict moves; the article: at most 5 %
    importance_bound: float = 0.5  # share of it that all verdicts together may add or take; guess
    lead_step: float = 0.0  # octaves by which a verdict may move what a channel's lead counts; 0 = off, and measured
    lead_bound: float = 0.5  # octaves by which all verdicts together may move it; guess
    lead_prior: float = 20.0  # verdicts at which half of what they say counts; guess
    common_share: float = 0.0  # share of a verdict on a record of everyone's that counts for all readers; 0 = off

    RANGES: ClassVar[dict[str, Range]] = {
        "weight": Range(0, 10),
        "hours": POSITIVE,
        "hours_power": Range(0, 3),
        "recalls": POSITIVE,
        "recalls_power": Range(0, 3),
        "unhelpful": SHARE,
        "reach": Range(0, 1000, whole=True),
        "step": Range(0, 2),
        "least": Range(0.001, 1),
        "most": Range(1, 10),
        "importance_step": Range(0, 0.05),
        "importance_bound": SHARE,
        "lead_step": Range(0, 2),
        "lead_bound": Range(0, 2),
        "lead_prior": Range(0, 10_000),
        "common_share": SHARE,
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        if self.weight * self.most > MOST_WEIGHT:
            raise PolicyError(
                f"Usefulness(weight={self.weight:g}, most={self.most:g}) may count {self.weight * self.most:g} times. "
                f"At most {MOST_WEIGHT:g} is allowed: beyond it every useful record stands before every relevant one."
            )


LEARNED = Usefulness()
