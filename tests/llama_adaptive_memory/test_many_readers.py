"""May a reader be made for each request, in many threads? All share one memory, which is gone when they are."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
THREADS, TIMES = 6, 25


@pytest.fixture
def folder(tmp_path: Path) -> VectorStoreIndex:
    return index_over(chromadb.PersistentClient(str(tmp_path)).create_collection("notes"), TEXTS)


def threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name.startswith("adaptive-memory")}


def all_gone(before: set[threading.Thread]) -> bool:
    gc.collect()
    for one in threads() - before:
        one.join(60)
    return threads() <= before


def open_files() -> list[str]:
    """Ours; Chroma keeps as many of its own as it likes."""
    files = []
    for one in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # closed meanwhile
            files.append(os.readlink(f"/proc/self/fd/{one}"))
    return [one for one in files if "adaptive_memory" in one.rpartition("/")[2]]


def use(reader: Any, number: int) -> None:
    if isinstance(reader, AdaptiveMemoryRetriever):
        found = reader.retrieve("tea") if number % 2 else asyncio.run(reader.aretrieve("tea"))
        assert len(found) == 2
    else:
        assert reader.memory.recall("tea", k=1)


def test_six_threads_open_read_and_close_without_an_error(folder: VectorStoreIndex) -> None:
    def open_and_close(_: int) -> None:
        for number in range(TIMES):
            with READERS[number % 3].from_index(folder, user_id=None if number % 3 < 2 else "ana") as reader:
                if number % 3 == 2:
                    reader.memory.remember("tea at four", id="note")
                use(reader, number)

    before = threads()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "not everything could be written back"
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(open_and_close, range(THREADS)))
    assert all_gone(before)
    with AdaptiveMemoryRetriever.from_index(folder) as reader:
        assert reader.memory.stats().recalls == THREADS * len([n for n in range(TIMES) if n % 3 < 2])


def test_a_reader_for_each_request_leaves_no_thread_and_no_descriptor(folder: VectorStoreIndex) -> None:
    before, others = threads(), set(open_files())
    use(AdaptiveMemoryRetriever.from_index(folder), 1)
    assert all_gone(before)
    assert set(open_files()) <= others
    alive = [READERS[number % 3].from_index(folder, user_id="ana") for number in range(150)]
    assert len({id(reader.memory.memory) for reader in alive}) == 1
    use(alive[1].memory and AdaptiveMemoryRetriever.from_index(folder), 1)
    assert len(threads() - before) == 1
    assert set(open_files()) - others
    del alive
    for number in range(150):
        READERS[number % 3].from_index(folder, user_id="ana")
    assert all_gone(before)
    assert set(open_files()) <= others


def test_a_loan_keeps_nothing_open_and_closes_nothing(folder: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(folder) as reader:
        lent = reader.for_user("ana")
        lent.close()
        assert len(reader.retrieve("tea")) == 2
    with pytest.raises(ClosedError):
        lent.retrieve("tea")


async def test_async_with(folder: VectorStoreIndex) -> None:
    for kind in READERS:
        async with kind.from_index(folder, user_id="ana") as reader:
            await reader.memory.arecall("tea")
        with pytest.raises(ClosedError):
            await reader.memory.arecall("tea")


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
            await retriever.aretrieve("tea")
        with pytest.raises(ClosedError):
            retriever.retrieve("tea", similarity_top_k=1)
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
