"""May a retriever be made for each request? All share one memory, which is gone when they are."""

from __future__ import annotations

import gc
import os
import threading
import warnings
from pathlib import Path
from typing import Any

import chromadb
import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document

from adaptive_memory_core.errors import ClosedError, StoreError
from langchain_adaptive_memory import AdaptiveMemoryRetriever

REQUESTS = 300


@pytest.fixture
def folder(tmp_path: Path, embeddings: Any) -> Chroma:
    client = chromadb.PersistentClient(str(tmp_path))
    store = Chroma("notes", embeddings, client=client)
    store.add_texts(["green tea", "black coffee"], ids=["tea", "coffee"])
    return store


def answered(store: Chroma) -> AdaptiveMemoryRetriever:
    retriever = AdaptiveMemoryRetriever.from_vectorstore(store, k=1)
    assert retriever.invoke("tea")[0].id == "tea"
    return retriever


def threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "adaptive-memory-background"}


def descriptors() -> int:
    """How many files of ours are open: Chroma keeps more of its own as it goes."""
    names = [f"/proc/self/fd/{one}" for one in os.listdir("/proc/self/fd")]
    return sum("adaptive_memory" in os.readlink(one) for one in names if os.path.lexists(one))


def all_gone(before: set[threading.Thread]) -> bool:
    gc.collect()
    for one in threads() - before:
        one.join(60)
    return threads() <= before


def test_three_hundred_retrievers_leave_no_thread_and_no_descriptor(folder: Chroma) -> None:
    before = threads()
    answered(folder)
    assert all_gone(before)
    before_all = descriptors()
    alive = [answered(folder) for _ in range(REQUESTS // 2)]
    assert len({id(one.memory) for one in alive}) == 1
    assert len(threads() - before) == 1
    assert alive[0].memory.for_everyone().stats().recalls == 1 + REQUESTS // 2
    del alive
    for _ in range(REQUESTS // 2):
        AdaptiveMemoryRetriever.from_vectorstore(folder)
    assert all_gone(before)
    assert descriptors() <= before_all


def test_closing_one_of_two_closes_no_memory_and_closing_both_does(folder: Chroma) -> None:
    one, other = answered(folder), answered(folder)
    one.close()
    assert other.invoke("tea")
    other.close()
    with pytest.raises(ClosedError):
        other.invoke("tea")


async def test_async_with(folder: Chroma) -> None:
    async with AdaptiveMemoryRetriever.from_vectorstore(folder, k=1) as retriever:
        assert (await retriever.ainvoke("tea"))[0].id == "tea"
    with pytest.raises(ClosedError):
        await retriever.ainvoke("tea")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"k": -1}, {"filter": 3}, {"user_id": ""}, {"score": "x"}, {"over": "bob"}, {"user_key": 3}, {"bogus": 1}),
        *({"fallback": "bob"}, {"search_type": "x"}, {"policy": 3}, {"keeping": 3}, {"shared": 3}, {"ledger": ""}),
    ],
)
def test_a_wrong_argument_leaves_nothing_beside_a_collection(
    tmp_path: Path, embeddings: Any, wrong: dict[str, Any]
) -> None:
    collection = chromadb.PersistentClient(tmp_path).create_collection("notes", embedding_function=None)
    before = sorted(tmp_path.iterdir())
    with pytest.raises((TypeError, ValueError)):
        AdaptiveMemoryRetriever.from_collection(collection, embeddings, **wrong)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("place", ["directory", "ram"])
async def test_a_collection_that_is_reset_meanwhile_is_named_as_the_cause(
    tmp_path: Path, embeddings: Any, place: str
) -> None:
    client: Any = chromadb.PersistentClient(tmp_path) if place == "directory" else chromadb.EphemeralClient()
    store = Chroma("reset-notes", embeddings, client=client)
    store.add_texts(["green tea", "black coffee"], ids=["tea", "coffee"])
    retriever = answered(store)
    store.reset_collection()
    store.add_texts(["green tea"], ids=["tea"])
    for _ in range(2):
        with pytest.raises(
            StoreError, match=r"The collection was deleted.*reset_collection\(\).*open it again"
        ) as told:
            retriever.invoke("tea")
        assert "reachable" not in str(told.value)
    with pytest.raises(StoreError, match="The collection was deleted"):
        await retriever.ainvoke("tea")
    with pytest.raises(StoreError, match="The collection was deleted"):
        retriever.add_documents([Document("milk")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what was learned of the old collection stays in the ledger
        retriever.close()
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1) as again:
        assert again.invoke("tea")[0].id == "tea"
