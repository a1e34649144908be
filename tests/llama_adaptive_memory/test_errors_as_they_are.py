"""Do our errors come out of LlamaIndex as they went in? Whichever of its ways of running async code is taken."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.tools import RetrieverTool

from adaptive_memory_core import AdaptiveMemory, errors
from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.llama_adaptive_memory.conftest import HashedWords

KINDS = [
    errors.ClosedError,
    errors.EmbedderError,
    errors.EmbedderMismatchError,
    errors.InvalidInputError,
    errors.LedgerError,
    errors.LedgerVersionError,
    errors.MissingExtraError,
    errors.NotFoundError,
    errors.ScopeError,
    errors.StoreError,
    errors.StoreInUseError,
]
Call = Callable[[AdaptiveMemory], object]
Later = Callable[[AdaptiveMemory], Awaitable[object]]


def fused(memory: AdaptiveMemory, **how: Any) -> QueryFusionRetriever:
    ours = AdaptiveMemoryRetriever(memory)
    return QueryFusionRetriever([ours, ours], llm=MockLLM(), num_queries=1, **how)


def chat(memory: AdaptiveMemory) -> Memory:
    return Memory.from_defaults(session_id="s", memory_blocks=[AdaptiveMemoryBlock(memory, user_id="alice")])


def simple(memory: AdaptiveMemory) -> SimpleChatEngine:
    return SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=4), memory=chat(memory))


def context(memory: AdaptiveMemory) -> ContextChatEngine:
    return ContextChatEngine.from_defaults(
        AdaptiveMemoryRetriever(memory), llm=MockLLM(max_tokens=4), memory=ChatMemoryBuffer.from_defaults()
    )


def engine(memory: AdaptiveMemory) -> RetrieverQueryEngine:
    return RetrieverQueryEngine.from_args(AdaptiveMemoryRetriever(memory), llm=MockLLM(max_tokens=4))


BLOCKING: dict[str, Call] = {
    "retriever": lambda memory: AdaptiveMemoryRetriever(memory).retrieve("tea"),
    "fusion": lambda memory: fused(memory, use_async=False).retrieve("tea"),
    "fusion, async within": lambda memory: fused(memory, use_async=True).retrieve("tea"),
    "memory": lambda memory: chat(memory).get("tea"),
    "simple chat": lambda memory: simple(memory).chat("tea"),
    "simple chat, streamed": lambda memory: simple(memory).stream_chat("tea"),
    "context chat": lambda memory: context(memory).chat("tea"),
    "query engine": lambda memory: engine(memory).query("tea"),
    "tool": lambda memory: RetrieverTool.from_defaults(AdaptiveMemoryRetriever(memory)).call("tea"),
}
AWAITED: dict[str, Later] = {
    "retriever": lambda memory: AdaptiveMemoryRetriever(memory).aretrieve("tea"),
    "fusion": lambda memory: fused(memory).aretrieve("tea"),
    "memory": lambda memory: chat(memory).aget("tea"),
    "simple chat": lambda memory: simple(memory).achat("tea"),
    "context chat": lambda memory: context(memory).achat("tea"),
    "query engine": lambda memory: engine(memory).aquery("tea"),
}


class OutOfOrder:
    """An embedder that fails with this error."""

    kind: type[errors.AdaptiveMemoryError] = errors.StoreError

    def __call__(self, texts: list[str]) -> Any:
        raise self.kind("out of order")


@pytest.mark.parametrize("way", BLOCKING)
def test_a_blocking_call_raises_it(collection: Collection, way: str) -> None:
    embedder = OutOfOrder()
    with AdaptiveMemory(collection, embedder=embedder) as memory:
        for embedder.kind in KINDS:
            with pytest.raises(embedder.kind, match="out of order") as caught:
                BLOCKING[way](memory)
            assert type(caught.value) is embedder.kind


@pytest.mark.parametrize("way", BLOCKING)
async def test_a_blocking_call_under_a_running_loop_raises_it(collection: Collection, way: str) -> None:
    with AdaptiveMemory(collection, embedder=OutOfOrder()) as memory:
        with pytest.raises(errors.StoreError, match="out of order"):
            BLOCKING[way](memory)  # as a notebook does
        with pytest.raises(errors.StoreError, match="out of order"):
            await asyncio.to_thread(BLOCKING[way], memory)


@pytest.mark.parametrize("way", AWAITED)
async def test_an_awaited_call_raises_it(collection: Collection, way: str) -> None:
    embedder = OutOfOrder()
    with AdaptiveMemory(collection, embedder=embedder) as memory:
        for embedder.kind in KINDS:
            with pytest.raises(embedder.kind, match="out of order") as caught:
                await AWAITED[way](memory)
            assert type(caught.value) is embedder.kind


@pytest.mark.parametrize("way", BLOCKING)
def test_a_memory_that_was_closed_says_so(memory: AdaptiveMemory, way: str) -> None:
    memory.close()
    with pytest.raises(errors.ClosedError, match="Open it again"):
        BLOCKING[way](memory)


def test_what_leaves_the_window_of_a_closed_memory_says_so(memory: AdaptiveMemory) -> None:
    block = AdaptiveMemoryBlock(memory, user_id="alice")
    small = Memory.from_defaults(session_id="s", memory_blocks=[block], token_limit=10, token_flush_size=1)
    small.put(ChatMessage(role="user", content="I drink green tea at four"))
    memory.close()
    with pytest.raises(errors.ClosedError):
        small.put(ChatMessage(role="user", content="and black coffee at eight"))


async def test_a_post_processor_raises_it(index: VectorStoreIndex) -> None:
    ours = AdaptiveMemoryPostprocessor.from_index(index)
    asked = index.as_query_engine(llm=MockLLM(max_tokens=4), node_postprocessors=[ours])
    ours.close()
    with pytest.raises(errors.ClosedError):
        asked.query("tea")
    with pytest.raises(errors.ClosedError):
        await asked.aquery("tea")


class Broken(HashedWords):
    """A model as torch's are: what fails in it is a RuntimeError."""

    def _get_query_embedding(self, query: str) -> list[float]:
        raise RuntimeError("out of memory")


async def test_a_model_that_fails_is_named(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, embed_model=Broken()) as ours:
        fusion = QueryFusionRetriever([ours], llm=MockLLM(), num_queries=1, use_async=True)
        for asked in (ours, fusion):
            with pytest.raises(errors.EmbedderError, match=r"'Broken' failed on a query with RuntimeError: out of mem"):
                asked.retrieve("tea")
            with pytest.raises(errors.EmbedderError, match="Broken"):
                await asked.aretrieve("tea")


class Hiccup(HashedWords):
    """Its first answer is a vector of another model's length."""

    answers: int = 0

    def _get_query_embedding(self, query: str) -> list[float]:
        self.answers += 1
        return [1.0, 2.0, 3.0] if self.answers == 1 else super()._get_query_embedding(query)


async def test_a_first_vector_of_another_length_is_not_held_against_the_right_ones(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, embed_model=Hiccup()) as ours:
        with pytest.raises(errors.AdaptiveMemoryError, match=r"3 .*32"):
            ours.retrieve("quite unheard")
        assert len(ours.retrieve("tea")) == len(await ours.aretrieve("tea")) == 2
        assert len(ours.memory.recall("tea", k=2)) == 2
