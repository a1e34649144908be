"""The tunable numbers of a policy, their ranges, and the search for the values that rank best."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.evaluate.worth import Example, Worth
from adaptive_memory_core.policy.advanced import FOR_ALL, LEADS, OF_GRAPH, RERANKER
from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, TRUSTED
from adaptive_memory_core.policy.policy import Policy

NO_WEIGHT = {*FOR_ALL, *OF_GRAPH, RERANKER, NEAR, TRUSTED, AGAINST, AHEAD}  # leads that have no tunable weight
NEGLIGIBLE = 1e-3  # a smaller weight becomes 0
FIRST = 0.05  # the first value to try for a weight that is 0; guess


@dataclass(frozen=True, slots=True)
class TunableNumber:
    """One number of a policy, by its place ("weights.recency"). It moves by factors, or along the given steps."""

    place: str
    low: float = 0.0
    high: float = 16.0
    steps: tuple[float, ...] = ()

    def of(self, policy: Policy) -> float:
        """
        >>> TunableNumber("decay.grace").of(Policy())
        5.0
        """
        owner: Any = policy
        for name in self.place.split("."):
            owner = getattr(owner, name)
        return float(owner)

    def moved(self, value: float, factor: float) -> Iterator[float]:
        """The neighbouring values to try.

        >>> weight = TunableNumber("weights.recency")
        >>> list(weight.moved(0.2, 2.0)), list(weight.moved(0.0, 2.0))
        ([0.4, 0.1, 0.0], [0.05])
        >>> list(TunableNumber("decay.rate", steps=(0.9, 0.95, 1.0)).moved(1.0, 2.0))
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


FUSION = (TunableNumber("advanced.fusion.vectors"), TunableNumber("advanced.fusion.words"))
WEIGHTS = (TunableNumber("weights.recency"), TunableNumber("weights.importance"))
HALF_LIFE = (TunableNumber("half_life_days", low=0.25, high=365.0),)
DECAY = (
    TunableNumber("decay.rate", steps=(0.8, 0.9, 0.95, 0.98, 0.99, 1.0)),
    TunableNumber("decay.grace", steps=(0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)),
    TunableNumber("decay.remembrance_threshold", steps=(1.0, 2.0, 3.0, 5.0, 10.0)),
)
ALL = (*WEIGHTS, *HALF_LIFE, *FUSION, *DECAY)


def numbers_for(policy: Policy, leads: Collection[str], *, history: bool) -> Sequence[TunableNumber]:
    """The numbers that can affect these questions: weights for the candidates' leads and, with a `history` of reads,
    ARM's numbers, unless kinds have their own."""
    joined = policy.advanced.fusion.method == "surprise" and set(leads) - NO_WEIGHT
    there = {one.place for one in FUSION} if joined and set(leads) & set(LEADS) else set()
    weights = () if policy.weights.only_similarity and policy.blending == "bounded" else WEIGHTS
    decay = DECAY if history and not policy.decay.by_kind else ()
    return (*weights, *HALF_LIFE, *(one for one in FUSION if one.place in there), *decay)


def with_numbers(policy: Policy, values: Mapping[str, float]) -> Policy:
    """The policy with these numbers. Changed weights leave its blend unchanged.

    >>> with_numbers(Policy(), {"weights.recency": 0.05, "decay.rate": 0.9}).advanced.blend
    'bounded'
    """
    changes: dict[str, Any] = {}
    for place, value in values.items():
        *groups, name = place.split(".")
        owner = changes
        for group in groups:
            owner = owner.setdefault(group, {})
        owner[name] = round(value) if name == "remembrance_threshold" else value
    if "weights" in changes:
        changes.setdefault("advanced", {})["blend"] = policy.blending
    return policy.replace(**changes) if changes else policy


def changed_numbers(before: Policy, after: Policy) -> dict[str, tuple[float, float]]:
    """The numbers that differ between the policies, as (before, after) by place."""
    pairs = {one.place: (one.of(before), one.of(after)) for one in ALL}
    return {place: pair for place, pair in pairs.items() if pair[0] != pair[1]}


def policy_between(before: Policy, after: Policy, share: float) -> Policy:
    """The policy at this share of the way between two policies, geometrically if both numbers are above 0.

    >>> one, two = Policy(half_life_days=8).suited(), Policy(half_life_days=32).suited()
    >>> policy_between(one, two, 0.5).half_life_days
    16.0
    >>> policy_between(one, two, 0.0) == one, policy_between(one, two, 1.0) == two
    (True, True)
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


FACTORS = (5.0, 2.0, 1.4)  # step sizes, tried in turn: some numbers only matter after a large step; guess
ROUNDS = 3  # rounds through all numbers per factor, at most; guess
LEAST = 5e-4  # the least gain of a step, in units of the measure; guess
CAREFUL = 1.0  # the least gain of a step, in standard errors of the gain; benchmarks/tuned.py
GLANCE = 40  # examples after which a step is dropped if it changes nothing or clearly loses; guess


@dataclass(frozen=True, slots=True)
class TunedPolicy:
    """A policy and its worth on each example."""

    policy: Policy
    worths: tuple[Worth, ...]


def searched(
    start: Policy, numbers: Sequence[TunableNumber], examples: Sequence[Example], *, careful: float = CAREFUL
) -> Policy:
    """The best policy that single steps lead to; the same examples always give the same policy.

    >>> def near_seven(policy): return Worth(-abs(policy.half_life_days - 7.0))
    >>> question = Example("when?", "ana", near_seven)
    >>> half_life = TunableNumber("half_life_days", high=99)
    >>> round(searched(Policy(half_life_days=36), [half_life], [question]).half_life_days)
    7
    """
    best = TunedPolicy(start, tuple(one.worth(start) for one in examples))
    for factor in FACTORS:
        for _ in range(ROUNDS):
            before = best
            for number in numbers:
                best = _best_along(number, best, factor, examples, careful)
            if best is before:
                break
    return best.policy


def _best_along(
    number: TunableNumber, best: TunedPolicy, factor: float, examples: Sequence[Example], careful: float
) -> TunedPolicy:
    """The better of the best policy so far and its neighbours along one number."""
    for tried in list(number.moved(number.of(best.policy), factor)):
        try:
            policy = with_numbers(best.policy, {number.place: tried})
        except PolicyError:  # e.g. all weights 0
            continue
        found = _better(policy, best, examples, careful)
        best = best if found is None else found
    return best


def _better(policy: Policy, best: TunedPolicy, examples: Sequence[Example], careful: float) -> TunedPolicy | None:
    """The policy with its worths if it gains enough over the best, else None."""
    glance = tuple(one.worth(policy) for one in examples[:GLANCE])
    gain, error = gain_of(glance, best.worths[:GLANCE])
    if gain <= -error or glance == best.worths[:GLANCE]:
        return None
    worths = (*glance, *(one.worth(policy) for one in examples[GLANCE:]))
    gain, error = gain_of(worths, best.worths)
    return TunedPolicy(policy, worths) if gain > max(LEAST, careful * error) else None


def gain_of(after: Sequence[Worth], before: Sequence[Worth]) -> tuple[float, float]:
    """The gain of the first over the second, as a difference of ratios, with its first-order standard error.

    >>> gain_of([Worth(1.0), Worth(0.5)], [Worth(0.5), Worth(0.5)])
    (0.25, 0.25)
    """
    sides = [_parts(after), _parts(before)]
    (one, firsts), (two, seconds) = sides
    differences = [first - second for first, second in zip(firsts, seconds, strict=True)]
    squares = sum(value * value for value in differences)
    count = len(differences)
    return one - two, math.sqrt(squares / count / (count - 1)) if count > 1 else 0.0


def _parts(worths: Sequence[Worth]) -> tuple[float, list[float]]:
    """The ratio, and each question's deviation from it."""
    possible = sum(one.possible for one in worths)
    if possible <= 0.0:
        return 0.0, [0.0] * len(worths)
    value = sum(one.gained for one in worths) / possible
    return value, [(one.gained - value * one.possible) * len(worths) / possible for one in worths]
