"""`Advanced`: the settings of a policy that few have a reason to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from adaptive_memory_core.policy.channels_and_kinds import kind_weights_of, weights_of
from adaptive_memory_core.policy.fusion import Fusion, fusion_of
from adaptive_memory_core.policy.graph_and_hierarchy import Graphs, Hierarchies
from adaptive_memory_core.policy.ranges import SHARE, Range, check_choices, check_groups, check_ranges, check_switches
from adaptive_memory_core.unknown_names import tells_unknown_names

Blend = Literal["auto", "bounded", "sum", "minmax", "product", "absolute"]
Duplicates = Literal["yield", "drop", "keep"]
SearchBy = Literal["auto", "exact", "ann"]
ByName = Mapping[str, float] | tuple[tuple[str, float], ...]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Advanced:
    """How channels are joined and asked, how results are put together, and the graph and the hierarchy.

    >>> Advanced(fusion="rrf").fusion.method
    'rrf'
    """

    blend: Blend = "auto"  # how signals become a score; "auto": "bounded" with the default weights, else "sum"
    kind_weights: Any = ()  # weights for some kinds of records; the others have `Policy.weights`; the article
    fusion: Fusion = Fusion()  # how vectors and words are joined
    channel_weights: ByName = ()  # weights of your own channels; 1: as much as the vectors
    search: SearchBy = "auto"  # "exact": compare all vectors; "ann": Chroma's index; "auto": whichever costs less
    timeout_seconds: float = 0.0  # seconds after which a channel, reranker or reader is left out; 0: wait for it
    unrelated_answered: float = 0.0  # share of unrelated questions that may be answered; benchmarks/nothing_found.py
    duplicates: Duplicates = "yield"  # copies of a better result make room ("yield"), go ("drop") or stay; units.py
    same_share: float = 1.0  # share of common runs of three words that makes texts copies; 1: the same words; units.py
    reworded_facts: bool = True  # whether an English lexicon finds facts that changed in other words; updates.py
    time_weight: float = 1.25  # weight of the time asked about; more finds the time, not the subject; asked_time.py
    rerank_weight: float = 0.5  # share of the relevance that a reranker decides; 0: it is not asked; docs/channels.md
    rerank_candidates: int = 20  # best records that a reranker is shown, at least k; each of them costs time; guess
    random_tail: int = (
        0  # last places drawn by lot from three times as many; 0: off, as it costs results; docs/tuning.md
    )
    neighbours: bool = False  # whether the turns right before and after a result are shown; benchmarks/units.py
    graph: Graphs = Graphs()  # how the channel "graph" follows the names in a query
    hierarchy: Hierarchies = Hierarchies()  # how conversations become episodes and themes, and how "top_down" uses them

    RANGES: ClassVar[dict[str, Range]] = {
        "timeout_seconds": Range(0, 3600),
        "unrelated_answered": Range(0, 0.5),
        "same_share": SHARE,
        "time_weight": Range(0),
        "rerank_weight": SHARE,
        "rerank_candidates": Range(1, 1_000, whole=True),
        "random_tail": Range(0, 100, whole=True),
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "blend": get_args(Blend),
        "search": get_args(SearchBy),
        "duplicates": get_args(Duplicates),
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "fusion", fusion_of(self.fusion))
        check_groups(self)
        check_ranges(self, self.RANGES)
        check_choices(self, self.CHOICES)
        check_switches(self, ("reworded_facts", "neighbours"))
        object.__setattr__(self, "kind_weights", kind_weights_of(self.kind_weights))
        object.__setattr__(self, "channel_weights", weights_of(self.channel_weights))
