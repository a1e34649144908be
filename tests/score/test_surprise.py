"""Nats of surprise: what similarities, words and kinds say, and the baseline of unrelated texts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.score.surprise import (
    SAMPLE,
    USUAL_SPREAD,
    Baseline,
    baseline_of_vectors,
    merged_baseline,
    of_kind,
    of_meaning,
    of_word,
    sample_of,
)

SIMILARITIES = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=20)


def some_vectors(count: int, seed: int = 0, dimensions: int = 24) -> Any:
    """Unit vectors that are alike by about 0.2, as those of texts are."""
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)) + 0.5
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_a_baseline_is_the_mean_and_the_spread_of_all_pairs() -> None:
    vectors = some_vectors(100)
    pairs = (vectors @ vectors.T)[np.triu_indices(100, 1)]
    found = baseline_of_vectors(vectors, "cosine")
    assert found.mean == pytest.approx(pairs.mean(), abs=0.001)
    assert found.spread == pytest.approx(pairs.std(), abs=0.001)


@pytest.mark.parametrize("space", ["cosine", "l2", "ip"])
def test_one_record_two_equal_ones_and_ten_give_sensible_baselines(space: str) -> None:
    assert baseline_of_vectors(np.zeros((0, 4)), space) == baseline_of_vectors(np.ones((1, 4)), space) == Baseline()
    twice = baseline_of_vectors(np.tile(some_vectors(1), (2, 1)), space)
    ten = baseline_of_vectors(some_vectors(10), space)
    assert twice.mean == pytest.approx(0.25)  # one pair of similarity 1, and three that count as 0
    for one in (twice, ten):
        assert all(map(math.isfinite, one))
        assert one.spread > 0.01
    assert ten.mean == pytest.approx(baseline_of_vectors(some_vectors(100), space).mean, abs=0.1)


def test_many_equal_records_say_no_less_of_a_similarity_than_of_none() -> None:
    same = baseline_of_vectors(np.tile(some_vectors(1), (50, 1)), "cosine")
    assert math.isfinite(float(of_meaning(1.0, same)))
    assert float(of_meaning(1.0, same)) >= float(of_meaning(0.0, same))


def test_the_vector_of_a_record_without_words_is_no_number_that_is_not_one() -> None:
    vectors = some_vectors(5)
    vectors[2] = 0.0
    assert all(map(math.isfinite, baseline_of_vectors(vectors, "cosine")))


@pytest.mark.parametrize("seed", range(3))
def test_a_shift_of_all_vectors_moves_the_baseline_and_hardly_what_similarities_say(seed: int) -> None:
    """v -> (sqrt(0.3) v, sqrt(0.7)) makes every cosine 0.3 cos + 0.7. The three pairs of similarity 0 that are assumed
    besides the 1,770 there are make the difference."""
    vectors = some_vectors(60, seed)
    shifted = np.hstack([math.sqrt(0.3) * vectors, np.full((60, 1), math.sqrt(0.7))])
    before, after = baseline_of_vectors(vectors, "cosine"), baseline_of_vectors(shifted, "cosine")
    assert after.mean == pytest.approx(0.3 * before.mean + 0.7, abs=0.002)
    cosines = np.linspace(-0.2, 1.0, 13)
    assert of_meaning(0.3 * cosines + 0.7, after) == pytest.approx(of_meaning(cosines, before), abs=0.06)
    assert after.above(0.3 * cosines + 0.7) == pytest.approx(before.above(cosines), abs=0.01)


def test_a_rotation_and_a_scaling_change_no_baseline() -> None:
    vectors = some_vectors(60)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(24, 24)))
    for other in (vectors @ turn, 7.0 * vectors):
        assert baseline_of_vectors(other, "cosine") == pytest.approx(baseline_of_vectors(vectors, "cosine"), abs=1e-9)


@given(SIMILARITIES, st.floats(-0.5, 0.9), st.floats(0.01, 0.5))
def test_a_higher_similarity_never_says_less_and_none_says_less_than_nothing(
    similarities: list[float], mean: float, spread: float
) -> None:
    nats = of_meaning(np.array(sorted(similarities)), Baseline(mean, spread))
    assert np.isfinite(nats).all()
    assert (nats >= 0.0).all()
    assert (np.diff(nats) >= 0.0).all()


@given(st.integers(1, 500), st.integers(0, 500), st.floats(0.05, 50.0))
def test_a_rarer_word_says_more_and_a_longer_text_less(holding: int, others: int, long: float) -> None:
    records = holding + others
    here = float(of_word(holding, records, long))
    assert math.isfinite(here)
    assert here >= 0.0
    assert here >= float(of_word(holding, records, 1.1 * long))
    assert here >= float(of_word(min(records, holding + 1), records, long))


def test_what_one_in_a_hundred_has_says_the_logarithm_of_a_hundred() -> None:
    assert float(of_word(10, 980, 1.0)) == pytest.approx(math.log(100))  # 20 more records are assumed


@given(st.floats(0.0, 1.0))
def test_a_kind_speaks_for_what_is_of_it_and_against_what_is_not(share: float) -> None:
    speaks_for, against = of_kind(share)
    assert speaks_for > 0.0 > against
    assert speaks_for >= of_kind(min(1.0, share + 0.05))[0]


@given(st.lists(st.tuples(st.integers(0, 900), st.floats(-0.5, 0.9), st.floats(0.01, 0.3)), min_size=1, max_size=5))
def test_the_baseline_of_joined_scopes_is_between_theirs(told: list[tuple[int, float, float]]) -> None:
    parts = [(count, Baseline(mean, spread)) for count, mean, spread in told]
    found = merged_baseline(parts)
    assert min(one.mean for _, one in parts) - 1e-9 <= found.mean <= max(one.mean for _, one in parts) + 1e-9
    assert min(one.spread for _, one in parts) - 1e-9 <= found.spread <= max(one.spread for _, one in parts) + 1e-9
    assert merged_baseline(parts[:1]) == parts[0][1]


def test_an_empty_scope_leaves_the_baseline_of_the_other_as_it_is() -> None:
    empty, other = (0, Baseline()), (10, Baseline(0.3, 0.07))
    assert merged_baseline([empty, other]) == pytest.approx(other[1])
    assert merged_baseline([empty, empty]) == Baseline(0.0, USUAL_SPREAD)


@given(st.integers(0, 5_000))
def test_a_sample_has_places_that_there_are_each_once(count: int) -> None:
    places = sample_of(count).tolist()
    assert places == sorted(set(places))
    assert len(places) == min(count, SAMPLE)
    assert not places or (places[0], places[-1]) == (0, count - 1)
