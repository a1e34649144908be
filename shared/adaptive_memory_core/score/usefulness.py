"""How useful was a record recently? What is left of its last useful read, and how it raises a score."""

from __future__ import annotations

import math
from typing import NamedTuple

from adaptive_memory_core.records import ReadState

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
