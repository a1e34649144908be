"""How relevant is a record according to all channels together? A weighted mean of their numbers, in [0, 1]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adaptive_memory_core.channels.learned_shares import tilted
from adaptive_memory_core.channels.reciprocal_ranks import reciprocal_ranks
from adaptive_memory_core.channels.told_apart import AS_GIVEN, ToldApart, told_apart
from adaptive_memory_core.policy.channel_names import AS_THE_VECTORS, RERANKER
from adaptive_memory_core.policy.fusion import CHANCE, Fusion
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import Leads, columns_of

CONTEXT = ("near", "around", "session")
OF_NEIGHBOURS = ("before", "company")
OF_VECTORS = ("similarity", *OF_NEIGHBOURS)  # the leads that are similarities
Weights = Mapping[str, float]
Parts = dict[str, list[float]]  # a column for each part
NO_MORE: Weights = {}


def relevances(
    hits: Sequence[Hit], fusion: Fusion, more: Weights, reranked: float, learned: Weights = NO_MORE
) -> Parts:
    """The parts that add up to the relevance, by name: a column each, with a number for each hit. `more` are the
    weights of further leads, by name, `reranked` the share that a reranker decides, and `learned` what verdicts have
    made of the leads' shares. All hits of a recall have the same leads.

    >>> from adaptive_memory_core.records import Record
    >>> relevances([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), -0.5, "b")], Fusion(), {}, 0.0)
    {'similarity': [0.5, 0.0]}
    """
    these = columns_of(hits)
    leads, close = these.leads, within_share(these.columns.similarities)
    if fusion.method == "rrf":
        parts = reciprocal_ranks(these, fusion, more)
    elif not leads or not these:
        return {"similarity": close}
    else:
        parts = _weighed({"similarity": close, **leads}, fusion, more, told_apart(these, fusion), learned)
    if RERANKER not in leads:
        return parts
    left = {name: times(1.0 - reranked, values) for name, values in parts.items()}
    return {**left, RERANKER: times(reranked, leads[RERANKER])}


def _weighed(columns: Leads, fusion: Fusion, more: Weights, apart: ToldApart, learned: Weights) -> Parts:
    """Each column times its share; the shares hang on the chance, which may be another for records of another kind."""
    chances = columns.get(CHANCE, [1.0])
    shares = {one: tilted(shares_of(columns, one, fusion, more, apart), learned) for one in set(chances)}
    named = [name for name in next(iter(shares.values())) if name in columns]
    if len(shares) == 1:
        return {name: times(shares[chances[0]][name], columns[name]) for name in named}
    return {
        name: [shares[one][name] * value for one, value in zip(chances, columns[name], strict=True)] for name in named
    }


def within_share(values: Sequence[float]) -> list[float]:
    """Each within [0, 1], in a quarter of the time that calls of `min` and `max` take.

    >>> within_share([-0.5, 0.5, 1.5])
    [0.0, 0.5, 1.0]
    """
    return [one if 0.0 <= one <= 1.0 else 1.0 if one > 1.0 else 0.0 for one in values]


def times(share: float, values: Sequence[float]) -> list[float]:
    """That share of each."""
    return [share * one for one in values]


def relevance(
    similarity: float,
    leads: Mapping[str, float],
    fusion: Fusion,
    more: Weights = NO_MORE,
    apart: ToldApart = AS_GIVEN,
) -> dict[str, float]:
    """The parts that add up to the relevance: of the similarity, and of each lead there is.

    Words that a record has say more than vectors, except where some record would have them anyway: so the vectors count
    the less, the smaller the chance that the cue's words are found so well by accident.

    >>> relevance(0.4, {}, Fusion())
    {'similarity': 0.4}
    >>> fusion = Fusion(dense=1, doubt=1, words=1, near=0.5, around=0, session=0, speaker=0, dense_least=0)
    >>> relevance(0.4, {"words": 0.2, "chance": 0.5}, fusion)       # no conversation: near is the record itself
    {'similarity': 0.1, 'words': 0.15000000000000002}
    >>> relevance(-0.4, {"words": 0.0, "chance": 1.0}, fusion)
    {'similarity': 0.0, 'words': 0.0}
    >>> relevance(0.4, {"sql": 0.8}, Fusion(), {"sql": 1.0})        # as much as the vectors
    {'similarity': 0.2, 'sql': 0.4}
    """
    shares = shares_of(leads, leads.get(CHANCE, 1.0), fusion, more, apart)
    own = {"similarity": shares["similarity"] * min(1.0, max(0.0, similarity))}
    return own | {name: share * leads[name] for name, share in shares.items() if name in leads}


def shares_of(
    names: Iterable[str], chance: float, fusion: Fusion, more: Weights, apart: ToldApart = AS_GIVEN
) -> dict[str, float]:
    """What the similarity and each of these leads count, as shares of 1, or 0 where nothing counts. The weight of a
    record's context goes to the record itself where there is no conversation.

    >>> shares_of(["words", "chance"], 1.0, Fusion(dense=1, words=1, near=0, around=0, session=0), {})
    {'similarity': 0.5, 'words': 0.5}
    """
    present = set(names)
    weights = {name: weight for name, weight in fusion.leads.items() if name in present}
    if weights:
        weights["words"] += sum(fusion.leads[name] for name in CONTEXT if name not in present)
    weights.update({name: AS_THE_VECTORS * weight for name, weight in more.items() if name in present})
    neighbours = sum(fusion.leads[name] for name in OF_NEIGHBOURS if name in present)
    weights = {"similarity": max(0.0, fusion.dense - neighbours), **weights}
    times_as_much = vectors_beside_words(chance, fusion, apart)
    for name in OF_VECTORS:
        if name in weights:
            weights[name] *= times_as_much
    total = sum(weights.values())
    return dict.fromkeys(weights, 0.0) if total == 0.0 else {name: one / total for name, one in weights.items()}


def vectors_beside_words(chance: float, fusion: Fusion, apart: ToldApart) -> float:
    """How many times as much as given the vectors count in this recall.

    >>> vectors_beside_words(0.25, Fusion(doubt=0.5, dense_least=0.1), ToldApart(stretched=3.0))
    1.5
    """
    return apart.stretched * max(chance**fusion.doubt, apart.kept * fusion.dense_least)  # type: ignore[no-any-return]
