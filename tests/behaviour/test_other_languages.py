"""Are records in other languages than English found by their words, in scopes of one language and of many?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Fields, UserMemory
from adaptive_memory_core.channels.turns import Turn
from adaptive_memory_core.cue.unrelated_questions import UNRELATED
from adaptive_memory_core.store.words.frozen_lists import RecordText, row_of
from benchmarks.other_languages import WORDS_ALONE, found, questions, words_alone
from tests.conftest import Open, background_done

QUESTIONS = questions()
ENGLISH_ROWS = "3cf73ae7c88062775370a33fb0e9505e03f879f2f172ab900aa482b86dad68b5"  # as they were before other languages


@pytest.fixture(scope="module")
def everything() -> Iterator[AdaptiveMemory]:
    """A memory with a scope for each language and one for all of them."""
    with words_alone() as memory:
        mixed = [{"id": one.record, "text": one.record} for own in QUESTIONS.values() for one in own]
        memory.for_user("everything").remember_many(mixed)
        for code, own in QUESTIONS.items():
            memory.for_user(code).remember_many([{"id": one.record, "text": one.record} for one in own])
        yield memory


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    return over(policy=WORDS_ALONE)


def first(user: UserMemory, cue: str) -> str | None:
    """The best by its words, if any has one of them."""
    (hit,) = user.recall(cue, k=1, reinforce=False)
    return hit.id if hit.parts["words"] > 0.0 else None


@pytest.mark.parametrize("code", sorted(QUESTIONS))
@pytest.mark.hard("large")
def test_questions_find_their_record_by_words_alone(everything: AdaptiveMemory, code: str) -> None:
    assert len(QUESTIONS[code]) >= 50
    assert found(everything.for_user(code), QUESTIONS[code], k=5) >= 0.9


@pytest.mark.hard("large")
@pytest.mark.parametrize("code", sorted(QUESTIONS))
def test_they_find_it_among_records_in_all_languages(everything: AdaptiveMemory, code: str) -> None:
    assert found(everything.for_user("everything"), QUESTIONS[code], k=5) >= 0.9


def test_the_words_of_english_texts_are_what_they_were() -> None:
    made = hashlib.sha256()
    for text in UNRELATED:
        made.update(repr(row_of(RecordText("a", text, Turn()))[1:4]).encode())
    assert made.hexdigest() == ENGLISH_ROWS


def test_a_language_that_is_given_counts_for_more_than_what_the_text_looks_like(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember("Zahnärzte", id="given", metadata={"language": "de-DE"})
    alice.remember("Bäume", id="told by nobody")
    assert first(alice, "Zahnarzt") == "given"
    assert first(alice, "Baum") is None


def test_the_key_of_the_language_can_be_named_as_it_is_in_the_collection(over: Open) -> None:
    fields = Fields(language="lang")
    alice = over(policy=WORDS_ALONE, fields=fields).for_user("alice")
    alice.remember("Zahnärzte", id="given", metadata={"lang": "de"})
    assert first(alice, "Zahnarzt") == "given"


def test_a_language_that_is_given_later_is_learned(memory: AdaptiveMemory, collection: Collection) -> None:
    alice = memory.for_user("alice")
    alice.remember("Zahnärzte", id="a")
    alice.remember("Bäume", id="b")
    assert first(alice, "Zahnarzt") is None
    collection.update(ids=["a"], metadatas=[{"language": "de"}])  # by another program
    for _ in range(3):
        alice.recall("Zahnärzte")
        background_done(memory)
    assert first(alice, "Zahnarzt") == "a"


def test_english_is_found_as_well_where_other_languages_are_in_the_scope(everything: AdaptiveMemory) -> None:
    mixed = everything.for_user("everything")
    mixed.remember("The boiler was repaired by José on Monday", id="english")
    assert first(mixed, "Who repairs boilers?") == "english"
    assert first(mixed, "Wann war José hier?") == "english"
    mixed.forget("english")
