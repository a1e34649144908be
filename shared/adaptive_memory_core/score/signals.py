"""Signals of a record: recency, importance, strength and usefulness. Numbers in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.score.ranking import Candidates, Table
from adaptive_memory_core.score.surprise import baseline_in

if TYPE_CHECKING:
    import numpy.typing as npt

DAY = 86_400.0
NEUTRAL_IMPORTANCE = 0.5
MOST_HALF_LIFE_DAYS = 365.0  # up to which reads may lengthen it; guess
COUNT_BOOST_MAX = 0.2  # importance that the number of reads adds at most; guess
_refreshed_at, _useful_at, _boost = attrgetter("refreshed_at"), attrgetter("useful_at"), attrgetter("boost")


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


def recencies(
    created: Sequence[float | None], reads: Sequence[ReadState], policy: Policy, *, now: float
) -> list[float | None]:
    """How fresh each record is: from its last refreshing read, else from its creation; None where neither is known.

    >>> recencies([0.0, None], [ReadState(), ReadState()], Policy(), now=14 * DAY)
    [0.5, None]
    >>> recencies([0.0], [ReadState(refreshed_at=14 * DAY)], Policy(), now=14 * DAY)
    [1.0]
    """
    known = [one if read.refreshed_at is None else read.refreshed_at for one, read in zip(created, reads, strict=True)]
    return faded(known, reads, policy, now=now, unknown=None)


Unknown = TypeVar("Unknown", float, None)
Numbers = TypeVar("Numbers", float, "npt.NDArray[np.float64]")


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


def worths(
    importances: Sequence[float | None], reads: Sequence[ReadState], policy: Policy, *, now: float
) -> list[float]:
    """Each record's importance plus what its retrieval count adds: logarithmic, decayed and bounded.

    >>> worths([0.9, None], [ReadState(), ReadState()], Policy(), now=0.0)      # unknown is neutral
    [0.9, 0.5]
    """
    weight, left = policy.learning.count_weight, policy.learning.count_decay_per_day
    log, power = math.log1p, math.pow
    found = [NEUTRAL_IMPORTANCE if one is None else one for one in importances]
    for place, read in enumerate(reads):
        if warmth := read.warmth:
            last = read.last_read
            more = weight * log(warmth if last is None or now <= last else warmth * power(left, (now - last) / DAY))
            found[place] += more if more < COUNT_BOOST_MAX else COUNT_BOOST_MAX
    return found


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


def similarity(distance: Numbers, *, space: str) -> Numbers:
    """Calibrated similarity from Chroma's distance, or several: 1 is the same direction, 0 unrelated, below 0 opposed.

    `l2` is Chroma's squared distance and means this on unit vectors; on others it still orders as the distance does.

    >>> similarity(0.25, space="cosine"), similarity(0.25, space="ip"), similarity(0.5, space="l2")
    (0.75, 0.75, 0.75)
    """
    return 1.0 - distance / 2.0 if space == "l2" else 1.0 - distance


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
MOST_EARNED = 4.0  # balance at which usefulness has its full weight: four times from the end to the first place


def earned_share(balance: float) -> float:
    """The share of the policy's weight that usefulness has at this balance: 0 at first, then growing exponentially.

    >>> earned_share(0.0), earned_share(2.0), earned_share(4.0)
    (0.0, 0.2, 1.0)
    """
    least = math.pow(2.0, -MOST_EARNED)
    return (math.pow(2.0, balance - MOST_EARNED) - least) / (1.0 - least)


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
    return faded(list(map(_refreshed_at, reads)), reads, policy, now=now, unknown=0.0)


def since_useful(
    reads: Sequence[ReadState],
    similarities: Sequence[float],
    close: Sequence[float],
    leads: Table,
    *,
    use: Use,
    now: float,
) -> list[float]:
    """The recency of useful reads: it has its own decay, and counts in proportion to how well the hit fits the cue."""
    if list(map(_useful_at, reads)).count(None) == len(reads):
        return [0.0] * len(reads)
    above = baseline_in(leads).above(np.array(similarities)).tolist()
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


USUAL_SCALES = (1, 5, 10, 100)


def odd_importance(these: Candidates, fields: Fields) -> str | None:
    """A note on the candidates whose importance is not a number on the declared scale; None if all are.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> odd = Hit(Record("a", "tea", stored={"importance": 8}), 0.5, "a")
    >>> odd_importance(as_candidates([odd]), Fields()).partition(":")[0]
    "the importance of 1 candidate, such as 8 of 'a', is not a number from 0 to 1 and counts as neutral"
    >>> odd_importance(as_candidates([Hit(Record("a", "tea"), 0.5, "a")]), Fields()) is None
    True
    """
    key = fields.importance
    importances, reads = these.columns.importances, these.columns.reads
    if None not in importances and not any(map(_boost, reads)):
        return None
    rows = enumerate(zip(these.columns.stored, importances, reads, strict=True))
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
