"""What do verdicts on similar questions do to the relevance? A part of its own, which may be below 0."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.learn.asked_before import gained
from adaptive_memory_core.policy.asked_before import AGAINST, AHEAD, NEAR, PART, TRUSTED, AskedBefore
from adaptive_memory_core.records import Hit

LEAST_SIMILARITY = 0.05  # of the most similar candidate, below which it is no measure of anything; guess


def asked_before(shares: list[dict[str, float]], hits: Sequence[Hit], numbers: AskedBefore) -> list[dict[str, float]]:
    """The parts of each relevance, with what similar questions add or take, where they say something.

    >>> from adaptive_memory_core.records import Record
    >>> def hit(**leads): return Hit(Record("a", "tea"), 0.5, "a", leads)
    >>> told = hit(asked_near=1.0, asked_trusted=0.5, asked_against=0.0, asked_ahead=0.0)
    >>> asked_before([{"similarity": 0.5}], [told], AskedBefore())
    [{'similarity': 0.5, 'asked_before': 0.25}]
    >>> asked_before([{"similarity": 0.5}], [hit()], AskedBefore())
    [{'similarity': 0.5}]
    """
    if not hits or NEAR not in hits[0].leads:  # all hits of a recall have the same leads
        return shares
    measure, fallen = relevance_of_similarity(shares, hits), fallen_behind(hits)
    return [
        {**share, PART: _gained(share, hit, measure, by, numbers)}
        for share, hit, by in zip(shares, hits, fallen, strict=True)
    ]


def relevance_of_similarity(shares: Sequence[dict[str, float]], hits: Sequence[Hit]) -> float:
    """What a similarity is worth as relevance in this recall, by the best candidates: where words count as well, a
    relevance is less. How near two questions are is a similarity, and has to be measured like what it stands beside.

    >>> from adaptive_memory_core.records import Record
    >>> relevance_of_similarity([{"similarity": 0.2, "words": 0.1}], [Hit(Record("a", "tea"), 0.5, "a")])
    0.6
    """
    best = max(sum(share.values()) for share in shares)
    nearest = max(LEAST_SIMILARITY, *(hit.similarity for hit in hits))
    return min(1.0, round(best, 12) / nearest)


def fallen_behind(hits: Sequence[Hit]) -> list[float]:
    """By how much of similarity each stands further behind the most similar other than it stood in the nearest question
    that it was helpful for: so far has this question moved away, to something that may never have been asked for.

    >>> from adaptive_memory_core.records import Record
    >>> then = Hit(Record("a", "tea"), 0.25, "a", {AHEAD: 0.5})                # nobody stood before it
    >>> fallen_behind([then, Hit(Record("b", "cocoa"), 0.75, "b", {AHEAD: 0.0})])
    [0.5, 0.0]
    """
    ranked = sorted((hit.similarity for hit in hits), reverse=True)
    if len(ranked) < 2:
        return [0.0] * len(hits)
    return [
        max(0.0, 2.0 * hit.leads[AHEAD] - 1.0 - hit.similarity + ranked[int(hit.similarity == ranked[0])])
        for hit in hits
    ]


def _gained(share: dict[str, float], hit: Hit, measure: float, fallen: float, numbers: AskedBefore) -> float:
    leads = hit.leads
    near = measure * max(0.0, leads[NEAR] - numbers.behind * fallen)
    return gained(sum(share.values()), near, leads[TRUSTED], leads[AGAINST], numbers)
