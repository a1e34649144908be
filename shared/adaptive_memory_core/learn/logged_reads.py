"""What must the log keep of reads besides the signals? Mostly nothing: recency tells when, importance how often."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.score.signals import DAY, NEUTRAL_IMPORTANCE

Signals = Mapping[str, Sequence[float]]  # by name, a value for each candidate
TITLES = ("read_ago", "fresh_before", "warmth", "credit")  # 0 where a line has none of that title
UNREAD = (0, 0, 0, 0)
WARMTH_UNIT, SHARE_UNIT = 1_000, 1_000_000  # parts of 1
LAST_DIGIT = 1e-6  # of signals in the log
LEAST_LEFT, MOST_LOGS = 1e-6, 30.0  # of a retrieval count, within which the importance is asked for it
MOST_HALF_LIVES, MOST_WARMTH, LEAST_TOLD = 10, 20.0, 0.1  # ages and counts that six digits of the signals tell
WHOLE = 0.37  # of a retrieval count, from which it is taken for the next whole number: no usual count has this share


class Reads(NamedTuple):
    """When a record was last read before a recall, how much earlier recency began, and how often it was read."""

    age: int
    fresh_before: int
    warmth: float
    credit: int


class Times(NamedTuple):
    """When each candidate was last read, and from which read its recency counts."""

    read: Sequence[float | None]
    refreshed: Sequence[float | None]


class Told(NamedTuple):
    """What signals tell of reads under a policy."""

    half_life_seconds: float
    half_life_grows: bool
    left_per_day: float
    count_weight: float
    most_gained: float

    @classmethod
    def by(cls, policy: Policy) -> Told:
        reading = policy.reading
        most = min(reading.count_boost_max, MOST_LOGS * reading.count_weight)
        grows = reading.half_life_growth != 0
        return cls(policy.half_life_days * DAY, grows, reading.count_decay_per_day, reading.count_weight, most)

    def tell_all(self, reads: Sequence[ReadState], times: Times, at: float) -> bool:
        """Whether signals of that policy tell when each was read, and its retrieval count, so that none is looked at.

        >>> told, read = Told.by(Policy()), ReadState(last_read=4.0, refreshed_at=4.0, warmth=1.5)
        >>> [told.tell_all([read], Times([4.0], [begun]), 9.0) for begun in (4.0, 1.0)]
        [True, False]
        """
        if self.half_life_grows or times.read != times.refreshed:
            return False
        known = [one for one in times.read if one is not None]
        longest, warmest = at - min(known, default=at), max([one.warmth for one in reads], default=0.0)
        return (
            max(known, default=at) <= at
            and longest <= MOST_HALF_LIVES * self.half_life_seconds
            and warmest <= MOST_WARMTH
            and self.count_weight * math.log1p(warmest) < self.most_gained
            and math.pow(self.left_per_day, longest / DAY) >= LEAST_TOLD
        )

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


def columns_of_told(reads: Sequence[ReadState], importances: Sequence[float | None]) -> dict[str, Sequence[float]]:
    """By title a number for each candidate, of which the log keeps the nearest whole one, where signals tell all but
    how often a record was read, which follows from the retrieval count but for what decay took of that.

    >>> columns_of_told([ReadState(credit=2, warmth=1.5), ReadState()], [0.75, None])
    {'importance': [750000.0, 500000.0], 'credit': [1, 0]}
    """
    columns: dict[str, Sequence[float]] = {"importance": _written(importances)}
    more = [one.credit - int(one.warmth + WHOLE) for one in reads]
    return {**columns, "credit": more} if any(more) else columns


def columns_of_untold(
    reads: Sequence[ReadState], importances: Sequence[float | None], signals: Signals, told: Told, at: float
) -> dict[str, Sequence[float]]:
    """The same where signals do not tell all: what its reads were, less what its signals tell.

    >>> read = ReadState(last_read=4.0, refreshed_at=4.0, credit=2, warmth=1.5)
    >>> columns_of_untold([read], [None], {"recency": [0.75], "importance": [0.52]}, Told.by(Policy()), 9.0)
    {'importance': [500000.0], 'read_ago': (-502024,), 'fresh_before': (0,), 'warmth': (1008,), 'credit': (1,)}
    """
    written, nothing = _written(importances), [0.0] * len(reads)
    rows = [
        UNREAD
        if one.last_read is None and one.refreshed_at is None
        else _untold(one, fresh, worth, round(own), told, at)
        for one, fresh, worth, own in zip(
            reads, signals.get("recency", nothing), signals.get("importance", nothing), written, strict=True
        )
    ]
    return {"importance": written, **dict(zip(TITLES, zip(*rows, strict=True), strict=True))}


def _written(importances: Sequence[float | None]) -> list[float]:
    return [SHARE_UNIT * (NEUTRAL_IMPORTANCE if one is None else one) for one in importances]


def _untold(read: ReadState, fresh: float, worth: float, written: int, told: Told, at: float) -> tuple[int, ...]:
    """What the signals do not tell of a record's reads."""
    begun = read.refreshed_at
    age = round(at - (read.last_read if read.last_read is not None else begun or 0.0))
    before = 0 if begun is None else round(at - begun) - age
    fresh, worth = _in_log(fresh), _in_log(worth)
    exactly = math.pow(0.5, max(0, age) / told.half_life_seconds)
    beyond = 0 if fresh > 0.0 and abs(exactly - fresh) < LAST_DIGIT / 2 else age - told.age(fresh)
    likely = told.reads(worth - written / SHARE_UNIT, age)
    more = round(WARMTH_UNIT * (read.warmth - likely))
    return beyond, before, more, read.credit - math.trunc(likely + more / WARMTH_UNIT + WHOLE)


def _in_log(value: float) -> float:
    """A signal as the log has it."""
    return round(SHARE_UNIT * value) / SHARE_UNIT


def reads_of(then: Mapping[str, int], signals: Mapping[str, float], policy: Policy) -> Reads:
    """The reads that a row and the signals tell of.

    >>> then = {"credit": 1, "importance": 750_000}
    >>> reads_of(then, {"recency": 0.999997, "importance": 0.795815}, Policy())
    Reads(age=5, fresh_before=0, warmth=1.5, credit=2)
    """
    told, beyond = Told.by(policy), then.get
    age = beyond("read_ago", 0) + told.age(signals.get("recency", 0.0))
    likely = told.reads(signals.get("importance", 0.0) - then["importance"] / SHARE_UNIT, age)
    warmth = likely + beyond("warmth", 0) / WARMTH_UNIT
    whole = beyond("credit", 0) + int(warmth + WHOLE)
    return Reads(age, beyond("fresh_before", 0), max(0.0, round(warmth, 3)), whole)
