"""What may a verdict do? A bounded step, a bounded sum, and a way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, ReadState, Verdict
from adaptive_memory_core.learn.verdicts import IMPORTANCE_BOUND, boost_after, demoted, rejudged
from adaptive_memory_core.policy import Learning
from adaptive_memory_core.score.signals import DAY, boosted, recencies, worths

verdicts = st.sampled_from(list(Verdict))
policies = st.builds(Policy, learning=st.builds(Learning, importance_step=st.floats(0, 0.05)))


@given(policies, st.floats(-1, 1), verdicts, st.floats(0, 1))
def test_one_verdict_moves_the_importance_by_5_percent_at_most(
    policy: Policy, share: float, verdict: Verdict, written: float
) -> None:
    before = share * IMPORTANCE_BOUND
    old, new = boosted(written, before), boosted(written, boost_after(before, verdict, policy))
    assert abs(new - old) <= 0.05 * old + 1e-9


@given(policies, st.lists(verdicts, max_size=200))
def test_no_sequence_of_verdicts_leaves_the_bound(policy: Policy, given_verdicts: list[Verdict]) -> None:
    boost = 0.0
    for verdict in given_verdicts:
        boost = boost_after(boost, verdict, policy)
        assert -IMPORTANCE_BOUND <= boost <= IMPORTANCE_BOUND


@given(policies, st.floats(-1, 1), verdicts, verdicts)
def test_a_changed_mind_leaves_what_the_second_verdict_alone_would_have(
    policy: Policy, share: float, first: Verdict, second: Verdict
) -> None:
    before = share * IMPORTANCE_BOUND
    after = boost_after(before, first, policy)
    without, changed = rejudged(after, second, (before, after), policy)
    assert without == pytest.approx(before, abs=1e-9)
    assert changed == pytest.approx(boost_after(before, second, policy), abs=1e-9)


def test_a_verdict_goes_the_way_its_name_says() -> None:
    assert boost_after(0.0, Verdict.UNHELPFUL, Policy()) < 0 < boost_after(0.0, Verdict.HELPFUL, Policy())


def test_a_demotion_takes_what_reads_earned_and_keeps_what_happened() -> None:
    read = ReadState(5.0, 5.0, streak=3, retrieval_count=9, credit=9, warmth=9.0, remembered=True, pinned=True)
    state = demoted(read, Policy())
    assert (state.last_read, state.retrieval_count) == (5.0, 9)
    assert (state.credit, state.warmth, state.streak, state.refreshed_at) == (0, 0.0, 0, None)
    assert (state.remembered, state.pinned) == (False, False)
    assert state.boost == pytest.approx(-0.05)


@pytest.mark.parametrize("growth", [0.0, 0.5])
def test_a_demoted_record_ranks_no_better_than_an_unread_one(growth: float) -> None:
    policy = Policy(learning=Learning(half_life_growth=growth))
    read = ReadState(last_read=20 * DAY, refreshed_at=20 * DAY, retrieval_count=50, credit=50, warmth=50.0)
    both = [demoted(read, policy), ReadState()]
    put_back, unread = recencies([0.0, 0.0], both, policy, now=21 * DAY)
    assert (put_back or 0) <= (unread or 0)
    worth_put_back, worth_unread = worths([0.5, 0.5], both, policy, now=21 * DAY)
    assert worth_put_back <= worth_unread


@given(st.floats(-0.5, 0.5), st.integers(1, 100))
def test_demoting_again_and_again_stays_within_the_bound(boost: float, times: int) -> None:
    state = ReadState(boost=boost)
    for _ in range(times):
        state = demoted(state, Policy())
    assert -0.5 <= state.boost < 0
