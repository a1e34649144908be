"""How useful was a record recently? What is left of its last useful read, and how it raises a score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from adaptive_memory_core.policy.usefulness import Usefulness
from adaptive_memory_core.records import ReadState

HOUR = 3_600.0


class Use(NamedTuple):
    """Where a user stands: the recalls so far, and how much more or less usefulness, and each lead, counts than the
    policy says."""

    step: int = 0
    gain: float = 1.0
    leads: Mapping[str, float] = {}


NO_USE = Use()


def usefulness(state: ReadState, useful: Usefulness, *, step: int, now: float) -> float:
    """What is left of a record's last useful read: 1 right after it, 0 where it never was of use.

    It wears off by the clock and by the user's recalls, and what was judged unhelpful as well counts for less. Seen
    from before it, it has not been.

    >>> usefulness(ReadState(useful_at=0.0, useful_step=3, helpful=1), Usefulness(), step=3, now=0.0)
    1.0
    >>> slow = Usefulness(hours_power=0, recalls=5, recalls_power=0.5)
    >>> usefulness(ReadState(useful_at=0.0, helpful=1), slow, step=15, now=0.0)      # a quarter to the power of a half
    0.5
    >>> usefulness(ReadState(useful_at=0.0, helpful=1, unhelpful=2), Usefulness(unhelpful=1), step=0, now=0.0)
    0.5
    >>> usefulness(ReadState(last_read=0.0, unhelpful=9), Usefulness(), step=0, now=0.0)
    0.0
    """
    if state.useful_at is None or now < state.useful_at:
        return 0.0
    hours = (now - state.useful_at) / (useful.hours * HOUR)
    recalls = max(0, step - state.useful_step) / useful.recalls
    left = math.pow(1.0 + hours, -useful.hours_power) * math.pow(1.0 + recalls, -useful.recalls_power)
    if state.unhelpful == 0:
        return left
    helpful = 1.0 + max(1, state.helpful)
    return left * helpful / (helpful + useful.unhelpful * state.unhelpful)


def raised(relevance: float, useful: float, weight: float) -> float:
    """The relevance as usefulness leaves it: as if so many more pieces of evidence, each as sure, spoke for the record.

    At most `1 + weight` times the relevance, never above 1, and nothing where there is no relevance.

    >>> raised(0.5, 1.0, 1.0), raised(0.5, 0.0, 1.0), raised(0.0, 1.0, 9.0), raised(1.0, 1.0, 9.0)
    (0.75, 0.5, 0.0, 1.0)
    """
    if useful <= 0.0 or weight <= 0.0:
        return relevance
    return 1.0 - math.pow(1.0 - relevance, 1.0 + weight * useful)
