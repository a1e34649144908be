"""How much does each channel count? The weights with which what channels say of a record becomes its relevance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.ranges import Range, check_ranges

LEADS = ("words", "near", "around", "session", "speaker")  # what the lexical channel says; see channels/lexical.py
Method = Literal["convex", "rrf"]


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
    method: Method = field(
        default="convex", kw_only=True
    )  # of putting them together: their numbers, or "rrf": the ranks that each channel gives
    rrf_k: float = field(
        default=60.0, kw_only=True
    )  # what reciprocal ranks add to the rank; from the literature, and it loses: README

    def __post_init__(self) -> None:
        if self.method not in ("convex", "rrf"):
            raise PolicyError(f"Fusion(method={self.method!r}) is not allowed. It must be 'convex' or 'rrf'.")
        check_ranges(self, {"rrf_k": Range(0, 10_000)})
        check_ranges(self, {"doubt": Range(0, 10), **dict.fromkeys(("dense", *LEADS), Range(0))})
        if self.dense == 0 and not any(getattr(self, name) for name in LEADS):
            raise PolicyError("All weights of this Fusion are 0, so nothing would be relevant. Give one above 0.")


MEASURED = Fusion()


def fusion_of(given: Any) -> Fusion:
    """A Fusion, or the name of a method.

    >>> fusion_of("rrf").method
    'rrf'
    """
    if isinstance(given, Fusion):
        return given
    if given in ("convex", "rrf"):
        return Fusion(method=given)
    raise PolicyError(f"Policy(fusion={given!r}) is not allowed. Give Fusion(dense=..., words=...), 'convex' or 'rrf'.")
