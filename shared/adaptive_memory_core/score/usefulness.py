"""Signals in addition to relevance: usefulness, similar questions, and importance, even if it is out of bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.learn.asked_before import MOST_UNRELATED, gained
from adaptive_memory_core.policy.advanced import Weights
from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, PART, TRUSTED
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, ReadState
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.score.relevance import Parts, baseline_in, times, within_share
from adaptive_memory_core.score.signals import faded

USUAL_SCALES = (1, 5, 10, 100)


def odd_importance(hits: Sequence[Hit], fields: Fields) -> str | None:
    """A note on the candidates whose importance is not a number on the declared scale; None if all are.

    >>> from adaptive_memory_core.records import Record
    >>> odd = Hit(Record("a", "tea", stored={"importance": 8}), 0.5, "a")
    >>> odd_importance([odd], Fields()).partition(":")[0]
    "the importance of 1 candidate, such as 8 of 'a', is not a number from 0 to 1 and counts as neutral"
    >>> odd_importance([Hit(Record("a", "tea"), 0.5, "a")], Fields()) is None
    True
    """
    these, key = as_candidates(hits), fields.importance
    rows = enumerate(zip(these.columns.stored, these.columns.importances, these.columns.reads, strict=True))
    likely = [one for one, (stored, found, read) in rows if (found is None or read.boost) and key in stored]
    odd = [record for one in likely if (record := these[one].record).written_importance is None]
    if not odd:
        return None
    values = [one.stored[key] for one in odd]
    number = "1 candidate" if len(odd) == 1 else f"{len(odd)} candidates"
    return (
        f"the importance of {number}, such as {values[0]!r} of {odd[0].id!r}, is not a number from 0 to "
        f"{fields.importance_scale:g} and counts as neutral: {_remedy(values, fields)}"
    )


def _remedy(values: Sequence[object], fields: Fields) -> str:
    """What to declare, where one scale fits all of the values."""
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    fits = next((scale for scale in USUAL_SCALES if numbers and max(numbers) <= scale), None)
    if len(numbers) < len(values) or fits is None or min(numbers) < 0:
        return f"write numbers from 0 to {fields.importance_scale:g} under {fields.importance!r}"
    return f"say fields=Fields(importance={fields.importance!r}, importance_scale={fits})"


HOUR = 3_600.0
# It wears off by power laws of age, as in ACT-R, which serves bursts of minutes and habits of months. The user's own
# recalls are the better clock: bursts look alike by it however fast they come. Measured: benchmarks/bursts.py
HOURS = 1.0  # until it begins to wear off by the clock
HOURS_POWER = 0.25  # how steeply by the clock: 0.23 is left after two weeks
RECALLS = 15.0  # of the user, until it begins to wear off by them
RECALLS_POWER = 1.5  # how steeply by recalls: 0.23 is left after 25
UNHELPFUL = 0.1  # share of helpful feedback that unhelpful feedback weighs


class Use(NamedTuple):
    """A user's recalls so far, and the share of its weight that usefulness has earned."""

    step: int = 0
    gain: float = 0.0


NO_USE = Use()


def usefulness(state: ReadState, *, step: int, now: float) -> float:
    """What is left of a record's last useful read: 1 right after it, 0 where it never was of use.

    It wears off by the clock and by the user's recalls, and what was judged unhelpful as well counts for less. Seen
    from before it, it has not been.

    >>> usefulness(ReadState(useful_at=0.0, useful_step=3, helpful=1), step=3, now=0.0)
    1.0
    >>> usefulness(ReadState(useful_at=0.0, helpful=1), step=45, now=0.0)      # a quarter to the power of 1.5
    0.125
    >>> usefulness(ReadState(useful_at=0.0, helpful=1, unhelpful=20), step=0, now=0.0)
    0.5
    >>> usefulness(ReadState(last_read=0.0, unhelpful=9), step=0, now=0.0)
    0.0
    """
    if state.useful_at is None or now < state.useful_at:
        return 0.0
    hours = (now - state.useful_at) / (HOURS * HOUR)
    recalls = max(0, step - state.useful_step) / RECALLS
    left = math.pow(1.0 + hours, -HOURS_POWER) * math.pow(1.0 + recalls, -RECALLS_POWER)
    if state.unhelpful == 0:
        return left
    helpful = 1.0 + max(1, state.helpful)
    return left * helpful / (helpful + UNHELPFUL * state.unhelpful)


def raised(relevance: float, useful: float, weight: float) -> float:
    """The relevance as usefulness leaves it: as if so many more pieces of evidence, each as sure, spoke for the record.

    At most `1 + weight` times the relevance, never above 1, and nothing where there is no relevance.

    >>> raised(0.5, 1.0, 1.0), raised(0.5, 0.0, 1.0), raised(0.0, 1.0, 9.0), raised(1.0, 1.0, 9.0)
    (0.75, 0.5, 0.0, 1.0)
    """
    if useful <= 0.0 or weight <= 0.0:
        return relevance
    return 1.0 - math.pow(1.0 - relevance, 1.0 + weight * useful)


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
    """The recency of useful reads: it has its own decay, and counts in proportion to how well the hit fits the cue."""
    these = as_candidates(hits)
    reads = these.columns.reads
    if [read.useful_at for read in reads].count(None) == len(reads):
        return [0.0] * len(reads)
    above = baseline_in(these.leads).above(np.array(these.columns.similarities)).tolist()
    return [
        0.0 if read.useful_at is None else fit * usefulness(read, step=use.step, now=now)
        for read, fit in zip(reads, gain_limits(close, above), strict=True)
    ]


def gain_limits(close: Sequence[float], similarities: Sequence[float]) -> list[float]:
    """How far each may gain by having been of use: the less, the further it is from the relevance of the best, and
    not at all if the most similar one is just what was asked for and it is not. Similarities count from unrelated text.

    >>> gain_limits([0.5, 0.4, 0.0], [0.7, 0.6, 0.5]), gain_limits([0.9, 0.8], [1.0, 0.9]), gain_limits([], [])
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


BEHIND = 1.5  # nearness that an earlier question loses for what the record has fallen behind; similar_questions.py
LEAST_SIMILARITY = 0.05  # above the baseline, of the most similar candidate; with less nothing can be measured; guess


def asked_before(shares: Parts, hits: Sequence[Hit], weight: float) -> Parts:
    """The parts of each relevance, with what similar questions add or take, where they say something.

    >>> from adaptive_memory_core.records import Record
    >>> def hit(**leads): return Hit(Record("a", "tea"), 0.5, "a", leads)
    >>> told = hit(asked_near=1.0, asked_trusted=0.5, asked_against=0.0, asked_ahead=0.0)
    >>> asked_before({"similarity": [0.5]}, [told], 1.0)
    {'similarity': [0.5], 'asked_before': [0.25]}
    >>> asked_before({"similarity": [0.5]}, [hit()], 1.0)
    {'similarity': [0.5]}
    """
    these = as_candidates(hits)
    leads, similarities = these.leads, these.columns.similarities
    if not these or NEAR not in leads:  # all hits of a recall have the same leads
        return shares
    wholes = [sum(row) for row in zip(*shares.values(), strict=True)]
    ahead = leads.get(AHEAD) or [0.0] * len(these)  # which a line of an older log does not tell
    standings = from_baseline(similarities)
    measure, fallen = relevance_of_similarity(wholes, standings), fallen_behind(standings, ahead)
    nears = [measure * max(0.0, near - BEHIND * by) for near, by in zip(leads[NEAR], fallen, strict=True)]
    told = zip(wholes, nears, leads[TRUSTED], leads[AGAINST], strict=True)
    return {**shares, PART: [gained(whole, near, good, bad, weight) for whole, near, good, bad in told]}


def median_baseline(similarities: Sequence[float]) -> float:
    """The similarity of unrelated texts, by the candidates: their median, since few of them answer the question.

    >>> median_baseline([0.9, 0.7, 0.72]), median_baseline([])
    (0.72, 0.0)
    """
    return min(MOST_UNRELATED, max(0.0, median(similarities))) if similarities else 0.0


def from_baseline(similarities: Sequence[float]) -> list[float]:
    """The similarities measured from those of unrelated texts, so that embedders are comparable: 0 is unrelated, 1 is
    the same.

    >>> from_baseline([1.0, 0.5, 0.5])
    [1.0, 0.0, 0.0]
    """
    baseline = median_baseline(similarities)
    return [(one - baseline) / (1.0 - baseline) for one in similarities]


def relevance_of_similarity(relevances: Sequence[float], standings: Sequence[float]) -> float:
    """What a similarity, measured from the baseline, is worth as relevance in this recall, by the best candidates. How
    near two questions are is such a similarity, and has to be measured like the relevance it is compared with.

    >>> relevance_of_similarity([0.2 + 0.1], [0.5])
    0.6
    """
    nearest = max(LEAST_SIMILARITY, *standings)
    return min(1.0, round(max(relevances), 12) / nearest)


def fallen_behind(standings: Sequence[float], ahead: Sequence[float]) -> list[float]:
    """How much further behind the most similar other each record is now than it was in the nearest question that it was
    helpful for: as far as that, this question asks for something else. 0 if it is not known how it was then.

    >>> fallen_behind([0.25, 0.75], [0.5, 0.0])                # no other was more similar than the first one then
    [0.5, 0.0]
    """
    if len(standings) < 2:
        return [0.0] * len(standings)
    now = ahead_of_others(standings)
    return [max(0.0, 2.0 * then - 1.0 - one) if then > 0.0 else 0.0 for one, then in zip(now, ahead, strict=True)]


def ahead_of_others(standings: Sequence[float]) -> list[float]:
    """By how much each of at least two is more similar than the best of the others; below 0 if another is more similar.

    >>> ahead_of_others([0.75, 0.5])
    [0.25, -0.25]
    """
    first, second = sorted(standings, reverse=True)[:2]
    return [one - (second if one == first else first) for one in standings]
