"""What is shown with a hit, and which hits are shown together?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import SHARE, Range, check_ranges, check_switches
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Shown:
    """How hits of one conversation are shown together.

    >>> Shown(intact=True).intact
    True
    """

    intact: bool = False  # whether a recall also fetches the turns right before and after its hits, to be shown
    merge: float = 0.85  # share of a block's best score that a hit needs to be in the block; benchmarks/units.py

    longest: float = 0.25  # share of a budget that one hit may take where not all fit; benchmarks/shown_evidence.py

    RANGES: ClassVar[dict[str, Range]] = {"merge": SHARE, "longest": Range(0, 1, above=True)}

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_switches(self, ("intact",))
