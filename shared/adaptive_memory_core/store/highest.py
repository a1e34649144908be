"""Which of very many numbers are the highest? Most are left out at a glance, by the best of each group."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

GROUP = 32  # numbers of which only the best is looked at first


def highest(numbers: npt.NDArray[Any], most: int) -> npt.NDArray[np.intp]:
    """The places of so many of the highest numbers, in no order.

    Where as many groups as are wanted have a best that is no less than some number, what is wanted is no less either.

    >>> sorted(highest(np.array([0.1, 0.9, 0.5, 0.7]), 2).tolist())
    [1, 3]
    """
    count, groups = len(numbers), len(numbers) // GROUP
    if count <= most:
        return np.arange(count)
    if groups <= 2 * most:
        return numbers.argpartition(count - most)[count - most :]
    bests = numbers[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    bests.partition(groups - most)
    (places,) = (~(numbers < bests[groups - most])).nonzero()  # what is no number is the highest, as where it is sorted
    found = numbers[places]
    return np.asarray(places[found.argpartition(len(found) - most)[len(found) - most :]])
