"""Which of a policy's numbers are tuned, and how may each move? Their places and ranges, and what lies between two."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adaptive_memory_core.policy.asked_before import AGAINST, AHEAD, NEAR, TRUSTED
from adaptive_memory_core.policy.channel_names import RERANKER
from adaptive_memory_core.policy.fusion import CHANCE, LEADS, SHORT, TELLING
from adaptive_memory_core.policy.policy import Policy

NO_WEIGHT = {CHANCE, TELLING, SHORT, RERANKER, NEAR, TRUSTED, AGAINST, AHEAD}  # what else is said of candidates
NEGLIGIBLE = 1e-3  # a weight below which it is 0
FIRST = 0.05  # the weight from which one that is 0 begins; guess


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a policy, by its place ("fusion.words"); it moves by factors, or along the steps it is given."""

    place: str
    low: float = 0.0
    high: float = 16.0
    steps: tuple[float, ...] = ()

    def of(self, policy: Policy) -> float:
        """
        >>> Number("decay.grace").of(Policy())
        5.0
        """
        owner: Any = policy
        for name in self.place.split("."):
            owner = policy.weighing if name == "fusion" else getattr(owner, name)
        return float(owner)

    def moved(self, value: float, factor: float) -> Iterator[float]:
        """The values to try next to this one.

        >>> list(Number("fusion.words").moved(0.2, 2.0)), list(Number("fusion.words").moved(0.0, 2.0))
        ([0.4, 0.1, 0.0], [0.05])
        >>> list(Number("decay.rate", steps=(0.9, 0.95, 1.0)).moved(1.0, 2.0))
        [0.95]
        """
        if self.steps:
            here = min(range(len(self.steps)), key=lambda one: abs(self.steps[one] - value))
            yield from (self.steps[one] for one in (here + 1, here - 1) if 0 <= one < len(self.steps))
            return
        if value == 0.0:
            yield min(self.high, max(self.low, FIRST))
            return
        tried = [value * factor, value / factor, *([0.0] if self.low == 0.0 and factor >= 2.0 else [])]
        yield from (one for one in tried if self.low <= one <= self.high)


FUSION = (*(Number(f"fusion.{name}") for name in ("dense", *LEADS)), Number("fusion.doubt", high=4.0))
WEIGHTS = (Number("weights.recency"), Number("weights.importance"))
HALF_LIFE = (Number("half_life_days", low=0.25, high=365.0),)
DECAY = (
    Number("decay.rate", steps=(0.8, 0.9, 0.95, 0.98, 0.99, 1.0)),
    Number("decay.grace", steps=(0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)),
    Number("decay.remembrance_threshold", steps=(1.0, 2.0, 3.0, 5.0, 10.0)),
)
ALL = (*FUSION, *WEIGHTS, *HALF_LIFE, *DECAY)


def numbers_for(policy: Policy, leads: Collection[str], *, history: bool) -> Sequence[Number]:
    """Those that may change something here: weights of the leads that candidates have, and with a `history` of reads
    ARM's numbers, unless kinds have their own."""
    there = {f"fusion.{name}" for name in leads} if policy.weighing.method == "convex" else set()
    if set(leads) - NO_WEIGHT and there:
        there |= {"fusion.dense", "fusion.doubt"} if CHANCE in leads else {"fusion.dense"}
    weights = () if policy.weights.only_similarity and policy.blending == "bounded" else WEIGHTS
    decay = DECAY if history and not policy.decay.by_kind else ()
    return (*(one for one in FUSION if one.place in there), *weights, *HALF_LIFE, *decay)


def with_numbers(policy: Policy, values: Mapping[str, float]) -> Policy:
    """The policy with these numbers; where its weights change, its blend stays what it is.

    >>> with_numbers(Policy(), {"weights.recency": 0.05, "decay.rate": 0.9}).blend
    'bounded'
    """
    changes: dict[str, Any] = {}
    for place, value in values.items():
        group, _, name = place.partition(".")
        if name:
            given = round(value) if name == "remembrance_threshold" else value
            changes[group] = {**changes.get(group, {}), name: given}
        else:
            changes[group] = value
    if "fusion" in changes:
        changes["fusion"] = replace(policy.weighing, **changes["fusion"])
    if "weights" in changes:
        changes["blend"] = policy.blending
    return policy.replace(**changes) if changes else policy


def changed_numbers(before: Policy, after: Policy) -> dict[str, tuple[float, float]]:
    """By its place, what each number was and is, where that differs."""
    pairs = {one.place: (one.of(before), one.of(after)) for one in ALL}
    return {place: pair for place, pair in pairs.items() if pair[0] != pair[1]}


def between(before: Policy, after: Policy, share: float) -> Policy:
    """That share of the way from one policy to the other, by octaves where both numbers are above 0.

    >>> one, two = Policy(half_life_days=8).suited(""), Policy(half_life_days=32).suited("")
    >>> between(one, two, 0.5).half_life_days, between(one, two, 0.0) == one, between(one, two, 1.0) == two
    (16.0, True, True)
    """
    ways = changed_numbers(before, after)
    values = {place: _between(one, two, share) for place, (one, two) in ways.items()}
    return with_numbers(before, {place: value for place, value in values.items() if value != ways[place][0]})


def _between(one: float, two: float, share: float) -> float:
    """
    >>> _between(1.0, 4.0, 0.5), _between(0.0, 0.5, 0.5), _between(3.0, 3.0, 0.25)
    (2.0, 0.25, 3.0)
    """
    if share in (0.0, 1.0):
        return two if share else one
    if one > 0.0 and two > 0.0:
        return one * math.pow(two / one, share)
    found = one + share * (two - one)
    return found if found >= NEGLIGIBLE else 0.0
