"""How are channels joined by rank alone? Reciprocal rank fusion, for those who ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.records import Hit

WORDS = "words"  # the lexical channel, as one


def reciprocal_ranks(hits: Sequence[Hit], fusion: Fusion, more: Mapping[str, float]) -> list[dict[str, float]]:
    """Of each hit the sum over channels of weight / (k + rank), as a share of the most that it could be.

    Vectors and words count once each, a channel of the caller's by its weight. Measured, this is worse than the
    numbers themselves: with k = 60 the first and the tenth of a channel are nearly the same to it.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record(one), close, one, {"words": words}) for one, close, words in
    ...         (("a", 0.9, 0.0), ("b", 0.8, 0.5))]
    >>> reciprocal_ranks(hits, Fusion(method="rrf", rrf_k=1), {})
    [{'similarity': 0.5, 'words': 0.0}, {'similarity': 0.3333333333333333, 'words': 0.5}]
    """
    said = set(hits[0].leads) if hits else set()
    weights = {"similarity": 1.0, **({WORDS: 1.0} if WORDS in said else {})}
    weights.update({name: weight for name, weight in more.items() if name in said})
    best = sum(weights.values()) / (fusion.rrf_k + 1.0)
    ranks = {name: _ranks([_said(hit, name, fusion) for hit in hits]) for name in weights}
    return [
        {
            name: weight / (fusion.rrf_k + ranks[name][number]) / best if ranks[name][number] else 0.0
            for name, weight in weights.items()
        }
        for number in range(len(hits))
    ]


def _said(hit: Hit, channel: str, fusion: Fusion) -> float:
    """One number for what a channel says of a hit; 0 and below: it did not find it."""
    if channel == "similarity":
        return hit.similarity
    if channel == WORDS:
        return float(sum(weight * hit.leads[name] for name, weight in fusion.leads.items() if name in hit.leads))
    return hit.leads[channel]


def _ranks(values: Sequence[float]) -> list[int]:
    """From 1, and 0 for what was not found; equals share a rank.

    >>> _ranks([0.5, 0.9, 0.5, 0.0])
    [2, 1, 2, 0]
    """
    order = sorted((value for value in values if value > 0.0), reverse=True)
    first = {value: rank for rank, value in reversed(list(enumerate(order, start=1)))}
    return [first.get(value, 0) for value in values]
