"""Are the words of a text and of a cue those that somebody will ask for, also where nothing separates them?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.channels.words_of_text import character_pairs, script_runs, words, words_of_cue
from tests.conftest import word_vectors
from tests.tables import rows


@pytest.mark.parametrize(("stored", "asked"), rows(Path(__file__).with_name("asked_for.txt")))
def test_what_is_asked_for_is_among_the_words_that_were_stored(stored: str, asked: str) -> None:
    assert set(words(asked)) & set(words(stored))


def test_a_code_is_found_as_a_whole_and_not_only_by_its_parts() -> None:
    assert "e-42-x" in words("failed with E-42-X")
    assert "e-42-x" not in words("failed with E, 42 and X")


def test_the_commonest_words_say_nothing() -> None:
    assert words("what is it that they were doing with this") == []


@given(st.text(max_size=200))
def test_any_text_has_words_or_none_and_never_blank_ones(text: str) -> None:
    assert all(word.strip() for word in words(text))


BOTH: Any = ("dense", "lexical")


@pytest.mark.parametrize("word", ["東京", "公园", "辣椒"])
def test_a_word_of_two_characters_counts_as_one(word: str) -> None:
    assert sum(words_of_cue(word, []).values()) == pytest.approx(1.0)
    assert sum(words_of_cue(f"Kubernetes {word}", ["de"]).values()) == pytest.approx(2.0)


def test_a_word_without_separators_matches_no_less_by_accident_than_another(collection: Collection) -> None:
    """Its characters do not count a second time."""
    with AdaptiveMemory(collection, embedder=word_vectors) as memory:
        ana = memory.for_user("ana")
        ana.remember_many([f"note number {n}" for n in range(30)])
        ana.remember_many([{"text": "辣椒", "id": "pepper"}, {"text": "lighthouse", "id": "lighthouse"}])
        (pepper,) = ana.recall("辣椒", k=1, policy=Policy(channels=BOTH))
        (lighthouse,) = ana.recall("lighthouse", k=1, policy=Policy(channels=BOTH))
    assert (pepper.id, lighthouse.id) == ("pepper", "lighthouse")
    assert pepper.signals["words"] == pytest.approx(lighthouse.signals["words"], rel=0.3)


@pytest.mark.parametrize("text", ["什么是你的", "何ですか", "은 는 이 가", "ที่ไหน"])
def test_what_only_asks_says_nothing(text: str) -> None:
    assert words(text) == []


def test_scripts_are_parted_wherever_they_change() -> None:
    assert script_runs("abc") == [("abc", False)]
    assert "".join(part for part, _ in script_runs("把v2的文档OK发给Ana")) == "把v2的文档OK发给Ana"
    assert list(character_pairs("")) == []
