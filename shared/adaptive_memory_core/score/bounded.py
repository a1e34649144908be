"""How is the default score computed? Relevance, times what importance and reads may add, raised by usefulness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy.ranking import Weights
from adaptive_memory_core.records import Hit, ReadState
from adaptive_memory_core.score.candidates import columns_of
from adaptive_memory_core.score.relevance import Parts, baseline_in, times, within_share
from adaptive_memory_core.score.signals import faded
from adaptive_memory_core.score.usefulness import Use, raised, usefulness

FULL_USE_FROM = 0.15  # share of the best relevance from which usefulness counts in full; benchmarks/bursts.py

SAME_AS_ASKED = 0.05  # from the query's own text, within which nothing useful stands before what was asked for


def since_read(reads: Sequence[ReadState], policy: Policy, *, now: float) -> list[float]:
    """The recency of reads alone: 0 where there was none, however new the record is. So what nobody has read ranks as
    its relevance does.

    >>> since_read([ReadState(), ReadState(refreshed_at=9.0)], Policy(), now=9.0)
    [0.0, 1.0]
    """
    known = [read.refreshed_at for read in reads]
    if known.count(None) == len(known):
        return [0.0] * len(reads)
    return faded(known, reads, policy, now=now, unknown=0.0)


def since_useful(hits: Sequence[Hit], close: Sequence[float], *, use: Use, now: float) -> list[float]:
    """The recency of useful reads: it wears off by a law of its own, and counts as far as the hit fits the cue."""
    these = columns_of(hits)
    reads = these.columns.reads
    if [read.useful_at for read in reads].count(None) == len(reads):
        return [0.0] * len(reads)
    above = baseline_in(these.leads).above(np.array(these.columns.similarities)).tolist()
    return [
        0.0 if read.useful_at is None else fit * usefulness(read, step=use.step, now=now)
        for read, fit in zip(reads, fits(close, above), strict=True)
    ]


def fits(close: Sequence[float], similarities: Sequence[float]) -> list[float]:
    """How far each may gain by having been of use: the less, the further it is from the relevance of the best, and
    not at all if the most similar one is just what was asked for and it is not. Similarities count from unrelated text.

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
) -> Parts:
    """The parts of each score: shares of the relevance for reads and importance, and what usefulness adds to that,
    which counts as much as `useful` further pieces of evidence.

    >>> bounded(Weights(recency=1, importance=1, similarity=2), 3.0, [1.0], [0.0], [0.0], [0.5])
    {'recency': [0.125], 'importance': [0.0], 'similarity': [0.25], 'useful': [0.0]}
    >>> bounded(Weights(0, 0, 1), 1.0, [0.0], [1.0], [0.5], [0.5])
    {'recency': [0.0], 'importance': [0.0], 'similarity': [0.5], 'useful': [0.25]}
    """
    total = weights.total
    first, second = weights.recency, weights.importance
    wholes = [one / total for one in within_share(close)]
    parts = {
        "recency": [first * one * whole for one, whole in zip(fresh, wholes, strict=True)],
        "importance": [second * (one if one < 1.0 else 1.0) * whole for one, whole in zip(worth, wholes, strict=True)],
        "similarity": times(weights.similarity, wholes),
    }
    parts["useful"] = _raise(parts, used, useful) if any(used) else list(used)
    return parts


def _raise(parts: Parts, used: Sequence[float], weight: float) -> list[float]:
    """What usefulness adds to the sum of the other parts."""
    before = [min(1.0, sum(row)) for row in zip(*parts.values(), strict=True)]
    return [raised(one, two, weight) - one if two > 0.0 else 0.0 for one, two in zip(before, used, strict=True)]
