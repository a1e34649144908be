"""Relevance in nats: how unlikely it is that a record matches the query this well by chance.

Nats are natural logarithms of probabilities: 4.6 nats are a chance of one in a hundred. The evidence from vectors, from
words and from the kind of turn is measured in this unit, so it can be added without a rule for which to trust: a match
that often happens by chance counts little. Nothing depends on the absolute similarities of an embedder. The numbers
below were chosen with benchmarks/recall_quality.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.policy.advanced import BASELINE, SPREAD

Array = Any
SLOPE = 2.4  # nats per standard deviation of similarity, well above the mean; 2 to 2.6 is flat
USUAL_SPREAD = 0.12  # standard deviation of unrelated similarities, as a share of 1 - their mean; bundled, MiniLM, e5
SAMPLE = 128  # most records of a scope whose vectors are compared
FEW_PAIRS = 3.0  # pairs of records whose mean counts as much as "unrelated texts have similarity 0"; guess
FEW_RECORDS = 10.0  # records whose similarities to a query count as much as those of records to each other; guess
FEW_SPREADS = 10.0  # pairs whose spread counts as much as the usual one; guess
OTHER_RECORDS = 20.0  # additional records without the word that are assumed, so that few records count little; guess
CERTAIN = 0.98  # share of relevant turns of the kind that the query asks for, e.g. by the speaker it names


class Baseline(NamedTuple):
    """The similarities of unrelated texts of a scope with its embedder: mean and standard deviation."""

    mean: float = 0.0
    spread: float = USUAL_SPREAD

    def above(self, similarity: Array) -> Array:
        """Similarity above unrelated texts, as a share of the maximum: 0 is unrelated, 1 the same text.

        >>> round(Baseline(0.75, 0.03).above(0.9), 2)
        0.6
        """
        return (similarity - self.mean) / max(1e-6, 1.0 - self.mean)


UNMEASURED = Baseline()


def baseline_in(leads: Mapping[str, Sequence[float]]) -> Baseline:
    """The baseline of unrelated texts that was measured for this recall."""
    means, spreads = leads.get(BASELINE), leads.get(SPREAD)
    return Baseline(means[0], spreads[0] if spreads else UNMEASURED.spread) if means else UNMEASURED


def baseline_of_vectors(vectors: Array, space: str) -> Baseline:
    """The baseline of a sample of a scope's vectors. With few records it stays close to the usual one.

    >>> baseline_of_vectors(np.eye(1), "cosine"), baseline_of_vectors(np.eye(3), "ip").mean
    (Baseline(mean=0.0, spread=0.12), 0.0)
    """
    count = len(vectors)
    if count < 2:
        return Baseline()
    pairs = similarities_to(vectors, vectors, space)[np.triu_indices(count, 1)]
    mean = float(pairs.mean()) * len(pairs) / (len(pairs) + FEW_PAIRS)
    usual = USUAL_SPREAD * abs(1.0 - mean)
    variance = (len(pairs) * float(pairs.var()) + FEW_SPREADS * usual**2) / (len(pairs) + FEW_SPREADS)
    return Baseline(mean, max(1e-6, math.sqrt(variance)))


@lru_cache(maxsize=64)
def sample_of(count: int) -> Array:
    """The places of the records to compare, out of `count`, evenly spread.

    >>> sample_of(3).tolist(), len(sample_of(1000))
    ([0, 1, 2], 128)
    """
    places = {int(place) for place in np.linspace(0, count - 1, min(count, SAMPLE))} if count else ()
    return np.array(sorted(places), dtype=np.intp)


def merged_baseline(parts: Sequence[tuple[int, Baseline]]) -> Baseline:
    """The combined baseline of several scopes, each with its number of records.

    >>> merged_baseline([(10, Baseline(0.2, 0.1)), (30, Baseline(0.4, 0.1))]).mean
    0.35
    """
    total = 0 if len(parts) == 1 else sum(count for count, _ in parts)
    if not total:
        return parts[0][1]
    mean = sum(count * one.mean for count, one in parts) / total
    return Baseline(mean, math.sqrt(sum(count * one.spread**2 for count, one in parts) / total))


def for_query(of_scope: Baseline, similarities: Array) -> Baseline:
    """The baseline of one query, from its similarities to a sample of the scope and, while the sample is small, from
    the similarities of records to each other. A query has another form than records, so its similarities may be lower.

    >>> for_query(Baseline(0.5, 0.1), np.zeros(10))
    Baseline(mean=0.25, spread=0.07071067811865477)
    """
    count = len(similarities)
    if not count:
        return of_scope
    own = FEW_RECORDS / (count + FEW_RECORDS)
    average = np.add.reduce(similarities) / count  # as np.mean and np.var do it, without their detours
    apart = similarities - average
    mean = own * of_scope.mean + (1.0 - own) * float(average)
    variance = own * of_scope.spread**2 + (1.0 - own) * float(np.add.reduce(apart * apart) / count)
    return Baseline(mean, max(1e-6, math.sqrt(variance)))


def similarities_to(vector: Array, vectors: Array, space: str) -> Array:
    """The similarities of a vector, or of each of several, to some vectors, as the space defines them
    (`score/signals.py`).

    >>> similarities_to([1.0, 0.0], [[2.0, 0.0], [0.0, 1.0]], "cosine").tolist()
    [1.0, 0.0]
    """
    one, others = np.asarray(vector, dtype=np.float64), np.asarray(vectors, dtype=np.float64)
    if not len(others) or one.shape[-1] != others.shape[-1]:
        return np.empty(0)
    if space == "cosine":
        one, others = _unit(one), _unit(others)
    products = one @ others.T
    if space != "l2":
        return products
    return 1.0 - ((one**2).sum(-1)[..., None] + (others**2).sum(-1) - 2.0 * products) / 2.0


def _unit(vectors: Array) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def of_meaning(similarities: Array, baseline: Baseline) -> Array:
    """The evidence of each similarity in nats: nearly 0 below the baseline, then SLOPE per standard deviation.

    >>> of_meaning(np.array([0.1, 0.4]), Baseline(0.1, 0.1)).round(1).tolist()
    [0.7, 7.2]
    """
    return np.logaddexp(0.0, SLOPE * (np.asarray(similarities, dtype=float) - baseline.mean) / baseline.spread)


def of_word(holding: float, records: int, lengths: Array) -> Array:
    """The evidence in nats of a word that `holding` of the records contain, from the chance that a text contains it
    anyway. `lengths` are multiples of the average length.

    >>> of_word(1, 280, np.array([1.0, 10.0])).round(1).tolist()         # a long text has many words by chance
    [5.7, 3.4]
    >>> bool(of_word(200, 280, 1.0) < 1.2)                                # most records have it
    True
    """
    return -np.log(np.maximum(1e-12, -np.expm1(np.asarray(lengths) * without_word(holding, records))))


def without_word(holding: float, records: int) -> float:
    """The logarithm of the chance that a text of average length does not contain a word of `holding` of the records.

    >>> round(without_word(30, 280), 2)
    -0.11
    """
    return math.log1p(-min(0.999, holding / (records + OTHER_RECORDS)))


def of_number(holding: float, records: int) -> float:
    """The additional evidence in nats of a number or code: the wanted record contains it almost certainly, so records
    without it can be ruled out. It counts double, because it does not depend on the other words.

    >>> round(of_number(1, 280), 1)
    13.5
    """
    share = min(0.999, holding / (records + OTHER_RECORDS))
    return -math.log(share) + 2.0 * math.log((1.0 - share) / (1.0 - CERTAIN))


def of_kind(share: float) -> tuple[float, float]:
    """The evidence in nats for a record of the kind that the query asks for, and against others; `share` of the turns
    are of this kind.

    >>> [round(one, 2) for one in of_kind(0.5)]
    [0.67, -3.22]
    """
    share = min(0.95, max(0.01, share))
    return math.log(CERTAIN / share), math.log((1.0 - CERTAIN) / (1.0 - share))
