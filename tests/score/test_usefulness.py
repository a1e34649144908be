"""Does having been of use count as long and as far as it should, and not without evidence?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, PolicyError, ReadState, Record, Verdict
from adaptive_memory_core.learn.verdicts import (
    EarlierVerdict,
    HelpfulRank,
    Judging,
    Occasion,
    demoted,
    earned,
    within_bounds,
)
from adaptive_memory_core.policy import Learning
from adaptive_memory_core.reports import Hit
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.signals import DAY, MOST_EARNED, Use, earned_share, raised, usefulness

NOW = 1_760_000_000.0
USED = ReadState(useful_at=NOW, useful_step=10, helpful=1)
shares = st.floats(0, 1)
times = st.none() | st.floats(NOW - 1e8, NOW)
unlearned = st.lists(st.tuples(st.floats(-1, 1), times), min_size=1, max_size=15)


@given(unlearned, st.none() | shares)
def test_where_nothing_was_learned_the_ranking_is_that_of_similarity(
    given_hits: list[tuple[float, float | None]], importance: float | None
) -> None:
    hits = [
        Hit(Record(str(n), "text", importance=importance, created_at=born), close, str(n))
        for n, (close, born) in enumerate(given_hits)
    ]
    ranked = [one.similarity for one in score(hits, Policy(), now=NOW, use=Use(100, 1.0))]
    assert ranked == sorted(ranked, reverse=True)


@given(shares, shares, st.floats(0, 20))
def test_usefulness_raises_within_bounds(relevance: float, useful: float, weight: float) -> None:
    after = raised(relevance, useful, weight)
    assert relevance - 1e-12 <= after <= 1.0
    assert after <= relevance * (1.0 + weight * useful) + 1e-9


@given(st.integers(0, 500), st.integers(0, 500), st.floats(0, 1e8), st.floats(0, 1e8))
def test_usefulness_only_wears_off(step: int, later: int, age: float, older: float) -> None:
    first = usefulness(USED, step=10 + step, now=NOW + age)
    second = usefulness(USED, step=10 + step + later, now=NOW + age + older)
    assert 0.0 <= second <= first <= 1.0


def test_what_was_judged_unhelpful_as_well_counts_for_less() -> None:
    doubted = replace(USED, unhelpful=3)
    assert usefulness(doubted, step=10, now=NOW) < usefulness(USED, step=10, now=NOW)


def test_what_was_of_use_later_has_not_been_yet() -> None:
    assert usefulness(USED, step=10, now=NOW - DAY) == 0.0
    assert usefulness(USED, step=3, now=NOW) == 1.0


def test_a_useful_memory_that_hardly_fits_gains_hardly_and_none_stands_before_what_was_asked_for() -> None:
    far = Hit(Record("far", "text", read=USED), 0.01, "far")
    near = Hit(Record("near", "text", read=USED), 0.9, "near")
    best, exact = Hit(Record("best", "text"), 0.6, "best"), Hit(Record("exact", "text"), 1.0, "exact")
    parts = {one.id: one.parts["useful"] for one in score([far, best], Policy(), now=NOW, use=Use(10, 1.0))}
    assert parts["best"] == 0.0 < parts["far"] < 0.01
    assert score([near, exact], Policy(), now=NOW, use=Use(10, 1.0))[0].id == "exact"


def test_a_useful_memory_outranks_a_nearer_one_and_an_irrelevant_one_gains_nothing() -> None:
    useful = Hit(Record("a", "text", read=USED), 0.5, "a")
    nearer = Hit(Record("b", "text"), 0.6, "b")
    nothing = Hit(Record("c", "text", read=USED), 0.0, "c")
    ranked = score([nearer, nothing, useful], Policy(), now=NOW, use=Use(10, 1.0))
    assert [one.id for one in ranked] == ["a", "b", "c"]
    assert ranked[0].parts["useful"] > 0.0 == ranked[2].score
    assert sum(ranked[0].parts.values()) == pytest.approx(ranked[0].score)


def judging(at: float = NOW, step: int = 5) -> Judging:
    return Judging(Policy(), Occasion(at, step), at)


def test_a_verdict_dates_the_last_useful_read_by_the_recall_and_a_later_one_stays() -> None:
    late = judging().state(ReadState(), Verdict.HELPFUL, None)
    assert (late.useful_at, late.useful_step, late.helpful) == (NOW, 5, 1)
    both = judging(NOW - DAY, 2).state(late, Verdict.HELPFUL, None)
    assert (both.useful_at, both.useful_step, both.helpful) == (NOW, 5, 2)


def test_a_changed_mind_takes_the_useful_read_back() -> None:
    first = judging().state(ReadState(), Verdict.HELPFUL, None)
    changed = judging().state(first, Verdict.UNHELPFUL, EarlierVerdict(Verdict.HELPFUL, (0.0, 0.05), NOW))
    assert (changed.useful_at, changed.helpful, changed.unhelpful) == (None, 0, 1)
    again = judging().state(changed, Verdict.HELPFUL, EarlierVerdict(Verdict.UNHELPFUL, (0.0, -0.05), NOW))
    assert (again.useful_at, again.helpful, again.unhelpful) == (NOW, 1, 0)


def test_a_demotion_takes_usefulness_back_too() -> None:
    assert demoted(USED, Policy()).useful_at is None


def test_usefulness_earns_its_weight_where_it_ranks_the_helpful_record_higher() -> None:
    used, fresh = (0.4, 0.8), (0.5, 0.0)
    assert earned(HelpfulRank([used, fresh], 0), 3.0) == 0.5  # second without it, first with it
    assert earned(HelpfulRank([used, fresh], 1), 3.0) == -0.5
    assert earned(HelpfulRank([fresh, used], 1), 3.0) == 0.5
    assert (within_bounds(-0.5), within_bounds(MOST_EARNED + 1.0)) == (0.0, MOST_EARNED)
    assert [earned_share(0.0), earned_share(MOST_EARNED)] == [0.0, 1.0]


def test_a_changed_mind_takes_back_what_usefulness_earned() -> None:
    judging = Judging(Policy(), Occasion(NOW, 5), NOW, {"a": HelpfulRank([(0.4, 0.8), (0.5, 0.0)], 0)})
    by, after = judging.balance("a", Verdict.HELPFUL, 1.0, None)
    assert (by, after) == (0.5, 1.5)
    earlier = EarlierVerdict(Verdict.HELPFUL, (0.0, 0.05), NOW, sway=by)
    assert judging.balance("a", Verdict.UNHELPFUL, after, earlier) == (0.0, 1.0)


def test_where_nothing_is_earned_a_useful_record_is_not_lifted() -> None:
    useful = Hit(Record("a", "text", read=USED), 0.5, "a")
    nearer = Hit(Record("b", "text"), 0.6, "b")
    assert [one.id for one in score([nearer, useful], Policy(), now=NOW, use=Use(10, earned_share(0.0)))] == ["b", "a"]


@pytest.mark.parametrize("wrong", [{"usefulness": -1}, {"usefulness": 11}, {"usefulness": "3"}])
def test_usefulness_refuses_what_makes_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(PolicyError, match="allowed"):
        Learning(**wrong)  # type: ignore[arg-type] # one of them is meant to be of the wrong type
