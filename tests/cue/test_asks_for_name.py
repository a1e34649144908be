"""Is a cue that a name would answer told from one that it would not?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.cue.question_kinds import asks_for_name


@pytest.mark.parametrize(
    "cue",
    [
        "who baked the cake",
        "And who came?",
        "With whom did Ana travel?",
        "Whose dog ran away?",
        "Where did Ben go on holiday?",
        "Which of them moved?",
        "What is the name of Ana's cat?",
        "what was the film called?",
        "What kind of music festival in what city?",
        "What companies has Ben worked for?",
        "WHAT BOOK DID SHE READ",
    ],
)
def test_a_question_for_what_has_a_name_is_one(cue: str) -> None:
    assert asks_for_name(cue)


@pytest.mark.parametrize(
    "cue",
    [
        "",
        "What does Ana like?",
        "When did the band split up?",
        "How many books did Ben read?",
        "what did I say when we met where it rained",
        "What did Ana bring to the museum?",
        "the book that Ana gave me",
        "What is recalled?",
    ],
)
def test_other_cues_ask_for_none(cue: str) -> None:
    assert not asks_for_name(cue)
