"""How should a memory behave? Every tunable number, with its unit, its range and where it comes from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.frozen import HashedOnce
from adaptive_memory_core.policy.channel_names import OURS, check_channels, weights_of
from adaptive_memory_core.policy.decay import REMEMBRANCE_RANGES, Pace, Remembrance, Unit, kinds_of
from adaptive_memory_core.policy.fusion import CAUTIOUS, LEADS, MEASURED, Fusion, fusion_of
from adaptive_memory_core.policy.kind_weights import kind_weights_of
from adaptive_memory_core.policy.presets import settings_of
from adaptive_memory_core.policy.ranges import POSITIVE, SHARE, Range, check_ranges
from adaptive_memory_core.policy.usefulness import LEARNED, Usefulness
from adaptive_memory_core.policy.weights import MEASURED_WEIGHTS, Weights

Blend = Literal["auto", "bounded", "sum", "product", "absolute"]
Duplicates = Literal["keep", "yield", "drop"]


MERGE = 0.85  # share of a block's best score; benchmarks/units.py
_CHOICES: dict[str, tuple[str, ...]] = {
    "unit": ("recalls", "days"),
    "blend": get_args(Blend),
    "duplicates": ("keep", "yield", "drop"),
}
_RANGES: dict[str, Range] = {
    "half_life_days": POSITIVE,
    "half_life_growth": Range(0, 10),
    "half_life_days_max": POSITIVE,
    "recall_k": Range(1, 10_000, whole=True),
    "recall_limit": Range(1, 30_000, whole=True),
    "channel_timeout_seconds": Range(0, 3600),
    "rerank_weight": SHARE,
    "rerank_candidates": Range(1, 1_000, whole=True),
    "rerank_timeout_seconds": Range(0, 3600),
    "similarity_floor": SHARE,
    "score_floor": SHARE,
    "relevance_floor": Range(0, 0.5),
    "count_weight": Range(0, 1),
    "count_boost_max": SHARE,
    "count_decay_per_day": SHARE,
    "verdict_step": Range(0, 0.05),
    "boost_max": SHARE,
    "refresh_floor_seconds": Range(0),
    "reads_before_refresh": Range(1, 100, whole=True),
    "read_window_days": POSITIVE,
    "strength_weight": SHARE,
    "time_weight": SHARE,
    "lean_weight": SHARE,
    "time_spread": Range(1e-6, 2),
    "past_recency": SHARE,
    "present_recency": Range(1, 100),
    "same_share": SHARE,
    "diversity": SHARE,
    "merge": SHARE,
    "recency_spread": Range(1e-6, 1),
    "importance_spread": Range(1e-6, 1),
    "similarity_spread": Range(1e-6, 2),
}


@dataclass(frozen=True, slots=True)
class Policy(HashedOnce):
    """How recalls rank and what reads change. Frozen and checked once; `replace` gives a changed copy.

    Sources: "003" is the retrieval-policy article (Generative Agents' score), "ARM" the paper on selective
    remembrance, and the benchmarks of this project; "guess" is what it says.

    >>> Policy().replace(half_life_days=7).half_life_days
    7.0
    >>> Policy(half_life_days=-1)
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.PolicyError: Policy(half_life_days=-1) is not allowed. It must be a number above 0.
    """

    weights: Weights = MEASURED_WEIGHTS
    blend: Blend = "auto"  # "bounded" with the default weights, else "sum"; all of them: score/blend.py
    channels: tuple[str, ...] | Literal["auto"] = "auto"  # where candidates come from; "auto": see `suited`
    fusion: Fusion | Literal["auto"] = "auto"  # what each of their leads counts, and how they are put together
    channel_weights: Mapping[str, float] | tuple[tuple[str, float], ...] = ()  # of your own; 1 is as much as vectors
    channel_timeout_seconds: float = 0.0  # seconds after which a channel is left out; 0 = wait for it
    kind_weights: Mapping[str, float] | tuple[tuple[str, float], ...] = ()  # of a kind, beside 1 for all others; 003
    rerank_weight: float = 0.5  # share of the relevance that a reranker decides, where there is one
    rerank_candidates: int = 20  # of the best, at least k, that it is shown
    rerank_timeout_seconds: float = 0.0  # seconds after which it is left out; 0 = wait for it
    recall_k: int = 20  # candidates asked of a channel, at least k; 003: 20 to 50
    recall_limit: int = 2_000  # candidates at the most when gates make it ask again; guess
    similarity_floor: float = 0.0  # calibrated similarity in [0, 1] below which a hit is dropped; 0 = off
    score_floor: float = 0.0  # score in [0, 1] below which a hit is dropped; 0 = off
    relevance_floor: float = (
        0.0  # share of unrelated questions that may be answered; benchmarks/nothing_found.py; 0 = off
    )

    half_life_days: float = 14.0  # days until recency is 0.5; 003: 7 to 30
    half_life_growth: float = 0.0  # share by which each counted read lengthens it (MemoryBank's form); 0 = off
    half_life_days_max: float = 365.0  # days; the bound of that growth; guess
    refresh_floor_seconds: float = 60.0  # seconds between reads that count; 003: 30 to 120
    reads_before_refresh: int = 1  # counted reads before recency moves; 2 is LRU-2, against one-shot scans
    read_window_days: float = 14.0  # days within which those reads must follow each other; guess

    useful: Usefulness = LEARNED  # what having been of use counts in the "bounded" blend; benchmarks/bursts.py
    adaptive: bool = True  # whether each user's verdicts move that, within its bounds; the same

    count_weight: float = 0.05  # importance added per log1p(decayed retrieval count); 003's delta
    count_boost_max: float = 0.2  # bound of that addition; guess
    count_decay_per_day: float = 0.99  # share of the count that is left after a day; 003
    verdict_step: float = 0.05  # share of the importance that one verdict moves; 003: at most 5 %
    boost_max: float = 0.5  # bound of what all verdicts together may add or take; guess

    remembrance_threshold: int = 3  # theta: counted reads until a record is remembered; ARM, "balanced"
    decay_grace: float = 5.0  # gamma: units after the last read before strength decays; ARM, "balanced"
    decay_rate: float = 1.0  # alpha: what a unit beyond the grace leaves of strength; 1 = off; ARM: 0.80 to 0.99
    strength_floor: float = 0.0  # strength that decay alone never takes; 0 as ARM
    restore_on_read: float = 0.0  # share of the lost strength that a read gives back; 0 as ARM
    unit: Unit = "recalls"  # what grace and rate count: the user's "recalls", as ARM, or "days"
    strength_weight: float = 1.0  # how much of the similarity strength may take: 1 as ARM, 0 not at all
    by_kind: Mapping[str, Remembrance] | tuple[tuple[str, Remembrance], ...] = ()  # other numbers for some kinds

    temporal: bool = True  # whether a question's words about time ("last week", "originally", "now") change the ranking
    time_weight: float = 0.7  # share of a score that hangs on whether its time is asked about; benchmarks/asked_time.py
    lean_weight: float = 0.3  # likewise for "originally" and "currently", by how early or late it is; the same
    time_spread: float = 0.15  # similarity_spread, at least, where a time is asked about: near twins differ by it alone
    past_recency: float = 0.0  # share of the recency weight that is left when the past is asked about; 003: 0
    present_recency: float = 2.0  # times the recency weight when the present is asked about; guess
    strict_time: bool = False  # True: what is not of the time asked about is dropped, not only outranked

    duplicates: Duplicates = "yield"  # what says the same as a better hit makes way for others, goes, or stays
    same_share: float = 1.0  # share of its runs of words from which a text says the same; 1 = the same words
    diversity: float = 0.0  # 1 - lambda of MMR: what likeness to a better hit takes; 0 = off; benchmarks/units.py

    intact: bool = False  # whether a recall fetches what stands beside its hits in their conversation, to be shown
    merge: float = MERGE  # share of a block's best score from which hits of one conversation are shown as one block

    recency_spread: float = 0.5  # smallest spread that is stretched to [0, 1]; benchmarks/rot.py
    importance_spread: float = 0.2  # likewise; benchmarks/rot.py
    similarity_spread: float = 0.05  # likewise; guess

    def __post_init__(self) -> None:
        object.__setattr__(self, "fusion", fusion_of(self.fusion))
        check_ranges(self, _RANGES)
        check_ranges(self, REMEMBRANCE_RANGES)
        _check_kinds(self)
        _check_choices(self)
        object.__setattr__(self, "by_kind", kinds_of(self.by_kind))
        object.__setattr__(self, "kind_weights", kind_weights_of(self.kind_weights))
        object.__setattr__(self, "channel_weights", weights_of(self.channel_weights))

    __hash__ = HashedOnce.__hash__

    def replace(self, **changes: Any) -> Policy:
        """A copy with these fields changed; unknown names are refused with the ones there are."""
        known = [field.name for field in fields(self)]
        unknown = sorted(set(changes) - set(known))
        if unknown:
            raise PolicyError(f"Policy has no {', '.join(unknown)}. Its fields are: {', '.join(known)}.")
        return replace(self, **changes)

    @staticmethod
    def preset(name: str) -> Policy:
        """A named policy.

        >>> Policy.preset("support").weights.importance
        1.5
        """
        return Policy(**settings_of(name))

    def suited(self, embedder: str) -> Policy:
        """The policy with "auto" decided for an embedder of that name, where it is one for which words were measured to
        help (`fusion.MEASURED`): words besides vectors, with the weights of that measurement. For any other it stays
        "auto", which then means vectors alone, and cautious weights where words are asked for.

        >>> Policy().suited("all-minilm-l6-v2").channels, Policy().suited("theirs").channels
        (('dense', 'lexical'), 'auto')
        >>> Policy(channels=("dense",)).suited("all-minilm-l6-v2").channels
        ('dense',)
        """
        known = MEASURED.get(embedder)
        return self if known is None or self.channels == ("dense",) else _suited(self, known)

    @property
    def ways(self) -> tuple[str, ...]:
        """The channels that are asked; vectors alone, as long as no embedder has decided it."""
        return ("dense",) if self.channels == "auto" else self.channels

    @property
    def weighing(self) -> Fusion:
        """What each lead counts; cautiously, as long as no embedder has decided it."""
        return self.fusion if isinstance(self.fusion, Fusion) else CAUTIOUS

    @property
    def blending(self) -> Blend:
        """How the signals are put together: weights of one's own make a weighted sum, unless `blend` says otherwise."""
        if self.blend != "auto":
            return self.blend
        return "bounded" if self.weights == MEASURED_WEIGHTS else "sum"

    @property
    def own_weights(self) -> dict[str, float]:
        """What each channel of the caller's own counts; one without a weight as much as the vectors."""
        given = dict(self.channel_weights)
        return {name: given.get(name, 1.0) for name in self.ways if name not in OURS}

    def remembrance(self, kind: str | None) -> Remembrance:
        """What holds for a kind of memory: its own numbers, else the policy's."""
        own = dict(self.by_kind).get(kind or "") if self.by_kind else None
        return own or _remembrance(self)

    @property
    def pace(self) -> Pace:
        """How what is not read loses strength under this policy."""
        return _pace(self)

    @property
    def hash(self) -> str:
        """A short name of exactly this policy, for the log."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=8).hexdigest()

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Policy:
        """The policy that `to_json` wrote; fields that this version does not know are left out."""
        known = {field.name for field in fields(Policy)}
        kept = {name: value for name, value in json.loads(text).items() if name in known}
        weights = {
            name: kept["weights"][name] for name in (field.name for field in fields(Weights)) if name in kept["weights"]
        }
        kinds = tuple((kind, Remembrance(**numbers)) for kind, numbers in kept.get("by_kind", ()))
        known_use = {field.name for field in fields(Usefulness)}
        use = {name: value for name, value in kept.get("useful", {}).items() if name in known_use}
        return Policy(
            **{
                **kept,
                "weights": Weights(**weights),
                "channels": _channels(kept.get("channels", "auto")),
                "fusion": _fusion(kept.get("fusion", "auto")),
                "useful": Usefulness(**use),
                "by_kind": kinds,
                "kind_weights": tuple((kind, weight) for kind, weight in kept.get("kind_weights", ())),
                "channel_weights": tuple((name, weight) for name, weight in kept.get("channel_weights", ())),
            }
        )


@lru_cache(maxsize=256)
def _suited(policy: Policy, known: Fusion) -> Policy:
    changes = {"channels": ("dense", "lexical"), "fusion": known}
    return replace(policy, **{name: value for name, value in changes.items() if getattr(policy, name) == "auto"})  # type: ignore[arg-type] # each is of its field's kind


def _channels(written: Any) -> Any:
    return written if written == "auto" else tuple(written)


def _fusion(written: Any) -> Any:
    """As it was written; leads that this version does not know are left out, those it did not have count nothing."""
    if written == "auto":
        return written
    known = {field.name: written[field.name] for field in fields(Fusion) if field.name in written}
    return Fusion(**{**dict.fromkeys(LEADS, 0.0), **known})


@lru_cache(maxsize=64)
def _remembrance(policy: Policy) -> Remembrance:
    return Remembrance(**{field.name: getattr(policy, field.name) for field in fields(Remembrance)})


@lru_cache(maxsize=64)
def _pace(policy: Policy) -> Pace:
    kinds = tuple((kind, own.decay) for kind, own in dict(policy.by_kind).items())
    return Pace(policy.unit, _remembrance(policy).decay, kinds)


def _check_kinds(policy: Policy) -> None:
    """Whether the groups of numbers are such groups."""
    groups = {"weights": (Weights, "recency"), "useful": (Usefulness, "weight")}
    for name, (kind, example) in groups.items():
        if not isinstance(getattr(policy, name), kind):
            given = getattr(policy, name)
            raise PolicyError(f"Policy({name}={given!r}) is not allowed. Give {kind.__name__}({example}=..., ...).")


def _check_choices(policy: Policy) -> None:
    for name, allowed in _CHOICES.items():
        if getattr(policy, name) not in allowed:
            said = f"{', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}"
            raise PolicyError(f"Policy({name}={getattr(policy, name)!r}) is not allowed. It must be {said}.")
    for name in ("temporal", "strict_time", "intact", "adaptive"):
        if not isinstance(getattr(policy, name), bool):
            raise PolicyError(f"Policy({name}={getattr(policy, name)!r}) is not allowed. It must be True or False.")
    check_channels(policy.channels)
