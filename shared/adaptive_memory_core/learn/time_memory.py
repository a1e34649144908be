"""Which times was a record helpful for? GAM-RAG's time memory of its sentences (equations 4 and 10 to 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.learn.gain import Belief, gate, updated
from adaptive_memory_core.policy.gain import Gain


class JudgedTime(NamedTuple):
    """A verdict on a record, for a question that named a time: the unit vector of that time."""

    time: Any
    supports: bool


def time_gates(sentences: Sequence[Any], verdicts: Sequence[JudgedTime], asked: Any, noise: Gain) -> tuple[float, ...]:
    """By how much each sentence is multiplied, for the time that is asked about: 1 for one that says no time (None),
    and for all as long as nothing was judged for a time. Each other one begins with the vector of the time it says.

    >>> import numpy as np
    >>> may, june = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> [round(one, 2) for one in time_gates([may, None, june], [JudgedTime(may, True)], may, Gain())]
    [1.67, 1.0, 1.37]
    >>> time_gates([may, None], [], may, Gain())
    (1.0, 1.0)
    """
    return tuple(1.0 if one is None else gate(_learned(one, verdicts, noise), asked) for one in sentences)


def _learned(said: Any, verdicts: Sequence[JudgedTime], noise: Gain) -> Belief:
    belief = Belief(said, noise.first_uncertainty)
    for one in verdicts:
        belief = updated(belief, one.time, supports=one.supports, noise=noise)
    return belief
