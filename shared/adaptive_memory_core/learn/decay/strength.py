"""How does ARM's decay weaken what nobody reads? In closed form, settled when a record is looked at.

Algorithm 1 of the paper multiplies the vector of every stale, unremembered record by alpha after each query. Under
cosine the length of a vector says nothing, so what decays is its strength, a number that multiplies the similarity:

    strength(t) = settled * alpha ** #{steps s : settled_step < s <= t and s - tau > gamma}

`t` counts the user's recalls, `tau` is the step of the record's last read, gamma the grace, alpha the rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adaptive_memory_core.frozen import changed
from adaptive_memory_core.learn.after_read import after_read
from adaptive_memory_core.policy.decay import DecayCurve, Pace, Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState, Seen
from adaptive_memory_core.score.signals import DAY

Strength = Callable[[float], float]
CENTURY = 36_525 * DAY
BISECTIONS = 40


@dataclass(frozen=True, slots=True)
class Span:
    """The steps, or the time, during which one pace held: from here to where the next span begins."""

    from_step: int
    from_at: float
    pace: Pace


@dataclass(frozen=True, slots=True)
class Timeline:
    """A user's recalls so far, and the pace at which each of them let the unread decay."""

    step: int
    spans: tuple[Span, ...] = ()

    def under(self, regime: Regime) -> Timeline:
        """Continued to now: since the last recall, or ever where there was none, the memory's own pace holds."""
        phases = regime.phases
        if self.spans and len(phases) == 1 and phases[0].pace == self.spans[-1].pace:  # nearly always
            return self
        spans = self.spans or (Span(0, -math.inf, phases[0].pace),)
        for phase, ends in zip(phases, [*(one.since for one in phases[1:]), math.inf], strict=True):
            last = spans[-1]
            if ends > last.from_at and phase.pace != last.pace:
                spans += (Span(self.step + 1, max(phase.since, last.from_at), phase.pace),)
        return self if spans is self.spans else Timeline(self.step, spans)

    @property
    def still(self) -> bool:
        """Whether nothing has ever decayed."""
        spans = self.spans
        return spans[0].pace.still if len(spans) == 1 else all(span.pace.still for span in spans)


def strength(state: ReadState, kind: str | None, timeline: Timeline, *, now: float) -> float:
    """What is left of a record's strength at the timeline's step.

    >>> arm = Timeline(7, (Span(0, -math.inf, Pace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> strength(ReadState(), None, arm, now=0.0)                       # unread at steps 1 to 7; 6 and 7 are beyond
    0.25
    >>> strength(ReadState(fresh_step=2, settled_step=2), None, arm, now=0.0)
    1.0
    >>> strength(ReadState(remembered=True, strength=0.5), None, arm, now=0.0)
    0.5
    >>> days = Timeline(0, (Span(0, -math.inf, Pace("days", DecayCurve(grace=1, rate=0.5))),))
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
    """The state with the decay that is due applied: the same strength, from here on.

    >>> arm = Timeline(7, (Span(0, -math.inf, Pace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> settled(ReadState(), None, arm, now=9.0).strength
    0.25
    """
    left = strength(state, kind, timeline, now=now)
    return changed(state, strength=left, settled_step=timeline.step, settled_at=now)


def as_of(state: ReadState, kind: str | None, timeline: Timeline, *, now: float) -> ReadState:
    """The state to look at: its strength is today's, all else is as it was kept."""
    left = strength(state, kind, timeline, now=now)
    return state if left == state.strength else changed(state, strength=left)


def read(seen: Seen, *, policy: Policy, timeline: Timeline, now: float) -> ReadState:
    """The state after a read at the step after the timeline's: counted, and its strength settled and fresh again.

    >>> arm = Timeline(7, (Span(0, -math.inf, Pace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> after = read(Seen(ReadState(), None), policy=Policy(), timeline=arm, now=9.0)
    >>> after.strength, after.fresh_step, after.retrieval_count
    (0.25, 8, 1)
    >>> from adaptive_memory_core.policy import Decay
    >>> read(Seen(ReadState(), None), policy=Policy(decay=Decay(restore_on_read=0.5)), timeline=arm, now=9.0).strength
    0.625
    """
    state, kind = seen.state, seen.kind
    left = strength(state, kind, timeline, now=now)
    restored = left + policy.remembrance(kind).restore_on_read * (1.0 - left)
    step = timeline.step + 1
    settled = {"strength": restored, "settled_step": step, "settled_at": now, "fresh_step": step, "fresh_at": now}
    return after_read(state, policy, now=now, kind=kind, **settled)


def met(timeline: Timeline, state: ReadState, *, now: float) -> ReadState:
    """A record that the ledger has not met before: its decay begins here, whatever was before.

    >>> met(Timeline(7), ReadState(), now=5.0).fresh_step
    7
    """
    return changed(state, fresh_step=timeline.step, settled_step=timeline.step, fresh_at=now, settled_at=now)


def strong_since(timeline: Timeline, least: float, *, now: float) -> tuple[int, float] | None:
    """The step and the time since which a record must have been settled to have at least this strength now.

    None where that says nothing: the floor alone may keep a record there. Remembered and pinned ones are apart.

    >>> arm = Timeline(100, (Span(0, -math.inf, Pace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> strong_since(arm, 0.25, now=0.0)                                # settled at 93: steps 99 and 100 are beyond
    (93, -inf)
    """
    kinds = {kind for span in timeline.spans for kind in span.pace.kinds()}
    found = [_strong_since(timeline, kind, least, now) for kind in kinds]
    return (min(step for step, _ in found), min(at for _, at in found)) if found else None


def _strong_since(timeline: Timeline, kind: str | None, least: float, now: float) -> tuple[int, float]:
    """Bisection: the later a record was settled at full strength, the stronger it is now."""

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
    """The same question for days: in doubling steps back from now, and then by halves."""
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


def with_ends(timeline: Timeline, now: float) -> Iterator[tuple[Span, int, float]]:
    """Each span with its last step and the time it ends at."""
    spans = timeline.spans
    for number, span in enumerate(spans):
        if number + 1 < len(spans):
            yield span, spans[number + 1].from_step - 1, spans[number + 1].from_at
        else:
            yield span, timeline.step, now


def _steps_due(span: Span, end_step: int, state: ReadState, decay: DecayCurve) -> float:
    """How many of the span's steps fall on the record: after it was settled and beyond its grace."""
    first = max(span.from_step, state.settled_step + 1, math.floor(state.fresh_step + decay.grace) + 1)
    return end_step - first + 1


def _days_due(span: Span, end_at: float, state: ReadState, decay: DecayCurve) -> float:
    """How many of the span's days fall on the record; none where it is not known when they began."""
    if state.settled_at is None or state.fresh_at is None:
        return 0.0
    return (end_at - max(span.from_at, state.settled_at, state.fresh_at + decay.grace * DAY)) / DAY
