"""The advanced settings: ranking, fusion of channels, kinds of records, graph and hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from adaptive_memory_core.error_messages import shown, tells_unknown_names
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.ranges import SHARE, Range, by_kind, check_choices, check_groups, check_ranges, check_switches


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, relative to the others: only the ratios matter.

    The defaults are measured (`benchmarks/rot.py`): the most that learning from mere reads may weigh before
    hundreds of reads about other things push right answers down.
    """

    recency: float = 0.025  # weight of how recently it was read or written; benchmarks/rot.py
    importance: float = 0.025  # weight of its importance, as written and as changed by feedback and reads; rot.py
    similarity: float = 0.95  # weight of the relevance to the query, times strength; benchmarks/rot.py

    RANGES: ClassVar[dict[str, Range]] = dict.fromkeys(("recency", "importance", "similarity"), Range(0))

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        if self.total == 0:
            raise PolicyError(
                "All weights are 0, so every score would be 0. Give at least one weight above 0, "
                "e.g. Weights(similarity=1)."
            )

    @property
    def total(self) -> float:
        return self.recency + self.importance + self.similarity

    @property
    def only_similarity(self) -> bool:
        return self.similarity == self.total


MEASURED_WEIGHTS = Weights()
EQUAL = Weights(recency=1.0, importance=1.0, similarity=1.0)


WORDS, AROUND = "words", "around"  # nats of a record's own words, and of the words in the turns around it
ANSWERS = "answers"  # nats by which the question that a turn answers matches better
OF_TURNS = ("speaker", "dated", "stated", "named", ANSWERS)  # nats for or against a turn of a conversation
LEADS = (WORDS, AROUND, *OF_TURNS)
BASELINE, SPREAD = "baseline", "spread"  # of the similarities of unrelated texts; the same for all candidates
MOST_OF_WORDS, MOST_OF_KINDS = "most_of_words", "most_of_kinds"  # nats that are possible; the same for all
FOR_ALL = (BASELINE, SPREAD, MOST_OF_WORDS, MOST_OF_KINDS)
Method = Literal["surprise", "rrf", "sum"]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Fusion:
    """How vectors and words are joined. Each match is measured in nats, by how unlikely it is by chance, and the nats
    are added up with these weights (`score/surprise.py`). "rrf" joins ranks instead, and "sum" adds unscaled values.
    """

    vectors: float = 1.0  # weight of the nats of the similarity; 1: the unit, only the ratio to `words` matters
    words: float = 0.5  # weight of the nats of words; 0.35 to 0.7 do equally well; benchmarks/recall_quality.py
    method: Method = "surprise"  # "rrf" joins ranks, as the literature, and finds less in conversations; "sum": GAM-RAG

    RANGES: ClassVar[dict[str, Range]] = dict.fromkeys(("vectors", "words"), Range(0))
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"method": get_args(Method)}

    def __post_init__(self) -> None:
        check_choices(self, self.CHOICES)
        check_ranges(self, self.RANGES)
        if self.vectors == 0 and self.words == 0:
            raise PolicyError("All weights of this Fusion are 0, so nothing would be relevant. Give one above 0.")


def fusion_of(given: Any) -> Fusion:
    """The given Fusion, or the default one of the method with this name.

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


DENSE, LEXICAL, GRAPH = "dense", "lexical", "graph"  # vectors, words, and the names in a query
OURS = (DENSE, LEXICAL, GRAPH)
RERANKER = "reranker"  # the name of its score part
ACTIVATED, ROUNDS = "activated", "rounds"  # a record's sentences that the graph activated, as bits; and its rounds
OF_GRAPH = (ACTIVATED, ROUNDS)
_PARTS = {
    *LEADS,
    RERANKER,
    *OF_GRAPH,
    *("asked_before", "asked_near", "asked_trusted", "asked_against", "asked_ahead"),
    *("similarity", "relevance", "recency", "importance", "recency*importance"),
    *(*FOR_ALL, "time", "date", "kind", "auto"),
}
_TAKEN = {*OURS, *_PARTS, "hierarchy"}  # some are reserved for later use
_WEIGHT = Range(0, 1_000)
_NAME = late_pattern(r"[A-Za-z][\w-]{0,39}")


def is_channel_name(name: object) -> bool:
    """Whether a policy may name a channel like this.

    >>> is_channel_name("lexical"), is_channel_name("recently helpful")
    (True, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and name not in _PARTS


def is_free(name: object) -> bool:
    """Whether a caller's own channel may have this name, which must differ from the other score parts.

    >>> is_free("sql"), is_free("words"), is_free("")
    (True, False, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and name not in _TAKEN


def check_channels(channels: Any) -> None:
    """Raise a PolicyError unless these can be a policy's channels.

    >>> check_channels(("dense", "sql"))
    >>> check_channels(("sql",))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.PolicyError: Policy(channels=('sql',)) is not allowed. ...
    """
    if channels == "auto":
        return
    known = isinstance(channels, tuple) and all(one in OURS or is_free(one) for one in channels)
    if not known or "dense" not in channels or len(set(channels)) != len(channels):
        raise PolicyError(
            f"Policy(channels={shown(channels)}) is not allowed. It must be 'auto', or a tuple of 'dense' and any of "
            "'lexical', 'graph' and your own channels. A channel's name has letters, digits, - and _, and is not the "
            "name of a score part."
        )


def check_channel_names(given: Any) -> None:
    """Raise a PolicyError unless this is a mapping from allowed names to the caller's channels."""
    if not isinstance(given, Mapping) or not all(is_free(name) for name in given):
        raise PolicyError(
            f"channels is {shown(given)}. Give a mapping from a name that you choose to a function of cue, user and "
            "limit, e.g. channels={'sql': find}. A name has letters, digits, - and _, and is not the name of a score "
            f"part: {', '.join(sorted(_TAKEN))}."
        )


def checked_channel_weights(given: Any) -> tuple[tuple[str, float], ...]:
    """The weights of callers' channels, checked; 1 is the default weight of the vectors.

    >>> checked_channel_weights({"sql": 2})
    (('sql', 2.0),)
    """
    pairs = tuple(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, tuple) or not all(isinstance(one, tuple) and len(one) == 2 for one in pairs):
        raise PolicyError(
            f"channel_weights is {shown(given)}. Give a mapping from channels to weights, e.g. {{'sql': 0.5}}."
        )
    for name, weight in pairs:
        if not is_free(name):
            raise PolicyError(
                f"channel_weights has {shown(name)}. Name your own channels there; the weights of vectors and words "
                "are in Advanced(fusion=Fusion(vectors=..., words=...), graph=Graphs(weight=...))."
            )
        if weight not in _WEIGHT:
            raise PolicyError(
                f"Advanced(channel_weights={{{shown(name)}: {shown(weight)}}}) is not allowed. It must be {_WEIGHT}."
            )
    return tuple(sorted((name, float(weight)) for name, weight in dict(pairs).items()))


KindWeights = tuple[tuple[str, Weights], ...]


def kind_weights_of(given: object) -> KindWeights:
    """The value of `kind_weights`, checked, in the order of the names.

    >>> [kind for kind, _ in kind_weights_of({"reflection": Weights(importance=0.5), "fact": Weights()})]
    ['fact', 'reflection']
    """
    example = 'from kinds, each once, to their weights, e.g. {"reflection": Weights(importance=0.5)}'
    return by_kind(given, Weights, "Advanced(kind_weights", example)


GraphForm = Literal["ours", "paper"]
Asks = Literal["always", "titled", "linked"]
LINKED_FROM = 0.2  # other records' titles per record, on average, from which records are linked; graph_everywhere.py
LEAST_ALIKE = 0.7  # similarity of two names from which the pair is stored


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Graphs:
    """Settings of the channel "graph", which follows the names in a query."""

    form: GraphForm = "ours"  # "ours" finds more; "paper": equations 2 to 13 of GAM-RAG, as in the preset "gam_rag"
    asks: Asks = "always"  # for all queries, those that name a title ("titled"), or these of linked records ("linked")
    weight: float = 2.0  # weight of the graph in the relevance, next to Fusion's; a sweep: docs/research/graph.md
    rounds: int = 3  # from names to sentences and back, at most; 2 is nearly as good; docs/research/graph.md
    names_alike: float = 0.0  # similarity from which two names count as the same; 0: off; docs/research/graph.md
    process_noise: float = 0.001  # Q in the paper, which gives no number; this one reproduces its activation ratios

    RANGES: ClassVar[dict[str, Range]] = {
        "weight": Range(0, 100),
        "rounds": Range(1, 5, whole=True),
        "names_alike": SHARE,
        "process_noise": Range(0, 1, above=True),
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"form": get_args(GraphForm), "asks": get_args(Asks)}

    def __post_init__(self) -> None:
        check_choices(self, self.CHOICES)
        check_ranges(self, self.RANGES)
        if 0.0 < self.names_alike < LEAST_ALIKE:
            raise PolicyError(
                f"Graphs(names_alike={shown(self.names_alike)}) is not allowed: below {LEAST_ALIKE} none are stored. "
                f"It must be 0 (off) or a number in [{LEAST_ALIKE}, 1]."
            )


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Hierarchies:
    """How observed messages become episodes and themes, and how "top_down" goes through them.

    The memory's own policy applies; the policy of a single call changes only the last three. "The paper" is xMemory's.
    """

    gap_minutes: float = 30.0  # minutes between two messages that end an episode; the paper
    episode_messages: int = 15  # messages of an episode, at most; the paper: 10 to 15
    theme_semantics: int = 12  # semantics in a theme; a larger one is split; the paper, docs/research/conversations.md
    representatives: bool = True  # Stage I of the paper: representatives of themes; False: the most similar semantics
    expand: bool = True  # Stage II of the paper, if there is a reader: only episodes that reduce its uncertainty
    set_size: int = 30  # results that a page has room for if a set is asked for; docs/research/conversations.md

    RANGES: ClassVar[dict[str, Range]] = {
        "gap_minutes": Range(0, 1_000_000),
        "episode_messages": Range(2, 1_000, whole=True),
        "theme_semantics": Range(3, 1_000, whole=True),
        "set_size": Range(1, 1_000, whole=True),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_switches(self, ("representatives", "expand"))


HIERARCHY = "hierarchy"  # the lead and the score part of records that "top_down" found
AnswerShape = Literal["flat", "episodes", "top_down"]


Blend = Literal["auto", "bounded", "sum", "minmax", "product", "absolute"]
Duplicates = Literal["yield", "drop", "keep"]
SearchBy = Literal["auto", "exact", "ann"]
ByName = Mapping[str, float] | tuple[tuple[str, float], ...]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Advanced:
    """How channels are called and joined, how results are assembled, and settings of the graph and the hierarchy.

    >>> Advanced(fusion="rrf").fusion.method
    'rrf'
    """

    blend: Blend = "auto"  # how signals become a score; "auto": "bounded" with the default weights, else "sum"
    kind_weights: Any = ()  # weights for some kinds of records; the others have `Policy.weights`; the article
    fusion: Fusion = Fusion()  # how vectors and words are joined
    channel_weights: ByName = ()  # weights of your own channels; 1: as much as the vectors
    search: SearchBy = "auto"  # "exact": compare all vectors; "ann": Chroma's index; "auto": the cheaper of the two
    timeout_seconds: float = 0.0  # seconds after which a channel, reranker or reader is left out; 0: wait for it
    unrelated_answered: float = 0.0  # share of unrelated questions that may be answered; benchmarks/nothing_found.py
    duplicates: Duplicates = (
        "yield"  # copies of a better result fill free places ("yield"), go ("drop") or stay; units.py
    )
    same_share: float = 1.0  # share of common three-word sequences that makes texts copies; 1: the same words; units.py
    reworded_facts: bool = True  # whether an English lexicon finds facts that changed in other words; updates.py
    time_weight: float = 1.25  # weight of the time in the query; more finds the time, not the subject; asked_time.py
    rerank_weight: float = 0.5  # share of the relevance that a reranker decides; 0: no call; docs/research/ranking.md
    rerank_candidates: int = 20  # best records that a reranker gets, at least k; each of them costs time; guess
    random_tail: int = (
        0  # last places drawn by lot from three times as many; 0: off, as it costs results; docs/guides/measuring.md
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
        object.__setattr__(self, "channel_weights", checked_channel_weights(self.channel_weights))
