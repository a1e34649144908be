"""Which numbers rank best? A search along each number in turn, from a policy on, by what it is worth on examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.evaluate.tuning_numbers import Number, with_numbers
from adaptive_memory_core.evaluate.worth import Example, Worth
from adaptive_memory_core.policy.policy import Policy

FACTORS = (5.0, 2.0, 1.4)  # by which numbers move, one after the other: some only tell from far away; guess
ROUNDS = 3  # through all numbers at most, with each factor; guess
LEAST = 5e-4  # of the measure, that a step must gain; guess
CAREFUL = 1.0  # standard errors of its gain, that a step must gain; benchmarks/tuned.py
GLANCE = 40  # examples after which a step that changes nothing, or clearly loses, is given up; guess


@dataclass(frozen=True, slots=True)
class Found:
    """A policy and what it is worth on each example."""

    policy: Policy
    worths: tuple[Worth, ...]


def searched(
    start: Policy, numbers: Sequence[Number], examples: Sequence[Example], *, careful: float = CAREFUL
) -> Policy:
    """The best that single steps lead to; the same examples always lead to the same one.

    >>> def near_seven(policy): return Worth(-abs(policy.half_life_days - 7.0))
    >>> question = Example("when?", "ana", near_seven)
    >>> round(searched(Policy(half_life_days=36), [Number("half_life_days", high=99)], [question]).half_life_days)
    7
    """
    best = Found(start, tuple(one.worth(start) for one in examples))
    for factor in FACTORS:
        for _ in range(ROUNDS):
            before = best
            for number in numbers:
                best = _best_along(number, best, factor, examples, careful)
            if best is before:
                break
    return best.policy


def _best_along(number: Number, best: Found, factor: float, examples: Sequence[Example], careful: float) -> Found:
    """The best of the policy and its neighbours along one number."""
    for tried in list(number.moved(number.of(best.policy), factor)):
        try:
            policy = with_numbers(best.policy, {number.place: tried})
        except PolicyError:  # e.g. all weights 0
            continue
        found = _better(policy, best, examples, careful)
        best = best if found is None else found
    return best


def _better(policy: Policy, best: Found, examples: Sequence[Example], careful: float) -> Found | None:
    """The policy, if it is worth enough more."""
    glance = tuple(one.worth(policy) for one in examples[:GLANCE])
    gain, error = gain_of(glance, best.worths[:GLANCE])
    if gain <= -error or glance == best.worths[:GLANCE]:
        return None
    worths = (*glance, *(one.worth(policy) for one in examples[GLANCE:]))
    gain, error = gain_of(worths, best.worths)
    return Found(policy, worths) if gain > max(LEAST, careful * error) else None


def gain_of(after: Sequence[Worth], before: Sequence[Worth]) -> tuple[float, float]:
    """How much more the first are worth, as ratios, and the standard error of that (to first order).

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
    """The ratio, and how far each question lies from it."""
    possible = sum(one.possible for one in worths)
    if possible <= 0.0:
        return 0.0, [0.0] * len(worths)
    value = sum(one.gained for one in worths) / possible
    return value, [(one.gained - value * one.possible) * len(worths) / possible for one in worths]
