"""Relevance: how far each lead is above what unrelated records have, and how well a record fits a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.cue.time.intent import Intent, Window
from adaptive_memory_core.policy.advanced import (
    AROUND,
    BASELINE,
    MOST_OF_KINDS,
    MOST_OF_WORDS,
    OF_TURNS,
    RERANKER,
    SPREAD,
    WORDS,
    Fusion,
    Weights,
)
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, Record
from adaptive_memory_core.score.ranking import Candidates, as_candidates
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.score.surprise import Array, Baseline, of_kind, of_meaning

TIME = "time"  # the name of the part
OUTSIDE = "outside the time asked about"
# How far beyond its ends half of a window is still felt, from the questions of LoCoMo and REALTALK that name a time.
LEAST_REACH, MOST_REACH = 1 * DAY, 60 * DAY  # of a vague one; guesses
# Of what is named by the calendar, half of its length within these bounds; people tell of a day the next day.
BEFORE_EXACT, AFTER_EXACT = (1 * DAY, 5 * DAY), (1.5 * DAY, 7 * DAY)
OF_THAT_TIME = (
    0.2  # share of records that are of a time that somebody asks about; LoCoMo: 0.1 and 0.2 are equal, 0.5 is worse
)
PAST_RECENCY = 0.0  # share of the weight of recency that is left when the past is asked about; the article
PRESENT_RECENCY = 2.0  # times the weight of recency when the present is asked about; guess
LEAN_WEIGHT = 1.0  # of what age says for "originally" and "currently"; guess
DECIDES = 100.0  # nats: more than all else says of any record
FARTHEST = 10.0  # reaches away from which a window is not felt at all


def attuned(policy: Policy, intent: Intent) -> Policy:
    """The policy with recency as the intent wants it.

    >>> attuned(Policy(), Intent(lean="past")).weights.recency, attuned(Policy(), Intent()) == Policy()
    (0.0, True)
    """
    if not intent or policy.time_words == "off":
        return policy
    share = PRESENT_RECENCY if intent.lean == "present" else PAST_RECENCY
    weights = _with_recency(policy.weights, share)
    kinds = tuple((kind, _with_recency(one, share)) for kind, one in policy.advanced.kind_weights)
    return policy.replace(weights=weights, advanced={"kind_weights": kinds, "blend": policy.blending})


def _with_recency(weights: Weights, share: float) -> Weights:
    """The weights with a share of their recency; those of recency alone keep it."""
    kept = share > 0.0 or weights.total > weights.recency
    return replace(weights, recency=weights.recency * share) if kept else weights


class Timing(NamedTuple):
    """What the time that is asked about says of each candidate."""

    fits: Sequence[float]  # 1 is of that time, 0 far from it
    nats: Sequence[float]  # for or against it
    most: float  # nats that could be said of any


def timing(these: Candidates, intent: Intent, policy: Policy, *, alone: bool = False) -> Timing | None:
    """What the time asked about says, or None where none is asked about or none fits: then nothing changes.

    A record of that time is one of few, as the speaker who is asked about is (`of_kind`). A question of a time `alone`
    ("what happened last week?") is like no record, so that what is of that time comes first.

    >>> from adaptive_memory_core.records import Hit
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> hits = [Hit(Record(str(day), "x", created_at=day * DAY), 0.5, "") for day in (1, 500)]
    >>> found = timing(as_candidates(hits), Intent((Window(499 * DAY, 501 * DAY),)), Policy())
    >>> found.fits, [round(one, 1) for one in found.nats]
    ([0.0, 1.0], [-4.6, 2.0])
    """
    weight = policy.advanced.time_weight if intent.windows else LEAN_WEIGHT
    if not intent or policy.time_words == "off" or weight == 0.0:
        return None
    records = [one.record for one in these]
    fits = _fits(records, intent)
    if not any(fits):
        return None
    for_it, against = of_kind(OF_THAT_TIME)
    sure = [fit * fit for fit in fits]  # what is half as close says a quarter
    nats = [weight * (one * for_it + (1.0 - one) * against) for one in sure]
    most = max(0.0, weight * for_it)
    if alone:
        nats = [one + (0.0 if outside(record, intent) else DECIDES) for one, record in zip(nats, records, strict=True)]
        most += DECIDES
    return Timing(fits, nats, most)


def outside(record: Record, intent: Intent) -> bool:
    """Whether a record is known to be of another time than is asked about, or of none that is known."""
    return bool(intent.windows) and not any(inside(record, window) for window in intent.windows)


def inside(record: Record, window: Window) -> bool:
    """Whether it happened, began, or held with a known beginning and end, within the window.

    >>> inside(Record("a", "x", valid_from=0.0, valid_until=10.0), Window(4.0, 5.0))
    True
    """
    if any(time in window for time in _times(record)):
        return True
    start, end = record.valid_from, record.valid_until
    if start is None or end is None:
        return False
    return (window.end is None or start < window.end) and (window.start is None or end > window.start)


def closeness(record: Record, window: Window) -> float | None:
    """1 within the window; outside, half after each reach of the window; None if not known.

    Ends that are named ("in June") are exact, others ("about three weeks ago") as soft as the window says.

    >>> june, about_june = Window(0.0, 30 * DAY), Window(0.0, 30 * DAY, soft_seconds=15 * DAY)
    >>> [closeness(Record("a", "x", created_at=day * DAY), june) for day in (-5, 10, 37, 44)]
    [0.5, 1.0, 0.5, 0.25]
    >>> [closeness(Record("a", "x", created_at=day * DAY), about_june) for day in (-15, 10, 45)]
    [0.5, 1.0, 0.5]
    >>> closeness(Record("a", "x"), june) is None
    True
    """
    times = _times(record)
    if inside(record, window):
        return 1.0
    if not times:
        return None
    away = min(_reaches_away(time, window) for time in times)
    return 0.5**away if away < FARTHEST else 0.0


def _fits(records: Sequence[Record], intent: Intent) -> list[float]:
    """How well each record's time fits; one of unknown time as well as the others do on average."""
    fits = [_closest(record, intent) for record in records] if intent.windows else _leans(records, intent)
    known = [fit for fit in fits if fit is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [mean if fit is None else fit for fit in fits]


def _closest(record: Record, intent: Intent) -> float | None:
    return max((fit for window in intent.windows if (fit := closeness(record, window)) is not None), default=None)


def _leans(records: Sequence[Record], intent: Intent) -> list[float | None]:
    """From 0 to 1, how late (or early) a record is among these."""
    known = [time for record in records if (time := _began(record)) is not None]
    if intent.lean == "past" or not known or min(known) == max(known):
        return [None] * len(records)
    first, width = min(known), max(known) - min(known)
    late = [None if (time := _began(record)) is None else (time - first) / width for record in records]
    return late if intent.lean == "present" else [None if one is None else 1.0 - one for one in late]


def _times(record: Record) -> list[float]:
    return [time for time in (record.created_at, record.valid_from) if time is not None]


def _began(record: Record) -> float | None:
    return record.created_at if record.valid_from is None else record.valid_from


def _reaches_away(time: float, window: Window) -> float:
    """How many of the window's reaches a time lies before or after it."""
    if window.start is not None and time < window.start:
        return (window.start - time) / _reach(window, *BEFORE_EXACT)
    return 0.0 if window.end is None else max(0.0, time - window.end) / _reach(window, *AFTER_EXACT)


def _reach(window: Window, least: float, most: float) -> float:
    if window.soft_seconds > 0.0:
        return min(MOST_REACH, max(LEAST_REACH, window.soft_seconds))
    if window.start is None or window.end is None:
        return most
    return min(most, max(least, (window.end - window.start) / 2))


LeadWeights = Mapping[str, float]
Parts = dict[str, list[float]]  # a column for each part
RRF_K = 60.0  # ranks added to each in reciprocal rank fusion; the literature


def relevances(
    hits: Sequence[Hit], fusion: Fusion, more: LeadWeights, reranked: float, of_time: Timing | None = None
) -> Parts:
    """The parts that add up to the relevance, by name: a column each, with a number in [0, 1] for each hit. `more` are
    the weights of further channels, by name, and `reranked` the share that a reranker decides. Vectors alone, where no
    time is asked about, are taken as they are, as the literature takes them.

    >>> from adaptive_memory_core.records import Record
    >>> relevances([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), -0.5, "b")], Fusion(), {}, 0.0)
    {'similarity': [0.5, 0.0]}
    """
    these = as_candidates(hits)
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
    these: Candidates, fusion: Fusion, more: LeadWeights, of_time: Timing | None = None
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


def _reciprocal_ranks(these: Candidates, more: LeadWeights, of_time: Timing | None = None) -> Parts:
    """Reciprocal rank fusion, for those who ask for it: weight / (k + rank), as a share of the most that all
    of them could be. Vectors and words count once each, a channel of the caller's by its weight.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record(one), close, one, {"words": words}) for one, close, words in
    ...         (("a", 0.9, 0.0), ("b", 0.8, 0.5))]
    >>> _reciprocal_ranks(as_candidates(hits), {})
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


def _weighted_sum(these: Candidates, fusion: Fusion, more: LeadWeights) -> Parts:
    """Similarity and channels as they are, each times its weight, as a share of the weights. Below 0 they stay.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record("a"), 0.5, "a", {"graph": 0.25}), Hit(Record("b"), -1.0, "b", {"graph": 0.0})]
    >>> _weighted_sum(as_candidates(hits), Fusion(method="sum", vectors=1), {"graph": 3.0})
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
