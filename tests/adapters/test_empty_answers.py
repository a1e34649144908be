"""An empty answer over a collection that is not empty says once, as a warning, what it looked past."""

from __future__ import annotations

from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory
from tests.adapters.conftest import BOTH, Adapter

pytestmark = pytest.mark.filterwarnings("error::UserWarning")  # unless a test asks for one
TEXTS = ("tea at four", "coffee at eight")


@BOTH
async def test_documents_of_nobody_that_a_user_shall_not_read(
    adapter: Adapter, collection: Collection, awaited: bool
) -> None:
    with adapter.over_store(adapter.store(collection, TEXTS), "ana", over=None) as retriever:
        with pytest.warns(UserWarning, match=adapter.names_no_user) as said:
            assert await adapter.find(retriever, "tea", awaited=awaited) == []
        assert len(said) == 1
        assert "name no user" in retriever.explain_last()
        assert await adapter.find(retriever, "coffee", awaited=awaited) == []
        assert await adapter.find(retriever, "tea", "ben") == [], "said once"


@BOTH
async def test_a_collection_of_users_asked_without_one(adapter: Adapter, collection: Collection, awaited: bool) -> None:
    with adapter.over_store(adapter.store(collection, TEXTS, user_id="alice")) as retriever:
        with pytest.warns(UserWarning, match=adapter.all_name_a_user):
            assert await adapter.find(retriever, "tea", awaited=awaited) == []
        assert "all name a user" in retriever.explain_last()
        assert await adapter.find(retriever, "coffee", awaited=awaited) == []
        assert len(await adapter.find(retriever, "tea", "alice")) == 2


async def test_users_that_are_numbers(adapter: Adapter, collection: Collection) -> None:
    with adapter.over_store(adapter.store(collection, TEXTS, user_id=7), "7") as retriever:
        with pytest.warns(UserWarning, match="as int, such as 7, and users are texts"):
            assert await adapter.find(retriever, "tea") == []
        assert "as int" in retriever.explain_last()
        assert await adapter.find(retriever, "tea", awaited=True) == [], "said once"
        assert await adapter.find(retriever, "tea", "8") == []
        assert "as int" in retriever.explain_last()


async def test_nothing_is_said_where_nothing_is_odd(adapter: Adapter, memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("Alice drinks tea")
    with adapter.over_memory(memory, "new") as new:
        assert await adapter.find(new, "tea") == []
    asked: list[dict[str, Any]] = [{}, {"min_score": 1.0}, {"min_similarity": 1.0}]
    for fields in asked:
        with adapter.over_memory(memory, "alice", **fields) as alice:
            assert await adapter.find(alice, "tea" if fields else "") == []
