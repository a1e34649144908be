"""How much does each word of a cue count, where words are separated and where they are not?"""

from __future__ import annotations

from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.channels.words.words_of_cue import words_of_cue
from tests.conftest import word_vectors

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
