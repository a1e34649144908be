"""How are the strengths of a whole memory distributed? Computed in columns, as of one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from adaptive_memory_core.learn.decay.strength import Span, Timeline, with_ends
from adaptive_memory_core.policy.decay import DecayCurve
from adaptive_memory_core.records import ReadState
from adaptive_memory_core.reports import Strengths
from adaptive_memory_core.score.signals import DAY

BINS = 10
Column = npt.NDArray[Any]
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


def strengths(columns: Sequence[Column], kinds: Column, timeline: Timeline, *, now: float) -> Column:
    """The strength of every record now: `remembrance.strength` for columns in the order of FIELDS (NaN: not known).

    >>> from adaptive_memory_core.policy.decay import Pace
    >>> arm = Timeline(7, (Span(0, -np.inf, Pace("recalls", DecayCurve(grace=5, rate=0.5))),))
    >>> [float(one) for one in strengths(columns_of([ReadState()]), np.array([None]), arm, now=0.0)]
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


def summary(
    columns: Sequence[Column],
    kinds: Column,
    timeline: Timeline,
    *,
    now: float,
    at_least: float,
    unmet: Sequence[ReadState] = (),
) -> Strengths:
    """All strengths in a few numbers; those of `unmet` records, which have not begun to decay, as they are.

    >>> summary(columns_of([ReadState(), ReadState(strength=0.5)]), np.array([None] * 2), Timeline(0), now=0.0,
    ...     at_least=0.6).size
    1
    """
    others = columns_of(unmet)
    left = np.concatenate([strengths(columns, kinds, timeline, now=now), others[0]])
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


def columns_of(states: Sequence[ReadState]) -> list[Column]:
    """States as columns."""
    rows = [tuple(getattr(state, name) for name in FIELDS) for state in states]
    return [np.array([row[index] for row in rows], dtype=float) for index in range(len(FIELDS))]


def _decayed(left: Column, columns: Sequence[Column], span: Span, end: tuple[int, float], decay: DecayCurve) -> Column:
    """The strengths after one span, wherever it has something due."""
    settled_step, settled_at, fresh_step, fresh_at = columns[1:5]
    if span.pace.unit == "days":
        first = np.maximum(np.maximum(settled_at, fresh_at + decay.grace * DAY), span.from_at)
        due = np.nan_to_num((end[1] - first) / DAY, nan=0.0)
    else:
        first = np.maximum(np.maximum(settled_step + 1, np.floor(fresh_step + decay.grace) + 1), span.from_step)
        due = end[0] - first + 1
    faded: Column = np.maximum(left * np.power(decay.rate, np.maximum(due, 0.0)), np.minimum(left, decay.floor))
    return np.where(due > 0, faded, left)
