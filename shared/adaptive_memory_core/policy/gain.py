"""How far does one verdict move a memory vector? The noise of the Kalman-inspired update of GAM-RAG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import POSITIVE, SHARE, Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Gain:
    """The numbers of GAM-RAG's update (Wang et al., 2026, equations 11 and 13, appendix C).

    >>> Gain().positive_noise, Gain().negative_noise
    (0.5, 1.0)
    """

    positive_noise: float = 0.5  # of the observation "it supports the answer": R_pos of the paper
    negative_noise: float = 1.0  # of the observation "it does not": R_neg of the paper, larger: it may be a bridge
    process_noise: float = 0.001  # Q; the paper gives no number, but with this its ratios of activation come out
    first_uncertainty: float = 1.0  # before the first verdict: pi of the paper

    RANGES: ClassVar[dict[str, Range]] = {
        "positive_noise": POSITIVE,
        "negative_noise": POSITIVE,
        "process_noise": Range(0, 1, above=True),
        "first_uncertainty": SHARE,
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
