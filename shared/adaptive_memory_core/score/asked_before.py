"""What do verdicts on similar questions do to the relevance? A part of its own, which may be below 0."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.channels.fuse import Parts
from adaptive_memory_core.learn.asked_before import gained
from adaptive_memory_core.policy.asked_before import AGAINST, AHEAD, NEAR, PART, TRUSTED, AskedBefore
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import columns_of

LEAST_SIMILARITY = 0.05  # of the most similar candidate, below which it is no measure of anything; guess


def asked_before(shares: Parts, hits: Sequence[Hit], numbers: AskedBefore) -> Parts:
    """The parts of each relevance, with what similar questions add or take, where they say something.

    >>> from adaptive_memory_core.records import Record
    >>> def hit(**leads): return Hit(Record("a", "tea"), 0.5, "a", leads)
    >>> told = hit(asked_near=1.0, asked_trusted=0.5, asked_against=0.0, asked_ahead=0.0)
    >>> asked_before({"similarity": [0.5]}, [told], AskedBefore())
    {'similarity': [0.5], 'asked_before': [0.25]}
    >>> asked_before({"similarity": [0.5]}, [hit()], AskedBefore())
    {'similarity': [0.5]}
    """
    these = columns_of(hits)
    leads, similarities = these.leads, these.columns.similarities
    if not these or NEAR not in leads:  # all hits of a recall have the same leads
        return shares
    wholes = [sum(row) for row in zip(*shares.values(), strict=True)]
    ahead = leads.get(AHEAD) or [0.0] * len(these)  # which a line of an older log does not tell
    measure, fallen = relevance_of_similarity(wholes, similarities), fallen_behind(similarities, ahead)
    nears = [measure * max(0.0, near - numbers.behind * by) for near, by in zip(leads[NEAR], fallen, strict=True)]
    told = zip(wholes, nears, leads[TRUSTED], leads[AGAINST], strict=True)
    return {**shares, PART: [gained(whole, near, good, bad, numbers) for whole, near, good, bad in told]}


def relevance_of_similarity(relevances: Sequence[float], similarities: Sequence[float]) -> float:
    """What a similarity is worth as relevance in this recall, by the best candidates: where words count as well, a
    relevance is less. How near two questions are is a similarity, and has to be measured like what it stands beside.

    >>> relevance_of_similarity([0.2 + 0.1], [0.5])
    0.6
    """
    nearest = max(LEAST_SIMILARITY, *similarities)
    return min(1.0, round(max(relevances), 12) / nearest)


def fallen_behind(similarities: Sequence[float], ahead: Sequence[float]) -> list[float]:
    """By how much of similarity each stands further behind the most similar other than it stood in the nearest question
    that it was helpful for: so far has this question moved away, to something that may never have been asked for.

    >>> fallen_behind([0.25, 0.75], [0.5, 0.0])                # nobody stood before the first one then
    [0.5, 0.0]
    """
    ranked = sorted(similarities, reverse=True)
    if len(ranked) < 2:
        return [0.0] * len(ranked)
    return [
        max(0.0, 2.0 * then - 1.0 - like + ranked[int(like == ranked[0])])
        for like, then in zip(similarities, ahead, strict=True)
    ]
