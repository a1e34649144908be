"""How is the default score computed? Relevance, times what importance and reads may add, raised by usefulness."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy.weights import Weights
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.signals import recency
from adaptive_memory_core.score.usefulness import Use, raised, usefulness

FULL_USE_FROM = 0.15  # share of the best relevance from which usefulness counts in full; benchmarks/bursts.py

SAME_AS_ASKED = 0.05  # from a similarity of 1, within which nothing useful stands before what was asked for


def since_read(hits: Sequence[Hit], policy: Policy, *, now: float) -> list[float]:
    """The recency of reads alone: 0 where there was none, however new the record is. So what nobody has read ranks as
    its relevance does.

    >>> from adaptive_memory_core.records import ReadState, Record
    >>> new, read = Record("a", "tea", created_at=9.0), Record("b", "tea", read=ReadState(refreshed_at=9.0))
    >>> since_read([Hit(new, 0.5, "a"), Hit(read, 0.5, "b")], Policy(), now=9.0)
    [0.0, 1.0]
    """
    return [
        0.0 if hit.record.read.refreshed_at is None else recency(hit.record, policy, now=now) or 0.0 for hit in hits
    ]


def since_useful(hits: Sequence[Hit], policy: Policy, close: Sequence[float], *, use: Use, now: float) -> list[float]:
    """The recency of useful reads: it wears off by a law of its own, and counts as far as the hit fits the cue."""
    useful = policy.useful
    if all(hit.record.read.useful_at is None for hit in hits):
        return [0.0] * len(hits)
    return [
        0.0 if hit.record.read.useful_at is None else fit * usefulness(hit.record.read, useful, step=use.step, now=now)
        for hit, fit in zip(hits, fits(close, [hit.similarity for hit in hits]), strict=True)
    ]


def fits(close: Sequence[float], similarities: Sequence[float]) -> list[float]:
    """How far each may gain by having been of use: the less, the further it is from the relevance of the best, and
    not at all if the most similar one is just what was asked for and it is not.

    >>> fits([0.5, 0.4, 0.0], [0.7, 0.6, 0.5]), fits([0.9, 0.8], [1.0, 0.9]), fits([], [])
    ([1.0, 1.0, 0.0], [1.0, 0.0], [])
    """
    best, nearest = max(close, default=0.0), max(similarities, default=0.0)
    if best <= 0.0:
        return [0.0] * len(close)
    near = (min(1.0, max(0.0, one) / (FULL_USE_FROM * best)) for one in close)
    return [share * _open(like, nearest) for share, like in zip(near, similarities, strict=True)]


def _open(similarity: float, nearest: float) -> float:
    """What room the nearest leaves: all of it, unless it is nearly the same as what was asked for."""
    return 1.0 if similarity >= nearest else min(1.0, max(0.0, (1.0 - nearest) / SAME_AS_ASKED))


def bounded(
    weights: Weights,
    useful: float,
    fresh: Sequence[float],
    used: Sequence[float],
    worth: Sequence[float],
    close: Sequence[float],
    strong: Sequence[float],
) -> list[dict[str, float]]:
    """The parts of each score: shares of the relevance for reads and importance, and what usefulness adds to that,
    which counts as much as `useful` further pieces of evidence.

    >>> bounded(Weights(recency=1, importance=1, similarity=2), 3.0, [1.0], [0.0], [0.0], [0.5], [1.0])
    [{'recency': 0.125, 'importance': 0.0, 'similarity': 0.25, 'useful': 0.0}]
    >>> bounded(Weights(0, 0, 1), 1.0, [0.0], [1.0], [0.5], [0.5], [1.0])
    [{'recency': 0.0, 'importance': 0.0, 'similarity': 0.5, 'useful': 0.25}]
    """
    first, second, third, last = weights.recency, weights.importance, weights.similarity, weights.strength
    total = weights.total
    parts = []
    for one, two, three, four, five in zip(fresh, used, worth, close, strong, strict=True):
        whole = min(1.0, max(0.0, four)) / total
        part = {
            "recency": first * one * whole,
            "importance": second * min(1.0, three) * whole,
            "similarity": third * whole,
        }
        if last > 0.0:
            part["strength"] = last * five * whole
        before = min(1.0, sum(part.values())) if two > 0.0 else 0.0
        part["useful"] = raised(before, two, useful) - before if two > 0.0 else 0.0
        parts.append(part)
    return parts
