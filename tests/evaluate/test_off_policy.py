"""Are values by inverse propensities right? In simulations where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adaptive_memory_core.evaluate.intervals import bootstrap
from adaptive_memory_core.evaluate.worth import Worth, ratio, ratio_difference, worth_of
from adaptive_memory_core.records import Dropped, Hit, Record, Scored
from adaptive_memory_core.score.gates import BEYOND_K
from adaptive_memory_core.score.select import with_random_tail

K, CANDIDATES, RECALLS = 4, 8, 2_000
NAMES = [f"m{number}" for number in range(CANDIDATES)]
HITS = {name: Scored(Hit(Record(name, name), 0.5, name), 0.5, {}, {}) for name in NAMES}


def simulated(order: list[str], chance_of_help: dict[str, float], *, seed: int, tail: int) -> list[Worth]:
    """What a log of answers in the order of the names, some of them drawn, says of this order."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(RECALLS):
        dropped = [Dropped(one, BEYOND_K, HITS[one]) for one in NAMES[K:]]
        first = tuple(HITS[one] for one in NAMES[:K])
        drawn = with_random_tail(first, dropped, tail=tail, recall_id=f"{seed} {number}")
        returned = [one.id for one in drawn.kept]
        chances = drawn.propensities or dict.fromkeys(returned, 1.0)
        helpful = {one for one in returned if random.random() < chance_of_help[one]}
        found.append(worth_of(order, chances, returned, helpful))
    return found


def truth(order: list[str], chance_of_help: dict[str, float]) -> float:
    discounts = [1.0 / math.log2(place + 2) for place in range(len(order))]
    return sum(d * chance_of_help[one] for d, one in zip(discounts, order, strict=True)) / sum(discounts)


@pytest.mark.parametrize("seed", range(4))
def test_the_truth_lies_in_the_interval(seed: int) -> None:
    random = np.random.default_rng(seed)
    help_of = dict(zip(NAMES, random.random(CANDIDATES).round(2).tolist(), strict=True))
    order = list(random.permutation(NAMES)[:K])
    worths = simulated(order, help_of, seed=seed, tail=2)  # all but the first two places
    plain = bootstrap([one.gained / one.unnormalised.possible for one in worths], seed=1, confidence=0.999)
    assert plain.low <= truth(order, help_of) <= plain.high
    nothing = [Worth(0.0, 1.0)] * RECALLS
    normalised = ratio_difference(worths, nothing, users=["ana"] * RECALLS, seed=1)
    assert abs(normalised.mean - truth(order, help_of)) <= 1.5 * (normalised.high - normalised.low)
    assert normalised.high - normalised.low <= plain.high - plain.low


def test_without_a_tail_new_hits_are_valued_too_low_and_never_too_high() -> None:
    help_of = dict.fromkeys(NAMES, 0.1) | {"m6": 0.9}
    order = ["m6", "m0", "m1", "m2"]
    value = ratio(simulated(order, help_of, seed=1, tail=0))
    assert value < truth(order, help_of) - 0.2
    drawn = ratio(simulated(order, help_of, seed=1, tail=2))
    assert drawn == pytest.approx(truth(order, help_of), abs=0.06)


def test_what_was_never_possible_counts_as_of_no_use() -> None:
    assert ratio([worth_of(["new"], {"old": 1.0}, ["old"], ["old"])]) == 0.0
    assert worth_of([], {"old": 1.0}, ["old"], ["old"])[:2] == (0.0, 0.0)
    tiny = worth_of(["a"], {"a": 1e-6}, ["a"], ["a"])
    assert tiny.gained == 20.0  # clipped
