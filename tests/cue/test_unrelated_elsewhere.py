"""In which language is a question asked, and are there unrelated ones in it?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.cue.unrelated_questions import UNRELATED_IN, common_language, language_asked_in
from adaptive_memory_core.score.nothing_found import FEWEST


@pytest.mark.parametrize("language", UNRELATED_IN)
def test_there_are_enough_questions_in_each_language_and_they_are_told(language: str) -> None:
    questions = UNRELATED_IN[language]
    assert len(set(questions)) == len(questions) >= FEWEST
    assert common_language(questions) == language
    assert sum(language_asked_in(one) == language for one in questions) >= 0.85 * len(questions)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        *(("Deploy v2?", ""), ("who is Jürgen?", ""), ("", ""), ("Wie heißt mein Arzt?", "de")),
        *(
            ("我的医生是谁?", "zh"),
            ("私の医者は誰ですか", "ja"),
            ("내 의사는 누구예요?", "ko"),
            ("หมอของฉันคือใคร", "th"),
        ),
        *(
            ("Vem är min läkare och var bor hon?", "sv"),
            ("Где она сейчас живёт?", "ru"),
            ("מי הרופא שלי?", "another script"),
        ),
    ],
)
def test_the_language_of_a_question_is_told(question: str, language: str) -> None:
    assert language_asked_in(question) == language
