"""How likely is it that some record matches a cue's words as well as the best one does, by accident?"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

STEPS = np.array([*np.arange(0.1, 1.05, 0.1), 1.2, 1.5, 2.0, 3.0])[:, None]  # at which the bound is tried
MOST = 50.0  # nats, above which a power of e is cut off
Array = Any


def by_accident(nats: float, records: int) -> float:
    """The chance that one of so many records matches a cue by accident with words that say this much. Each nat makes a
    match e times rarer, so about records * exp(-nats) are to be expected.

    >>> round(by_accident(0.0, 10), 3), round(by_accident(10.0, 10), 4), by_accident(0.0, 0)
    (1.0, 0.0005, 0.0)
    """
    return 1.0 - math.exp(-records * math.exp(-nats))


class Asked(NamedTuple):
    """The words of a cue that some records have: what each counts, how many nats each says, and how many records there
    are."""

    weights: Array
    rarities: Array
    records: int

    def chance(self, nats: float, alone: float) -> float:
        """That some record matches with words that say this much. `alone` is how far such records are found by their
        own words, in [0, 1], where it might have been any words of the cue. Turns are found by their neighbours' words
        too, which are about the same and come together.

        >>> asked = Asked(np.full(4, 5.0), np.full(4, 5.0), 100)
        >>> [round(asked.chance(nats, alone=1.0), 4) for nats in (20.0, 10.0)], round(asked.chance(10.0, alone=0.0), 4)
        ([0.0, 0.0692], 0.0045)
        """
        choice = nats_of_choice(nats, self.weights, self.rarities) if alone > 0.0 else 0.0
        return by_accident(nats - alone * choice, self.records)


def nats_of_choice(nats: float, weights: Array, rarities: Array) -> float:
    """How many nats less it says that a text has these words, since any others of the cue that weigh as much would have
    done as well: half of a long question is found sooner than the whole of a short one. Chernoff's bound on the chance
    that words that come by accident, each by itself, weigh as much together.

    >>> four = np.full(4, 5.0)
    >>> round(nats_of_choice(20.0, four, four), 1), round(nats_of_choice(10.0, four, four), 1)     # all, half of them
    (0.0, 2.8)
    >>> nats_of_choice(5.0, np.array([]), np.array([]))
    0.0
    """
    if not len(weights):
        return 0.0
    beyond = np.expm1(np.minimum(STEPS * weights, MOST))
    bounds = np.log1p(np.exp(-rarities) * beyond).sum(axis=1) - STEPS[:, 0] * nats
    return max(0.0, nats + min(0.0, float(bounds.min())))
