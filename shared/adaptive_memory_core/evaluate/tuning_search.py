"""Which numbers rank best? A search along each number in turn, from a policy on, by what it is worth on examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.evaluate.tuning_numbers import Number, with_numbers
from adaptive_memory_core.policy.policy import Policy

FACTORS = (5.0, 2.0, 1.4)  # by which numbers move, one after the other: some only tell from far away; guess
ROUNDS = 3  # through all numbers at most, with each factor; guess
LEAST = 5e-4  # of the measure, that a step must gain; guess
Objective = Callable[[Policy], float]


def searched(start: Policy, numbers: Sequence[Number], objective: Objective) -> Policy:
    """The best that single steps lead to; the same examples always lead to the same one.

    >>> def near_nine(policy): return -abs(policy.half_life_days - 9.0)
    >>> round(searched(Policy(half_life_days=36), [Number("half_life_days", high=99)], near_nine).half_life_days)
    9
    """
    best, value = start, objective(start)
    for factor in FACTORS:
        for _ in range(ROUNDS):
            before = value
            for number in numbers:
                best, value = _best_along(number, best, value, factor, objective)
            if value == before:
                break
    return best


def _best_along(
    number: Number, best: Policy, value: float, factor: float, objective: Objective
) -> tuple[Policy, float]:
    """The best of the policy and its neighbours along one number."""
    for tried in list(number.moved(number.of(best), factor)):
        try:
            policy = with_numbers(best, {number.place: tried})
        except PolicyError:  # e.g. all weights 0
            continue
        found = objective(policy)
        if found > value + LEAST:
            best, value = policy, found
    return best, value
