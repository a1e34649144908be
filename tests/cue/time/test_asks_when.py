"""Is it told apart whether a cue asks when, or only speaks of a time?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.cue.time.asks_when import (
    asks_when,
    how_much_a_time_counts,
    how_much_a_time_counts_alone,
    says_a_time,
)


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


@pytest.mark.parametrize(
    "cue",
    [
        "What did Ana do in May?",
        "whom did I meet last week",
        "2022 projects",
        "Que fit Ana aujourd'hui ?",
        "昨天谁来了",
    ],
)
def test_a_cue_may_say_a_time_without_asking_for_one(cue: str) -> None:
    assert says_a_time(cue)
    assert how_much_a_time_counts(cue) == 0.5


@pytest.mark.parametrize("cue", ["who may come?", "a march through the fall of leaves", "room 2200", "", "yesterdays"])
def test_other_cues_say_none(cue: str) -> None:
    assert not says_a_time(cue)
    assert how_much_a_time_counts(cue) == 0.0


@pytest.mark.parametrize(
    ("cue", "share"),
    [
        ("When was it built?", 0.5),
        ("Who led it in 1950?", 0.25),
        ("the May report", 0.25),
        ("who may come?", 0.0),
        ("what do I cook tonight?", 0.0),
        ("what happened last week", 0.0),
    ],
)
def test_for_a_text_of_no_conversation_a_date_counts(cue: str, share: float) -> None:
    assert how_much_a_time_counts_alone(cue) == share
