"""How much does each channel count? The weights with which what channels say of a record becomes its relevance."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.ranges import Range, check_ranges

LEADS = ("words", "near", "around", "session", "speaker")  # what the lexical channel says; see channels/lexical.py


@dataclass(frozen=True, slots=True)
class Fusion:
    """How much each lead counts, relative to the others: only the ratios matter, and only of those there are.

    The defaults are measured with the bundled embedder (`benchmarks/recall_quality.py`). Where records are no turns of
    a conversation, `near`, `around` and `session` are about the record itself, and say what `words` says.
    """

    dense: float = 0.25  # the similarity
    doubt: float = 2.0  # its weight falls with the share of the cue that words cover, to this power; 0 = never
    words: float = 0.18  # the cue's words in the record
    near: float = 0.20  # in the record and the turns next to it
    around: float = 0.28  # in the record and three turns on either side
    session: float = 0.09  # in its whole session
    speaker: float = 0.10  # said by the only speaker that the cue names

    def __post_init__(self) -> None:
        check_ranges(self, {"doubt": Range(0, 10), **dict.fromkeys(("dense", *LEADS), Range(0))})
        if self.dense == 0 and not any(getattr(self, name) for name in LEADS):
            raise PolicyError("All weights of this Fusion are 0, so nothing would be relevant. Give one above 0.")


MEASURED = Fusion()
