"""Do German, French, Spanish and Chinese questions say when, and no question of another language by accident?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import English
from adaptive_memory_core.cue.time.chinese import Chinese
from adaptive_memory_core.cue.time.french import French
from adaptive_memory_core.cue.time.german import German
from adaptive_memory_core.cue.time.intent import Language, understand
from adaptive_memory_core.cue.time.spanish import Spanish
from adaptive_memory_core.cue.unrelated_questions import UNRELATED
from tests.cue.time.questions import ASKED_AT, QUESTIONS, TABLES, Question
from tests.cue.time.test_intent import right

LANGUAGES: dict[str, Language] = {"German": German(), "French": French(), "Spanish": Spanish(), "Chinese": Chinese()}
ALL: list[Language] = [*LANGUAGES.values(), English()]


def precision_and_recall(questions: list[Question], languages: list[Language]) -> tuple[float, float]:
    answers = [(one, understand(one.text, languages, now=ASKED_AT)) for one in questions]
    found = sum(one.kind != "none" and right(one, intent) for one, intent in answers)
    fired = sum(bool(intent) for _, intent in answers)
    return found / fired, found / sum(one.kind != "none" for one in questions)


@pytest.mark.parametrize("name", sorted(TABLES))
@pytest.mark.parametrize("languages", ["alone", "all"])
@pytest.mark.parametrize("tuned_on", [True, False])
def test_most_questions_are_understood_and_few_misunderstood(name: str, languages: str, tuned_on: bool) -> None:
    half = [one for one in TABLES[name] if one.tuned_on is tuned_on]
    precision, recall = precision_and_recall(half, [LANGUAGES[name]] if languages == "alone" else ALL)
    assert precision >= 0.9
    assert recall >= 0.85


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_no_question_in_english_says_when_in_another_language(name: str) -> None:
    english = [*UNRELATED, *(one.text for one in QUESTIONS)]
    assert [text for text in english if list(LANGUAGES[name](text, ASKED_AT))] == []


@pytest.mark.parametrize("name", sorted(LANGUAGES))
@pytest.mark.parametrize("now", [-1e20, 0.0, 1e20])
def test_any_time_of_asking_is_allowed(name: str, now: float) -> None:
    for one in TABLES[name]:
        list(LANGUAGES[name](one.text, now))
