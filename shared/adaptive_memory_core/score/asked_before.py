"""What do verdicts on similar questions do to the relevance? A part of its own, which may be below 0."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from adaptive_memory_core.learn.asked_before import MOST_UNRELATED, gained
from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, PART, TRUSTED
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.ranking import columns_of
from adaptive_memory_core.score.relevance import Parts

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
    these = columns_of(hits)
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


def baseline_of(similarities: Sequence[float]) -> float:
    """The similarity of unrelated texts, by the candidates: their median, since few of them answer the question.

    >>> baseline_of([0.9, 0.7, 0.72]), baseline_of([])
    (0.72, 0.0)
    """
    return min(MOST_UNRELATED, max(0.0, median(similarities))) if similarities else 0.0


def from_baseline(similarities: Sequence[float]) -> list[float]:
    """The similarities measured from those of unrelated texts, so that embedders are comparable: 0 is unrelated, 1 is
    the same.

    >>> from_baseline([1.0, 0.5, 0.5])
    [1.0, 0.0, 0.0]
    """
    baseline = baseline_of(similarities)
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
