"""The read state after a read; ARM's decay of unread records, in closed form; strengths and their bounds.

Algorithm 1 of the paper multiplies the vector of every stale, unremembered record by alpha after each query. A cosine
ignores the length of a vector, so the decay applies to its strength, a number that multiplies the similarity:

    strength(t) = settled * alpha ** #{steps s : settled_step < s <= t and s - tau > gamma}

`t` counts the user's recalls, `tau` is the step of the record's last read, gamma the grace, alpha the rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adaptive_memory_core.policy.learning import DecayCurve, DecayPace, Regime, Remembrance
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, ReadState, Seen
from adaptive_memory_core.reports import Strengths
from adaptive_memory_core.score.ranking import unfit
from adaptive_memory_core.score.signals import DAY, cooled, weakened

if TYPE_CHECKING:
    import numpy.typing as npt

Strength = Callable[[float], float]
CENTURY = 36_525 * DAY
BISECTIONS = 40


@dataclass(frozen=True, slots=True)
class PacedSpan:
    """The steps, or the time, during which one pace applied: from here to the start of the next span."""

    from_step: int
    from_at: float
    pace: DecayPace


@dataclass(frozen=True, slots=True)
class Timeline:
    """A user's recalls so far, and the pace of decay at each of them."""

    step: int
    spans: tuple[PacedSpan, ...] = ()

    def under(self, regime: Regime) -> Timeline:
        """The timeline up to now: after the last recall, or without any recall, the memory's own pace applies."""
        phases = regime.phases
        if self.spans and len(phases) == 1 and phases[0].pace == self.spans[-1].pace:  # nearly always
            return self
        spans = self.spans or (PacedSpan(0, -math.inf, phases[0].pace),)
        for phase, ends in zip(phases, [*(one.since for one in phases[1:]), math.inf], strict=True):
            last = spans[-1]
            if ends > last.from_at and phase.pace != last.pace:
                spans += (PacedSpan(self.step + 1, max(phase.since, last.from_at), phase.pace),)
        return self if spans is self.spans else Timeline(self.step, spans)

    @property
    def still(self) -> bool:
        """Whether no record has ever decayed."""
        spans = self.spans
        return spans[0].pace.still if len(spans) == 1 else all(span.pace.still for span in spans)


def strength(state: ReadState, kind: str | None, timeline: Timeline, *, now: float) -> float:
    """A record's strength at the timeline's step.

    >>> arm = Timeline(7, (PacedSpan(0, -math.inf, DecayPace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> strength(ReadState(), None, arm, now=0.0)                       # unread at steps 1 to 7; 6 and 7 are beyond
    0.25
    >>> strength(ReadState(fresh_step=2, settled_step=2), None, arm, now=0.0)
    1.0
    >>> strength(ReadState(remembered=True, strength=0.5), None, arm, now=0.0)
    0.5
    >>> days = Timeline(0, (PacedSpan(0, -math.inf, DecayPace("days", DecayCurve(grace=1, rate=0.5))),))
    >>> strength(ReadState(settled_at=0.0, fresh_at=0.0), None, days, now=3 * DAY)
    0.25
    """
    left = state.strength
    if state.remembered or state.pinned or timeline.still:
        return left
    for span, end_step, end_at in with_ends(timeline, now):
        decay = span.pace.of(kind)
        if decay.rate < 1.0:
            if span.pace.unit == "days":
                due = _days_due(span, end_at, state, decay)
            else:
                due = _steps_due(span, end_step, state, decay)
            if due > 0:
                left = max(left * math.pow(decay.rate, due), min(left, decay.floor))
    return left


def settled(state: ReadState, kind: str | None, timeline: Timeline, *, now: float) -> ReadState:
    """The state with the decay up to now applied, so that further decay begins here.

    >>> arm = Timeline(7, (PacedSpan(0, -math.inf, DecayPace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> settled(ReadState(), None, arm, now=9.0).strength
    0.25
    """
    left = strength(state, kind, timeline, now=now)
    return replace(state, strength=left, settled_step=timeline.step, settled_at=now)


def as_of(state: ReadState, kind: str | None, timeline: Timeline, *, now: float) -> ReadState:
    """The state for reading: the current strength, and all other fields as stored."""
    left = strength(state, kind, timeline, now=now)
    return state if left == state.strength else replace(state, strength=left)


Settled = tuple[float, int, float | None]  # a record's strength, and the user's recall and the time it applies to
ROW_DAYS = 14.0  # most days between two reads that count together for `reads_before_refresh`; guess


def after_read(
    state: ReadState, policy: Policy, *, now: float, own: Remembrance | None = None, settled: Settled | None = None
) -> ReadState:
    """The state after a read; the same state if the read does not count.

    A read counts if the last counted one is at least the refresh floor ago; without a floor every read counts. If the
    clock was set back, no read counts until it has caught up. If it is more than a day behind, the stored time was
    wrong and the read counts. A read more than `ROW_DAYS` after the last one starts a new streak. `own` contains the
    settings of the record's kind, if any. Without `settled` the strength does not change.

    >>> once = after_read(ReadState(), Policy(), now=100.0)
    >>> once.retrieval_count, after_read(once, Policy(), now=130.0) is once
    (1, True)
    >>> after_read(once, Policy(), now=160.0).retrieval_count
    2
    """
    before, floor = state.last_read, policy.refresh_floor_seconds
    warmth, streak, last_read = state.warmth, 1, now
    if before is not None:
        if floor != 0 and now - before < floor and before <= now + DAY:
            return state
        warmth = cooled(warmth, before, policy, now=now)
        streak = state.streak + 1 if now - before <= ROW_DAYS * DAY else 1
        last_read = latest(before, now, now=now)
    credit = state.credit + 1
    strength, settled_step, settled_at = settled or (state.strength, state.settled_step, state.settled_at)
    return ReadState(
        last_read,
        last_read if streak >= policy.reads_before_refresh else state.refreshed_at,
        streak,
        state.retrieval_count + 1,
        credit,
        warmth + 1.0,
        state.remembered or credit >= (own or policy.decay).remembrance_threshold,
        strength,
        settled_step,
        state.boost,
        state.pinned,
        settled_at,
        settled_step if settled else state.fresh_step,
        settled_at if settled else state.fresh_at,
        state.useful_at,
        state.useful_step,
        state.helpful,
        state.unhelpful,
    )


def latest(known: float | None, at: float, *, now: float) -> float:
    """The later of the two times. A known time more than a day in the future is wrong and is replaced.

    >>> latest(5.0, 9.0, now=9.0), latest(9.0, 5.0, now=9.0), latest(1e9, 5.0, now=9.0)
    (9.0, 9.0, 5.0)
    """
    return at if known is None or known > now + DAY else max(known, at)


def states_after_read(
    seen: Sequence[Seen], timeline: Timeline, *, policy: Policy, now: float, looks_back: bool = False
) -> list[ReadState]:
    """The states after a read at the step after the timeline's. Each read is counted, decay is applied, and the grace
    begins again. With `looks_back`, for a recall as of an earlier day, later reads are kept.

    >>> arm = Timeline(7, (PacedSpan(0, -math.inf, DecayPace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> unread = [Seen(ReadState(), None)]
    >>> (after,) = states_after_read(unread, arm, policy=Policy(), now=9.0)
    >>> after.strength, after.fresh_step, after.retrieval_count
    (0.25, 8, 1)
    >>> from adaptive_memory_core.policy import Decay
    >>> half = Policy(decay=Decay(restore_on_read=0.5))
    >>> states_after_read(unread, arm, policy=half, now=9.0)[0].strength
    0.625
    """
    decay, still, step = policy.decay, timeline.still, timeline.step + 1
    after: list[ReadState] = []
    for one in seen:
        state, own = one.state, decay.of(one.kind) if decay.by_kind else decay
        at = max(now, state.last_read) if looks_back and state.last_read is not None else now
        left = state.strength if still else strength(state, one.kind, timeline, now=at)
        settled = left + own.restore_on_read * (1.0 - left), step, at
        after.append(after_read(state, policy, now=at, own=own, settled=settled))
    return after


def met(timeline: Timeline, state: ReadState, *, now: float) -> ReadState:
    """The state of a record that is new to the ledger: its decay begins now.

    >>> met(Timeline(7), ReadState(), now=5.0).fresh_step
    7
    """
    return replace(state, fresh_step=timeline.step, settled_step=timeline.step, fresh_at=now, settled_at=now)


def strong_since(timeline: Timeline, least: float, *, now: float) -> tuple[int, float] | None:
    """The step and the time since which a record must have been settled to have at least this strength now.

    None without spans, when nothing decays. Remembered and pinned records are not considered.

    >>> arm = Timeline(100, (PacedSpan(0, -math.inf, DecayPace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> strong_since(arm, 0.25, now=0.0)                                # settled at 93: steps 99 and 100 are beyond
    (93, -inf)
    """
    kinds = {kind for span in timeline.spans for kind in span.pace.kinds()}
    found = [_strong_since(timeline, kind, least, now) for kind in kinds]
    return (min(step for step, _ in found), min(at for _, at in found)) if found else None


def _strong_since(timeline: Timeline, kind: str | None, least: float, now: float) -> tuple[int, float]:
    """The same for one kind, by bisection: a record settled later, at full strength, is stronger now."""

    def at_step(step: int) -> float:
        return strength(ReadState(fresh_step=step, settled_step=step), kind, timeline, now=now)

    def at_time(at: float) -> float:
        known = ReadState(fresh_step=timeline.step, settled_step=timeline.step, fresh_at=at, settled_at=at)
        return strength(known, kind, timeline, now=now)

    low, high = 0, timeline.step
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if at_step(middle) >= least else (middle + 1, high)
    return low, _strong_time(at_time, least, now)


def _strong_time(at_time: Strength, least: float, now: float) -> float:
    """The same in days: go back in doubling steps, and then bisect."""
    reach = DAY
    while at_time(now - reach) >= least:
        reach *= 2
        if reach > CENTURY:
            return -math.inf
    low, high = now - reach, now - reach / 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if at_time(middle) >= least else (middle, high)
    return low


def with_ends(timeline: Timeline, now: float) -> Iterator[tuple[PacedSpan, int, float]]:
    """Yield each span with its last step and its end."""
    spans = timeline.spans
    for number, span in enumerate(spans):
        if number + 1 < len(spans):
            yield span, spans[number + 1].from_step - 1, spans[number + 1].from_at
        else:
            yield span, timeline.step, now


def _steps_due(span: PacedSpan, end_step: int, state: ReadState, decay: DecayCurve) -> float:
    """The number of the span's steps at which the record decays: after it was settled and beyond its grace."""
    first = max(span.from_step, state.settled_step + 1, math.floor(state.fresh_step + decay.grace) + 1)
    return end_step - first + 1


def _days_due(span: PacedSpan, end_at: float, state: ReadState, decay: DecayCurve) -> float:
    """The number of the span's days on which the record decays; 0 if its times are unknown."""
    if state.settled_at is None or state.fresh_at is None:
        return 0.0
    return (end_at - max(span.from_at, state.settled_at, state.fresh_at + decay.grace * DAY)) / DAY


BINS = 10
StrengthColumn: TypeAlias = "npt.NDArray[Any]"
FIELDS = (
    "strength",
    "settled_step",
    "settled_at",
    "fresh_step",
    "fresh_at",
    "remembered",
    "pinned",
    "retrieval_count",
)


def strengths_of(
    columns: Sequence[StrengthColumn], kinds: StrengthColumn, timeline: Timeline, *, now: float
) -> StrengthColumn:
    """The current strength of every record: the function `strength` for columns in the order of FIELDS (NaN: unknown).

    >>> from adaptive_memory_core.policy.learning import DecayPace
    >>> arm = Timeline(7, (PacedSpan(0, -np.inf, DecayPace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> [float(one) for one in strengths_of(strength_columns([ReadState()]), np.array([None]), arm, now=0.0)]
    [0.25]
    """
    left = columns[0].astype(float)
    decays = (columns[5] == 0) & (columns[6] == 0)
    for span, end_step, end_at in with_ends(timeline, now):
        for kind in span.pace.kinds():
            decay = span.pace.of(kind)
            own = [name for name in span.pace.kinds() if name is not None]
            mask = decays & (~np.isin(kinds, own) if kind is None else kinds == kind)
            if decay.rate < 1.0 and mask.any():
                left = np.where(mask, _decayed(left, columns, span, (end_step, end_at), decay), left)
    return left


def strength_summary(
    columns: Sequence[StrengthColumn],
    kinds: StrengthColumn,
    timeline: Timeline,
    *,
    now: float,
    at_least: float,
    unmet: Sequence[ReadState] = (),
) -> Strengths:
    """A summary of all strengths, including `unmet` records, which have not begun to decay.

    >>> columns = strength_columns([ReadState(), ReadState(strength=0.5)])
    >>> strength_summary(columns, np.array([None] * 2), Timeline(0), now=0.0, at_least=0.6).size
    1
    """
    others = strength_columns(unmet)
    left = np.concatenate([strengths_of(columns, kinds, timeline, now=now), others[0]])
    held = np.concatenate([(columns[5] == 1) | (columns[6] == 1), (others[5] == 1) | (others[6] == 1)])
    faded = left[~held]
    faded = faded[faded < 1.0]
    histogram = np.histogram(left, bins=BINS, range=(0.0, 1.0))[0]
    return Strengths(
        mean=float(left.mean()) if len(left) else 1.0,
        histogram=tuple(int(count) for count in histogram),
        stale=len(faded),
        stale_norm=float(np.linalg.norm(faded)),
        size=int((left >= at_least).sum()),
        at_least=at_least,
    )


def strength_columns(states: Sequence[ReadState]) -> list[StrengthColumn]:
    """The states as columns in the order of FIELDS."""
    rows = [tuple(getattr(state, name) for name in FIELDS) for state in states]
    return [np.array([row[index] for row in rows], dtype=float) for index in range(len(FIELDS))]


def _decayed(
    left: StrengthColumn, columns: Sequence[StrengthColumn], span: PacedSpan, end: tuple[int, float], decay: DecayCurve
) -> StrengthColumn:
    """The strengths after one span, for all records to which it applies."""
    settled_step, settled_at, fresh_step, fresh_at = columns[1:5]
    if span.pace.unit == "days":
        first = np.maximum(np.maximum(settled_at, fresh_at + decay.grace * DAY), span.from_at)
        due = np.nan_to_num((end[1] - first) / DAY, nan=0.0)
    else:
        first = np.maximum(np.maximum(settled_step + 1, np.floor(fresh_step + decay.grace) + 1), span.from_step)
        due = end[0] - first + 1
    faded: StrengthColumn = np.maximum(left * np.power(decay.rate, np.maximum(due, 0.0)), np.minimum(left, decay.floor))
    return np.where(due > 0, faded, left)


def least_strength(hits: Sequence[Hit], policy: Policy, *, bound: float, k: int, now: float) -> float | None:
    """The strength that a record with similarity `bound` would need to be among the k best of these hits; None if no
    strength is enough.

    >>> from adaptive_memory_core.records import ReadState, Record
    >>> faded, whole = ReadState(strength=0.25), ReadState()
    >>> hits = [Hit(Record("a", "text", read=faded), 0.8, "a"), Hit(Record("b", "text", read=faded), 0.4, "b")]
    >>> least_strength(hits, Policy(), bound=0.4, k=1, now=0.0)        # 0.8 * 0.25 = 0.2, which is half of 0.4
    0.5
    >>> whole_one = Hit(Record("a", "text", read=whole), 0.8, "a")
    >>> least_strength([whole_one, *hits], Policy(), bound=0.4, k=1, now=0.0) is None
    True
    """
    left = sorted((_left(hit, policy) for hit in hits if unfit(hit, policy, now=now) is None), reverse=True)
    least = left[k - 1] if len(left) >= k else 0.0
    if not bound > 0.0 or least >= bound or policy.decay.strength_weight == 0:
        return None
    return max(0.0, (least / bound - (1.0 - policy.decay.strength_weight)) / policy.decay.strength_weight)


def strongest(hits: Sequence[Hit], policy: Policy, *, k: int, now: float) -> list[Hit]:
    """The candidates among many hits: the best by decayed similarity, and some that the gates drop."""
    fit = [hit for hit in hits if unfit(hit, policy, now=now) is None]
    best = sorted(fit, key=lambda hit: (-_left(hit, policy), -hit.similarity))[: max(policy.recall_k, k)]
    out = [hit for hit in hits if unfit(hit, policy, now=now) is not None]
    return [*best, *out[: policy.recall_k]]


def _left(hit: Hit, policy: Policy) -> float:
    return weakened(hit.similarity, hit.record.read.strength, policy)
