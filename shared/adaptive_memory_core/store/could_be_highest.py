"""Which of very many numbers could be among the highest? Most are left out at a glance, by the best of each group."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

GROUP = 32  # numbers of which only the best is looked at first


def could_be_highest(numbers: npt.NDArray[Any], most: int) -> npt.NDArray[np.intp]:
    """The places of all numbers that could be among so many of the highest; of few numbers all places.

    Where as many groups as are wanted have a best that is no less than some number, what is wanted is no less either.

    >>> could_be_highest(np.array([0.1, 0.9, 0.5, 0.7]), 2).tolist()
    [0, 1, 2, 3]
    >>> could_be_highest(np.arange(100.0), 1).tolist()
    [95, 96, 97, 98, 99]
    """
    groups = len(numbers) // GROUP
    if groups <= 2 * most:
        return np.arange(len(numbers))
    bests = numbers[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    bests.partition(groups - most)
    return np.flatnonzero(~(numbers < bests[groups - most]))  # what is no number is the highest, as where it is sorted
