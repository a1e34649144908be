"""What must the log keep of reads besides the signals? Mostly nothing: recency tells when, importance how often."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.score.signals import DAY, NEUTRAL_IMPORTANCE

Signals = Mapping[str, Sequence[float]]  # by name, a value for each candidate
TITLES = ("read_ago", "fresh_before", "warmth", "credit", "importance")
UNREAD = (0, 0, 0, 0)  # under all but the last of them
WARMTH_UNIT, SHARE_UNIT = 1_000, 1_000_000  # parts of 1
LAST_DIGIT = 1e-6  # of signals in the log
LEAST_LEFT, MOST_LOGS = 1e-6, 30.0  # of a retrieval count, within which the importance is asked for it
WHOLE = 0.37  # of a retrieval count, from which it is taken for the next whole number: no usual count has this share


class Reads(NamedTuple):
    """When a record was last read before a recall, how much earlier recency began, and how often it was read."""

    age: int
    fresh_before: int
    warmth: float
    credit: int


class Told(NamedTuple):
    """What signals tell of reads under a policy."""

    half_life_seconds: float
    left_per_day: float
    count_weight: float
    most_gained: float

    @classmethod
    def by(cls, policy: Policy) -> Told:
        reading = policy.reading
        most = min(reading.count_boost_max, MOST_LOGS * reading.count_weight)
        return cls(policy.half_life_days * DAY, reading.count_decay_per_day, reading.count_weight, most)

    def age(self, fresh: float) -> int:
        """The seconds since a read of this recency.

        >>> Told.by(Policy(half_life_days=1)).age(0.5), Told.by(Policy()).age(0.0)
        (86400, 0)
        """
        return round(-self.half_life_seconds * math.log2(fresh)) if fresh > 0.0 else 0

    def reads(self, gained: float, age: int) -> float:
        """The retrieval count that an importance has gained so much by.

        >>> round(Told.by(Policy()).reads(Policy().reading.count_weight * math.log1p(3.0), 0), 6)
        3.0
        """
        if not 0.0 < gained < self.most_gained:
            return 0.0
        left = math.pow(self.left_per_day, max(0, age) / DAY)
        return math.expm1(gained / self.count_weight) / left if left >= LEAST_LEFT else 0.0


def columns_of_reads(
    reads: Sequence[ReadState], importances: Sequence[float | None], signals: Signals, policy: Policy, at: float
) -> list[Sequence[int]]:
    """Under each of `TITLES` a whole number for each candidate: what its reads were, less what its signals tell."""
    told, nothing = Told.by(policy), [0.0] * len(reads)
    written = [math.trunc(SHARE_UNIT * (NEUTRAL_IMPORTANCE if one is None else one) + 0.5) for one in importances]
    signalled = (signals.get(name, nothing) for name in ("recency", "importance"))
    rows = [
        UNREAD if one.last_read is None and one.refreshed_at is None else _untold(one, fresh, worth, own, told, at)
        for one, fresh, worth, own in zip(reads, *signalled, written, strict=True)
    ]
    return [*zip(*rows, strict=True), written]


def _untold(read: ReadState, fresh: float, worth: float, written: int, told: Told, at: float) -> tuple[int, ...]:
    """What the signals do not tell of a record's reads."""
    begun = read.refreshed_at
    age = round(at - (read.last_read if read.last_read is not None else begun or 0.0))
    before = 0 if begun is None else round(at - begun) - age
    fresh, worth = _in_log(fresh), _in_log(worth)
    exactly = math.pow(0.5, max(0, age) / told.half_life_seconds)
    beyond = 0 if abs(exactly - fresh) < LAST_DIGIT / 2 else age - told.age(fresh)
    likely = told.reads(worth - written / SHARE_UNIT, age)
    more = round(WARMTH_UNIT * (read.warmth - likely))
    return beyond, before, more, read.credit - math.trunc(likely + more / WARMTH_UNIT + WHOLE)


def _in_log(value: float) -> float:
    """A signal as the log has it."""
    return math.trunc(value / LAST_DIGIT + 0.5) * LAST_DIGIT


def reads_of(then: Mapping[str, int], signals: Mapping[str, float], policy: Policy) -> Reads:
    """The reads that a row and the signals tell of.

    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, retrieval_count=2, credit=2, warmth=1.5)
    >>> found = columns_of_reads([read], [None], {"recency": [0.75], "importance": [0.52]}, Policy(), at=9.0)
    >>> then = dict(zip(TITLES, [numbers[0] for numbers in found]))
    >>> reads_of(then, {"recency": 0.75, "importance": 0.52}, Policy())
    Reads(age=5, fresh_before=0, warmth=1.5, credit=2)
    """
    told = Told.by(policy)
    age = then["read_ago"] + told.age(signals.get("recency", 0.0))
    likely = told.reads(signals.get("importance", 0.0) - then["importance"] / SHARE_UNIT, age)
    warmth = likely + then["warmth"] / WARMTH_UNIT
    return Reads(age, then["fresh_before"], max(0.0, round(warmth, 3)), then["credit"] + int(warmth + WHOLE))
