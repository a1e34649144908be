"""How much does each channel count? The weights of all leads in the relevance of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import SHARE, Range, check_choices, check_ranges
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.unknown_names import tells_unknown_names

SAID = ("words", "near", "around", "session", "speaker", "dated")  # what the word index says of a record
LEADS = (*SAID, "before", "company", "stated", "named")  # what other candidates say of it, and its own text
CHANCE = "chance"  # the lead that is the same for all: that the cue's words match some record as well by accident
TELLING = "telling"  # as well: how much the cue's words could say, .5 where it is as much as usual
SHORT = "short"  # a lead as well: how far the texts that vectors find are too short to say more than the cue does
USUAL_NATS = 40.0  # that is the nats of a text with all of them; 25 to 60 is flat, benchmarks/recall_quality.py
Method = Literal["convex", "rrf"]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Fusion:
    """How much each lead counts, relative to the others: only the ratios matter, and only of those there are.

    Which of vectors and words is believed is decided in each recall. Words count by what the cue's words could say: a
    few common ones tell little even where a record has them all, a long question with names tells much. Vectors count
    by how far the similarities of the candidates lie apart: the closer together, compared with `spread`, the more each
    difference counts, for vectors of some embedders are all much alike. And they count by the chance that some record
    matches the cue's words as well as the best one does by accident, and never less than `dense_least`. They keep that
    only where they tell candidates apart: where the tenth nearest is nearly as similar as the nearest, as the pieces of
    one page are, by less than the share `apart` below it, soon nothing is kept.

    The defaults are cautious, for embedders of which nothing was measured. A policy's "auto" takes them for `minilm`
    too, and other ones for the `local` embedder, whose vectors are weaker (`dense_least` is smaller).

    A turn of a conversation says little by itself, so its neighbours' words and vectors count as well. Where records
    are no turns, or too long for it, `near`, `around` and `session` are about the record itself and say what `words`
    says, `before` and `company` what the similarity says, and `dated` counts half. `stated` is not there where somebody
    talks to an assistant: what they asked it is what they said, while among people the answer is in the reply. There
    alone, too, is it asked whether a turn says a name (`named`), for a cue that asks who, where or which book.
    Four leads say nothing of what a turn is about: `speaker`, `dated`, `stated` and `named`. They multiply what the
    others add up to, so that they count more where that is much; where it is .08 they come to what they would if they
    were added (`channels/kinds_of_turn.py`). With "rrf" they are ranks as all others.
    What stands alone beside conversations has the chance and the company of its own kind. Where vectors find texts
    hardly longer than the cue and words find longer ones, the chance tells more of those that stand alone. Where
    records are of several kinds and the cue names nothing, it does so of each such text, whatever else vectors find.
    Where it is small, less than `dense_least` is left, and where it is large, `dense` counts up to twice.
    """

    dense: float = 1.0  # weight of the similarity; of a turn's, less `before` and `company`
    doubt: float = 0.5  # power: `dense` counts times (the chance of such words by accident) to it; 0 = always whole
    words: float = 0.22  # weight of the cue's words in the record
    near: float = 0.18  # weight of them in the record and the turns next to it
    around: float = 0.26  # weight of them in the record and three turns on either side
    session: float = 0.10  # weight of them in its whole session
    speaker: float = 0.11  # weight of being said by the only speaker that the cue names
    dated: float = 0.095  # weight of a turn that says a time, if one is asked or said; of other texts half
    before: float = 0.25  # weight of the similarity of the turn before it
    company: float = 0.35  # weight of the best similarity in its session
    stated: float = field(default=0.1, kw_only=True)  # weight of how much of a turn between people asks nothing
    named: float = field(default=0.05, kw_only=True)  # weight of such a turn's saying a name, if one is asked
    method: Method = field(default="convex", kw_only=True)  # "convex": the leads' numbers count; "rrf": their ranks
    dense_least: float = field(default=0.5, kw_only=True)  # share of `dense` that is left however sure words are
    apart: float = field(default=0.22, kw_only=True)  # share by which the 10th nearest is to be less similar; 0 = none
    spread: float = field(default=0.15, kw_only=True)  # of similarities at which `dense` counts as given; 0 = at any
    rrf_k: float = field(default=60.0, kw_only=True)  # ranks, added to each with "rrf"; the literature, and it loses

    RANGES: ClassVar[dict[str, Range]] = {
        "doubt": Range(0, 10),
        **dict.fromkeys(("dense", *LEADS), Range(0)),
        "dense_least": SHARE,
        "apart": Range(0, 1),
        "spread": Range(0, 1),
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
        doubt=0.6, words=0.1173, near=0.096, around=0.1387, session=0.0533, speaker=0.0853, dated=0.0747,
        stated=0.08, named=0.04, dense_least=0.17, apart=0.0, spread=0.1,
    ),
    "all-minilm-l6-v2": CAUTIOUS,
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
        f"Policy(fusion={shown(given)}) is not allowed. Give Fusion(dense=..., words=...), 'convex', 'rrf' or 'auto'."
    )
