"""How vectors and words are joined: their weights, and the names of what is said of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import Range, check_choices, check_ranges
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.unknown_names import tells_unknown_names

WORDS, AROUND = "words", "around"  # nats that a record's own words say, and those of the turns around it
ANSWERS = "answers"  # nats by which the question says more that a turn follows
OF_TURNS = ("speaker", "dated", "stated", "named", ANSWERS)  # nats for or against a turn of a conversation
LEADS = (WORDS, AROUND, *OF_TURNS)
BASELINE, SPREAD = "baseline", "spread"  # of the similarities of unrelated texts; the same for all candidates
MOST_OF_WORDS, MOST_OF_KINDS = "most_of_words", "most_of_kinds"  # nats that could be said of any; the same for all
FOR_ALL = (BASELINE, SPREAD, MOST_OF_WORDS, MOST_OF_KINDS)
Method = Literal["surprise", "rrf", "sum"]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Fusion:
    """How vectors and words are joined. What each finds is measured in nats, by how unlikely it is by chance, and added
    up with these weights (`score/surprise.py`). "rrf" joins them by rank instead, and "sum" adds them up as they are.
    """

    vectors: float = 1.0  # weight of the nats of the similarity; 1: the unit, only the ratio to `words` matters
    words: float = 0.5  # weight of the nats of words; 0.35 to 0.7 are alike; benchmarks/recall_quality.py
    method: Method = "surprise"  # "rrf" joins ranks, as the literature, and finds less in conversations; "sum": GAM-RAG

    RANGES: ClassVar[dict[str, Range]] = dict.fromkeys(("vectors", "words"), Range(0))
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"method": get_args(Method)}

    def __post_init__(self) -> None:
        check_choices(self, self.CHOICES)
        check_ranges(self, self.RANGES)
        if self.vectors == 0 and self.words == 0:
            raise PolicyError("All weights of this Fusion are 0, so nothing would be relevant. Give one above 0.")


def fusion_of(given: Any) -> Fusion:
    """A Fusion, or that of the method with this name.

    >>> fusion_of("rrf").method
    'rrf'
    """
    if isinstance(given, Fusion):
        return given
    if given in get_args(Method):
        return Fusion(method=given)
    raise PolicyError(
        f"Advanced(fusion={shown(given)}) is not allowed. Give Fusion(vectors=..., words=...), 'surprise', 'rrf' "
        "or 'sum'."
    )
