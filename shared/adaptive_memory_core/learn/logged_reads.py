"""What must the log keep of reads besides the signals? Mostly nothing: recency tells when, importance how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.score.signals import DAY, NEUTRAL_IMPORTANCE

Signals = Mapping[str, Sequence[float]]  # by name, a value for each candidate
Numbers = Any  # an array of them
TITLES = ("read_ago", "fresh_before", "warmth", "credit", "importance")
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
        return int(self.ages(np.array([fresh]))[0])

    def ages(self, fresh: Numbers) -> Numbers:
        """Of several."""
        logs = np.log2(fresh, out=np.zeros(len(fresh)), where=fresh > 0.0)
        return np.rint(-self.half_life_seconds * logs)

    def reads(self, gained: float, age: int) -> float:
        """The retrieval count that an importance has gained so much by.

        >>> round(Told.by(Policy()).reads(Policy().reading.count_weight * float(np.log1p(3.0)), 0), 6)
        3.0
        """
        return float(self.counts(np.array([gained]), np.array([float(age)]))[0])

    def counts(self, gained: Numbers, ages: Numbers) -> Numbers:
        """Of several."""
        left = np.power(self.left_per_day, np.maximum(0.0, ages) / DAY)
        known = (gained > 0.0) & (gained < self.most_gained) & (left >= LEAST_LEFT)
        counts = np.zeros(len(gained))
        if known.any():
            counts[known] = np.expm1(gained[known] / self.count_weight) / left[known]
        return counts


def columns_of_reads(
    reads: Sequence[ReadState], importances: Sequence[float | None], signals: Signals, policy: Policy, at: float
) -> Numbers:
    """Under each of `TITLES` a whole number for each candidate: what its reads were, less what its signals tell."""
    told, nothing = Told.by(policy), [0.0] * len(reads)
    fresh, worth = _in_log([signals.get(name, nothing) for name in ("recency", "importance")])
    given = [NEUTRAL_IMPORTANCE if one is None else one for one in importances]
    written = np.trunc(SHARE_UNIT * np.array(given) + 0.5)
    kept = [(one.refreshed_at, one.last_read, one.warmth, one.credit) for one in reads]
    refreshed, last, warmth, credit = np.array(kept, dtype=float).T  # unknown: not a number
    ages = np.rint(at - np.where(np.isnan(last), refreshed, last))
    before = np.rint(at - refreshed) - ages
    exactly = np.power(0.5, np.maximum(0.0, ages) / told.half_life_seconds)
    beyond = np.where(np.abs(exactly - fresh) < LAST_DIGIT / 2, 0.0, ages - told.ages(fresh))
    likely = told.counts(worth - written / SHARE_UNIT, ages)
    more = np.rint(WARMTH_UNIT * (warmth - likely))
    uncounted = credit - np.trunc(likely + more / WARMTH_UNIT + WHOLE)
    found = np.array([beyond, before, more, uncounted, written])
    found[1, np.isnan(refreshed)] = 0.0
    found[:4, np.isnan(ages)] = 0.0  # nobody has read them
    return found


def _in_log(values: Sequence[Sequence[float]]) -> Numbers:
    """Signals as the log has them."""
    return np.trunc(np.array(values) / LAST_DIGIT + 0.5) * LAST_DIGIT


def reads_of(then: Mapping[str, int], signals: Mapping[str, float], policy: Policy) -> Reads:
    """The reads that a row and the signals tell of.

    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, retrieval_count=2, credit=2, warmth=1.5)
    >>> found = columns_of_reads([read], [None], {"recency": [0.75], "importance": [0.52]}, Policy(), at=9.0)
    >>> then = dict(zip(TITLES, found.astype(int)[:, 0].tolist()))
    >>> reads_of(then, {"recency": 0.75, "importance": 0.52}, Policy())
    Reads(age=5, fresh_before=0, warmth=1.5, credit=2)
    """
    told = Told.by(policy)
    age = then["read_ago"] + told.age(signals.get("recency", 0.0))
    likely = told.reads(signals.get("importance", 0.0) - then["importance"] / SHARE_UNIT, age)
    warmth = likely + then["warmth"] / WARMTH_UNIT
    return Reads(age, then["fresh_before"], max(0.0, round(warmth, 3)), then["credit"] + int(warmth + WHOLE))
