"""Is the chance that an unrelated question finds as good a hit what it says it is?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, Record
from adaptive_memory_core.reports import Hit
from adaptive_memory_core.score.nothing_found import HARDER, NAMES_SPEAKER, Best, chance, fitted_floor, most_relevant

shares = st.floats(-1.0, 1.0)


def best_by_chance(records: int, questions: int, seed: int) -> list[Best]:
    """The best of many records that have nothing to do with a question, for many questions."""
    found = np.random.default_rng(seed).normal(0.1, 0.05, size=(questions, records)).max(axis=1)
    return [Best(float(one), float(one)) for one in found]


@pytest.mark.parametrize("records", [30, 1000])
@pytest.mark.parametrize("target", [0.02, 0.1])
def test_of_questions_like_those_it_was_made_of_no_more_pass_than_it_says(records: int, target: float) -> None:
    floor = fitted_floor(best_by_chance(records, 172, seed=1), records=records)
    fresh = best_by_chance(records, 4000, seed=2)
    passed = sum(chance(floor, one) <= target * HARDER for one in fresh) / len(fresh)
    assert target / 4 <= passed <= 1.3 * target  # the best of few is bounded more sharply than the law says


@given(shares, shares, shares)
def test_what_is_better_is_never_likelier_by_chance(one: float, other: float, fixed: float) -> None:
    floor = fitted_floor(best_by_chance(30, 50, seed=3), records=30)
    low, high = sorted((one, other))
    assert chance(floor, Best(high, fixed)) <= chance(floor, Best(low, fixed))
    assert chance(floor, Best(fixed, high)) <= chance(floor, Best(fixed, low))
    assert 0.0 <= chance(floor, Best(high, low)) <= 1.0


def test_questions_that_all_find_the_same_make_a_floor_too() -> None:
    floor = fitted_floor([Best(0.2, 0.2)] * 30, records=1)
    assert chance(floor, Best(0.3, 0.3)) < 0.01
    assert chance(floor, Best(0.2, 0.2)) > 0.5


def test_the_best_by_vectors_and_the_best_by_words_may_be_two_hits() -> None:
    hits = [
        Hit(Record("near", "x"), 0.8, "near", {"words": 0.1, "around": 0.4, "most_of_words": 3.0}),
        Hit(Record("worded", "x"), 0.3, "w", {"words": 0.9, "around": 0.6, "most_of_words": 3.0}),
    ]
    best = most_relevant(hits, Policy(channels=("dense", "lexical")), now=0.0)
    assert best is not None
    assert best.similarity == 0.8
    assert best.leads == pytest.approx((0.9 + 0.6) / math.sqrt(3.0))  # by the most that the words could say


@given(st.floats(0.0, 0.9), st.floats(0.0, 1.0), st.floats(0.0, 20.0))
def test_a_shift_of_the_vectors_and_the_kinds_of_turns_change_nothing(shift: float, spread: float, most: float) -> None:
    def best(shift: float, **leads: float) -> Best:
        hits = [
            Hit(Record(name, "x"), (1.0 - shift) * near + shift, name, {"words": near / 2, "baseline": shift, **leads})
            for name, near in (("a", 0.4), ("b", 0.8))
        ]
        found = most_relevant(hits, Policy(channels=("dense", "lexical")), now=0.0)
        assert found is not None
        return found

    plain, moved = best(0.0), best(shift, spread=spread, most_of_kinds=most)
    assert moved.similarity == pytest.approx(plain.similarity)
    assert moved.leads == plain.leads


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_questions_of_ours_that_have_an_answer_here_hardly_move_the_floor(share: float) -> None:
    unrelated = best_by_chance(300, 172, seed=1)
    some = [Best(0.8, 0.8)] * int(share * len(unrelated)) + unrelated[int(share * len(unrelated)) :]
    for best in (Best(0.3, 0.3), Best(0.35, 0.35), Best(0.45, 0.45)):
        plain, mixed = (chance(fitted_floor(found, records=300), best) for found in (unrelated, some))
        assert mixed <= plain + 0.12


def test_a_question_that_names_a_speaker_is_less_likely_to_be_unrelated() -> None:
    leads = {"words": 1.0, "most_of_words": 4.0}
    by_her = Hit(Record("a", "x"), 0.5, "a", {**leads, "speaker": 0.7})
    by_him = Hit(Record("b", "x"), 0.5, "b", {**leads, "speaker": -3.0})
    policy = Policy(channels=("dense", "lexical"))
    found = [most_relevant(hits, policy, now=0.0) for hits in ([by_her, by_him], [by_him])]
    floor = fitted_floor(best_by_chance(30, 50, seed=3), records=30)
    named, unnamed = (chance(floor, one) for one in found if one is not None)
    assert named == pytest.approx(NAMES_SPEAKER * unnamed)


def test_hits_that_may_not_be_returned_do_not_count() -> None:
    barred = Hit(Record("a", "x"), 0.9, "a", refused="refused by the caller")
    assert most_relevant([barred], Policy(), now=0.0) is None
