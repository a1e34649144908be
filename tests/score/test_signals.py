"""What does each signal say of a record? Bounds, monotony, and neutrality where nothing is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, ReadState, Record, Weights
from adaptive_memory_core.policy import Learning
from adaptive_memory_core.reports import Hit
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.signals import (
    COUNT_BOOST_MAX,
    DAY,
    MOST_HALF_LIFE_DAYS,
    boosted,
    cooled,
    decay,
    half_life,
    recencies,
    similarity,
    worths,
)

moments = st.floats(-4e9, 8e9)
half_lives = st.floats(0.01, 10_000)
counts = st.integers(0, 10**9)


@given(moments, st.none() | moments, st.none() | moments, half_lives)
def test_recency_lies_in_0_to_1_whatever_the_clocks_say(
    now: float, created_at: float | None, read_at: float | None, days: float
) -> None:
    read = ReadState(last_read=read_at, refreshed_at=read_at)
    (fresh,) = recencies([created_at], [read], Policy(half_life_days=days), now=now)
    assert fresh is None if created_at is None and read_at is None else fresh is not None and 0 <= fresh <= 1


@given(moments, st.floats(0, 8e9), half_lives)
def test_trap_a_future_timestamp_gives_no_recency_above_1(now: float, ahead: float, days: float) -> None:
    policy = Policy(half_life_days=days)
    read = ReadState(last_read=now + ahead, refreshed_at=now + ahead)
    assert recencies([now + ahead, 0.0], [ReadState(), read], policy, now=now) == [1, 1]


@given(st.floats(0, 4e9), st.floats(0, 4e9), half_lives)
def test_recency_never_grows_with_age(one: float, other: float, days: float) -> None:
    younger, older = sorted((one, other))
    assert decay(younger, half_life_days=days) >= decay(older, half_life_days=days)


def test_trap_a_never_read_memory_does_not_count_as_just_read() -> None:
    assert recencies([0.0], [ReadState()], Policy(), now=140 * DAY) == [pytest.approx(0.5**10)]


def test_a_record_without_any_time_is_neutral_and_never_freshest() -> None:
    assert recencies([None], [ReadState()], Policy(), now=1e9) == [None]
    ages = {"unknown": None, "old": 1e9 - 30 * DAY, "older": 1e9 - 60 * DAY}
    hits = [Hit(Record(name, "text", created_at=created_at), 0.5, name) for name, created_at in ages.items()]
    policy = Policy.preset("equal").replace(weights=Weights(1, 0, 0))
    assert [one.id for one in score(hits, policy, now=1e9)] == ["old", "unknown", "older"]


def test_a_read_counts_from_its_own_time_and_not_from_creation() -> None:
    read = ReadState(last_read=10 * DAY, refreshed_at=10 * DAY)
    assert recencies([0.0], [read], Policy(half_life_days=1), now=11 * DAY) == [0.5]


def test_a_read_that_did_not_refresh_leaves_recency_at_creation() -> None:
    scanned = ReadState(last_read=9 * DAY, retrieval_count=1)
    assert recencies([0.0], [scanned], Policy(half_life_days=10), now=10 * DAY) == [0.5]


def test_trap_one_formula_with_one_unit_loses_half_in_a_half_life() -> None:
    """0.01 in one retriever and 0.99 in the other meant the same thing; here there is one number, in days."""
    assert decay(7 * DAY, half_life_days=7) == 0.5
    assert decay(14 * DAY, half_life_days=7) == 0.25


@given(counts, half_lives, st.floats(0, 10))
def test_a_growing_half_life_stays_within_its_bound(reads: int, days: float, growth: float) -> None:
    grown = half_life(reads, Policy(half_life_days=days, learning=Learning(half_life_growth=growth)))
    assert days <= grown <= max(days, MOST_HALF_LIFE_DAYS)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_more_counted_reads_never_shorten_the_half_life(one: int, other: int) -> None:
    policy = Policy(learning=Learning(half_life_growth=0.3))
    fewer, more = sorted((one, other))
    assert half_life(fewer, policy) <= half_life(more, policy)


@given(st.floats(0, 1e12), st.floats(0, 1), st.none() | moments, moments)
def test_trap_the_count_boost_is_bounded(warmth: float, weight: float, read_at: float | None, now: float) -> None:
    policy = Policy(learning=Learning(count_weight=weight))
    (worth,) = worths([0.5], [ReadState(last_read=read_at, warmth=warmth)], policy, now=now)
    assert 0.5 <= worth <= 0.5 + COUNT_BOOST_MAX


@given(st.floats(0, 1e9), moments, st.floats(0, 4e9), st.floats(0, 4e9))
def test_a_count_only_ever_cools(warmth: float, read_at: float, one: float, other: float) -> None:
    sooner, later = sorted((one, other))
    first = cooled(warmth, read_at, Policy(), now=read_at + sooner)
    assert warmth >= first >= cooled(warmth, read_at, Policy(), now=read_at + later) >= 0


def test_a_clock_that_goes_back_does_not_heat_a_count() -> None:
    assert cooled(5.0, 100 * DAY, Policy(), now=0.0) == 5.0


def test_an_unknown_importance_is_neutral_and_a_known_0_is_not_unknown() -> None:
    assert worths([None, 0.0], [ReadState(), ReadState()], Policy(), now=0.0) == [0.5, 0.0]


@given(st.floats(0, 1), st.floats(-1, 1))
def test_a_boosted_importance_stays_an_importance(written: float, boost: float) -> None:
    assert 0 <= boosted(written, boost) <= 1


@pytest.mark.parametrize(
    ("space", "distance", "expected"),
    [("cosine", 0.0, 1.0), ("cosine", 1.0, 0.0), ("cosine", 2.0, -1.0), ("ip", 0.25, 0.75), ("l2", 2.0, 0.0)],
)
def test_similarity_is_calibrated_by_the_space(space: str, distance: float, expected: float) -> None:
    assert similarity(distance, space=space) == expected


@given(st.floats(-1, 1))
def test_every_space_agrees_on_unit_vectors(cosine: float) -> None:
    by_space = {"cosine": 1 - cosine, "ip": 1 - cosine, "l2": 2 - 2 * cosine}
    for space, distance in by_space.items():
        assert similarity(distance, space=space) == pytest.approx(cosine, abs=1e-12)


def test_trap_a_similarity_of_0_stays_0_and_is_not_taken_for_perfect() -> None:
    assert similarity(1.0, space="cosine") == 0.0
    assert not math.copysign(1, similarity(1.0, space="cosine")) < 0
