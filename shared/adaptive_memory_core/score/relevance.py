"""The relevance of each candidate: all that vectors, words and channels say, added up in nats, as a share of the most
that could be said for this query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adaptive_memory_core.policy.channels_and_kinds import RERANKER
from adaptive_memory_core.policy.fusion import (
    AROUND,
    BASELINE,
    MOST_OF_KINDS,
    MOST_OF_WORDS,
    OF_TURNS,
    SPREAD,
    WORDS,
    Fusion,
)
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import Candidates, columns_of
from adaptive_memory_core.score.surprise import Array, Baseline, of_meaning
from adaptive_memory_core.score.time_match import TIME, Timing

Weights = Mapping[str, float]
Parts = dict[str, list[float]]  # a column for each part
RRF_K = 60.0  # ranks added to each in reciprocal rank fusion; the literature


def relevances(
    hits: Sequence[Hit], fusion: Fusion, more: Weights, reranked: float, of_time: Timing | None = None
) -> Parts:
    """The parts that add up to the relevance, by name: a column each, with a number in [0, 1] for each hit. `more` are
    the weights of further channels, by name, and `reranked` the share that a reranker decides. Vectors alone, where no
    time is asked about, are taken as they are, as the literature takes them.

    >>> from adaptive_memory_core.records import Record
    >>> relevances([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), -0.5, "b")], Fusion(), {}, 0.0)
    {'similarity': [0.5, 0.0]}
    """
    these = columns_of(hits)
    if fusion.method == "rrf":
        parts = _reciprocal_ranks(these, more, of_time)
    elif fusion.method == "sum":
        parts = _weighted_sum(these, fusion, more)
    elif not these or not (these.leads or of_time):
        return {"similarity": within_share(these.columns.similarities)}
    else:
        parts = _shares(*in_nats(these, fusion, more, of_time))
    if RERANKER not in these.leads:
        return parts
    left = {name: times(1.0 - reranked, values) for name, values in parts.items()}
    return {**left, RERANKER: times(reranked, these.leads[RERANKER])}


def in_nats(
    these: Candidates, fusion: Fusion, more: Weights, of_time: Timing | None = None
) -> tuple[dict[str, Array], float]:
    """What each channel says of each candidate, and the most that all of them could say of any."""
    leads = these.leads
    baseline = baseline_in(leads)
    same_text = float(of_meaning(1.0, baseline))
    vectors = fusion.vectors if leads else 1.0
    found: dict[str, Array] = {"similarity": vectors * of_meaning(these.columns.similarities, baseline)}
    found |= {name: fusion.words * np.array(leads[name]) for name in (WORDS, AROUND) if name in leads}
    found |= {name: np.array(leads[name]) for name in OF_TURNS if name in leads}
    found |= {name: weight * same_text * np.array(leads[name]) for name, weight in more.items() if name in leads}
    most = same_text * (vectors + sum(weight for name, weight in more.items() if name in leads))
    most += fusion.words * _first(leads, MOST_OF_WORDS) + _first(leads, MOST_OF_KINDS)
    if of_time is not None:
        found[TIME] = np.array(of_time.nats)
        most += of_time.most
    return found, most


def baseline_in(leads: Mapping[str, Sequence[float]]) -> Baseline:
    """What unrelated texts score, as it was measured for this recall."""
    return Baseline(_first(leads, BASELINE), _first(leads, SPREAD, Baseline().spread))


def _first(leads: Mapping[str, Sequence[float]], name: str, otherwise: float = 0.0) -> float:
    """What is the same for all candidates."""
    return leads[name][0] if leads.get(name) else otherwise


def _shares(nats: Mapping[str, Array], most: float) -> Parts:
    """The sum as a share of the most; each part has its share of what speaks for the candidate.

    >>> {name: one for name, one in _shares({"words": np.array([3.0]), "stated": np.array([-1.0])}, 4.0).items()}
    {'words': [0.5], 'stated': [0.0]}
    """
    if most <= 0.0:
        return {name: [0.0] * len(values) for name, values in nats.items()}
    whole = np.clip(sum(nats.values()) / most, 0.0, 1.0)
    speaking = {name: np.maximum(0.0, values) for name, values in nats.items()}
    per_nat = whole / np.maximum(1e-12, sum(speaking.values()))
    return {name: (values * per_nat).tolist() for name, values in speaking.items()}


def _reciprocal_ranks(these: Candidates, more: Weights, of_time: Timing | None = None) -> Parts:
    """Reciprocal rank fusion, for those who ask for it: weight / (k + rank), as a share of the most that all
    of them could be. Vectors and words count once each, a channel of the caller's by its weight.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record(one), close, one, {"words": words}) for one, close, words in
    ...         (("a", 0.9, 0.0), ("b", 0.8, 0.5))]
    >>> _reciprocal_ranks(columns_of(hits), {})
    {'similarity': [0.5, 0.49...], 'words': [0.0, 0.5]}
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
        name: [weights[name] / (RRF_K + rank) / best if rank else 0.0 for rank in _ranks(values)]
        for name, values in said.items()
    }


def _weighted_sum(these: Candidates, fusion: Fusion, more: Weights) -> Parts:
    """Similarity and channels as they are, each times its weight, as a share of the weights. Below 0 they stay.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record("a"), 0.5, "a", {"graph": 0.25}), Hit(Record("b"), -1.0, "b", {"graph": 0.0})]
    >>> _weighted_sum(columns_of(hits), Fusion(method="sum", vectors=1), {"graph": 3.0})
    {'similarity': [0.125, -0.25], 'graph': [0.1875, 0.0]}
    """
    said = {name: these.leads[name] for name in more if name in these.leads}
    weights = {"similarity": fusion.vectors, **{name: more[name] for name in said}}
    values = {"similarity": these.columns.similarities, **said}
    most = sum(weights.values()) or 1.0
    return {name: times(weight / most, values[name]) for name, weight in weights.items()}


def _ranks(values: Sequence[float]) -> list[int]:
    """From 1, and 0 for what was not found; equals share a rank.

    >>> _ranks([0.5, 0.9, 0.5, 0.0])
    [2, 1, 2, 0]
    """
    order = sorted((value for value in values if value > 0.0), reverse=True)
    first = {value: rank for rank, value in reversed(list(enumerate(order, start=1)))}
    return [first.get(value, 0) for value in values]


def within_share(values: Sequence[float]) -> list[float]:
    """Each within [0, 1], in a quarter of the time that calls of `min` and `max` take.

    >>> within_share([-0.5, 0.5, 1.5])
    [0.0, 0.5, 1.0]
    """
    return [one if 0.0 <= one <= 1.0 else 1.0 if one > 1.0 else 0.0 for one in values]


def times(share: float, values: Sequence[float]) -> list[float]:
    """That share of each."""
    return [share * one for one in values]
