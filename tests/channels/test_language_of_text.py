"""Is the language of short texts told, and an English text never taken for another?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.channels.language_of_text import language_evidence, language_of, likeliest
from adaptive_memory_core.channels.languages import CODES
from adaptive_memory_core.cue.unrelated_questions import UNRELATED
from benchmarks.other_languages import questions, told

QUESTIONS = questions()


@pytest.mark.parametrize("code", sorted(CODES & QUESTIONS.keys()))
def test_most_short_texts_are_told_and_hardly_any_is_taken_for_another_language(code: str) -> None:
    share = told(code, QUESTIONS[code])
    assert share["told"] >= 0.8
    assert share["wrong"] <= 0.02


def test_an_english_question_is_never_taken_for_another_language() -> None:
    assert [one for one in UNRELATED if language_of(one) is not None] == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("da", "Jeg har glemt min nøgle på kontoret, og døren er låst."),
        ("no", "Jeg har glemt noe på kontoret mitt, og nå vet jeg ikke hva."),
        ("fi", "Minun avaimeni jäi toimistoon, ja nyt ovi on lukossa."),
        ("pl", "Zapomniałem klucza w biurze i drzwi są zamknięte."),
        ("cs", "Zapomněl jsem klíč v kanceláři a dveře jsou zamčené."),
        ("hu", "Elfelejtettem a kulcsot az irodában, és az ajtó zárva van."),
        ("ro", "Am uitat cheia la birou și ușa este încuiată."),
        ("el", "Ξέχασα το κλειδί στο γραφείο και η πόρτα είναι κλειδωμένη."),
        ("hi", "मैं दफ़्तर में चाबी भूल गया और दरवाज़ा बंद है"),
        ("ar", "نسيت المفتاح في المكتب وكان الباب مغلقا"),
    ],
)
def test_languages_without_questions_of_their_own_are_told_as_well(code: str, text: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?!",
        "Kubernetes 1.29",
        "Lunch with José and Zoë at Café Müller",
        "Flights to Los Angeles, Las Vegas and El Paso",
        "the password is über-secret",
        "東京都に住んでいる",
        "Я",
        "Дякую, їжа була смачна",
    ],
)
def test_what_is_not_sure_is_nobodys(text: str) -> None:
    assert language_of(text) is None


def test_a_text_that_repeats_one_word_is_not_told_by_it() -> None:
    assert language_evidence("die " * 100) == language_evidence("die die")


def test_a_cue_is_in_one_of_the_languages_that_the_records_are_in_or_in_english() -> None:
    assert likeliest("Wo ist der Schlüssel?", ["fr"]) == "en"
    assert likeliest("Wo ist der Schlüssel?", ["fr", "de"]) == "de"
