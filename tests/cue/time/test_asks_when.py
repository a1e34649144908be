"""Queries that ask for a time, and queries that only mention one."""

from __future__ import annotations

import pytest

from adaptive_memory_core.cue.question_kinds import asks_when


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
    [
        *("When Ana was in Lisbon, what did she eat?", "what did I say when we met", "which database?", "whenever", ""),
        *("What did Ana do in May?", "whom did I meet last week", "2022 projects", "who may come?"),
    ],
)
def test_other_questions_are_not(cue: str) -> None:
    assert not asks_when(cue)
