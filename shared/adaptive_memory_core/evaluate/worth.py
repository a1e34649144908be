"""What is a policy worth on questions whose answers are known? Of each what it gains, of what was to be had."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from adaptive_memory_core.evaluate.intervals import CONFIDENCE, RESAMPLES, Interval
from adaptive_memory_core.policy.policy import Policy

_Rows = npt.NDArray[np.float64]
ROUNDING = 1e-12
FEWEST_USERS = 10  # of several users, from which whole users are drawn: with fewer, single questions


class Worth(NamedTuple):
    """What one question adds to both sides of the ratio; for a measure that is a mean, `possible` is 1. `expected` is
    what `possible` is on the average, where that hangs on chance."""

    gained: float
    possible: float = 1.0
    expected: float | None = None

    @property
    def unnormalised(self) -> Worth:
        """With the expected other side of the ratio in place of the one that came about."""
        return self if self.expected is None else Worth(self.gained, self.expected)


@dataclass(frozen=True, slots=True)
class Example:
    """A question that tells policies apart. `key` is its words: those that are asked again stay on one side of a split.
    `user` is whose it is."""

    key: str
    user: Hashable
    worth: Callable[[Policy], Worth]


def ratio(worths: Sequence[Worth]) -> float:
    """All that is gained, as a share of all that was to be had.

    >>> ratio([Worth(1.0, 2.0), Worth(0.5, 1.0)]), ratio([])
    (0.5, 0.0)
    """
    possible = sum(one.possible for one in worths)
    return sum(one.gained for one in worths) / possible if possible > 0.0 else 0.0


def ratio_difference(
    after: Sequence[Worth], before: Sequence[Worth], *, users: Sequence[Hashable], seed: int
) -> Interval:
    """How much more the first are worth than the second, on the same questions: percentile bootstrap of the two ratios.

    Whole users are drawn where there are ten or more, else single questions: then it holds for these users.

    >>> even, ahead = [Worth(0.5), Worth(0.0)] * 5, [Worth(0.75), Worth(0.25)] * 5
    >>> print(ratio_difference(ahead, even, users=["ana"] * 10, seed=1))
    0.250 [0.250, 0.250]
    """
    sums = _sums(after, before, users)
    random = np.random.default_rng(seed)
    drawn = np.array([sums[random.integers(0, len(sums), size=len(sums))].sum(axis=0) for _ in range(RESAMPLES)])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(_difference(drawn), [tail, 1 - tail])
    middle = float(_difference(sums.sum(axis=0)[None, :])[0])
    return Interval(middle, float(low), float(high), CONFIDENCE, len(sums))


def chance_of_gain(after: Sequence[Worth], before: Sequence[Worth], *, users: Sequence[Hashable], seed: int) -> float:
    """How often as much would be gained if neither policy were better: both change places on half of the questions, by
    lot. Where few questions differ this is stricter than an interval, which takes what it has seen for all there is.

    >>> ahead, even = [Worth(1.0)] * 4 + [Worth(0.5)] * 96, [Worth(0.5)] * 100
    >>> 0.04 < chance_of_gain(ahead, even, users=["ana"] * 100, seed=1) < 0.09          # 4 of 4 won: one in sixteen
    True
    """
    sums = _sums(after, before, users)
    swapped = np.random.default_rng(seed).integers(0, 2, size=(RESAMPLES, len(sums))) @ (sums[:, [2, 3, 0, 1]] - sums)
    seen = _difference(sums.sum(axis=0)[None, :])[0]
    return float((1 + (_difference(sums.sum(axis=0) + swapped) >= seen - ROUNDING).sum()) / (1 + RESAMPLES))


def _sums(after: Sequence[Worth], before: Sequence[Worth], users: Sequence[Hashable]) -> _Rows:
    """A row of four sums for each question, or for each user."""
    rows = np.array([(*one[:2], *two[:2]) for one, two in zip(after, before, strict=True)], dtype=np.float64)
    numbers = {user: number for number, user in enumerate(dict.fromkeys(users))}
    if len(numbers) < FEWEST_USERS:
        return rows
    sums = np.zeros((len(numbers), rows.shape[1]))
    np.add.at(sums, [numbers[user] for user in users], rows)
    return sums


def _difference(sums: _Rows) -> _Rows:
    first, second = (
        np.divide(gained, possible, out=np.zeros_like(gained), where=possible > 0.0)
        for gained, possible in ((sums[:, 0], sums[:, 1]), (sums[:, 2], sums[:, 3]))
    )
    found: _Rows = first - second
    return found
