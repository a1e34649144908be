"""The paper's update holds for any belief and question: equations 10 to 13, and 16 before the normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.learn.gain import (
    FIRST_UNCERTAINTY,
    NEGATIVE_NOISE,
    POSITIVE_NOISE,
    Belief,
    QuestionVectors,
    SentenceMemory,
    corrected,
    cosine,
    gate,
    kalman_gain,
    learned,
    surer,
    unit_vector,
    updated,
    weight,
)
from adaptive_memory_core.policy import Graphs

NOISE = Graphs().process_noise
NUMBERS = st.floats(-1, 1).filter(lambda one: abs(one) > 1e-3)
UNITS = st.lists(NUMBERS, min_size=4, max_size=4).map(lambda one: unit_vector(np.array(one)))
SHARES = st.floats(0, 1)
EAST, NORTH = np.array([1.0, 0.0]), np.array([0.0, 1.0])


@given(UNITS, UNITS, SHARES, st.sampled_from([0.0, 1.0, -1.0]))
def test_the_correction_moves_the_support_to_the_verdict_by_the_gain(
    vector: Any, question: Any, step: float, judged: float
) -> None:
    """Equation 16, which equation 12 gives as long as nothing is normalised."""
    before, after = cosine(vector, question), float(np.dot(corrected(vector, question, judged, step), question))
    assert after == pytest.approx((1 - step) * before + step * judged, abs=1e-9)


@given(UNITS, UNITS, SHARES)
def test_what_is_orthogonal_to_the_question_stays(vector: Any, question: Any, step: float) -> None:
    moved = corrected(vector, question, 1.0, step)
    across = [one - np.dot(one, question) * question for one in (vector, moved)]
    assert np.allclose(across[0], across[1], atol=1e-9)


@given(SHARES, st.floats(0.01, 10), st.floats(0.0001, 1))
def test_uncertainty_stays_within_its_bounds_and_never_collapses(
    uncertainty: float, noise: float, process_noise: float
) -> None:
    after = surer(uncertainty, kalman_gain(uncertainty, noise), process_noise)
    assert min(1.0, process_noise) <= after <= 1.0


@given(UNITS, UNITS, st.booleans())
def test_a_belief_stays_of_unit_length(vector: Any, question: Any, supports: bool) -> None:
    after = updated(Belief(vector), question, supports=supports, process_noise=NOISE)
    assert float(np.linalg.norm(after.vector)) == pytest.approx(1.0)


def test_support_moves_further_than_its_absence() -> None:
    assert kalman_gain(1.0, POSITIVE_NOISE) > kalman_gain(1.0, NEGATIVE_NOISE)


@pytest.mark.parametrize(("noise", "ratio"), [(1.0, 0.90), (0.5, 0.95)])
def test_after_ten_updates_memory_counts_as_much_as_in_the_paper(noise: float, ratio: float) -> None:
    """Its appendix C: an activation ratio of .90 and .95."""
    uncertainty = FIRST_UNCERTAINTY
    for _ in range(10):
        uncertainty = surer(uncertainty, kalman_gain(uncertainty, noise), NOISE)
    assert 1 - uncertainty == pytest.approx(ratio, abs=0.006)


def test_without_a_verdict_memory_changes_no_weight() -> None:
    memory = SentenceMemory(Belief(EAST), Belief(NORTH))
    assert weight(0.25, memory, QuestionVectors(EAST, NORTH)) == 0.25


def test_a_question_without_a_time_leaves_time_memory_alone() -> None:
    memory = SentenceMemory(Belief(EAST), Belief(NORTH))
    after = learned(memory, QuestionVectors(NORTH), supports=True, process_noise=NOISE)
    assert after.time is memory.time
    assert after.task.uncertainty < 1.0


def test_time_memory_learns_from_a_question_about_a_time() -> None:
    memory = SentenceMemory(Belief(EAST), Belief(NORTH))
    after = learned(memory, QuestionVectors(EAST, EAST), supports=True, process_noise=NOISE)
    assert after.time is not None
    assert gate(after.time, EAST) > gate(Belief(NORTH), EAST)


def test_a_verdict_of_no_support_raises_the_paper_s_score_all_the_same() -> None:
    """Why it is not the default: any verdict makes the memory surer, and it is never below neutral."""
    before = SentenceMemory(Belief(unit_vector(np.array([1.0, 0.5]))))
    after = learned(before, QuestionVectors(EAST), supports=False, process_noise=NOISE)
    assert weight(0.5, after, QuestionVectors(EAST)) > weight(0.5, before, QuestionVectors(EAST))
