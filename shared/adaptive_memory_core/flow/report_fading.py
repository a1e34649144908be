"""How would each kind of memory fade if nobody read it, and where do the records stand?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from adaptive_memory_core.learn.decay.strength import Span, Timeline, strength
from adaptive_memory_core.pages.charts import Point
from adaptive_memory_core.pages.memory.facts import Fading
from adaptive_memory_core.policy.decay import Pace
from adaptive_memory_core.records import ReadState, Record
from adaptive_memory_core.score.signals import DAY

POINTS, LEAST_UNITS, MOST_UNITS, GONE = 40, 20, 400, 0.05


def fading(timeline: Timeline, pace: Pace, records: Sequence[Record], *, now: float) -> Fading:
    """The curves of the pace that is in force; none where nothing fades."""
    if pace.still:
        return Fading(pace.unit)
    last = _units(pace)
    steps = sorted({round(last * place / POINTS) for place in range(POINTS + 1)})
    curves = {
        kind or ("all others" if pace.by_kind else "all records"): [Point(at, _left(pace, kind, at)) for at in steps]
        for kind in pace.kinds()
    }
    stand = [_place(one, timeline, pace, now=now) for one in records if not (one.read.remembered or one.read.pinned)]
    return Fading(pace.unit, curves, [one for one in stand if one is not None and one.x <= last])


def _left(pace: Pace, kind: str | None, units: float) -> float:
    """What is left of a full strength after so many units without a read."""
    fresh = ReadState(settled_at=0.0, fresh_at=0.0)
    steps = int(units) if pace.unit == "recalls" else 0
    return strength(fresh, kind, Timeline(steps, (Span(0, -math.inf, pace),)), now=units * DAY)


def _units(pace: Pace) -> int:
    """After how many units all kinds have nearly faded, within bounds."""
    units = LEAST_UNITS
    while units < MOST_UNITS and any(_left(pace, kind, units) > GONE for kind in pace.kinds()):
        units = min(MOST_UNITS, 2 * units)
    return units


def _place(record: Record, timeline: Timeline, pace: Pace, *, now: float) -> Point | None:
    read = record.read
    if pace.unit == "recalls":
        return Point(max(0, timeline.step - read.fresh_step), read.strength)
    return None if read.fresh_at is None else Point(max(0.0, (now - read.fresh_at) / DAY), read.strength)
