"""Does an empty answer say what it looked past, once?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import VectorStoreIndex

from adaptive_memory_core import AdaptiveMemory
from llama_adaptive_memory import AdaptiveMemoryRetriever
from tests.llama_adaptive_memory.conftest import index_over


@pytest.fixture(autouse=True)
def _no_warning_unless_asked_for() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def over(collection: Collection, **metadata: Any) -> AdaptiveMemoryRetriever:
    return AdaptiveMemoryRetriever.from_index(index_over(collection, ["tea at four", "coffee at eight"], **metadata))


async def test_users_that_are_numbers(collection: Collection) -> None:
    with over(collection, user_id=7) as ours:
        with pytest.warns(UserWarning, match="as int, such as 7, and users are texts"):
            assert ours.retrieve("tea", user_id="7") == []
        assert "as int" in ours.explain_last()
        assert await ours.aretrieve("tea", user_id="7") == []  # said once
        assert await ours.aretrieve("tea", user_id="8") == []
        assert "as int" in ours.explain_last()


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_collection_where_every_document_has_a_user_asked_without_one(
    collection: Collection, awaited: bool
) -> None:
    with over(collection, user_id="alice") as ours:
        with pytest.warns(UserWarning, match=r"all name a user.*user_id='alice'"):
            assert (await ours.aretrieve("tea") if awaited else ours.retrieve("tea")) == []
        assert "all name a user" in ours.explain_last()
        assert ours.retrieve("coffee") == []
        assert len(ours.retrieve("tea", user_id="alice")) == 2


def test_a_user_is_asked_for_where_nobody_is_named(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, user_id="alice") as ours:
        with pytest.warns(UserWarning, match=r"name no user.*fallback=EVERYONE"):
            assert ours.retrieve("tea") == []
        assert ours.retrieve("coffee") == []


def test_nothing_is_said_where_nothing_is_odd(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("Alice drinks tea")
    assert AdaptiveMemoryRetriever(memory, user_id="new").retrieve("tea") == []
    alice = AdaptiveMemoryRetriever(memory, user_id="alice")
    assert alice.retrieve("") == []
    assert alice.retrieve("tea", score_threshold=1.0) == []
