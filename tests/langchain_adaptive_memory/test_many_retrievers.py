"""What a retriever says over a collection that was reset; the rest of its life is in tests/adapters."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import chromadb
import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document

from adaptive_memory_core.errors import StoreError
from langchain_adaptive_memory import AdaptiveMemoryRetriever


def answered(store: Chroma) -> AdaptiveMemoryRetriever:
    retriever = AdaptiveMemoryRetriever.from_vectorstore(store, k=1)
    assert retriever.invoke("tea")[0].id == "tea"
    return retriever


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
