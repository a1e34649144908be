"""How does a time that is asked about change scores? Recency counts less, and so do records of another time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.cue.time.intent import Intent, Window
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Record, Scored
from adaptive_memory_core.score.signals import DAY

TIME = "time"  # the name of the part
OUTSIDE = "outside the time asked about"

# How far beyond its ends half of a window is still felt, from the questions of LoCoMo and REALTALK that name a time.
LEAST_REACH, MOST_REACH = 1 * DAY, 60 * DAY  # of a vague one; guesses
# Of what is named by the calendar, half of its length within these bounds; people tell of a day the next day.
BEFORE_EXACT, AFTER_EXACT = (1 * DAY, 5 * DAY), (1.5 * DAY, 7 * DAY)
FARTHEST = 10.0  # reaches away from which a window is not felt at all


def attuned(policy: Policy, intent: Intent) -> Policy:
    """The policy with recency as the intent wants it, and similarities that are nearly the same held for the same.

    >>> attuned(Policy(), Intent(lean="past")).weights.recency, attuned(Policy(), Intent()) == Policy()
    (0.0, True)
    """
    if not intent or not policy.time_words.enabled:
        return policy
    share = policy.time_words.present_recency if intent.lean == "present" else policy.time_words.past_recency
    weights = policy.weights
    if share > 0.0 or weights.total > weights.recency:  # a policy of recency alone keeps it
        weights = replace(weights, recency=weights.recency * share)
    spread = max(policy.spreads.similarity, policy.time_words.spread)
    return policy.replace(weights=weights, blend=policy.blending, spreads=replace(policy.spreads, similarity=spread))


def timely(scored: Sequence[Scored], intent: Intent, policy: Policy, *, alone: bool = False) -> Sequence[Scored]:
    """The hits, best first, after those of another time than is asked about have lost a bounded share of their scores.

    A score keeps `1 - weight` of itself whatever its time, and the rest by how well its time fits: that is its part
    `time`. So what is irrelevant gains nothing by its date. Where no time fits at all, nothing changes.

    A question of a time `alone` ("what happened last week?") is like no record: what is of that time comes first.

    >>> from adaptive_memory_core.records import Hit
    >>> hits = [Scored(Hit(Record(str(day), "x", created_at=day * DAY), 0.5, ""), 0.5, {"similarity": 0.5}, {})
    ...         for day in (1, 500)]
    >>> asked = Intent((Window(499 * DAY, 501 * DAY),))
    >>> half = Policy().replace(time_words={"weight": 0.5})
    >>> [(one.id, one.score, one.parts) for one in timely(hits, asked, half)]
    [('500', 0.5, {'similarity': 0.25, 'time': 0.25}), ('1', 0.25, {'similarity': 0.25, 'time': 0.0})]
    """
    weight = policy.time_words.weight if intent.windows else policy.time_words.lean_weight
    if not intent or not policy.time_words.enabled or weight == 0.0:
        return scored
    fits = _fits([one.record for one in scored], intent)
    if not any(fits):
        return scored
    weighed = [_weighed(one, weight, fit) for one, fit in zip(scored, fits, strict=True)]
    if alone:
        weighed = [_placed(one, then=not outside(one.record, intent)) for one in weighed]
    return sorted(weighed, key=lambda one: (-one.score, alone and outside(one.record, intent)))  # stable among ties


def outside(record: Record, intent: Intent) -> bool:
    """Whether a record is known to be of another time than is asked about, or of none that is known."""
    return bool(intent.windows) and not any(inside(record, window) for window in intent.windows)


def inside(record: Record, window: Window) -> bool:
    """Whether it happened, began, or held with a known beginning and end, within the window.

    >>> inside(Record("a", "x", valid_from=0.0, valid_until=10.0), Window(4.0, 5.0))
    True
    """
    if any(time in window for time in _times(record)):
        return True
    start, end = record.valid_from, record.valid_until
    if start is None or end is None:
        return False
    return (window.end is None or start < window.end) and (window.start is None or end > window.start)


def closeness(record: Record, window: Window) -> float | None:
    """1 within the window; outside, half after each reach of the window; None if not known.

    Ends that are named ("in June") are exact, others ("about three weeks ago") as soft as the window says.

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


def _fits(records: Sequence[Record], intent: Intent) -> list[float]:
    """How well each record's time fits; one of unknown time as well as the others do on average."""
    fits = [_closest(record, intent) for record in records] if intent.windows else _leans(records, intent)
    known = [fit for fit in fits if fit is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [mean if fit is None else fit for fit in fits]


def _closest(record: Record, intent: Intent) -> float | None:
    return max((fit for window in intent.windows if (fit := closeness(record, window)) is not None), default=None)


def _leans(records: Sequence[Record], intent: Intent) -> list[float | None]:
    """From 0 to 1, how late (or early) a record is among these."""
    known = [time for record in records if (time := _began(record)) is not None]
    if intent.lean == "past" or not known or min(known) == max(known):
        return [None] * len(records)
    first, width = min(known), max(known) - min(known)
    late = [None if (time := _began(record)) is None else (time - first) / width for record in records]
    return late if intent.lean == "present" else [None if one is None else 1.0 - one for one in late]


def _weighed(one: Scored, weight: float, fit: float) -> Scored:
    parts = {name: (1.0 - weight) * part for name, part in one.parts.items()}
    parts[TIME] = weight * fit * one.score
    return replace(one, score=min(1.0, sum(parts.values())), parts=parts, signals={**one.signals, TIME: fit})


def _placed(one: Scored, *, then: bool) -> Scored:
    """In the upper half of the scores if it is of that time, else in the lower one."""
    parts = {name: part / 2 for name, part in one.parts.items()}
    parts[TIME] += 0.5 * then
    return replace(one, score=min(1.0, sum(parts.values())), parts=parts)


def _times(record: Record) -> list[float]:
    return [time for time in (record.created_at, record.valid_from) if time is not None]


def _began(record: Record) -> float | None:
    return record.created_at if record.valid_from is None else record.valid_from


def _reaches_away(time: float, window: Window) -> float:
    """How many of the window's reaches a time lies before or after it."""
    if window.start is not None and time < window.start:
        return (window.start - time) / _reach(window, *BEFORE_EXACT)
    return 0.0 if window.end is None else max(0.0, time - window.end) / _reach(window, *AFTER_EXACT)


def _reach(window: Window, least: float, most: float) -> float:
    if window.soft_seconds > 0.0:
        return min(MOST_REACH, max(LEAST_REACH, window.soft_seconds))
    if window.start is None or window.end is None:
        return most
    return min(most, max(least, (window.end - window.start) / 2))
