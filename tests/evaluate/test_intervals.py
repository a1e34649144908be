"""Do intervals cover what they should, repeat with their seed, and are values by inverse propensities right?"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.intervals import bootstrap, paired_difference
from adaptive_memory_core.evaluate.worth import Worth, ratio, ratio_difference, worth_of
from adaptive_memory_core.records import Dropped, Hit, Record, Scored
from adaptive_memory_core.score.diversity import with_random_tail
from adaptive_memory_core.score.ranking import BEYOND_K

scores_of_questions = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(scores_of_questions, st.integers(0, 1000))
def test_the_bounds_lie_among_the_scores_and_around_each_other(scores: list[float], seed: int) -> None:
    interval = bootstrap(scores, seed=seed, resamples=50)
    assert min(scores) - 1e-9 <= interval.low <= interval.high <= max(scores) + 1e-9
    assert interval.mean == pytest.approx(math.fsum(scores) / len(scores))


@given(scores_of_questions, st.integers(0, 1000))
def test_the_same_seed_gives_the_same_interval(scores: list[float], seed: int) -> None:
    assert bootstrap(scores, seed=seed, resamples=50) == bootstrap(scores, seed=seed, resamples=50)


@given(scores_of_questions)
def test_a_system_compared_with_itself_differs_by_nothing(scores: list[float]) -> None:
    interval = paired_difference(scores, scores, seed=1, resamples=50)
    assert (interval.mean, interval.low, interval.high, interval.excludes_zero) == (0.0, 0.0, 0.0, False)


@given(scores_of_questions)
def test_one_cluster_per_question_is_the_same_as_none(scores: list[float]) -> None:
    alone = [str(number) for number in range(len(scores))]
    assert bootstrap(scores, clusters=alone, seed=1, resamples=50) == bootstrap(scores, seed=1, resamples=50)


def test_more_confidence_is_wider() -> None:
    scores = [number / 10 for number in range(11)]
    narrow, wide = (bootstrap(scores, seed=1, confidence=confidence) for confidence in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_questions_that_stand_or_fall_together_widen_the_interval() -> None:
    scores = [float(user % 2) for user in range(20) for _ in range(25)]
    users = [user for user in range(20) for _ in range(25)]
    together, apart = bootstrap(scores, clusters=users, seed=1), bootstrap(scores, seed=1)
    assert together.clusters == 20
    assert together.high - together.low > 3 * (apart.high - apart.low)


def test_every_question_counts_the_same_however_large_its_cluster() -> None:
    assert bootstrap([1.0, 1.0, 1.0, 0.0], clusters=["ann", "ann", "ann", "bob"], seed=1).mean == 0.75


def test_about_95_of_100_intervals_hold_the_true_mean() -> None:
    draw = random.Random(7)
    samples = [[float(draw.random() < 0.4) for _ in range(100)] for _ in range(200)]
    held = [one.low <= 0.4 <= one.high for one in (bootstrap(sample, seed=1, resamples=200) for sample in samples)]
    assert 0.90 <= sum(held) / len(held) <= 0.98


def test_a_small_steady_gain_is_seen_through_questions_of_very_different_difficulty() -> None:
    draw = random.Random(7)
    theirs = [draw.random() for _ in range(200)]
    ours = [score + 0.02 + 0.01 * draw.random() for score in theirs]
    gained = paired_difference(ours, theirs, seed=1)
    assert 0.02 < gained.low < gained.mean < gained.high < 0.03
    assert gained.excludes_zero
    assert paired_difference(theirs, ours, seed=1).excludes_zero
    assert bootstrap(ours, seed=1).low < bootstrap(theirs, seed=1).high


@pytest.mark.parametrize(("scores", "clusters"), [([], None), ([0.5], None), ([0.5, 1.0], ["ann", "ann"])])
def test_a_single_unit_has_no_interval(scores: list[float], clusters: list[str] | None) -> None:
    with pytest.raises(InvalidInputError, match="at least 2"):
        bootstrap(scores, clusters=clusters, seed=1)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(InvalidInputError, match="finite number"):
        bootstrap([0.5, bad], seed=1)


def test_scores_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="2 scores of ours and 1 of theirs"):
        paired_difference([0.5, 1.0], [0.5], seed=1)
    with pytest.raises(InvalidInputError, match="1 cluster keys"):
        bootstrap([0.5, 1.0], clusters=["ann"], seed=1)


@pytest.mark.parametrize(("resamples", "confidence"), [(0, 0.95), (100, 1.0), (100, 0.0), (100, math.nan)])
def test_settings_that_give_no_interval_are_refused(resamples: int, confidence: float) -> None:
    with pytest.raises(InvalidInputError, match="resamples is"):
        bootstrap([0.5, 1.0], seed=1, resamples=resamples, confidence=confidence)


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
