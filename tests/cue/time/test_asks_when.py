"""Is it told apart whether a cue asks when, or only speaks of a time?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.cue.time.asks_when import asks_when


@pytest.mark.parametrize(
    "cue",
    [
        "When did Ana move to Lisbon?",
        "and when was that?",
        "when's the launch",
        "What date was the meeting?",
        "In which year did she start?",
        "How long has Ben had the dog?",
    ],
)
def test_a_question_for_a_time_is_one(cue: str) -> None:
    assert asks_when(cue)


@pytest.mark.parametrize(
    "cue",
    ["When Ana was in Lisbon, what did she eat?", "what did I say when we met", "which database?", "whenever", ""],
)
def test_other_questions_are_not(cue: str) -> None:
    assert not asks_when(cue)
