"""Evidence from the match between records' times and the time that a query asks about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from adaptive_memory_core.cue.time.intent import Intent, Window
from adaptive_memory_core.policy.advanced import Weights
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Record
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.score.surprise import of_kind

TIME = "time"  # the name of the part
OUTSIDE = "outside the time asked about"
# The distance beyond a window at which its effect is halved, from the questions of LoCoMo and REALTALK with a time.
LEAST_REACH, MOST_REACH = 1 * DAY, 60 * DAY  # for a vague window; guesses
# For a calendar window, half of its length within these bounds; people often write about a day on the next day.
BEFORE_EXACT, AFTER_EXACT = (1 * DAY, 5 * DAY), (1.5 * DAY, 7 * DAY)
OF_THAT_TIME = 0.2  # share of records from a time that a query asks about; LoCoMo: 0.1 and 0.2 are equal, 0.5 is worse
PAST_RECENCY = 0.0  # factor for the weight of recency when the past is asked about; the article
PRESENT_RECENCY = 2.0  # times the weight of recency when the present is asked about; guess
LEAN_WEIGHT = 1.0  # weight of age for "originally" and "currently"; guess
DECIDES = 100.0  # nats: more than all other evidence for a record
FARTHEST = 10.0  # distance in reaches at which a window has no effect


def attuned(policy: Policy, intent: Intent) -> Policy:
    """The policy with the weight of recency adjusted to the intent.

    >>> attuned(Policy(), Intent(lean="past")).weights.recency, attuned(Policy(), Intent()) == Policy()
    (0.0, True)
    """
    if not intent:
        return policy
    share = PRESENT_RECENCY if intent.lean == "present" else PAST_RECENCY
    weights = _with_recency(policy.weights, share)
    kinds = tuple((kind, _with_recency(one, share)) for kind, one in policy.advanced.kind_weights)
    return policy.replace(weights=weights, advanced={"kind_weights": kinds, "blend": policy.blending})


def _with_recency(weights: Weights, share: float) -> Weights:
    """The weights with recency multiplied by `share`; weights of recency alone stay unchanged."""
    kept = share > 0.0 or weights.total > weights.recency
    return replace(weights, recency=weights.recency * share) if kept else weights


class Times(NamedTuple):
    """The times of a record that matter here."""

    created_at: float | None
    valid_from: float | None = None
    valid_until: float | None = None


def times_of(these: Candidates) -> list[Times]:
    """The times of the candidates; the records themselves are only created if they have a limited validity."""
    times, gated = list(map(Times, these.columns.created)), these.columns.gated
    for number in gated:
        record = these[number].record
        times[number] = Times(record.created_at, record.valid_from, record.valid_until)
    return times


class Timing(NamedTuple):
    """The evidence for each candidate from the time that is asked about."""

    fits: Sequence[float]  # 1 is of that time, 0 far from it
    nats: Sequence[float]  # for or against each candidate
    most: float  # the maximum of nats


def timing(these: Candidates, intent: Intent, policy: Policy, *, alone: bool = False) -> Timing | None:
    """The evidence from the time asked about; None if no time is asked about or no record fits.

    Few records are of that time, so the match counts as evidence (`of_kind`). A question about a time `alone` ("what
    happened last week?") resembles no record, so records of that time come first.

    >>> from adaptive_memory_core.records import Hit
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> hits = [Hit(Record(str(day), "x", created_at=day * DAY), 0.5, "") for day in (1, 500)]
    >>> found = timing(as_candidates(hits), Intent((Window(499 * DAY, 501 * DAY),)), Policy())
    >>> found.fits, [round(one, 1) for one in found.nats]
    ([0.0, 1.0], [-4.6, 2.0])
    """
    weight = policy.advanced.time_weight if intent.windows else LEAN_WEIGHT
    if not intent or weight == 0.0:
        return None
    records = times_of(these)
    fits = _fits(records, intent)
    if not any(fits):
        return None
    for_it, against = of_kind(OF_THAT_TIME)
    sure = [fit * fit for fit in fits]  # half the closeness counts a quarter
    nats = [weight * (one * for_it + (1.0 - one) * against) for one in sure]
    most = max(0.0, weight * for_it)
    if alone:
        nats = [one + (0.0 if outside(record, intent) else DECIDES) for one, record in zip(nats, records, strict=True)]
        most += DECIDES
    return Timing(fits, nats, most)


def outside(record: Record | Times, intent: Intent) -> bool:
    """Whether a record is of another time than the query asks about, or has no time."""
    return bool(intent.windows) and not any(inside(record, window) for window in intent.windows)


def inside(record: Record | Times, window: Window) -> bool:
    """Whether a record was written or began within the window, or was valid in it with a known beginning and end.

    >>> inside(Record("a", "x", valid_from=0.0, valid_until=10.0), Window(4.0, 5.0))
    True
    """
    if any(time in window for time in _times(record)):
        return True
    start, end = record.valid_from, record.valid_until
    if start is None or end is None:
        return False
    return (window.end is None or start < window.end) and (window.start is None or end > window.start)


def closeness(record: Record | Times, window: Window) -> float | None:
    """1 within the window; outside, halved per reach of the window; None for a record without a time.

    Ends that are named ("in June") are exact; others ("about three weeks ago") are as soft as `soft_seconds`.

    >>> june, about_june = Window(0.0, 30 * DAY), Window(0.0, 30 * DAY, soft_seconds=15 * DAY)
    >>> [closeness(Record("a", "x", created_at=day * DAY), june) for day in (-5, 10, 37, 44)]
    [0.5, 1.0, 0.5, 0.25]
    >>> [closeness(Record("a", "x", created_at=day * DAY), about_june) for day in (-15, 10, 45)]
    [0.5, 1.0, 0.5]
    >>> closeness(Record("a", "x"), june) is None
    True
    """
    times = _times(record)
    if inside(record, window):
        return 1.0
    if not times:
        return None
    away = min(_reaches_away(time, window) for time in times)
    return 0.5**away if away < FARTHEST else 0.0


def _fits(records: Sequence[Times], intent: Intent) -> list[float]:
    """How well each record's time fits; a record without a time gets the average of the others."""
    fits = [_closest(record, intent) for record in records] if intent.windows else _leans(records, intent)
    known = [fit for fit in fits if fit is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [mean if fit is None else fit for fit in fits]


def _closest(record: Record | Times, intent: Intent) -> float | None:
    return max((fit for window in intent.windows if (fit := closeness(record, window)) is not None), default=None)


def _leans(records: Sequence[Times], intent: Intent) -> list[float | None]:
    """How late or early each record is among these, from 0 to 1, as the intent leans."""
    known = [time for record in records if (time := _began(record)) is not None]
    if intent.lean == "past" or not known or min(known) == max(known):
        return [None] * len(records)
    first, width = min(known), max(known) - min(known)
    late = [None if (time := _began(record)) is None else (time - first) / width for record in records]
    return late if intent.lean == "present" else [None if one is None else 1.0 - one for one in late]


def _times(record: Record | Times) -> list[float]:
    return [time for time in (record.created_at, record.valid_from) if time is not None]


def _began(record: Record | Times) -> float | None:
    return record.created_at if record.valid_from is None else record.valid_from


def _reaches_away(time: float, window: Window) -> float:
    """The distance of a time from the window, in reaches of the window."""
    if window.start is not None and time < window.start:
        return (window.start - time) / _reach(window, *BEFORE_EXACT)
    return 0.0 if window.end is None else max(0.0, time - window.end) / _reach(window, *AFTER_EXACT)


def _reach(window: Window, least: float, most: float) -> float:
    if window.soft_seconds > 0.0:
        return min(MOST_REACH, max(LEAST_REACH, window.soft_seconds))
    if window.start is None or window.end is None:
        return most
    return min(most, max(least, (window.end - window.start) / 2))
