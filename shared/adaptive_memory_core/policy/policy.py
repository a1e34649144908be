"""Which settings has a policy? Every tunable number, with its unit, its range and its source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.frozen import HashedOnce
from adaptive_memory_core.policy.asked_before import SIMILAR_QUESTIONS, AskedBefore
from adaptive_memory_core.policy.changes import changed
from adaptive_memory_core.policy.channel_names import GRAPH, OURS, check_channels, weights_of
from adaptive_memory_core.policy.copies import Copies
from adaptive_memory_core.policy.decay import Decay, Pace, Remembrance
from adaptive_memory_core.policy.exploration import Exploration
from adaptive_memory_core.policy.files import read_policy, write_policy
from adaptive_memory_core.policy.fusion import CAUTIOUS, MEASURED, Fusion, fusion_of
from adaptive_memory_core.policy.gain import Gain
from adaptive_memory_core.policy.graph import Graphs
from adaptive_memory_core.policy.hierarchy import Hierarchies
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.kind_weights import kind_weights_of
from adaptive_memory_core.policy.old_names import PLACES, at_their_places, takes_old_names
from adaptive_memory_core.policy.presets import settings_of
from adaptive_memory_core.policy.ranges import POSITIVE, SHARE, Range, check_choices, check_ranges, check_switches
from adaptive_memory_core.policy.reading import Reading
from adaptive_memory_core.policy.rerank import Rerank
from adaptive_memory_core.policy.shape import HIERARCHY, Form, Shapes, shape_of
from adaptive_memory_core.policy.shown import Shown
from adaptive_memory_core.policy.spreads import Spreads
from adaptive_memory_core.policy.time_words import TimeWords
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.policy.usefulness import LEARNED, Usefulness
from adaptive_memory_core.policy.weights import MEASURED_WEIGHTS, Weights
from adaptive_memory_core.policy.written import GROUPS, fields_of
from adaptive_memory_core.shown_in_errors import reason, shown
from adaptive_memory_core.unknown_names import tells_unknown_names

Blend = Literal["auto", "bounded", "sum", "product", "absolute"]
Auto = Literal["auto"]
SearchBy = Literal["auto", "exact", "ann"]
OF_THE_MEMORY = ("keeping", "fields", "embedder", "ledger", "clock", "reranker", "languages")  # given beside a policy
ByName = Mapping[str, float] | tuple[tuple[str, float], ...]


def _elsewhere(name: str) -> str | None:
    """Where a name belongs that no policy has, as one would write it."""
    kinds: tuple[tuple[Any, str], ...] = (
        (Fusion, "Policy(fusion=Fusion({}=...))"),
        (Shapes, "Policy(shape=Shapes({}=...))"),
        (Keeping, "AdaptiveMemory(..., keeping=Keeping({}=...))"),
    )
    if name in OF_THE_MEMORY:
        return f"AdaptiveMemory(..., {name}=...)"
    return next((written.format(name) for kind, written in kinds if name in kind.__dataclass_fields__), None)


@takes_old_names(PLACES)
@tells_unknown_names(_elsewhere)
@dataclass(frozen=True, slots=True)
class Policy(HashedOnce):
    """How recalls rank and what reads change. Frozen and checked once; `replace` gives a changed copy.

    Sources: "the article" is the one on retrieval policies (Generative Agents' score), "ARM" the paper on selective
    remembrance, and the benchmarks of this project; "guess" is what it says.

    >>> Policy().replace(half_life_days=7).half_life_days
    7.0
    >>> Policy(half_life_days=-1)
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.PolicyError: Policy(half_life_days=-1) is not allowed. It must be a number above 0.
    """

    weights: Weights = MEASURED_WEIGHTS  # what each signal counts, relative to the others
    blend: Blend = "auto"  # how signals become a score; "auto": bounded with the default weights, else sum
    channels: tuple[str, ...] | Auto = (
        "auto"  # "dense", "lexical", "graph", own names; "auto": vectors and words, and the graph of linked records
    )
    fusion: Fusion | Auto = "auto"  # what each lead of the channels counts; "auto": as measured for the embedder
    channel_weights: ByName = ()  # what each of your own channels counts; 1 = as much as the vectors
    channel_timeout_seconds: float = 0.0  # seconds after which a channel is left out; 0 = wait for it
    kind_weights: ByName = ()  # what each kind of record counts; 1 for those not named; the article

    search: SearchBy = "auto"  # how vectors are compared: "exact", all of a user's; "ann", Chroma's index; "auto"
    recall_k: int = 20  # candidates asked of a channel, at least k; the article: 20 to 50
    recall_limit: int = 2_000  # candidates at the most when gates make it ask again; guess
    similarity_floor: float = 0.0  # calibrated similarity in [0, 1] below which a hit is dropped; 0 = off
    score_floor: float = 0.0  # score in [0, 1] below which a hit is dropped; 0 = off
    relevance_floor: float = 0.0  # share of unrelated questions that may be answered; benchmarks/nothing_found.py

    half_life_days: float = 14.0  # days until recency is 0.5; the article: 7 to 30
    refresh_floor_seconds: float = 60.0  # seconds between reads that count; the article: 30 to 120
    useful: Usefulness = LEARNED  # what having been of use counts in the bounded blend; benchmarks/bursts.py
    asked_before: AskedBefore = SIMILAR_QUESTIONS  # what verdicts on similar questions count
    adaptive: bool = True  # whether each user's verdicts move what usefulness counts, within its bounds

    reading: Reading = Reading()  # what being read does to recency and importance
    time_words: TimeWords = TimeWords()  # what "last week", "originally" and "now" do
    decay: Decay = Decay()  # when a record is remembered, and what it loses until then; off by default
    copies: Copies = Copies()  # what becomes of records that say the same
    updates: Updates = Updates()  # which of the records that say what has changed since come first
    graph: Graphs = Graphs()  # how the channel "graph" follows the names in a cue
    gain: Gain = Gain()  # how verdicts move GAM-RAG's memory of a record, in the graph's form "paper"
    hierarchy: Hierarchies = Hierarchies()  # how episodes and themes are made of what is observed
    rerank: Rerank = Rerank()  # what a reranker may decide
    shown: Shown = Shown()  # what is shown besides the hits, and together
    explore: Exploration = Exploration()  # which places are drawn by lot, to learn what policies are worth; off
    shape: Shapes | Form = "flat"  # whether hits stand alone, in episodes, or come from the themes down; a name will do
    spreads: Spreads = Spreads()  # from which difference on a signal tells candidates apart

    RANGES: ClassVar[dict[str, Range]] = {
        "channel_timeout_seconds": Range(0, 3600),
        "recall_k": Range(1, 10_000, whole=True),
        "recall_limit": Range(1, 30_000, whole=True),
        "similarity_floor": SHARE,
        "score_floor": SHARE,
        "relevance_floor": Range(0, 0.5),
        "half_life_days": POSITIVE,
        "refresh_floor_seconds": Range(0),
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"blend": get_args(Blend), "search": get_args(SearchBy)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "fusion", fusion_of(self.fusion))
        object.__setattr__(self, "shape", shape_of(self.shape))
        check_ranges(self, self.RANGES)
        check_choices(self, self.CHOICES)
        check_switches(self, ("adaptive",))
        _check_groups(self)
        check_channels(self.channels)
        object.__setattr__(self, "kind_weights", kind_weights_of(self.kind_weights))
        object.__setattr__(self, "channel_weights", weights_of(self.channel_weights))

    __hash__ = HashedOnce.__hash__

    def replace(self, **changes: Any) -> Policy:
        """A copy with these fields changed; of a group, a mapping changes the fields that it names.

        >>> Policy.preset("balanced").replace(decay={"rate": 0.9}).decay.grace
        5.0
        """
        return replace(self, **changed(self, at_their_places(changes, self, PLACES)))

    @staticmethod
    def preset(name: str) -> Policy:
        """A named policy.

        >>> Policy.preset("support").weights.importance
        1.5
        """
        return Policy(**settings_of(name))

    def suited(self, embedder: str, *, links: float = 0.0) -> Policy:
        """The policy with "auto" decided for an embedder of that name: words besides vectors, with the weights that
        were measured for it (`fusion.MEASURED`), or with the cautious ones for any other. And for records that name so
        many titles of each other: the graph for questions that name a title, from `graph.links` on.

        >>> Policy().suited("theirs").channels, Policy().suited("theirs").fusion == Fusion()
        (('dense', 'lexical'), True)
        >>> Policy().suited("theirs", links=0.6).channels
        ('dense', 'lexical', 'graph')
        >>> Policy(channels=("dense",)).suited("theirs").channels
        ('dense',)
        """
        if self.channels == ("dense",):
            return self
        linked = self.channels == "auto" and links >= self.graph.links
        return _suited(self, MEASURED.get(embedder, CAUTIOUS), linked=linked)

    @property
    def ways(self) -> tuple[str, ...]:
        """The channels that are asked; vectors alone, where nothing is looked for but what somebody else has found."""
        return ("dense",) if self.channels == "auto" else self.channels

    @property
    def weighing(self) -> Fusion:
        """What each lead counts; cautiously, unless an embedder that was measured has decided it."""
        return self.fusion if isinstance(self.fusion, Fusion) else CAUTIOUS

    @property
    def shaping(self) -> Shapes:
        """The shape of answers, with all its settings."""
        return shape_of(self.shape)

    @property
    def blending(self) -> Blend:
        """How the signals are put together: weights of one's own make a weighted sum, unless `blend` says otherwise."""
        if self.blend != "auto":
            return self.blend
        return "bounded" if self.weights == MEASURED_WEIGHTS else "sum"

    @property
    def own_weights(self) -> dict[str, float]:
        """What each channel of the caller's own counts; one without a weight as much as the vectors. And
        the graph and the hierarchy."""
        given = dict(self.channel_weights)
        graph = {GRAPH: self.graph.weight} if GRAPH in self.ways else {}
        down = {HIERARCHY: self.shaping.weight} if self.shaping.form == "top_down" else {}
        return {**{name: given.get(name, 1.0) for name in self.ways if name not in OURS}, **graph, **down}

    def remembrance(self, kind: str | None) -> Remembrance:
        """What holds for a kind of memory: its own numbers, else the policy's."""
        return self.decay.of(kind)

    @property
    def pace(self) -> Pace:
        """How what is not read loses strength under this policy."""
        return _pace(self)

    @property
    def hash(self) -> str:
        """A short name of exactly this policy, for the log."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=8).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the policy to a file that `load` reads, at once or not at all."""
        write_policy(path, self.to_json())

    @staticmethod
    def load(path: str | Path) -> Policy:
        """The policy of a file that `save` wrote."""
        return Policy.from_json(read_policy(path))

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Policy:
        """The policy that `to_json` wrote; fields that this version does not know are left out."""
        try:
            return Policy(**fields_of(text))
        except PolicyError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:  # shaped like no policy
            raise PolicyError(
                f"The policy cannot be read: {reason(error)}. Give what Policy.to_json() wrote."
            ) from error


@lru_cache(maxsize=256)
def _suited(policy: Policy, known: Fusion, *, linked: bool) -> Policy:
    if linked:
        policy = replace(policy, channels=("dense", "lexical", "graph"), graph=replace(policy.graph, asks="linked"))
    changes = {"channels": ("dense", "lexical"), "fusion": known}
    return replace(policy, **{name: value for name, value in changes.items() if getattr(policy, name) == "auto"})  # type: ignore[arg-type] # each is of its field's kind


@lru_cache(maxsize=64)
def _pace(policy: Policy) -> Pace:
    return policy.decay.pace


def _check_groups(policy: Policy) -> None:
    for name, kind in GROUPS.items():
        given, example = getattr(policy, name), next(iter(kind.RANGES))
        if not isinstance(given, kind):
            raise PolicyError(
                f"Policy({name}={shown(given)}) is not allowed. Give {kind.__name__}({example}=..., ...)."
            )
