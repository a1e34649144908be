"""Recalls return what was recorded as right, with the same scores."""

from __future__ import annotations

import pytest

from tests.golden_rankings import recalled, recorded


def test_rankings_are_as_recorded() -> None:
    """If a change of rankings is meant: python -m tests.golden_rankings, and say in the commit why it is better."""
    now, then = recalled(), recorded()
    assert list(now) == list(then)
    moved = {
        question: (list(then[question]), list(ids))
        for question, ids in now.items()
        if list(ids) != list(then[question])
    }
    assert moved == {}
    for question, scores in now.items():
        assert scores == pytest.approx(then[question], abs=1e-6), question
