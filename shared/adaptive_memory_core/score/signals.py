"""What are recency, importance and strength of a record? One function a signal, numbers in, a number out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState, Record

DAY = 86_400.0
NEUTRAL_IMPORTANCE = 0.5
MOST_HALF_LIFE_DAYS = 365.0  # up to which reads may lengthen it; guess
COUNT_BOOST_MAX = 0.2  # importance that the number of reads adds at most; guess


def decay(age_seconds: float, *, half_life_days: float) -> float:
    """What is left of 1 after `age_seconds`: half after each half-life, and never above 1.

    >>> decay(14 * 86_400, half_life_days=14)
    0.5
    >>> decay(-3600, half_life_days=14)      # clocks go backwards
    1.0
    """
    return math.pow(0.5, max(0.0, age_seconds) / (half_life_days * DAY))


def half_life(counted_reads: int, policy: Policy) -> float:
    """Days until recency is halved; each counted read lengthens it (MemoryBank), up to a year.

    >>> half_life(10, Policy())
    14.0
    >>> growing = Policy().replace(learning={"half_life_growth": 0.5})
    >>> half_life(2, growing), half_life(10_000, growing)
    (28.0, 365.0)
    """
    if policy.learning.half_life_growth == 0:
        return policy.half_life_days
    grown = policy.half_life_days * (1 + policy.learning.half_life_growth * counted_reads)
    return min(grown, max(policy.half_life_days, MOST_HALF_LIFE_DAYS))


def recency(record: Record, policy: Policy, *, now: float) -> float | None:
    """How fresh a record is: from its last refreshing read, else from its creation; None where neither is known.

    >>> from adaptive_memory_core.records import ReadState
    >>> recency(Record("a", "text", created_at=0.0), Policy(), now=14 * DAY)
    0.5
    >>> recency(Record("a", "text", created_at=0.0, read=ReadState(refreshed_at=14 * DAY)), Policy(), now=14 * DAY)
    1.0
    >>> recency(Record("a", "text"), Policy(), now=14 * DAY) is None
    True
    """
    (found,) = recencies([record.created_at], [record.read], policy, now=now)
    return found


def recencies(
    created: Sequence[float | None], reads: Sequence[ReadState], policy: Policy, *, now: float
) -> list[float | None]:
    """The recency of many records: from its last refreshing read, else from the other time that is given."""
    known = [one if read.refreshed_at is None else read.refreshed_at for one, read in zip(created, reads, strict=True)]
    return faded(known, reads, policy, now=now, unknown=None)


Unknown = TypeVar("Unknown", float, None)


def faded(
    since: Sequence[float | None], reads: Sequence[ReadState], policy: Policy, *, now: float, unknown: Unknown
) -> list[float | Unknown]:
    """The recencies of records that have them since these times.

    >>> faded([14 * DAY, None], [ReadState(), ReadState()], Policy(), now=28 * DAY, unknown=0.0)
    [0.5, 0.0]
    """
    if policy.learning.half_life_growth == 0:
        half, power = policy.half_life_days * DAY, math.pow
        return [unknown if at is None else power(0.5, age / half) if (age := now - at) > 0.0 else 1.0 for at in since]
    return [
        unknown if at is None else decay(now - at, half_life_days=half_life(read.credit, policy))
        for at, read in zip(since, reads, strict=True)
    ]


def cooled(warmth: float, last_read: float | None, policy: Policy, *, now: float) -> float:
    """The retrieval count after its decay: what was 100 reads is 37 after a hundred quiet days at 0.99 a day.

    >>> round(cooled(100.0, 0.0, Policy(), now=100 * DAY))
    37
    >>> cooled(0.0, None, Policy(), now=0.0)
    0.0
    """
    if last_read is None or warmth == 0.0:
        return warmth
    return warmth * math.pow(policy.learning.count_decay_per_day, max(0.0, now - last_read) / DAY)


def importance(record: Record, policy: Policy, *, now: float) -> float:
    """The record's importance plus what its retrieval count adds: logarithmic, decayed and bounded.

    >>> importance(Record("a", "text", importance=0.9), Policy(), now=0.0)
    0.9
    >>> importance(Record("a", "text"), Policy(), now=0.0)      # unknown is neutral
    0.5
    """
    (found,) = worths([record.importance], [record.read], policy, now=now)
    return found


def worths(
    importances: Sequence[float | None], reads: Sequence[ReadState], policy: Policy, *, now: float
) -> list[float]:
    """The importance of many records."""
    own = [NEUTRAL_IMPORTANCE if one is None else one for one in importances]
    most, weight, log = COUNT_BOOST_MAX, policy.learning.count_weight, math.log1p
    left, power = policy.learning.count_decay_per_day, math.pow
    warm = [  # as `cooled` has it
        read.warmth
        if (last := read.last_read) is None or now <= last
        else read.warmth * power(left, (now - last) / DAY)
        for read in reads
    ]
    gained = [weight * log(one) for one in warm]
    return [one + (more if more < most else most) for one, more in zip(own, gained, strict=True)]


def boosted(written: float, boost: float) -> float:
    """The importance that verdicts made of the written one, within [0, 1].

    >>> boosted(0.5, 0.05)
    0.525
    >>> boosted(0.9, 0.5)
    1.0
    """
    return min(1.0, max(0.0, written * (1.0 + boost)))


def weakened(similarity: float, strength: float, policy: Policy) -> float:
    """The similarity as strength leaves it. Below 0 it stays: a weak record is not to gain by being unlike the cue.

    >>> half = Policy().replace(decay={"strength_weight": 0.5})
    >>> weakened(0.8, 0.5, Policy()), weakened(-0.2, 0.5, Policy()), weakened(0.8, 0.5, half)
    (0.4, -0.2, 0.6000000000000001)
    """
    if strength >= 1.0 or similarity <= 0.0:
        return similarity
    return similarity * (1.0 - policy.decay.strength_weight * (1.0 - strength))


def similarity(distance: float, *, space: str) -> float:
    """Calibrated similarity from Chroma's distance: 1 is the same direction, 0 unrelated, below 0 opposed.

    `l2` is Chroma's squared distance and means this on unit vectors; on others it still orders as the distance does.

    >>> similarity(0.25, space="cosine"), similarity(0.25, space="ip"), similarity(0.5, space="l2")
    (0.75, 0.75, 0.75)
    """
    (found,) = similarities_at([distance], space=space)
    return found


def similarities_at(distances: Sequence[float], *, space: str) -> list[float]:
    """The similarities of many distances."""
    return [1.0 - one / 2.0 for one in distances] if space == "l2" else [1.0 - one for one in distances]
