"""How are hits treated that say the same as a better one, or nearly so?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from adaptive_memory_core.policy.ranges import SHARE, Range, check_choices, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names

Duplicates = Literal["yield", "drop", "keep"]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Copies:
    """How hits that say the same as a better hit are treated.

    >>> Copies("drop").duplicates
    'drop'
    """

    duplicates: Duplicates = (
        "yield"  # a copy of a better hit gives its place to others ("yield"), is dropped, or is kept
    )
    same_share: float = 1.0  # share of common runs of three words from which two texts say the same; 1 = equal words
    diversity: float = 0.0  # 1 - lambda of MMR: weight of the similarity to better hits; 0 = off; benchmarks/units.py

    RANGES: ClassVar[dict[str, Range]] = {"same_share": SHARE, "diversity": SHARE}
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"duplicates": ("keep", "yield", "drop")}

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_choices(self, self.CHOICES)
