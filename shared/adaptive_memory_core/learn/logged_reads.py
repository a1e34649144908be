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
        return 0 if fresh <= 0.0 else round(-math.log2(fresh) * self.half_life_seconds)

    def reads(self, gained: float, age: int) -> float:
        """The retrieval count that an importance has gained so much by.

        >>> round(Told.by(Policy()).reads(Policy().reading.count_weight * math.log1p(3.0), 0), 6)
        3.0
        """
        if not 0.0 < gained < self.most_gained:
            return 0.0
        left = math.pow(self.left_per_day, max(0, age) / DAY)
        return 0.0 if left < LEAST_LEFT else math.expm1(gained / self.count_weight) / left


def rows_of(
    states: Sequence[tuple[ReadState, float | None]], signals: Signals, policy: Policy, at: float
) -> list[tuple[int, int, int, int, int]]:
    """A row for each candidate under `TITLES`: what its reads were, less what its signals tell of them. `states` are
    the read states, with the importance of each."""
    told, nothing = Told.by(policy), [0.0] * len(states)
    rows = []
    said = zip(states, signals.get("recency", nothing), signals.get("importance", nothing), strict=True)
    for (read, importance), fresh, worth in said:
        written = int(SHARE_UNIT * (NEUTRAL_IMPORTANCE if importance is None else importance) + 0.5)
        never = read.last_read is None and read.refreshed_at is None
        rows.append((0, 0, 0, 0, written) if never else _row(read, (fresh, worth), written, told, at))
    return rows


def _row(
    read: ReadState, signals: tuple[float, float], written: int, told: Told, at: float
) -> tuple[int, int, int, int, int]:
    fresh, worth = (int(one / LAST_DIGIT + 0.5) * LAST_DIGIT for one in signals)
    last_read = read.refreshed_at if read.last_read is None else read.last_read
    age = round(at - (last_read or 0.0))
    before = 0 if read.refreshed_at is None else round(at - read.refreshed_at) - age
    exactly = math.pow(0.5, max(0, age) / told.half_life_seconds)
    beyond = 0 if abs(exactly - fresh) < LAST_DIGIT / 2 else age - told.age(fresh)
    likely = told.reads(worth - written / SHARE_UNIT, age)
    more = round(WARMTH_UNIT * (read.warmth - likely))
    return beyond, before, more, read.credit - int(likely + more / WARMTH_UNIT + WHOLE), written


def reads_of(then: Mapping[str, int], signals: Mapping[str, float], policy: Policy) -> Reads:
    """The reads that a row and the signals tell of.

    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, retrieval_count=2, credit=2, warmth=1.5)
    >>> row, = rows_of([(read, None)], {"recency": [0.75], "importance": [0.52]}, Policy(), at=9.0)
    >>> reads_of(dict(zip(TITLES, row)), {"recency": 0.75, "importance": 0.52}, Policy())
    Reads(age=5, fresh_before=0, warmth=1.5, credit=2)
    """
    told = Told.by(policy)
    age = then["read_ago"] + told.age(signals.get("recency", 0.0))
    likely = told.reads(signals.get("importance", 0.0) - then["importance"] / SHARE_UNIT, age)
    warmth = likely + then["warmth"] / WARMTH_UNIT
    return Reads(age, then["fresh_before"], max(0.0, round(warmth, 3)), then["credit"] + int(warmth + WHOLE))
