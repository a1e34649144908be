"""May a reader be made for each request, and read everyone's records? All share one memory, gone when they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.vector_stores.chroma import ChromaVectorStore

from adaptive_memory_core import AdaptiveMemory, Keeping
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


OVER: dict[str, Any] = {"over": "everyone"}


async def test_a_post_processor_ranks_and_learns_for_its_user(index: VectorStoreIndex) -> None:
    nodes = index.as_retriever(similarity_top_k=4).retrieve("tea for alice")
    with (
        AdaptiveMemoryPostprocessor.from_index(index, "ana") as alone,
        AdaptiveMemoryPostprocessor.from_index(index, "ana", **OVER) as ana,
        AdaptiveMemoryPostprocessor.from_index(index) as everyone,
    ):
        assert alone.postprocess_nodes(nodes, query_str="tea for alice") == []
        ranked = ana.postprocess_nodes(nodes, query_str="tea for alice")
        assert len(ranked) == len(await ana.apostprocess_nodes(nodes, query_str="tea for alice")) == 4
        best = ranked[0].node.node_id
        assert ana.feedback(helpful=ranked[0]) == 1
        assert (ana.memory.get(best).read.helpful, everyone.memory.get(best).read.helpful) == (1, 0)
        assert everyone.memory.get(best).read.retrieval_count == 0


def test_a_post_processor_of_one_users_memory_says_what_it_reads(memory: AdaptiveMemory) -> None:
    ours = AdaptiveMemoryPostprocessor(memory.for_user("ana", over="everyone"))
    assert (ours.user_id, ours.over) == ("ana", "everyone")


async def test_a_block_shows_a_chat_what_is_everyones(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryBlock.from_index(index, user_id="ana", similarity_top_k=2, **OVER) as block:
        memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
        shown = "\n".join(one.content or "" for one in await memory.aget("alice's green tea"))
        assert "alice drinks green tea" in shown
        assert "shared: everyone" in shown
        await block.aput(
            [ChatMessage(role="user", content="my tea is cold", additional_kwargs={"session_id": "monday"})]
        )
        assert [hit.shared for hit in block.memory.recall("my tea is cold", k=1)] == [None]
    with AdaptiveMemoryBlock.from_index(index, similarity_top_k=2, **OVER) as block:  # a session that is nobody's
        assert "alice drinks green tea" in await block.aget([ChatMessage("alice's green tea")], session_id="monday")


def test_a_retriever_that_is_lent_is_judged_by_what_cites_an_index_without_users(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, "ana", similarity_top_k=9) as ana:
        ben = ana.for_user("ben")
        ben.retrieve("green tea")
        cited = CitationQueryEngine(ben, MockLLM(max_tokens=4)).query("green tea")
        assert ben.feedback(helpful=cited) == len(TEXTS)
