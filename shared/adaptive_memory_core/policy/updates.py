"""When does a newer record stand before an older one? Where both say the same about the same subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import SHARE, Range, check_ranges, check_switches
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Updates:
    """How facts that changed are told, and the newest put first: in the "bounded" blend, the default one.

    >>> Updates(newest_first=False).newest_first
    False
    """

    newest_first: bool = True  # whether of records that say the same about the same subject the newest comes first
    best: int = 5  # hits, the best ones, whose newer and older versions are looked for; guess
    candidates: int = 40  # of the best candidates that are looked at for versions of them; guess
    longest_text: int = 240  # characters of a text that may be a version of another; guess
    longest_message: int = 8_000  # characters of one in which a sentence is looked for that may be one; guess
    different_words: int = 4  # of each text, at most, where both use the same words; benchmarks/updates.py
    common_words: float = 0.33  # share of the words of both that they have in common there; benchmarks/updates.py
    other_words: int = 14  # of each text, at most, where the newer one is worded otherwise; guess
    close: float = (
        0.45  # how near to the cue it is, from 0 (other facts) to 1, if it announces no change; benchmarks/updates.py
    )
    close_if_unknown: float = 0.4  # by how much it stands out where its relation is unknown; benchmarks/updates.py
    stands_out: float = 0.4  # by how much it does where vectors tell and it announces a change; benchmarks/updates.py
    timeout_seconds: float = 0.0  # seconds after which a rule of your own is left out; 0 = wait for it

    RANGES: ClassVar[dict[str, Range]] = {
        "best": Range(1, 100, whole=True),
        "candidates": Range(2, 1_000, whole=True),
        "longest_text": Range(1, 10_000, whole=True),
        "longest_message": Range(1, 1_000_000, whole=True),
        "different_words": Range(0, 100, whole=True),
        "common_words": SHARE,
        "other_words": Range(0, 1_000, whole=True),
        "close": Range(0, 10),
        "close_if_unknown": Range(0, 10),
        "stands_out": Range(-10, 10),
        "timeout_seconds": Range(0, 3600),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_switches(self, ("newest_first",))
