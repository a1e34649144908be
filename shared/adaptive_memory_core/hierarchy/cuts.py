"""In which ways may a theme be cut in two? A few candidates by clustering, each member on one side or the other."""

from __future__ import annotations

import numpy as np

from adaptive_memory_core.hierarchy.nodes import Array

Cut = tuple[bool, ...]
ROUNDS = 10  # of moving members to the nearer of two centres; they settle earlier, as a rule


def cuts(members: Array) -> list[Cut]:
    """Cuts of at least two members, neither side empty, each once: along the axis in which they spread most, and the
    two halves around the pair that is least alike. The first member is always on the first side.

    >>> cuts(np.array([[1.0, 0.0], [0.0, 1.0]]))
    [(True, False)]
    >>> (True, True, False, False) in cuts(np.array([[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]]))
    True
    """
    found = [_oriented(one) for one in (*_along_axis(members), _around_pair(members))]
    return list(dict.fromkeys(one for one in found if any(one) and not all(one)))


def _along_axis(members: Array) -> list[Array]:
    """In the order along the axis, at each place that leaves at least two on each side, as far as there are so many."""
    count = len(members)
    centred = members - members.mean(axis=0)
    _, _, axes = np.linalg.svd(centred @ centred.T)
    order = np.lexsort((np.arange(count), axes[0]))
    least = 1 if count < 4 else 2
    made = []
    for place in range(least, count - least + 1):
        side = np.zeros(count, dtype=bool)
        side[order[:place]] = True
        made.append(side)
    return made


def _around_pair(members: Array) -> Array:
    alike = members @ members.T
    first, second = np.unravel_index(int(np.argmin(alike)), alike.shape)
    side: Array = alike[first] >= alike[second]
    side[first], side[second] = True, first == second
    for _ in range(ROUNDS):
        if not side.any() or side.all():
            break
        one, other = members[side].mean(axis=0), members[~side].mean(axis=0)
        again = members @ one >= members @ other
        if (again == side).all() or not again.any() or again.all():
            break
        side = again
    return side


def _oriented(side: Array) -> Cut:
    return tuple(bool(one) for one in (side if side[0] else ~side))
