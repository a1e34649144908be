"""How are hits treated that say the same as a better one, or nearly so?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from adaptive_memory_core.policy.ranges import SHARE, Range, check_choices, check_ranges

Duplicates = Literal["yield", "drop", "keep"]


@dataclass(frozen=True, slots=True)
class Copies:
    """How records that say the same share the places of an answer.

    >>> Copies("drop").duplicates
    'drop'
    """

    duplicates: Duplicates = "yield"  # what says the same as a better hit makes way for others, goes, or stays
    same_share: float = 1.0  # share of its runs of three words from which a text says the same; 1 = the same words
    diversity: float = 0.0  # 1 - lambda of MMR: what likeness to a better hit takes; 0 = off; benchmarks/units.py

    RANGES: ClassVar[dict[str, Range]] = {"same_share": SHARE, "diversity": SHARE}
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"duplicates": ("keep", "yield", "drop")}

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_choices(self, self.CHOICES)
