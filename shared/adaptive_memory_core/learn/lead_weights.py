"""What do verdicts say of channels and signals? What spoke for the helpful counts more, slowly and within bounds.

Exponentiated gradient on the weights, as in Kivinen and Warmuth (1997): a helpful record that stood below others says
which leads of channels, and whether recency and importance, would have ranked it higher. A weight's part of a score is
the slope of the score by the weight's logarithm. What is learned is kept in octaves; where verdicts are few, it counts
by as much less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.policy.usefulness import Usefulness

Parts = Mapping[str, float]


class LeadWeights(NamedTuple):
    """By how many octaves each lead, and each signal, counts more than the policy says, from how many verdicts."""

    octaves: Mapping[str, float] = {}
    verdicts: float = 0.0


NOTHING_LEARNED = LeadWeights()


def step(own: Parts, above: Sequence[Parts], size: float) -> dict[str, float]:
    """By how many octaves one helpful verdict moves each lead, given the parts of its score and of those above it.

    >>> step({"similarity": 0.25, "words": 0.5}, [{"similarity": 0.75, "words": 0.25}], size=0.5)
    {'similarity': -0.25, 'words': 0.125}
    >>> step({"similarity": 0.5}, [], size=0.5)             # it stood first already
    {}
    """
    if not above:
        return {}
    return {
        name: size * sum(value - other.get(name, 0.0) for other in above) / len(above) for name, value in own.items()
    }


def moved(before: LeadWeights, by: Mapping[str, float], sign: int, useful: Usefulness) -> LeadWeights:
    """What is learned after a verdict, or with `sign` -1 after one was taken back.

    >>> after = moved(LeadWeights({"words": 0.4}, 3), {"words": 0.25}, 1, Usefulness(lead_bound=0.5))
    >>> after
    LeadWeights(octaves={'words': 0.5}, verdicts=4)
    """
    bound = useful.lead_bound
    names = dict.fromkeys((*before.octaves, *by))
    octaves = {one: before.octaves.get(one, 0.0) + sign * by.get(one, 0.0) for one in names}
    within = {one: min(bound, max(-bound, value)) for one, value in octaves.items()}
    return LeadWeights(within, max(0, before.verdicts + sign))


def in_force(learned: LeadWeights, useful: Usefulness) -> dict[str, float]:
    """What each lead's weight is multiplied by; next to nothing where verdicts are few.

    >>> in_force(LeadWeights({"words": 1.0}, 20), Usefulness(lead_step=0.5, lead_prior=20))
    {'words': 1.4142135623730951}
    >>> in_force(LeadWeights({"words": 1.0}, 20), Usefulness()), in_force(NOTHING_LEARNED, Usefulness(lead_step=1))
    ({}, {})
    """
    if useful.lead_step == 0.0 or learned.verdicts <= 0:
        return {}
    share = learned.verdicts / (learned.verdicts + useful.lead_prior)
    return {name: math.pow(2.0, share * value) for name, value in learned.octaves.items()}


def weights_of(octaves: object, verdicts: object) -> LeadWeights:
    """What was kept, as a value; what is no number is left out.

    >>> weights_of({"words": 0.5, "near": "x"}, 3)
    LeadWeights(octaves={'words': 0.5}, verdicts=3)
    """
    given: Iterable[tuple[object, object]] = octaves.items() if isinstance(octaves, Mapping) else ()
    known = {str(name): float(value) for name, value in given if isinstance(value, int | float)}
    return LeadWeights(known, verdicts if isinstance(verdicts, int | float) else 0)
