"""Feedback that is local to the question: nothing without a similar one, never beyond it; a verdict can lower."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.learn.asked_before import (
    LEAST_NEARNESS,
    RatedQuestions,
    gained,
    nearest_pair,
    nearness,
    question_evidence,
)
from adaptive_memory_core.learn.gain import unit_vector

VECTORS = st.lists(st.floats(-1, 1).filter(lambda one: abs(one) > 1e-3), min_size=3, max_size=3).map(
    lambda one: unit_vector(np.array(one))
)
VERDICTS = st.tuples(st.integers(0, 3), VECTORS, st.integers(0, 3), st.integers(0, 3))
EAST, NEAR_EAST, NORTH = np.array([1.0, 0.0]), unit_vector(np.array([1.0, 0.2])), np.array([0.0, 1.0])


def questions(*verdicts: tuple[int, Any, int, int]) -> RatedQuestions:
    """Verdicts as (record, question, helpful, unhelpful)."""
    records, vectors, helpful, unhelpful = zip(*verdicts, strict=True)
    ids = [str(one) for one in range(1 + max(records))]
    return RatedQuestions(ids, np.array(vectors), records, range(len(vectors)), helpful, unhelpful)


def moves(known: RatedQuestions, cue: Any, relevance: float = 0.4, weight: float = 1.0) -> dict[str, float]:
    said = question_evidence(known, cue, 0.0)
    return {one: gained(relevance, it.near, it.trusted, it.against, weight) for one, it in said.items()}


@given(st.lists(VERDICTS, min_size=1, max_size=12), VECTORS)
def test_only_a_record_with_a_similar_question_is_spoken_of(given: Any, cue: Any) -> None:
    known = questions(*given)
    close = nearness(known.vectors @ cue, 0.0) > LEAST_NEARNESS
    near = {str(record) for (record, _, good, bad), one in zip(given, close, strict=True) if good + bad and one}
    assert question_evidence(known, cue, 0.0).keys() <= near


@given(st.lists(VERDICTS, min_size=1, max_size=12), VECTORS, st.floats(0, 1))
def test_no_score_leaves_its_range(given: Any, cue: Any, relevance: float) -> None:
    for by in moves(questions(*given), cue, relevance).values():
        assert -1e-9 <= relevance + by <= 1 + 1e-9


@given(st.lists(VERDICTS, min_size=1, max_size=12), VECTORS)
def test_all_records_together_are_trusted_no_more_than_whole(given: Any, cue: Any) -> None:
    assert sum(one.trusted for one in question_evidence(questions(*given), cue, 0.0).values()) <= 1 + 1e-9


@given(st.lists(VERDICTS, min_size=1, max_size=12), VECTORS)
def test_a_record_that_was_never_helpful_gains_nothing(given: Any, cue: Any) -> None:
    helpful = {str(record) for record, _, good, _ in given if good}
    assert all(by <= 0 for one, by in moves(questions(*given), cue).items() if one not in helpful)


def test_a_similar_question_lifts_what_answered_it() -> None:
    assert moves(questions((0, EAST, 1, 0)), NEAR_EAST)["0"] > 0.3


def test_a_question_about_something_else_moves_nothing() -> None:
    assert question_evidence(questions((0, EAST, 5, 0), (1, EAST, 0, 5)), NORTH, 0.0) == {}


def test_questions_are_near_as_far_as_they_are_nearer_than_unrelated_ones() -> None:
    cosines = np.array([0.1, 0.5, 1.0])
    assert nearness(0.7 + 0.3 * cosines, 0.7) == pytest.approx(nearness(cosines, 0.0))
    assert nearness(np.array([0.8] * 99 + [1.0]), 0.0)[0] < 0.4  # what many remembered questions score is unrelated


def test_an_unhelpful_verdict_takes_some_of_the_gain_back() -> None:
    alone = moves(questions((0, EAST, 1, 0)), NEAR_EAST)["0"]
    both = moves(questions((0, EAST, 1, 0), (0, NEAR_EAST, 0, 1)), NEAR_EAST)["0"]
    assert both < alone


def test_an_unhelpful_verdict_lowers_the_record_for_the_same_question_alone() -> None:
    refused = questions((0, EAST, 0, 1))
    assert moves(refused, EAST)["0"] == pytest.approx(-0.2)
    assert moves(refused, unit_vector(np.array([1.0, 1.0]))).get("0", 0.0) > -0.01


def test_what_others_answered_as_well_is_trusted_less() -> None:
    alone = moves(questions((0, EAST, 1, 0)), NEAR_EAST)["0"]
    shared = moves(questions((0, EAST, 1, 0), (1, EAST, 1, 0)), NEAR_EAST)["0"]
    assert shared < 0.75 * alone


def test_a_weight_of_0_moves_nothing() -> None:
    assert set(moves(questions((0, EAST, 1, 0), (1, EAST, 0, 1)), EAST, weight=0.0).values()) == {0.0}


def test_the_nearest_helpful_question_is_named() -> None:
    known = questions((0, NORTH, 1, 0), (0, EAST, 1, 0), (0, NEAR_EAST, 0, 1))
    assert question_evidence(known, NEAR_EAST, 0.0)["0"].row == 1


def test_the_most_alike_questions_are_joined() -> None:
    assert nearest_pair(np.array([NORTH, EAST, NEAR_EAST])) == (1, 2)
