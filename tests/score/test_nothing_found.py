"""Is the chance that an unrelated question finds as good a hit what it says it is?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, Record
from adaptive_memory_core.reports import Hit
from adaptive_memory_core.score.nothing_found import HARDER, Best, best_of, chance, fitted

shares = st.floats(-1.0, 1.0)


def best_by_chance(records: int, questions: int, seed: int) -> list[Best]:
    """The best of many records that have nothing to do with a question, for many questions."""
    found = np.random.default_rng(seed).normal(0.1, 0.05, size=(questions, records)).max(axis=1)
    return [Best(float(one), float(one)) for one in found]


@pytest.mark.parametrize("records", [30, 1000])
@pytest.mark.parametrize("target", [0.02, 0.1])
def test_of_questions_like_those_it_was_made_of_no_more_pass_than_it_says(records: int, target: float) -> None:
    floor = fitted(best_by_chance(records, 172, seed=1), records=records)
    fresh = best_by_chance(records, 4000, seed=2)
    passed = sum(chance(floor, one) <= target * HARDER for one in fresh) / len(fresh)
    assert target / 4 <= passed <= 1.3 * target  # the best of few is bounded more sharply than the law says


@given(shares, shares, shares)
def test_what_is_better_is_never_likelier_by_chance(one: float, other: float, fixed: float) -> None:
    floor = fitted(best_by_chance(30, 50, seed=3), records=30)
    low, high = sorted((one, other))
    assert chance(floor, Best(high, fixed)) <= chance(floor, Best(low, fixed))
    assert chance(floor, Best(fixed, high)) <= chance(floor, Best(fixed, low))
    assert 0.0 <= chance(floor, Best(high, low)) <= 1.0


def test_questions_that_all_find_the_same_make_a_floor_too() -> None:
    floor = fitted([Best(0.2, 0.2)] * 30, records=1)
    assert chance(floor, Best(0.3, 0.3)) < 0.01
    assert chance(floor, Best(0.2, 0.2)) > 0.5


def test_the_best_by_vectors_and_the_best_by_words_may_be_two_hits() -> None:
    hits = [
        Hit(Record("near", "x"), 0.8, "near", {"words": 0.1, "chance": 0.001}),
        Hit(Record("worded", "x"), 0.3, "w", {"words": 0.9, "chance": 0.001}),
    ]
    best = best_of(hits, Policy(channels=("dense", "lexical")), now=0.0)
    assert best is not None
    assert best.similarity == 0.8
    assert best.leads == pytest.approx(0.9)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_how_much_the_vectors_count_in_a_ranking_changes_nothing(
    chance_one: float, chance_other: float, telling: float, before: float
) -> None:
    def best(leads: dict[str, float]) -> Best | None:
        hits = [
            Hit(Record(name, "x"), near, name, {"words": near / 2, **leads}) for name, near in (("a", 0.4), ("b", 0.8))
        ]
        return best_of(hits, Policy(channels=("dense", "lexical")), now=0.0)

    assert best({"chance": chance_one}) == best({"chance": chance_other, "telling": telling, "before": before})


def test_hits_that_may_not_be_returned_do_not_count() -> None:
    barred = Hit(Record("a", "x"), 0.9, "a", refused="refused by the caller")
    assert best_of([barred], Policy(), now=0.0) is None
