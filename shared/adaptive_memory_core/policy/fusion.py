"""How much does each channel count? The weights of all leads in the relevance of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import Range, check_choices, check_ranges

SAID = ("words", "near", "around", "session", "speaker", "dated")  # what the word index says of a record
LEADS = (*SAID, "before", "company")  # and what other candidates say of it
Method = Literal["convex", "rrf"]


@dataclass(frozen=True, slots=True)
class Fusion:
    """How much each lead counts, relative to the others: only the ratios matter, and only of those there are.

    The defaults are cautious, for embedders of which nothing was measured; a policy's "auto" takes other ones for the
    `local` embedder (words weigh less, `doubt` is 5) and for `minilm` (`doubt` is 1). Where records are no turns of a
    conversation, `near`, `around` and `session` are about the record itself and say what `words` says, and `dated`,
    `before` and `company` are not there.
    """

    dense: float = 1.0  # weight of the similarity
    doubt: float = 2.0  # power: `dense` counts times (1 - the cue's share that words cover) to it; 0 = always whole
    words: float = 0.22  # weight of the cue's words in the record
    near: float = 0.18  # weight of them in the record and the turns next to it
    around: float = 0.26  # weight of them in the record and three turns on either side
    session: float = 0.10  # weight of them in its whole session
    speaker: float = 0.16  # weight of being said by the only speaker that the cue names
    dated: float = 0.14  # weight of a turn that says a time, where the cue asks when
    before: float = 0.10  # weight of the similarity of the turn before it
    company: float = 0.20  # weight of the best similarity in its session
    method: Method = field(default="convex", kw_only=True)  # "convex": the leads' numbers count; "rrf": their ranks
    rrf_k: float = field(default=60.0, kw_only=True)  # ranks, added to each with "rrf"; the literature, and it loses

    RANGES: ClassVar[dict[str, Range]] = {
        "doubt": Range(0, 10),
        **dict.fromkeys(("dense", *LEADS), Range(0)),
        "rrf_k": Range(0, 10_000),
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"method": ("convex", "rrf")}

    def __post_init__(self) -> None:
        check_choices(self, self.CHOICES)
        check_ranges(self, self.RANGES)
        if self.dense == 0 and not any(getattr(self, name) for name in LEADS):
            raise PolicyError("All weights of this Fusion are 0, so nothing would be relevant. Give one above 0.")

    @property
    def leads(self) -> Mapping[str, float]:
        """What each lead counts, by its name."""
        return _leads(self)


@lru_cache(maxsize=64)
def _leads(fusion: Fusion) -> Mapping[str, float]:
    return MappingProxyType({name: getattr(fusion, name) for name in LEADS})


CAUTIOUS = Fusion()
MEASURED = {  # by the name of the embedder; benchmarks/recall_quality.py
    "wordllama-l2-supercat-256": Fusion(
        doubt=5.0, words=0.147, near=0.12, around=0.173, session=0.067, speaker=0.107, dated=0.093, before=0.067,
        company=0.133,
    ),
    "all-minilm-l6-v2": Fusion(doubt=1.0),
}  # fmt: skip


def fusion_of(given: Any) -> Fusion | Literal["auto"]:
    """A Fusion, the name of a method, or "auto".

    >>> fusion_of("rrf").method
    'rrf'
    """
    if isinstance(given, Fusion) or given == "auto":
        return given  # type: ignore[no-any-return] # one of the two
    if given in ("convex", "rrf"):
        return Fusion(method=given)
    raise PolicyError(
        f"Policy(fusion={given!r}) is not allowed. Give Fusion(dense=..., words=...), 'convex', 'rrf' or 'auto'."
    )
