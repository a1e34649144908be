"""What does a read change? Counts that match a naive loop, recency that scans cannot move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, ReadState
from adaptive_memory_core.learn.decay import ROW_DAYS, after_read
from adaptive_memory_core.policy import Decay, Learning
from adaptive_memory_core.score.signals import DAY, recencies

gaps = st.lists(st.floats(0, 40 * DAY) | st.floats(0, 180), max_size=40)
policies = st.builds(
    Policy,
    refresh_floor_seconds=st.floats(0, 600),
    reads_before_refresh=st.integers(1, 4),
    learning=st.builds(Learning, count_decay_per_day=st.floats(0, 1)),
    decay=st.builds(Decay, remembrance_threshold=st.integers(1, 10)),
)


def history(policy: Policy, gaps: list[float]) -> tuple[ReadState, list[float]]:
    """The state after reads with these gaps, and the moments of the reads."""
    state, now, moments = ReadState(), 1_000_000.0, []
    for gap in gaps:
        now += gap
        state = after_read(state, policy, now=now)
        moments.append(now)
    return state, moments


def counted(policy: Policy, moments: list[float]) -> list[float]:
    """The naive loop: a read counts unless the last counted one is nearer than the floor."""
    reads: list[float] = []
    for moment in moments:
        if not reads or moment - reads[-1] >= policy.refresh_floor_seconds:
            reads.append(moment)
    return reads


@given(policies, gaps)
def test_the_count_is_exact_over_any_history(policy: Policy, gaps: list[float]) -> None:
    state, moments = history(policy, gaps)
    reads = counted(policy, moments)
    assert state.retrieval_count == state.credit == len(reads)
    assert state.last_read == (reads[-1] if reads else None)
    assert state.remembered == (len(reads) >= policy.decay.remembrance_threshold)


@given(policies, gaps)
def test_recency_moves_with_the_last_of_enough_reads_in_a_row(policy: Policy, gaps: list[float]) -> None:
    state, moments = history(policy, gaps)
    refreshed, row, last = None, 0, None
    for moment in counted(policy, moments):
        row = row + 1 if last is not None and moment - last <= ROW_DAYS * DAY else 1
        refreshed, last = (moment if row >= policy.reads_before_refresh else refreshed), moment
    assert state.refreshed_at == refreshed


@given(policies, gaps)
def test_the_decayed_count_is_the_sum_of_the_decayed_reads(policy: Policy, gaps: list[float]) -> None:
    state, moments = history(policy, gaps)
    reads = counted(policy, moments)
    ages = [(reads[-1] - moment) / DAY for moment in reads]
    assert state.warmth == pytest.approx(sum(policy.learning.count_decay_per_day**age for age in ages), rel=1e-6)
    assert state.warmth <= state.retrieval_count + 1e-9


def test_a_second_read_within_the_floor_changes_nothing_at_all() -> None:
    policy = Policy()
    once = after_read(ReadState(), policy, now=100.0)
    assert after_read(once, policy, now=159.9) is once
    assert after_read(once, policy, now=160.0).retrieval_count == 2


def test_a_one_shot_scan_moves_the_count_but_not_the_recency() -> None:
    policy = Policy(reads_before_refresh=2)
    scanned = after_read(ReadState(), policy, now=50 * DAY)
    assert (scanned.last_read, scanned.retrieval_count) == (50 * DAY, 1)
    unmoved, before = recencies([0.0, 0.0], [scanned, ReadState()], policy, now=50 * DAY)
    assert unmoved == before
    assert unmoved is not None
    assert unmoved < 0.1
    again = after_read(scanned, policy, now=51 * DAY)
    assert recencies([0.0], [again], policy, now=51 * DAY) == [1.0]


def test_reads_too_far_apart_are_two_scans() -> None:
    policy = Policy(reads_before_refresh=2)
    state = after_read(after_read(ReadState(), policy, now=0.0), policy, now=15 * DAY)
    assert (state.streak, state.refreshed_at, state.retrieval_count) == (1, None, 2)


@pytest.mark.parametrize("back", [61.0, 5_000.0, 10_800.0])
def test_where_the_clock_went_back_nothing_counts_until_it_caught_up(back: float) -> None:
    state = after_read(ReadState(), Policy(), now=100_000.0)
    for _ in range(20):
        state = after_read(state, Policy(), now=100_000.0 - back)
    assert (state.retrieval_count, state.last_read) == (1, 100_000.0)
    assert after_read(state, Policy(), now=100_060.0).retrieval_count == 2


def test_a_last_read_far_ahead_came_from_a_wrong_clock_and_is_mended() -> None:
    wrong = ReadState(last_read=100 * DAY, refreshed_at=100 * DAY, retrieval_count=1)
    assert after_read(wrong, Policy(), now=5 * DAY).last_read == 5 * DAY


def test_a_remembered_record_stays_remembered() -> None:
    state = ReadState(remembered=True)
    assert after_read(state, Policy(decay=Decay(remembrance_threshold=1_000)), now=1.0).remembered


@given(policies, gaps)
def test_a_read_touches_neither_pin_nor_verdicts_nor_strength(policy: Policy, gaps: list[float]) -> None:
    state, now = ReadState(pinned=True, boost=0.1, strength=0.7), 0.0
    for gap in gaps:
        now += gap
        state = after_read(state, policy, now=now)
    assert (state.pinned, state.boost, state.strength) == (True, 0.1, 0.7)
