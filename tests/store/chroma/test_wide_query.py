"""Does the search beside the filter find what the filter finds, or leave it to the filter?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
from tests.conftest import Open, word_vectors

FILTERS: list[Any] = [None, {"kind": "fact"}, {"n": {"$gte": 380}}, {"#document": {"$contains": "7"}}]


@pytest.fixture
def search(new_collection: Callable[..., Collection]) -> ChromaSearch:
    """One user has nine tenths of the records, another one a few."""
    collection = new_collection()
    rng = np.random.default_rng(2)
    owners = ["most" if number % 10 else "few" for number in range(400)]
    metadatas: Any = [{"user_id": one, "n": n, "kind": ("fact", "event")[n % 2]} for n, one in enumerate(owners)]
    texts = [f"text {number}" for number in range(400)]
    vectors = rng.normal(size=(400, 16)).astype(np.float32)
    collection.add(ids=texts, documents=texts, embeddings=vectors, metadatas=metadatas)
    return ChromaSearch(collection, Fields())


@pytest.mark.parametrize("where", FILTERS)
def test_both_ways_find_the_same(search: ChromaSearch, where: Any) -> None:
    for seed in range(5):
        vector = np.random.default_rng(seed).normal(size=16).astype(np.float32)
        for scope in (Scope("most"), Scope("few"), Scope("nobody"), Scope(None)):
            wide = search.nearest(scope, vector, 5, where, by="ann")
            narrow = search.nearest(scope, vector, 5, where)
            assert [one.stored_id for one in wide] == [one.stored_id for one in narrow]
            assert [one.similarity for one in wide] == pytest.approx([one.similarity for one in narrow])


def test_a_policy_chooses_where_is_searched(open_memory: Open) -> None:
    alice = open_memory().for_user("alice")
    ids = alice.remember_many([f"tea number {number}" for number in range(30)])
    answers = [
        list(alice.recall("tea number 7", k=3, reinforce=False, policy=Policy(advanced=Advanced(search=by))).ids)
        for by in ("auto", "exact", "ann")
    ]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0] == ids[7]


def test_a_user_with_too_many_records_is_searched_in_chroma(open_memory: Open, monkeypatch: Any) -> None:
    memory: AdaptiveMemory = open_memory(keeping=Keeping(mirror_records=5))
    alice = memory.for_user("alice")
    alice.remember_many([f"tea number {number}" for number in range(5)])
    search: Any = memory.ports().search
    asked: list[str] = []
    nearest = ChromaSearch.nearest

    def noted(self: Any, *arguments: Any, by: Any = "auto") -> Any:
        asked.append(by)
        return nearest(self, *arguments, by=by)

    monkeypatch.setattr(ChromaSearch, "nearest", noted)
    vector = word_vectors(["tea"])[0]
    search.nearest(alice.scope, vector, 3, None)
    assert asked == []
    alice.remember("one more tea")
    for _ in range(2):  # the first one learns of it
        search.nearest(alice.scope, vector, 3, None)
    assert asked == ["ann"]
    search.nearest(alice.scope, vector, 3, None, by="exact")
    assert asked == ["ann"]
