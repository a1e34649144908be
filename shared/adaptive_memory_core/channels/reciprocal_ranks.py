"""How are channels joined by rank alone? Reciprocal rank fusion, for those who ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import Candidates, columns_of

WORDS = "words"  # the lexical channel, as one


def reciprocal_ranks(hits: Sequence[Hit], fusion: Fusion, more: Mapping[str, float]) -> dict[str, list[float]]:
    """Of each channel, for each hit, weight / (k + rank), as a share of the most that all of them could be.

    Vectors and words count once each, a channel of the caller's by its weight. Measured, this is worse than the
    numbers themselves: with k = 60 the first and the tenth of a channel are nearly the same to it.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record(one), close, one, {"words": words}) for one, close, words in
    ...         (("a", 0.9, 0.0), ("b", 0.8, 0.5))]
    >>> reciprocal_ranks(hits, Fusion(method="rrf", rrf_k=1), {})
    {'similarity': [0.5, 0.3333333333333333], 'words': [0.0, 0.5]}
    """
    these = columns_of(hits)
    weights = {"similarity": 1.0, **({WORDS: 1.0} if WORDS in these.leads else {})}
    weights.update({name: weight for name, weight in more.items() if name in these.leads})
    best = sum(weights.values()) / (fusion.rrf_k + 1.0)
    return {
        name: [weight / (fusion.rrf_k + rank) / best if rank else 0.0 for rank in _ranks(_said(these, name, fusion))]
        for name, weight in weights.items()
    }


def _said(these: Candidates, channel: str, fusion: Fusion) -> Sequence[float]:
    """One number for what a channel says of each; 0 and below: it did not find it."""
    if channel == "similarity":
        return these.columns.similarities
    if channel == WORDS:
        told = [(weight, these.leads[name]) for name, weight in fusion.leads.items() if name in these.leads]
        return [float(sum(weight * values[one] for weight, values in told)) for one in range(len(these))]
    return these.leads[channel]


def _ranks(values: Sequence[float]) -> list[int]:
    """From 1, and 0 for what was not found; equals share a rank.

    >>> _ranks([0.5, 0.9, 0.5, 0.0])
    [2, 1, 2, 0]
    """
    order = sorted((value for value in values if value > 0.0), reverse=True)
    first = {value: rank for rank, value in reversed(list(enumerate(order, start=1)))}
    return [first.get(value, 0) for value in values]
