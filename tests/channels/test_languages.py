"""Do forms of one word meet in their language, and letters of its own stay apart?"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from adaptive_memory_core.channels.languages import CODES, language_given, stem_in
from adaptive_memory_core.channels.words_of_text import words, words_of_cue
from tests.tables import rows


@pytest.mark.parametrize(("language", "one", "other"), rows(Path(__file__).with_name("forms_of_one_word.txt")))
def test_forms_of_one_word_meet(language: str, one: str, other: str) -> None:
    assert set(words(one, language)) & set(words(other, language))


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("sv", "år", "ar"), ("sv", "hör", "hor"), ("da", "søn", "son"), ("es", "peña", "pena"), ("tr", "kuş", "kus")],
)
def test_letters_of_the_languages_own_stay_apart(language: str, one: str, other: str) -> None:
    assert not set(words(one, language)) & set(words(other, language))


def test_every_language_has_its_stemmer_and_stems_in_any_thread() -> None:
    found: dict[str, str] = {}
    thread = threading.Thread(target=lambda: found.update({code: stem_in("palabraprueba", code) for code in CODES}))
    thread.start()
    thread.join()
    assert found == {code: stem_in("palabraprueba", code) for code in CODES}


@pytest.mark.parametrize(("value", "code"), [("de-AT", "de"), ("  PT_br ", "pt"), ("nn", "no"), ("ja", "en")])
def test_a_language_is_given_as_others_write_it(value: str, code: str) -> None:
    assert language_given(value) == code


@pytest.mark.parametrize("value", ["python", "german", "", 49, True, None, ["de"]])
def test_what_names_no_language_is_as_if_nothing_was_given(value: object) -> None:
    assert language_given(value) is None


def test_identifiers_and_function_words_are_the_same_in_any_language() -> None:
    found = words("Der Fehler ERR_CONN_RESET in v1.2.3 ist nicht neu", "de")
    assert found == ["fehl", "err_conn_reset", "err", "conn", "res", "v1.2.3", "v1", "2", "3", "neu"]


def test_a_cue_for_english_records_is_looked_up_as_it_was() -> None:
    assert dict(words_of_cue("What are the houses like? The houses!", [])) == {"hous": 2, "like": 1}


def test_names_are_looked_up_in_the_forms_of_all_languages_there_are() -> None:
    (forms,) = words_of_cue("José?", ["de", "es"])
    assert set(forms) == {"josé", "jos"} or set(forms) >= {"josé", "jose"}
