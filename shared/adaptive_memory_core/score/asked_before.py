"""What do verdicts on similar questions do to the relevance? A part of its own, which may be below 0."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.learn.asked_before import gained
from adaptive_memory_core.policy.asked_before import AGAINST, NEAR, PART, TRUSTED, AskedBefore
from adaptive_memory_core.records import Hit


def asked_before(shares: list[dict[str, float]], hits: Sequence[Hit], numbers: AskedBefore) -> list[dict[str, float]]:
    """The parts of each relevance, with what similar questions add or take, where they say something.

    >>> from adaptive_memory_core.records import Record
    >>> def hit(**leads): return Hit(Record("a", "tea"), 0.5, "a", leads)
    >>> told = hit(asked_near=1.0, asked_trusted=0.5, asked_against=0.0)
    >>> asked_before([{"similarity": 0.5}], [told], AskedBefore())
    [{'similarity': 0.5, 'asked_before': 0.25}]
    >>> asked_before([{"similarity": 0.5}], [hit()], AskedBefore())
    [{'similarity': 0.5}]
    """
    if not hits or NEAR not in hits[0].leads:  # all hits of a recall have the same leads
        return shares
    return [{**share, PART: _gained(share, hit, numbers)} for share, hit in zip(shares, hits, strict=True)]


def _gained(share: dict[str, float], hit: Hit, numbers: AskedBefore) -> float:
    leads = hit.leads
    return gained(sum(share.values()), leads[NEAR], leads[TRUSTED], leads[AGAINST], numbers)
