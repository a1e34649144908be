"""What happens to a cue or a text without end? A cue is cut, with a note; a text is refused, and nothing is written."""

from __future__ import annotations

import pytest

from adaptive_memory_core import AgentState, Cue, InvalidInputError, Keeping, UserMemory
from tests.conftest import Open, word_vectors

SMALL = Keeping(cue_characters=200, text_characters=300)


def test_of_a_long_cue_the_start_and_the_end_are_read_and_a_note_says_so(alice: UserMemory) -> None:
    alice.remember_many(["the parrot speaks Latin", "the boat leaks"])
    long = "the boat leaks? " + "pasted " * 5_000 + " and does the parrot speak Latin"
    found = alice.recall(long)
    assert len(found.cue.text) == Keeping().cue_characters
    assert found.cue.text.startswith("the boat leaks?")
    assert found.cue.text.endswith("parrot speak Latin")
    assert any(f"{len(long):,} characters" in note and "cue_characters" in note for note in found.trace)
    assert "cue_characters" in found.explain()
    assert not alice.recall("the boat leaks?").trace


def test_words_are_looked_for_in_less_of_a_cue_than_is_embedded(over: Open) -> None:
    keeping = Keeping(cue_characters=4_000, cue_word_characters=200)
    alice = over(keeping=keeping).for_user("alice")
    alice.remember("the parrot speaks Latin")
    found = alice.recall("the boat leaks? " + "pasted " * 100 + " and does the parrot speak Latin")
    assert len(found.cue.text) > 700
    assert len(found.cue.own_words) <= 200
    assert found.cue.own_words.startswith("the boat leaks?")
    assert found.cue.own_words.endswith("speak Latin")
    assert any("cue_word_characters" in note for note in found.trace)
    chinese = alice.recall("鹦鹉会说拉丁语" * 20)
    assert 20 < len(chinese.cue.own_words) < 40  # each says as much as several letters
    assert alice.recall("鹦鹉会说拉丁语吗?").cue.own_words == "鹦鹉会说拉丁语吗?"


def test_every_kind_of_cue_is_cut(over: Open) -> None:
    alice = over(keeping=SMALL).for_user("alice")
    name = alice.remember("tea")
    long, state = "tea " * 100, AgentState(goal="tea " * 100)
    for cue in (long, Cue("tea", words=long), Cue(long, word_vectors(["tea"])[0]), state):
        found = alice.recall(cue, state=state if cue is state else None)
        assert max(len(found.cue.text), len(found.cue.own_words)) <= 200
        assert [note for note in found.trace if "characters" in note]
    assert [note for note in alice.rerank(long, {name: 0.5}).trace if "characters" in note]


async def test_a_text_without_end_is_refused_and_nothing_is_written(over: Open) -> None:
    alice = over(keeping=SMALL).for_user("alice")
    with pytest.raises(InvalidInputError, match=r"301 characters.*300.*text_characters") as refusal:
        alice.remember("x" * 301)
    assert len(str(refusal.value)) < 400
    with pytest.raises(InvalidInputError, match="text_characters"):
        await alice.aremember_many(["tea", {"text": "x" * 301}])
    assert alice.stats().records == 0
    alice.remember("x" * 300)


def test_by_default_two_million_characters_are_a_text(alice: UserMemory) -> None:
    alice.remember("tea " * 500_000)
    with pytest.raises(InvalidInputError, match="2,000,000"):
        alice.remember("tea " * 500_001)
