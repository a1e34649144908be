"""May a reader be made for each request, in many threads? All share one memory, which is gone when they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.vector_stores.chroma import ChromaVectorStore

from adaptive_memory_core import Keeping
from adaptive_memory_core.errors import ClosedError
from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.llama_adaptive_memory.conftest import TEXTS, HashedWords, index_over

READERS: list[Any] = [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor, AdaptiveMemoryBlock]


@pytest.fixture
def folder(tmp_path: Path) -> VectorStoreIndex:
    return index_over(chromadb.PersistentClient(str(tmp_path)).create_collection("notes"), TEXTS)


def test_a_loan_keeps_nothing_open_and_closes_nothing(folder: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(folder) as reader:
        lent = reader.for_user("ana")
        lent.close()
        assert len(reader.retrieve("tea")) == 2
    with pytest.raises(ClosedError):
        lent.retrieve("tea")


def test_a_ranker_without_a_model_shares_what_is_open_or_reads_on_its_own(folder: VectorStoreIndex) -> None:
    store = folder.vector_store
    nodes = folder.as_retriever(similarity_top_k=4).retrieve("tea")
    with (
        AdaptiveMemoryRetriever.from_index(folder) as retriever,
        AdaptiveMemoryPostprocessor.from_vector_store(store) as ranker,
    ):
        assert ranker.memory.memory is retriever.memory.memory
    with AdaptiveMemoryPostprocessor.from_vector_store(store) as first:
        with AdaptiveMemoryPostprocessor.from_vector_store(store) as second:
            assert second.memory.memory is first.memory.memory
            assert second.postprocess_nodes(nodes, query_str="tea")
        with AdaptiveMemoryRetriever.from_index(folder) as retriever:
            assert retriever.memory.memory is not first.memory.memory
            assert len(retriever.retrieve("tea")) == 2


def test_an_equal_model_made_anew_finds_the_same_memory(new_collection: Callable[..., Collection]) -> None:
    collection = new_collection()
    index_over(collection, TEXTS)
    store = ChromaVectorStore(chroma_collection=collection)
    with (
        AdaptiveMemoryRetriever.from_vector_store(store, HashedWords()) as one,
        AdaptiveMemoryRetriever.from_vector_store(store, HashedWords()) as other,
        AdaptiveMemoryRetriever.from_vector_store(store, HashedWords(), keeping=Keeping(log=False)) as third,
    ):
        assert one.memory.memory is other.memory.memory is not third.memory.memory


async def test_a_closed_reader_refuses_to_answer_while_another_one_is_open(folder: VectorStoreIndex) -> None:
    nodes = folder.as_retriever(similarity_top_k=4).retrieve("tea")
    with AdaptiveMemoryRetriever.from_index(folder) as other:
        retriever, ranker, block = (kind.from_index(folder, user_id="ana") for kind in READERS)
        for one in (retriever, ranker, block):
            one.close()
            one.close()
        with pytest.raises(ClosedError, match="This reader was closed"):
            retriever.retrieve("tea")
        with pytest.raises(ClosedError):
            ranker.postprocess_nodes(nodes, query_str="tea")
        with pytest.raises(ClosedError):
            await ranker.apostprocess_nodes(nodes, query_str="tea")
        with pytest.raises(ClosedError):
            await block.aget([ChatMessage(role="user", content="tea")])
        assert len(other.retrieve("tea")) == 2
        with AdaptiveMemoryRetriever.from_memory(other.memory) as given:
            assert given.retrieve("tea")
        with pytest.raises(ClosedError):
            given.retrieve("tea")
        assert len(other.retrieve("tea")) == 2, "a memory that was given stays open"
