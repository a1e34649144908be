"""Should usefulness count more or less for this user? What each helpful verdict says about it.

As an adaptive cache (ARC) shifts room between the recent and the frequent by hits on what it has just dropped, a
helpful verdict shifts the weight of usefulness: up where more of it would have put the record higher, down where less
would. Recalls shortly before that had dropped the record are asked as well. Bounded, by a fraction of an octave.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from adaptive_memory_core.policy.usefulness import Usefulness
from adaptive_memory_core.score.usefulness import raised

GHOSTS = 5  # recalls before, within which having been dropped still says something
GHOST_SHARE = 0.5  # of what a recall itself says; a guess
_OCTAVE = 2.0


class Ranking(NamedTuple):
    """The candidates of a recall as (relevance, usefulness), the place of the helpful one among them, its weight."""

    candidates: Sequence[tuple[float, float]]
    place: int
    share: float = 1.0


def lean(rankings: Sequence[Ranking], balance: float, useful: Usefulness) -> float:
    """The octaves by which a helpful verdict moves the weight of usefulness.

    >>> used, fresh = (0.4, 1.0), (0.5, 0.0)
    >>> once = Usefulness(weight=0.4, step=0.5)                 # too little to lift the one that was of use before
    >>> lean([Ranking([used, fresh], 0)], 0.0, once), lean([Ranking([used, fresh], 1)], 0.0, once)
    (0.25, -0.25)
    >>> lean([Ranking([(0.4, 0.0), fresh], 0)], 0.0, once)      # nobody was of use: nothing to learn from
    0.0
    """
    weight = useful.weight * gain(balance)
    return useful.step * sum(
        one.share * (_standing(one, weight * _OCTAVE) - _standing(one, weight / _OCTAVE)) for one in rankings
    )


def moved(balance: float, by: float, useful: Usefulness) -> float:
    """The balance after a shift, in octaves and within the bounds.

    >>> moved(0.75, 0.5, Usefulness(most=2)), moved(0.0, -0.25, Usefulness())
    (1.0, -0.25)
    """
    return min(math.log2(useful.most), max(math.log2(useful.least), balance + by))


def gain(balance: float) -> float:
    """What the weight of usefulness is multiplied by.

    >>> gain(0.0), gain(-1.0)
    (1.0, 0.5)
    """
    return math.pow(2.0, balance)


def _standing(ranking: Ranking, weight: float) -> float:
    """One over the rank of the helpful one."""
    scores = [raised(relevance, useful, weight) for relevance, useful in ranking.candidates]
    own = scores[ranking.place]
    return 1.0 / (1 + sum(score > own for score in scores))
