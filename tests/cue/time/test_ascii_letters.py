"""Are the words that are looked for first in all that a pattern may find?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.cue import question_kinds as history
from adaptive_memory_core.cue.time.english_relative import LEANS
from adaptive_memory_core.cue.time.intent import in_ascii_letters, some_in
from tests.cue.time.questions import FOUND, QUESTIONS

PAIRS = [*((one.pattern, one.needs) for one in LEANS), (history._HISTORY, history._NEEDS)]
HEAP = sorted(
    {word for one in QUESTIONS for word in one.text.split()} | {"to", "as", "of", "ages", "ago", "prior", "boss"}
)
QUESTION = st.lists(st.sampled_from(HEAP), max_size=8).map(" ".join)


def missed(text: str, pattern: re.Pattern[str], needs: tuple[str, ...]) -> bool:
    return pattern.search(text) is not None and not some_in(in_ascii_letters(text).lower(), needs)


@pytest.mark.parametrize("one", [*QUESTIONS, *FOUND], ids=lambda one: one.text)
def test_what_a_question_says_is_not_passed_over(one: object) -> None:
    text = one.text  # type: ignore[attr-defined] # of either table
    assert not any(missed(form, *pair) for form in (text, text.upper()) for pair in PAIRS)


@given(QUESTION)
def test_nor_is_what_any_words_say_together(text: str) -> None:
    assert not any(missed(text, *pair) for pair in PAIRS)


def test_letters_that_are_taken_for_ascii_ones_are_looked_for_as_those() -> None:
    assert not any(missed("what was \u017ftill true at fir\u017ft, the la\u017ft time?", *pair) for pair in PAIRS)
