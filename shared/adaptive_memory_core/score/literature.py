"""The literature's blends and fusions, for policies that ask for them: weighted sums, min-max, products, ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from adaptive_memory_core.policy.advanced import AROUND, WORDS, Fusion, Weights
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.score.ranking import CandidateColumns, Candidates
from adaptive_memory_core.score.signals import recencies
from adaptive_memory_core.score.surprise import Array
from adaptive_memory_core.score.time_match import TIME, Timing

Parts = dict[str, Array]  # a column for each part
# The smallest spread of recency, importance and similarity over the candidates that is stretched to [0, 1]: a smaller
# one keeps its share of this value. Measured for the first two (benchmarks/rot.py); the third is a guess.
LEAST_SPREADS = (0.5, 0.2, 0.05)
LITERATURE = (0.01, 0.01, 0.01)  # plain min-max, except where a spread means nothing
RRF_K = 60.0  # ranks added to each in reciprocal rank fusion; the literature


def blended(
    policy: Policy, columns: CandidateColumns, worth: Sequence[float], close: Sequence[float], *, now: float
) -> tuple[list[float], Callable[[Weights], Parts]]:
    """The recency of each, and the parts of each score by the weights, with that of the relevance under "similarity".

    In "sum", "minmax" and "product" the signals are made comparable by min-max over the hits and added; in "absolute"
    they are added as they are.
    """
    fresh, blend = neutral(recencies(columns.created, columns.reads, policy, now=now)), policy.blending

    def parts_of(weights: Weights) -> Parts:
        if weights.only_similarity:
            return {"similarity": within_share(np.array(close))}
        if blend == "absolute":
            return _sum(weights, np.array(fresh), np.minimum(1.0, worth), within_share(np.array(close)))
        least = LITERATURE if blend == "minmax" else LEAST_SPREADS
        combine = _product if blend == "product" else _sum
        stretched = zip((fresh, worth, close), least, strict=True)
        return combine(weights, *[np.array(normalise(values, spread=spread)) for values, spread in stretched])

    return fresh, parts_of


def normalise(values: Sequence[float], *, spread: float) -> list[float]:
    """Min-max over the candidates, except that a range below `spread` counts as `spread`, centred on 0.5.

    >>> normalise([1.0, 2.0, 3.0], spread=0.5)
    [0.0, 0.5, 1.0]
    >>> normalise([0.7, 0.7], spread=0.5)               # a constant says nothing
    [0.5, 0.5]
    >>> normalise([0.5, 0.75], spread=1.0)              # a quarter of what would matter stays a quarter
    [0.375, 0.625]
    """
    if not values:
        return []
    low, high = min(values), max(values)
    width = high - low
    if width >= spread:
        return [(value - low) / width for value in values]
    middle = (low + high) / 2
    return [0.5 + (value - middle) / spread for value in values]


def neutral(values: Sequence[float | None]) -> list[float]:
    """An unknown value becomes the middle of the known ones: it counts neither for nor against a hit.

    >>> neutral([0.1, None, 0.3])
    [0.1, 0.2, 0.3]
    >>> neutral([None, None])
    [0.5, 0.5]
    """
    known = [value for value in values if value is not None]
    middle = (min(known) + max(known)) / 2 if known else 0.5
    return [middle if value is None else value for value in values]


def within_share(values: Array) -> Array:
    """Each within [0, 1].

    >>> within_share(np.array([-0.5, 0.5, 1.5])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.minimum(1.0, np.maximum(0.0, values))


def _sum(weights: Weights, fresh: Array, worth: Array, close: Array) -> Parts:
    """The weighted mean.

    >>> found = _sum(Weights(recency=1, importance=1, similarity=2), np.array([1.0]), np.array([0.0]), np.array([0.5]))
    >>> {name: one.tolist() for name, one in found.items()}
    {'recency': [0.25], 'importance': [0.0], 'similarity': [0.25]}
    """
    total = weights.total
    first, second, third = weights.recency / total, weights.importance / total, weights.similarity / total
    return {"recency": first * fresh, "importance": second * worth, "similarity": third * close}


def _product(weights: Weights, fresh: Array, worth: Array, close: Array) -> Parts:
    """The weighted mean with recency times importance as one signal: what was important long ago fades.

    >>> halves = np.array([0.5]), np.array([1.0]), np.array([0.5])
    >>> found = _product(Weights(recency=1, importance=1, similarity=2), *halves)
    >>> {name: one.tolist() for name, one in found.items()}
    {'recency*importance': [0.25], 'similarity': [0.25]}
    """
    total = weights.total
    both, third = (weights.recency + weights.importance) / total, weights.similarity / total
    return {"recency*importance": both * (fresh * worth), "similarity": third * close}


def reciprocal_ranks(these: Candidates, more: Mapping[str, float], of_time: Timing | None = None) -> Parts:
    """Reciprocal rank fusion: weight / (k + rank), as a share of the most that all of them could be. Vectors and words
    count once each, a channel of the caller's by its weight.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> hits = [Hit(Record(one), close, one, {"words": words}) for one, close, words in
    ...         (("a", 0.9, 0.0), ("b", 0.8, 0.5))]
    >>> {name: one.round(2).tolist() for name, one in reciprocal_ranks(as_candidates(hits), {}).items()}
    {'similarity': [0.5, 0.49], 'words': [0.0, 0.5]}
    """
    leads = these.leads
    said: dict[str, Sequence[float]] = {"similarity": these.columns.similarities}
    if WORDS in leads:
        around = leads.get(AROUND, [0.0] * len(these))
        said[WORDS] = [one + other for one, other in zip(leads[WORDS], around, strict=True)]
    said |= {name: leads[name] for name in more if name in leads}
    if of_time is not None:
        said[TIME] = of_time.fits
    weights = {name: more.get(name, 1.0) for name in said}
    best = sum(weights.values()) / (RRF_K + 1.0)
    return {
        name: np.array([weights[name] / (RRF_K + rank) / best if rank else 0.0 for rank in _ranks(values)])
        for name, values in said.items()
    }


def weighted_sum(these: Candidates, fusion: Fusion, more: Mapping[str, float]) -> Parts:
    """Similarity and channels as they are, each times its weight, as a share of the weights. Below 0 they stay.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> hits = [Hit(Record("a"), 0.5, "a", {"graph": 0.25}), Hit(Record("b"), -1.0, "b", {"graph": 0.0})]
    >>> found = weighted_sum(as_candidates(hits), Fusion(method="sum", vectors=1), {"graph": 3.0})
    >>> {name: one.tolist() for name, one in found.items()}
    {'similarity': [0.125, -0.25], 'graph': [0.1875, 0.0]}
    """
    said = {name: these.leads[name] for name in more if name in these.leads}
    weights = {"similarity": fusion.vectors, **{name: more[name] for name in said}}
    values = {"similarity": these.columns.similarities, **said}
    most = sum(weights.values()) or 1.0
    return {name: weight / most * np.array(values[name]) for name, weight in weights.items()}


def _ranks(values: Sequence[float]) -> list[int]:
    """From 1, and 0 for what was not found; equals share a rank.

    >>> _ranks([0.5, 0.9, 0.5, 0.0])
    [2, 1, 2, 0]
    """
    order = sorted((value for value in values if value > 0.0), reverse=True)
    first = {value: rank for rank, value in reversed(list(enumerate(order, start=1)))}
    return [first.get(value, 0) for value in values]
